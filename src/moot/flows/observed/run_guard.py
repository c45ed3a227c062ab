"""The guard of a run, on record: a hook is expected, has spoken, or nobody checks.

A coding tool under `moot run` has a record of its own (`run:TOOL`) beside those of its sessions,
which its hook begins. It says that a hook is expected; from when to when nobody checked (started
with `--unguarded`, or its hook stayed silent); and which files changed although no hook spoke. What
a hook says is never written here: `guarded` is read off the sessions that hooks have begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.machine import Command
from moot.engine.job import Job
from moot.flows.observed.sessions import NO_HOOK, PROTOCOL, RUN, SESSION_SPACE, open_record
from moot.protocols.observed.commands import (
    BeginObserving,
    EndObserving,
    NoteGap,
    NoteUnseenChanges,
    StopWatching,
)
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import UNGUARDED

if TYPE_CHECKING:
    from moot.protocols.observed.model import State
    from moot.workspace.workspace import Workspace

ENDED: Final = "its program ended"
MOST_FILES: Final = 200
MOST_RUNS: Final = 50
_PAGE: Final = 1_000


class Guard(StrEnum):
    """How an agent's edits are guarded now.

    `guarded`: a hook of its session has spoken. `expected`: it is to, and has not yet. `unguarded`:
    nobody checks. `watched`: a program without known hooks, whose edits are noted afterwards.
    """

    GUARDED = "guarded"
    EXPECTED = "expected"
    UNGUARDED = "unguarded"
    WATCHED = "watched"


class UnguardedSpan(msgspec.Struct, frozen=True):
    """From when to when a tool worked and nobody checked its edits; `until` None: it still does."""

    agent: str
    tool: str
    since: str
    until: str | None
    why: str


class _SessionRow(msgspec.Struct, frozen=True):
    agent: str
    at: Millis
    session: str


def expect_hook(workspace: Workspace, agent: str, tool: str) -> None:
    """A tool is about to start as `agent`, and its hook is to speak."""
    _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"))


def note_unguarded(
    workspace: Workspace, agent: str, tool: str, why: str = UNGUARDED, since: Millis | None = None
) -> None:
    """Nobody checks what `tool` does from now on, or since then; a repeat changes nothing."""
    stop = StopWatching(why=why, since=since)
    if open_record(workspace, agent, f"{RUN}{tool}").state.agent:
        _execute(workspace, agent, tool, stop)
    else:
        _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"), stop)


def note_hook_spoke(workspace: Workspace, agent: str, tool: str, at: Millis) -> None:
    """A hook has spoken after all, at that time: until then nobody checked."""
    state = open_record(workspace, agent, f"{RUN}{tool}").state
    if state.blind_since is not None and state.blind_since < at:
        gap = NoteGap(since=state.blind_since, until=at, why=state.blind_why)
        _execute(workspace, agent, tool, gap)


def when_hook_spoke(workspace: Workspace, agent: str, tool: str, since: Millis) -> Millis | None:
    """When a hook of this tool first began a session of `agent`, since then; None: it has not."""
    return min((row.at for row in _sessions_begun(workspace, agent, tool, since)), default=None)


def count_spoken(workspace: Workspace, agent: str, tool: str, since: Millis) -> int:
    """How many sessions of this tool hooks have begun as `agent`, since then."""
    return sum(1 for _ in _sessions_begun(workspace, agent, tool, since))


def end_run(
    workspace: Workspace, agent: str, tool: str, since: Millis, files: Iterable[str] = ()
) -> None:
    """A tool's program has ended. If no hook has spoken, its whole time went unchecked.

    `files` are those that changed meanwhile; they are noted only if no hook has spoken.
    """
    record = open_record(workspace, agent, f"{RUN}{tool}")
    spoke_at = when_hook_spoke(workspace, agent, tool, since)
    if not record.state.agent:
        return
    commands: list[Command] = []
    if spoke_at is not None:
        note_hook_spoke(workspace, agent, tool, spoke_at)
    else:
        changed = tuple(files)[:MOST_FILES]
        commands += [NoteUnseenChanges(files=changed)] if changed else []
        now = workspace.engine.clock()
        if record.state.blind_since is None and record.state.since < now:
            commands.append(NoteGap(since=record.state.since, until=now, why=NO_HOOK))
    _execute(workspace, agent, tool, *commands, EndObserving(reason=ENDED))


def guards_of_active(workspace: Workspace) -> dict[str, str]:
    """How each agent that has not ended is guarded now; who is neither hooked nor run is left out.

    Only those who work here are asked about: others have no hook that could speak.
    """
    from moot.keys.running_names import is_running
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    registry = workspace.engine.registry()
    guards = {}
    for member in workspace.engine.state(PRESENCE, STREAM).members:
        agent = registry.agents.get(member.name)
        if agent is None or member.left or registry.keys[agent.kid].ending is not None:
            continue
        guard = _guard_of(workspace, member.name)
        if guard is None and is_running(workspace.folder, workspace.trust.origin, member.name):
            guard = Guard.WATCHED
        if guard is not None:
            guards[member.name] = str(guard)
    return guards


def list_unguarded(workspace: Workspace) -> list[UnguardedSpan]:
    """The times in which tools worked unchecked, of the newest runs, oldest first."""
    rows = [row for row in _all_rows(workspace) if row[1].session.startswith(RUN)]
    newest = sorted(rows, key=lambda row: (row[1].at, row[0]))[-MOST_RUNS:]
    states = (workspace.engine.state(MACHINE, stream) for stream, _ in newest)
    return [span for state in states for span in _spans_of(state)]


def _guard_of(workspace: Workspace, name: str) -> Guard | None:
    states = [
        state
        for stream, _ in _rows_of(workspace, name)
        if not (state := workspace.engine.state(MACHINE, stream)).ended
    ]
    sessions = [state.session for state in states if not state.session.startswith(RUN)]
    tools = [state.session.removeprefix(RUN) for state in states if state.session.startswith(RUN)]
    silent = [tool for tool in tools if not any(one.startswith(f"{tool}:") for one in sessions)]
    if any(state.blind_since is not None for state in states):
        return Guard.UNGUARDED
    if silent:
        return Guard.EXPECTED
    return Guard.GUARDED if sessions else None


def _spans_of(state: State) -> Iterator[UnguardedSpan]:
    tool = state.session.removeprefix(RUN)
    for gap in state.gaps:
        yield UnguardedSpan(state.agent, tool, to_text(gap.since), to_text(gap.until), gap.why)
    if state.blind_since is not None:
        yield UnguardedSpan(state.agent, tool, to_text(state.blind_since), None, state.blind_why)


def _sessions_begun(
    workspace: Workspace, agent: str, tool: str, since: Millis
) -> Iterator[_SessionRow]:
    for _, row in _rows_of(workspace, agent):
        if row.session.startswith(f"{tool}:") and row.at >= since:
            yield row


def _rows_of(workspace: Workspace, agent: str) -> list[tuple[str, _SessionRow]]:
    with workspace.store.read() as view:
        rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/{agent}~", limit=_PAGE)
    return [(row.key, msgspec.json.decode(row.value, type=_SessionRow)) for row in rows]


def _all_rows(workspace: Workspace) -> Iterator[tuple[str, _SessionRow]]:
    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/", after, _PAGE)
        for row in rows:
            yield row.key, msgspec.json.decode(row.value, type=_SessionRow)
        if len(rows) < _PAGE:
            return
        after = rows[-1].key


def _execute(workspace: Workspace, agent: str, tool: str, *commands: Command) -> None:
    """Several commands on the run's record, in one commit."""
    stream = open_record(workspace, agent, f"{RUN}{tool}").stream
    results = workspace.engine.execute_all([Job(stream, command, agent) for command in commands])
    for result in results:
        if isinstance(result, Exception):
            raise result
