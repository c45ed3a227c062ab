"""How each agent is guarded now, and when nothing checked its edits.

`sessions.py` writes the records of sessions, this module those of runs. Lists of agents ask this,
so it reads a state only where there is a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.observed.sessions import open_record
from moot.api.session import read_presence
from moot.coding_tools import NAMES, find_tool
from moot.core.clock import Millis, to_text
from moot.core.machine import Command
from moot.engine.job import Job
from moot.protocols.observed import PROTOCOL, RUN, SESSION_SPACE
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import (
    UNGUARDED,
    BeginObserving,
    EndObserving,
    NoteGap,
    NoteUnseenChanges,
    StopWatching,
)

if TYPE_CHECKING:
    from moot.protocols.observed.model import State
    from moot.workspace.workspace import Workspace


MOST_RUNS: Final = 50
_PAGE: Final = 1_000


class Guard(StrEnum):
    """How an agent's edits are guarded now.

    `guarded`: a hook of its session has run. `expected`: it should run and has not yet.
    `unguarded`: nothing checks its edits. `watched`: a program without known hooks, whose edits are
    noted later.
    """

    GUARDED = "guarded"
    EXPECTED = "expected"
    UNGUARDED = "unguarded"
    WATCHED = "watched"


class UnguardedSpan(msgspec.Struct, frozen=True):
    """When a tool worked and nothing checked its edits; `until` None: it still does."""

    agent: str
    tool: str
    since: str
    until: str | None
    why: str


class SessionRow(msgspec.Struct, frozen=True):
    agent: str
    at: Millis
    session: str


def guards_of_active(workspace: Workspace, names: Iterable[str]) -> dict[str, str]:
    """Return how each active agent in `names` is guarded; those with neither hook nor run are left
    out."""
    from moot.keys.running_names import is_running

    guards = {}
    for name in filter(_is_active(workspace), names):
        guard = _guard_of(workspace, name)
        if guard is None and is_running(workspace.folder, workspace.trust.origin, name):
            guard = Guard.WATCHED
        if guard is not None:
            guards[name] = str(guard)
    return guards


def count_unguarded(workspace: Workspace) -> int:
    """Return how many agents work here unguarded, as far as sessions and runs are recorded."""
    names = dict.fromkeys(row.agent for _stream, row in list_all_rows(workspace))
    active = filter(_is_active(workspace), names)
    return sum(_guard_of(workspace, name) is Guard.UNGUARDED for name in active)


def _is_active(workspace: Workspace) -> Callable[[str], bool]:
    """Return a predicate: the agent works here and has not ended."""
    registry = workspace.engine.registry()
    members = read_presence(workspace).members_by_name

    def is_active(name: str) -> bool:
        member, agent = members.get(name), registry.agents.get(name)
        if member is None or member.left or agent is None:
            return False
        return registry.keys[agent.kid].ending is None

    return is_active


def list_unguarded(workspace: Workspace) -> list[UnguardedSpan]:
    """Return the unguarded spans of the newest runs, oldest first."""
    rows = [row for row in list_all_rows(workspace) if row[1].session.startswith(RUN)]
    newest = sorted(rows, key=lambda row: (row[1].at, row[0]))[-MOST_RUNS:]
    return [span for stream, _ in newest for span in _spans_of(_state(workspace, stream))]


def _guard_of(workspace: Workspace, name: str) -> Guard | None:
    states = [
        state
        for stream, _ in list_rows(workspace, name)
        if not (state := _state(workspace, stream)).ended
    ]
    sessions = [state.session for state in states if not state.session.startswith(RUN)]
    tools = [state.session.removeprefix(RUN) for state in states if state.session.startswith(RUN)]
    silent = [tool for tool in tools if not any(one.startswith(f"{tool}:") for one in sessions)]
    if any(state.blind_since is not None for state in states):
        return Guard.UNGUARDED
    if silent:
        return Guard.EXPECTED
    return Guard.GUARDED if sessions else None


def _state(workspace: Workspace, stream: str) -> State:
    return workspace.engine.state(MACHINE, stream)


def _spans_of(state: State) -> Iterator[UnguardedSpan]:
    tool = state.session.removeprefix(RUN)
    for gap in state.gaps:
        yield UnguardedSpan(state.agent, tool, to_text(gap.since), to_text(gap.until), gap.why)
    if state.blind_since is not None:
        yield UnguardedSpan(state.agent, tool, to_text(state.blind_since), None, state.blind_why)


def list_rows(workspace: Workspace, agent: str) -> list[tuple[str, SessionRow]]:
    with workspace.store.read() as view:
        rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/{agent}~", limit=_PAGE)
    return [(row.key, msgspec.json.decode(row.value, type=SessionRow)) for row in rows]


def list_all_rows(workspace: Workspace) -> Iterator[tuple[str, SessionRow]]:
    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/", after, _PAGE)
        for row in rows:
            yield row.key, msgspec.json.decode(row.value, type=SessionRow)
        if len(rows) < _PAGE:
            return
        after = rows[-1].key


# A coding tool under `moot run` has a record of its own (`run:TOOL`): that a hook is expected, from
# when to when nobody checked, and which files changed although no hook spoke. `guarded` is read off
# the sessions that hooks have begun.

ENDED: Final = "its program ended"
MOST_FILES: Final = 200


def expect_hook(workspace: Workspace, agent: str, tool: str) -> None:
    """Record that a tool is about to start as `agent` and that its hook should run."""
    _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"))


def note_unguarded(
    workspace: Workspace, agent: str, tool: str, why: str = UNGUARDED, since: Millis | None = None
) -> None:
    """Record that nothing checks `tool` from now on, or since then; a repeat changes nothing."""
    stop = StopWatching(why=why, since=since)
    if open_record(workspace, agent, f"{RUN}{tool}").state.agent:
        _execute(workspace, agent, tool, stop)
    else:
        _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"), stop)


def note_hook_ran(workspace: Workspace, agent: str, tool: str, at: Millis) -> None:
    """Record that a hook ran after all, at that time, which closes the gap."""
    state = open_record(workspace, agent, f"{RUN}{tool}").state
    if state.blind_since is not None and state.blind_since < at:
        gap = NoteGap(since=state.blind_since, until=at, why=state.blind_why)
        _execute(workspace, agent, tool, gap)


def first_hook_time(workspace: Workspace, agent: str, tool: str, since: Millis) -> Millis | None:
    """Return when a hook of this tool first started a session of `agent` since then; None if
    never."""
    return min((row.at for row in _hooked_sessions(workspace, agent, tool, since)), default=None)


def count_hooked_sessions(workspace: Workspace, agent: str, tool: str, since: Millis) -> int:
    """Return how many sessions of this tool hooks have started as `agent` since then."""
    return sum(1 for _ in _hooked_sessions(workspace, agent, tool, since))


def end_run(
    workspace: Workspace, agent: str, tool: str, since: Millis, files: Iterable[str] = ()
) -> None:
    """Record that a tool's program ended. `files` changed meanwhile, by an unknown author; they are
    noted only if no hook has run."""
    record = open_record(workspace, agent, f"{RUN}{tool}")
    spoke_at = first_hook_time(workspace, agent, tool, since)
    if not record.state.agent:
        return
    commands: list[Command] = []
    if spoke_at is not None:
        note_hook_ran(workspace, agent, tool, spoke_at)
    else:
        changed = tuple(files)[:MOST_FILES]
        commands += [NoteUnseenChanges(files=changed)] if changed else []
    _execute(workspace, agent, tool, *commands, EndObserving(reason=ENDED))


def was_hook_asked(workspace: Workspace, tool: str, session: str) -> bool:
    """True if a hook ever ran for this session of a tool, under any agent."""
    return any(row.session == f"{tool}:{session}" for _stream, row in list_all_rows(workspace))


def _hooked_sessions(
    workspace: Workspace, agent: str, tool: str, since: Millis
) -> Iterator[SessionRow]:
    for _, row in list_rows(workspace, agent):
        if row.session.startswith(f"{tool}:") and row.at >= since:
            yield row


def _execute(workspace: Workspace, agent: str, tool: str, *commands: Command) -> None:
    """Execute several commands on the run's record, in one commit."""
    stream = open_record(workspace, agent, f"{RUN}{tool}").stream
    results = workspace.engine.execute_all([Job(stream, command, agent) for command in commands])
    for result in results:
        if isinstance(result, Exception):
            raise result


