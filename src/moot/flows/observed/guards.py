"""How each agent is guarded now, and the times in which nobody checked: read, never written.

What stands in the records of runs is written by `run_guard.py`, that of sessions by `sessions.py`.
Lists of agents ask this, so it loads the machine only where there is a record to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.clock import Millis, to_text
from moot.protocols.observed import PROTOCOL, RUN, SESSION_SPACE

if TYPE_CHECKING:
    from moot.protocols.observed.model import State
    from moot.workspace.workspace import Workspace

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


class SessionRow(msgspec.Struct, frozen=True):
    agent: str
    at: Millis
    session: str


def guards_of_active(workspace: Workspace, names: Iterable[str]) -> dict[str, str]:
    """How each of `names` that has not ended is guarded now; who is neither hooked nor run is left
    out.

    Only those who work here are asked about: others have no hook that could speak.
    """
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
    """How many work here now while nobody checks their edits: only of a session or run on record is
    that known."""
    names = dict.fromkeys(row.agent for _stream, row in all_rows(workspace))
    active = filter(_is_active(workspace), names)
    return sum(_guard_of(workspace, name) is Guard.UNGUARDED for name in active)


def _is_active(workspace: Workspace) -> Callable[[str], bool]:
    """Who works here and has not ended."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    registry = workspace.engine.registry()
    members = workspace.engine.state(PRESENCE, STREAM).members_by_name

    def is_active(name: str) -> bool:
        member, agent = members.get(name), registry.agents.get(name)
        if member is None or member.left or agent is None:
            return False
        return registry.keys[agent.kid].ending is None

    return is_active


def list_unguarded(workspace: Workspace) -> list[UnguardedSpan]:
    """The times in which tools worked unchecked, of the newest runs, oldest first."""
    rows = [row for row in all_rows(workspace) if row[1].session.startswith(RUN)]
    newest = sorted(rows, key=lambda row: (row[1].at, row[0]))[-MOST_RUNS:]
    return [span for stream, _ in newest for span in _spans_of(_state(workspace, stream))]


def _guard_of(workspace: Workspace, name: str) -> Guard | None:
    states = [
        state
        for stream, _ in rows_of(workspace, name)
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
    from moot.protocols.observed.machine import MACHINE

    return workspace.engine.state(MACHINE, stream)


def _spans_of(state: State) -> Iterator[UnguardedSpan]:
    tool = state.session.removeprefix(RUN)
    for gap in state.gaps:
        yield UnguardedSpan(state.agent, tool, to_text(gap.since), to_text(gap.until), gap.why)
    if state.blind_since is not None:
        yield UnguardedSpan(state.agent, tool, to_text(state.blind_since), None, state.blind_why)


def rows_of(workspace: Workspace, agent: str) -> list[tuple[str, SessionRow]]:
    with workspace.store.read() as view:
        rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/{agent}~", limit=_PAGE)
    return [(row.key, msgspec.json.decode(row.value, type=SessionRow)) for row in rows]


def all_rows(workspace: Workspace) -> Iterator[tuple[str, SessionRow]]:
    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(SESSION_SPACE, f"{PROTOCOL}/", after, _PAGE)
        for row in rows:
            yield row.key, msgspec.json.decode(row.value, type=SessionRow)
        if len(rows) < _PAGE:
            return
        after = rows[-1].key
