"""What a coding tool's hook saw, one record for each session, and the times nobody watched.

A gap (T-18) is the time in which our hook was uninstalled; the time from the last thing seen to the
start of a session that goes on, if its agent showed signs of life in between; and a run under
`moot run` as long as no hook has reported anything (run_guard.py). A quiet time alone is none:
thinking leaves no tool calls.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import MootError, Refused
from moot.core.names import SYSTEM
from moot.core.sha256 import sha256
from moot.protocols.observed import PROTOCOL, RUN, SESSION_SPACE
from moot.protocols.observed.commands import (
    BeginObserving,
    EndObserving,
    NoteGap,
    StopWatching,
)
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import State

if TYPE_CHECKING:
    from pathlib import Path

    from moot.core.clock import Millis
    from moot.protocols.observed.commands import ObserveTool
    from moot.protocols.trace.model import State as Trace
    from moot.workspace.workspace import Workspace

HOOK_OFF: Final = "hook off"
NO_HOOK: Final = "no hook spoke"
MAX_SESSIONS: Final = 1_000
MAX_PARTS: Final = 1_000


class WatchedSession(msgspec.Struct, frozen=True):
    """One session's record."""

    stream: str
    state: State


def record_tool_use(
    workspace: Workspace, agent: str, session: str, observation: ObserveTool
) -> None:
    """Record one use of a tool, signed by the agent itself."""
    workspace.engine.execute(open_record(workspace, agent, session).stream, observation, agent)


def begin_session(workspace: Workspace, agent: str, session: str, alive_at: Millis | None) -> None:
    """A session begins, or goes on; `alive_at` is its agent's last sign of life before.

    An agent that was alive after the last thing seen has worked without its hook: a gap.
    """
    record = open_record(workspace, agent, session)
    if not record.state.agent:
        workspace.engine.execute(record.stream, BeginObserving(session=session), agent)
        return
    since, now = record.state.last_at, workspace.engine.clock()
    is_blind = record.state.blind_since is not None  # the next thing seen closes that gap
    if alive_at is not None and since < alive_at and since < now and not is_blind:
        gap = NoteGap(since=since, until=now, why=HOOK_OFF)
        workspace.engine.execute(record.stream, gap, agent)


def end_session(workspace: Workspace, agent: str, session: str, reason: str) -> None:
    record = open_record(workspace, agent, session)
    if record.state.agent:
        workspace.engine.execute(record.stream, EndObserving(reason=reason), agent)


def note_hook_removed(workspace: Workspace, tool: str, worktree: Path) -> int:
    """Our hook was taken away from `tool` in a worktree: nobody watches its sessions there."""
    from moot.protocols.presence import STREAM, sorted_index
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    presence = workspace.engine.state(PRESENCE, STREAM)
    stopped = 0
    for record in list_sessions(workspace):
        member = sorted_index.find_member(presence, record.state.agent)
        is_there = member is None or member.worktree in ("", str(worktree))
        is_tools = record.state.session.startswith((f"{tool}:", f"{RUN}{tool}"))
        if is_there and is_tools and not record.state.ended:
            with suppress(MootError):
                workspace.engine.execute(record.stream, StopWatching(why=HOOK_OFF), SYSTEM)
                stopped += 1
    return stopped


def note_hooks_lost(workspace: Workspace, agent: str, tool: str) -> None:
    """The settings of `tool` have lost our hooks while it runs as `agent`: nobody may be asked."""
    for record in _open_sessions(workspace, agent, tool):
        workspace.engine.execute(record.stream, StopWatching(why=HOOK_OFF), agent)


def note_hooks_kept(workspace: Workspace, agent: str, tool: str) -> None:
    """The running tool has kept its hooks all the same: end the time in which nobody was asked."""
    now = workspace.engine.clock()
    for record in _open_sessions(workspace, agent, tool):
        blind = record.state.blind_since
        if blind is not None and blind < now:
            gap = NoteGap(since=blind, until=now, why=record.state.blind_why)
            workspace.engine.execute(record.stream, gap, agent)


def is_hook_heard(workspace: Workspace, agent: str, tool: str) -> bool:
    """True if a session of `tool` is watched now: a hook spoke after the newest stop."""
    records = _open_sessions(workspace, agent, tool)
    return any(record.state.blind_since is None for record in records)


def _open_sessions(workspace: Workspace, agent: str, tool: str) -> list[WatchedSession]:
    return [
        record
        for record in list_sessions(workspace, agent)
        if record.state.session.startswith(f"{tool}:") and not record.state.ended
    ]


def end_sessions_of_run(workspace: Workspace, agent: str, since: Millis) -> str | None:
    """A program that ran as `agent` since then has ended: end what its hooks began.

    Gives back one sentence on tests after the last edit of the newest session that edited.
    """
    from moot.protocols.observed.views import describe_tests

    tests: str | None = None
    for record in list_sessions(workspace, agent):
        is_hooks = not record.state.session.startswith(RUN)
        if is_hooks and record.state.last_at >= since and not record.state.ended:
            workspace.engine.execute(record.stream, EndObserving(reason="its program ended"), agent)
        if is_hooks and record.state.last_at >= since:
            tests = describe_tests(record.state) or tests
    return tests


def list_sessions(workspace: Workspace, agent: str | None = None) -> list[WatchedSession]:
    """Every watched session, or one agent's, as they began; runs only if they had a gap."""
    prefix = f"{PROTOCOL}/" + (f"{agent}~" if agent else "")
    with workspace.store.read() as view:
        rows = view.rows(SESSION_SPACE, prefix, limit=MAX_SESSIONS)
    every = [WatchedSession(row.key, workspace.engine.state(MACHINE, row.key)) for row in rows]
    records = [record for record in every if not _is_uneventful_run(record.state)]
    return sorted(records, key=lambda record: (record.state.since, record.stream))


def _is_uneventful_run(state: State) -> bool:
    """A run whose hook is expected or spoke in time: the sessions say all there is to say."""
    return state.session.startswith(RUN) and not state.gap_count and state.blind_since is None


def count_work_during_trace(workspace: Workspace, trace: Trace) -> str:
    """How much of the work of a trace's agents it governed, and how much was only watched."""
    from moot.protocols.observed.views import count_work

    watched = _sessions_during_trace(workspace, trace)
    return count_work(trace.completed + trace.failures, [record.state for record in watched])


def _sessions_during_trace(workspace: Workspace, trace: Trace) -> list[WatchedSession]:
    """The sessions of a trace's own agents that were watched while it was open."""
    until = trace.last_at if trace.ended else workspace.engine.clock()
    agents = dict.fromkeys(binding.agent for binding in trace.roles)
    return [
        record
        for agent in agents
        for record in list_sessions(workspace, agent)
        if record.state.since <= until and record.state.last_at >= trace.since
    ]


def open_record(workspace: Workspace, agent: str, session: str) -> WatchedSession:
    """The record that this session goes on in.

    A record that was ended takes nothing more: the session goes on in a second part, and so on.
    """
    known = workspace.engine.registry().agents.get(agent)
    epoch = known.epoch if known is not None else 0
    identity = f"{agent}\n{epoch}\n{session}".encode("utf-8", "replace")
    base = f"{PROTOCOL}/{agent}~{sha256(identity).hexdigest()[:16]}"
    for part in range(1, MAX_PARTS):
        stream = base if part == 1 else f"{base}.{part}"
        state = workspace.engine.state(MACHINE, stream)
        if not state.ended:
            return WatchedSession(stream, state)
    raise Refused("too_many_parts", "this session was ended too often", hint="start a new session")
