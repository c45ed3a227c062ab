"""Check the hooks: the state of each tool in each worktree, and a trial of what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.hook_setup.tools import CODING_TOOLS, require_guarded, require_tool
from moot.api.operation import operation
from moot.coding_tools import find_tool
from moot.core.findings import Finding
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session


class ToolHooks(msgspec.Struct, frozen=True):
    """One tool in one worktree.

    `file` contains its hooks, if it is `installed`; `reach` says whom that file serves: `local`,
    `project` or `user`. `trusted` is None if the tool needs no trust. `last_spoke_at` is when one
    of its hooks last ran here. `wrong` is the first of `findings`, `mend` the command that fixes
    it. `found`: the tool is on PATH. `mcp_file` lets it start `moot mcp`; `mcp_wrong` is what keeps
    that from working, `mcp_mend` what fixes it. `reading`: its model is `told` who holds a file
    that it reads; `silent` if settings say so, `outdated` if an earlier moot wrote the hooks, which
    `moot run` and `moot hook install` renew.
    """

    tool: str
    worktree: str
    installed: bool
    file: str | None
    reach: str | None
    trusted: bool | None
    last_spoke_at: str | None
    wrong: str | None
    mend: str | None
    found: bool
    findings: tuple[Finding, ...]
    mcp_file: str | None = None
    mcp_wrong: str | None = None
    mcp_mend: str | None = None
    reading: str | None = None


class HookStatus(msgspec.Struct, frozen=True):
    """Every tool in every worktree of this repository."""

    tools: list[ToolHooks]


class TriedHooks(msgspec.Struct, frozen=True):
    """`passed` if the installed `command` refused an edit that it must refuse.

    `exit_status`, `out` and `err` are exactly what came back; no status: no answer in time.
    `mcp_command` starts our server, None if there is no entry; `mcp_passed` if it listed its tools,
    which are in `mcp_answer`, or else its error. `reading` is the result of a read: `told`,
    `silent` if settings say so, `outdated` if an earlier moot wrote the hooks, else `failed`; None
    if the tool reads by its shell.
    """

    tool: str
    worktree: str
    passed: bool
    file: str
    command: str
    exit_status: int | None
    out: Quoted
    err: Quoted
    mcp_command: str | None = None
    mcp_passed: bool | None = None
    mcp_answer: Quoted = Quoted("")
    reading: str | None = None

    @property
    def whole(self) -> bool:
        """True if everything that is installed did what it must."""
        return self.passed and self.mcp_passed is not False and self.reading != "failed"


@operation("hook.status", runs_programs=True)
def status(session: Session) -> HookStatus:
    """Return for each tool and worktree: installed, trusted, last hook, what is wrong, what fixes
    it.

    Reads settings and asks Codex whether it trusts the hooks; changes nothing.
    """
    from moot.api.hook_setup.hook_status import find_tool_states

    guarded = require_guarded(session, inner=True)
    return HookStatus(list(find_tool_states(guarded, session.env)))


@operation("hook.test", runs_programs=True)
def try_hooks(session: Session, tool: str) -> TriedHooks:
    """Send a real input through a tool's installed hook, as the tool would: it must be refused.

    The edit is of a file in the workspace's own folder, which no agent may write; nothing is
    written or recorded. The configured server is started too and must list its tools; no agent
    joins. Refused as `hook_not_installed` if the hooks are incomplete, Unavailable (`no_node`) if
    opencode's plugin cannot be run here.
    """
    from shlex import join

    from moot.api.hook_setup.hook_probe import ServerProbe, probe_server, send_probe, send_reading
    from moot.api.hook_setup.server_files import find_entry

    require_tool(tool, CODING_TOOLS)
    guarded = require_guarded(session)
    probe = send_probe(tool, guarded, session.env)
    entry = find_entry(find_tool(tool), guarded, session.env)
    server = None
    if entry is not None and entry.command:
        server = probe_server(entry.command, guarded.worktree_root, session.env)
    elif entry is not None and entry.flaw is not None:
        server = ServerProbe(False, entry.flaw.message)
    return TriedHooks(
        tool=tool,
        worktree=str(guarded.worktree_root),
        passed=probe.passed,
        file=str(probe.file),
        command=probe.command,
        exit_status=probe.exit_status,
        out=Quoted(probe.out),
        err=Quoted(probe.err),
        mcp_command=None if entry is None else join(entry.command),
        mcp_passed=None if server is None else server.passed,
        mcp_answer=Quoted("" if server is None else server.answer),
        reading=send_reading(tool, guarded, session.env) if probe.passed else None,
    )


def has_lost_hooks(session: Session, tool: str) -> bool:
    """True if the settings of `tool`, which have changed, no longer contain our hooks.

    False if a person removed them with `moot hook uninstall`, and outside of a workspace. Does not
    open the ledger, so that it answers at once in any case.
    """
    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.hook_setup.guard_files import is_guard_whole
    from moot.api.hook_setup.hook_stamps import Stamp, last_stamped, stamp

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None or is_guard_whole(tool, guarded, session.env):
        return False
    place = tool, guarded.worktree_root
    if last_stamped(guarded.workspace, Stamp.TAKEN_OUT, *place) is not None:
        return False
    stamp(guarded.workspace, Stamp.KEPT, *place)
    return True