# Which coding tool an agent works with, as far as hooks and runs have said.

_NO_ID: Final = "run"  # of a tool that gave its session no id
_NO_TOOL: Final = "program"


class AgentTool(NamedTuple):
    """A coding tool, and the id of its session, if known."""

    tool: str
    session: str = ""

    @property
    def resume_line(self) -> str:
        """Return the command that resumes this session; only the tool's name if the id is
        unknown."""
        if not self.session or self.tool not in NAMES:
            return self.tool
        return find_tool(self.tool).resume_command(quote(self.session))


def find_tools(workspace: Workspace, names: Iterable[str]) -> dict[str, AgentTool]:
    """Return the newest tool of each agent; agents without a known tool are left out."""
    newest = {name: _newest_tool(row for _, row in list_rows(workspace, name)) for name in names}
    return {name: tool for name, tool in newest.items() if tool is not None}


def _newest_tool(rows: Iterable[SessionRow]) -> AgentTool | None:
    """Prefer a session that a hook started to the run around it, which is older."""
    known = [(row.at, tool) for row in rows if (tool := _parse_tool(row.session)) is not None]
    return max(known, key=lambda one: (bool(one[1].session), one[0]), default=(0, None))[1]


def _parse_tool(session: str) -> AgentTool | None:
    if session.startswith(RUN):
        return AgentTool(session.removeprefix(RUN))
    tool, _, identity = session.partition(":")
    if not identity or tool == _NO_TOOL:
        return None
    return AgentTool(tool, "" if identity == _NO_ID else identity)
