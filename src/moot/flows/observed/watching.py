"""Watched work: what a coding tool's hook saw, one record a session, with its gaps admitted.

When is a gap? While our hook was uninstalled; from the last thing seen to the start of a session
that goes on, if its program showed signs of life in between; and for a whole run of a tool that
`moot run` kept alive and no hook ever spoke of. A quiet time alone is none: thinking leaves no
tool calls.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.errors import MootError, Refused
from moot.core.names import SYSTEM
from moot.protocols.observed.commands import (
    BeginObserving,
    EndObserving,
    NoteGap,
    StopWatching,
)
from moot.protocols.observed.model import State

if TYPE_CHECKING:
    from pathlib import Path

    from moot.core.clock import Millis
    from moot.protocols.observed.commands import ObserveTool
    from moot.protocols.trace.model import State as Trace
    from moot.workspace.workspace import Workspace

PROTOCOL: Final = "observed"
SESSIONS: Final = "observed.sessions"
HOOK_OFF: Final = "hook off"
NO_HOOK: Final = "no hook spoke"
MOST: Final = 1_000
MOST_PARTS: Final = 1_000


class Watched(NamedTuple):
    """One session's record."""

    stream: str
    state: State


def watch(space: Workspace, agent: str, session: str, seen: ObserveTool) -> None:
    """Put down one use of a tool, as the agent itself."""
    space.engine.execute(_open(space, agent, session).stream, seen, agent)


def begin(space: Workspace, agent: str, session: str, alive_at: Millis | None) -> None:
    """A session begins, or goes on; `alive_at` is its agent's last sign of life before."""
    found = _open(space, agent, session)
    if not found.state.agent:
        space.engine.execute(found.stream, BeginObserving(session=session), agent)
        return
    since, now = found.state.last_at, space.engine.clock()
    if alive_at is not None and since < alive_at and since < now and not _blind(found):
        gap = NoteGap(since=since, until=now, why=HOOK_OFF)
        space.engine.execute(found.stream, gap, agent)


def end(space: Workspace, agent: str, session: str, reason: str) -> None:
    found = _open(space, agent, session)
    if found.state.agent:
        space.engine.execute(found.stream, EndObserving(reason=reason), agent)


def hook_off(space: Workspace, tool: str, worktree: Path) -> int:
    """Our hook was taken away from `tool` in a worktree: nobody watches its sessions there."""
    from moot.protocols.presence import STREAM, shelf

    presence = space.engine.state(STREAM)
    stopped = 0
    for one in sessions(space):
        member = shelf.member(presence, one.state.agent)
        there = member is None or member.worktree in ("", str(worktree))
        if there and not one.state.ended and one.state.session.startswith(f"{tool}:"):
            with suppress(MootError):
                space.engine.execute(one.stream, StopWatching(why=HOOK_OFF), SYSTEM)
                stopped += 1
    return stopped


def run_over(space: Workspace, agent: str, session: str, since: Millis) -> None:
    """A tool has run as `agent` since then: its sessions are over; if none spoke, that is a gap."""
    mine = [one for one in sessions(space, agent) if one.state.last_at >= since]
    for one in mine:
        if not one.state.ended:
            space.engine.execute(one.stream, EndObserving(reason="its program ended"), agent)
    now = space.engine.clock()
    if mine or since >= now:
        return
    stream = _open(space, agent, session).stream
    for command in (
        BeginObserving(session=session),
        NoteGap(since=since, until=now, why=NO_HOOK),
        EndObserving(reason="its program ended"),
    ):
        space.engine.execute(stream, command, agent)


def sessions(space: Workspace, agent: str | None = None) -> list[Watched]:
    """Every watched session, or one agent's, as they began."""
    prefix = f"{PROTOCOL}/" + (f"{agent}~" if agent else "")
    with space.store.read() as view:
        rows = view.rows(SESSIONS, prefix, limit=MOST)
    found = [Watched(row.key, space.engine.state(row.key)) for row in rows]
    return sorted(found, key=lambda one: (one.state.since, one.stream))


def beside(space: Workspace, trace: Trace) -> list[Watched]:
    """The sessions of a trace's own agents that were watched while it was open."""
    until = trace.last_at if trace.ended else space.engine.clock()
    agents = dict.fromkeys(one.agent for one in trace.roles)
    return [
        one
        for agent in agents
        for one in sessions(space, agent)
        if one.state.since <= until and one.state.last_at >= trace.since
    ]


def _blind(found: Watched) -> bool:
    """A gap that is open is closed by the next thing seen."""
    return found.state.blind_since is not None


def _open(space: Workspace, agent: str, session: str) -> Watched:
    """The record of a session; one that was ended and goes on has a second part, and so on."""
    known = space.engine.registry().agents.get(agent)
    epoch = known.epoch if known is not None else 0
    told = f"{agent}\n{epoch}\n{session}".encode("utf-8", "replace")
    base = f"{PROTOCOL}/{agent}~{hashlib.sha256(told).hexdigest()[:16]}"
    for part in range(1, MOST_PARTS):
        stream = base if part == 1 else f"{base}.{part}"
        state: State = space.engine.state(stream)
        if not state.ended:
            return Watched(stream, state)
    raise Refused("too_many_parts", "this session was ended too often", hint="start a new session")
