"""Install and remove the hooks with which coding tools ask before they edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from moot.api.operation import operation
from moot.api.session import read_presence
from moot.coding_tools import NAMES, all_tools, find_tool
from moot.core.errors import Malformed, MootError, Refused, Unavailable
from moot.core.findings import Finding

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session

# All that hooks can be installed for: coding tools, and git itself.
CODING_TOOLS: Final = NAMES
TOOLS: Final = (*CODING_TOOLS, "git")
# Stands for all of them that are on PATH.
EVERY_TOOL: Final = "all"
# Those that run hooks only if their user trusts them.
ASK_FOR_TRUST: Final = frozenset(tool.name for tool in all_tools() if tool.needs_trust)
# Those that ask before they start, or call, our server.
ASK_FOR_SERVER: Final = frozenset(tool.name for tool in all_tools() if tool.asks_for_server)


class McpSetUp(msgspec.Struct, frozen=True):
    """The entry for `moot mcp` in a tool's settings.

    `file` contains it; None if it could not be written, and `why_not` says why and what to do.
    `asks` is what the tool asks before it calls one of our tools, `consent` what its user may add
    to stop that.
    """

    file: str | None
    asks: str
    consent: str | None
    why_not: Finding | None


class InstalledHooks(msgspec.Struct, frozen=True):
    """`changed` are the files written; none if nothing changed.

    `trusted` says what trust was stored, if requested; `findings` is what keeps hooks from working
    here. `mcp` is how the tool starts `moot mcp`; None if it should not.
    """

    tool: str
    changed: list[str]
    trusted: str | None
    findings: tuple[Finding, ...]
    mcp: McpSetUp | None = None


class UninstalledHooks(msgspec.Struct, frozen=True):
    """`changed` are the files that were restored or removed. `tool` is `all` if none was named."""

    tool: str
    changed: list[str]
    worktrees: list[str]


@operation("hook.install", writes=True, runs_programs=True)
def install(
    session: Session,
    tool: str,
    *,
    skill: bool = True,
    trust: bool = False,
    share: bool = False,
    mcp: bool = True,
) -> InstalledHooks:
    """Set up a coding tool (or git) so that it asks before it edits. A repeat changes nothing.

    Writes into the tool's local settings of this worktree, or into files that git then ignores in
    this clone, or (if such a file is tracked) into the user's own settings; existing content stays.
    With `share` it writes lines to be committed, which do nothing without moot or a workspace. With
    `skill` the agent's manual is written too, unless others have notes there. `trust` stores the
    user's trust in these hooks if the tool needs it (codex, gemini), and lets it start our server
    without asking (claude, gemini): a person's decision. With `mcp` the tool starts `moot mcp`, for
    this clone only, if its file is not tracked; without, our entry is removed. Refused as
    `settings_unreadable` if a file cannot be merged, as `inner_repository` inside an inner
    repository; then no file is changed.
    """
    from moot.api.hook_setup.hook_stamps import Stamp, remove_stamp
    from moot.api.hook_setup.hook_status import find_problems
    from moot.api.hook_setup.install import WantedParts, install_hooks, uninstall_hooks

    require_tool(tool)
    guarded = require_guarded(session)
    wanted = WantedParts(skill, mcp, trust)
    done = install_hooks(tool, guarded, wanted, share=share, env=session.env)
    try:
        trusted = _store_trust(tool, guarded, session.env) if trust else None
    except MootError:
        if done.changed and not share:  # it was asked for whole
            uninstall_hooks(tool, guarded, env=session.env)
        raise
    remove_stamp(guarded.workspace, Stamp.TAKEN_OUT, tool, guarded.worktree_root)
    problems = find_problems(session.folder, session.env, session.home)
    changed = [str(path) for path in done.changed]
    server = _mcp_set_up(tool, guarded, session.env, done.no_server) if mcp else None
    return InstalledHooks(tool, changed, trusted, problems, server)


def _store_trust(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> str:
    from moot.api.hook_setup.worktrees import place_of

    if tool not in CODING_TOOLS:
        return f"{tool} asks for no trust"
    return find_tool(tool).store_trust(place_of(guarded, env))


def _mcp_set_up(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str], why_not: Finding | None
) -> McpSetUp | None:
    from moot.api.hook_setup.server_files import find_consent, find_entry

    if tool not in CODING_TOOLS:
        return None
    known = find_tool(tool)
    found = find_entry(known, guarded, env)
    is_there = found is not None and bool(found.command)
    return McpSetUp(
        str(found.file) if found is not None and is_there else None,
        known.asks,
        find_consent(known, guarded) if is_there else None,
        why_not,
    )


@operation("hook.uninstall", writes=True)
def uninstall(
    session: Session, tool: str | None = None, *, everywhere: bool = False
) -> UninstalledHooks:
    """Remove our hooks from a tool's settings and restore what was there.

    A repeat changes nothing. Files that were not changed since are restored byte for byte; others
    keep their changes. It is recorded that its sessions are unwatched from now on. Refused as
    `hooks_shared` if other worktrees or projects would be unguarded too; `everywhere` removes them
    from all of these, and without a `tool` it removes the hooks of every tool. Refused as
    `settings_unreadable` if a file cannot be read. Refused as `human_key_required` to an agent, and
    below a coding tool or `moot run`.
    """
    from moot.api.hook_setup.worktrees import all_worktrees

    session.require_no_agent_around("taking the guard out")
    if tool is not None:
        require_tool(tool)
    elif not everywhere:
        raise Malformed(
            "no tool is named", code="no_tool", hint="name one, or `moot hook uninstall --all`"
        )
    guarded = require_guarded(session, inner=True)
    everything = TOOLS if _has_git(guarded) else CODING_TOOLS
    tools = everything if tool is None else (tool,)
    if not everywhere:
        _require_unshared(session, tools[0], guarded)
    roots = all_worktrees(guarded.worktree_root) if everywhere else (guarded.worktree_root,)
    changed = [file for each in tools for file in _uninstall_in(session, each, guarded, roots)]
    return UninstalledHooks(
        tool or "all", [str(file) for file in changed], [str(root) for root in roots]
    )


def _uninstall_in(
    session: Session, tool: str, guarded: GuardedPaths, roots: Sequence[Path]
) -> list[Path]:
    """Remove one tool's hooks from these worktrees, and record that its sessions are unwatched."""
    from moot.api.hook_setup.hook_stamps import Stamp, last_stamped, remove_stamp, stamp
    from moot.api.hook_setup.install import uninstall_hooks

    changed: list[Path] = []
    for root in roots:
        changed += uninstall_hooks(tool, replace(guarded, worktree_root=root), env=session.env)[1]
    for root in roots:
        if last_stamped(guarded.workspace, Stamp.HOOK_RAN, tool, root) is not None:
            remove_stamp(guarded.workspace, Stamp.HOOK_RAN, tool, root)
            stamp(guarded.workspace, Stamp.TAKEN_OUT, tool, root)  # for sessions that go on
        if changed and tool in CODING_TOOLS:
            from moot.api.observed.sessions import note_hook_removed

            with suppress(MootError):  # the hooks are out, whether or not it can be recorded
                note_hook_removed(session.workspace, tool, root)
    return changed


