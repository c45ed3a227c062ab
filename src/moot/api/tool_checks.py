"""Are the hooks on? Where each tool stands in each worktree, and a trial of what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.tools import CODING_TOOLS, require_guarded, require_tool
from moot.core.findings import Finding
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.tools.hook_status import ToolState


class ToolHooks(msgspec.Struct, frozen=True):
    """One tool in one worktree.

    `file` holds its hooks, if it is `installed`; `reach` says whom that file serves: `local`,
    `project` or `user`. `trusted` is None where the tool asks for none. `last_spoke_at` is when a
    hook of it last called here. `wrong` is what keeps it from working, the first of `findings`;
    `mend` the command to type against it. `found`: the tool is on PATH.
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


class HookStatus(msgspec.Struct, frozen=True):
    """Every tool in every worktree of this repository."""

    tools: list[ToolHooks]


class TriedHooks(msgspec.Struct, frozen=True):
    """`passed` if the installed `command` refused an edit that it must refuse.

    `exit_status`, `out` and `err` are exactly what came back; no status: no answer in time.
    """

    tool: str
    worktree: str
    passed: bool
    file: str
    command: str
    exit_status: int | None
    out: Quoted
    err: Quoted


@operation("hook.status", runs_programs=True)
def status(session: Session) -> HookStatus:
    """Each tool and worktree: installed, trusted, when it last spoke, what is wrong, how to mend.

    Reads settings and asks Codex whether it trusts the hooks; changes nothing.
    """
    from moot.flows.tools.hook_status import find_tool_states

    guarded = require_guarded(session, inner=True)
    return HookStatus([_tool_hooks(state) for state in find_tool_states(guarded, session.env)])


def _tool_hooks(state: ToolState) -> ToolHooks:
    from moot.core.clock import SECOND, to_text

    return ToolHooks(
        tool=state.tool,
        worktree=str(state.worktree),
        installed=state.file is not None,
        file=None if state.file is None else str(state.file.path),
        reach=None if state.file is None else str(state.file.reach),
        trusted=state.trusted,
        last_spoke_at=None if state.spoke is None else to_text(int(state.spoke * SECOND)),
        wrong=state.problems[0].message if state.problems else None,
        mend=state.mend,
        found=state.found,
        findings=state.problems,
    )


@operation("hook.test", runs_programs=True)
def try_hooks(session: Session, tool: str) -> TriedHooks:
    """Send a real input through a tool's installed hook, as the tool would: it must be refused.

    The edit is one of a file in the workspace's own folder, which no agent may write; nothing is
    written and nothing goes on record. Refused as `hook_not_installed` if there is nothing whole to
    try, Unavailable (`no_node`) if opencode's plugin cannot be run here.
    """
    from moot.flows.tools.hook_probe import send_probe

    require_tool(tool, CODING_TOOLS)
    guarded = require_guarded(session)
    probe = send_probe(tool, guarded, session.env)
    return TriedHooks(
        tool=tool,
        worktree=str(guarded.worktree_root),
        passed=probe.passed,
        file=str(probe.file),
        command=probe.command,
        exit_status=probe.exit_status,
        out=Quoted(probe.out),
        err=Quoted(probe.err),
    )
