"""Coding tools: installing the hooks with which they ask before they edit, and removing them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed, MootError, Unavailable
from moot.core.findings import Finding
from moot.flows.tools import HOOK_TOOLS

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.guard.guarded_paths import GuardedPaths

# All that hooks can be installed for: coding tools, and git itself.
CODING_TOOLS: Final = HOOK_TOOLS
TOOLS: Final = (*CODING_TOOLS, "git")


class InstalledHooks(msgspec.Struct, frozen=True):
    """`changed` are the files written; none if all was so already.

    `trusted` says what trust was stored, if that was asked for; `findings` is what keeps hooks that
    are installed here from working.
    """

    tool: str
    changed: list[str]
    trusted: str | None
    findings: tuple[Finding, ...]


class UninstalledHooks(msgspec.Struct, frozen=True):
    """`changed` are the files that were restored or removed."""

    tool: str
    changed: list[str]


@operation("hook.install", writes=True, runs_programs=True)
def install(
    session: Session, tool: str, *, skill: bool = True, trust: bool = False
) -> InstalledHooks:
    """Set up a coding tool (or git) so that it asks before it edits. A repeat changes nothing.

    Writes into the tool's settings of this worktree; what is there stays, ours is added. With
    `skill` the agent's manual is written too. `trust` stores the user's trust in these hooks where
    the tool wants it (codex, gemini): a person's decision. Refused as `settings_unreadable` if a
    file cannot be merged; then none is touched.
    """
    from moot.flows.tools.hook_health import find_problems
    from moot.flows.tools.install import install_hooks
    from moot.flows.tools.tool_trust import store_trust

    _require_tool(tool)
    guarded = _require_guarded(session)
    done = install_hooks(tool, guarded, skill)
    trusted = store_trust(tool, guarded, session.env) if trust else None
    problems = find_problems(session.folder, session.env, session.home)
    return InstalledHooks(tool, [str(path) for path in done.changed], trusted, problems)


@operation("hook.uninstall", writes=True)
def uninstall(session: Session, tool: str) -> UninstalledHooks:
    """Take our hooks out of a tool's settings and put back what was there.

    Doing it again changes nothing. Files that nobody changed since are restored byte for byte;
    others keep their changes. That its sessions are not watched from now on is on record. Refused
    as `settings_unreadable` if a file cannot be read.
    """
    from moot.flows.tools.install import uninstall_hooks

    _require_tool(tool)
    guarded = _require_guarded(session)
    done = uninstall_hooks(tool, guarded)
    if done.changed and tool in CODING_TOOLS:
        from moot.flows.observed.sessions import note_hook_removed

        with suppress(MootError):  # the hooks are out, whether or not it can be recorded
            note_hook_removed(session.workspace, tool, guarded.worktree_root)
    return UninstalledHooks(tool, [str(path) for path in done.changed])


def ensure_hooks(tool: str, guarded: GuardedPaths) -> bool:
    """Install the hooks that a tool about to be started lacks there; True if it lacked any."""
    from moot.flows.tools.install import install_hooks, is_installed

    if is_installed(tool, guarded):
        return False
    install_hooks(tool, guarded)
    return True


def _require_tool(tool: str) -> None:
    if tool not in TOOLS:
        raise Malformed(
            f"no coding tool called {tool} is known",
            code="unknown_tool",
            hint=f"one of {', '.join(TOOLS)}",
        )


def _require_guarded(session: Session) -> GuardedPaths:
    from moot.flows.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        raise Unavailable(
            "no_workspace", f"no workspace for {session.folder}", hint="run `moot init` first"
        )
    return guarded