def _has_git(guarded: GuardedPaths) -> bool:
    """True if our git hook can be installed here."""
    from moot.api.hook_setup.git_hook import place_for

    try:
        place_for(guarded.worktree_root)
    except MootError:
        return False
    return True


def _require_unshared(session: Session, tool: str, guarded: GuardedPaths) -> None:
    """Refuse if other worktrees or projects would lose their hooks too."""
    from moot.api.hook_setup.install import find_dependents

    others = find_dependents(tool, guarded, session.env)
    if not others:
        return
    who = ", ".join(_with_agents(session, other) for other in others)
    raise Refused(
        "hooks_shared",
        f"the hooks of {tool} here also guard {who}",
        hint=f"`moot hook uninstall {tool} --all` takes them out of all of these",
    )


def _with_agents(session: Session, folder: Path) -> str:
    """Return a worktree with the agents that work there, if the record can be read."""
    try:
        members = read_presence(session.workspace).members
    except MootError:
        return str(folder)
    names = [member.name for member in members if member.worktree == str(folder)]
    return f"{folder} ({', '.join(names)})" if names else str(folder)


def ensure_hooks(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str], *, mcp: bool = True
) -> bool:
    """Install the hooks that a tool about to start lacks; True if it lacked any.

    With `mcp` also the entry for our server; if hooks are installed, a person has decided on that.
    """
    from moot.api.hook_setup.install import WantedParts, install_hooks, is_installed, is_outdated

    if not is_installed(tool, guarded, env=env):
        from moot.api.hook_setup.hook_stamps import Stamp, remove_stamp

        install_hooks(tool, guarded, WantedParts(server=mcp), env=env)
        remove_stamp(guarded.workspace, Stamp.TAKEN_OUT, tool, guarded.worktree_root)
        return True
    if is_outdated(tool, guarded, env=env):
        from moot.api.hook_setup.server_files import find_entry

        has_server = find_entry(find_tool(tool), guarded, env) is not None
        with suppress(MootError, OSError):  # the guard is whole without it
            install_hooks(tool, guarded, WantedParts(skill=False, server=has_server), env=env)
    return False


def unguarded_programs(session: Session) -> tuple[str, ...]:
    """Return the tools on the session's PATH, and git, that do not ask before they edit here."""
    from shutil import which

    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.hook_setup.install import is_installed

    found = (tool for tool in TOOLS if which(tool, path=session.env.get("PATH")) is not None)
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return tuple(found)

    def is_set_up(tool: str) -> bool:
        try:
            return is_installed(tool, guarded, env=session.env)
        except MootError:
            return tool == "git"  # no repository, or its hooks are not ours to touch

    return tuple(tool for tool in found if not is_set_up(tool))


def require_tool(tool: str, known: Sequence[str] = TOOLS) -> None:
    if tool not in known:
        raise Malformed(
            f"no coding tool called {tool} is known",
            code="unknown_tool",
            hint=f"one of {', '.join(known)}",
        )


def require_guarded(session: Session, *, inner: bool = False) -> GuardedPaths:
    """Return the guarded worktree; with `inner`, also from inside of an inner repository."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        raise Unavailable(
            "no_workspace", f"no workspace for {session.folder}", hint="run `moot init` first"
        )
    if not inner:
        _require_own_root(session, guarded)
    return guarded


def _require_own_root(session: Session, guarded: GuardedPaths) -> None:
    """Refuse inside of an inner repository: tools started there read its settings, not the
    project's."""
    from moot.workspace.find import worktree_root

    own_root = worktree_root(session.folder)
    if own_root is None or own_root.resolve() == guarded.worktree_root.resolve():
        return
    raise Refused(
        "inner_repository",
        f"{own_root} is a repository of its own inside {guarded.worktree_root}: a tool that is"
        f" started in {session.folder} does not read the settings of the project around it",
        hint=f"cd {guarded.worktree_root}",
    )
