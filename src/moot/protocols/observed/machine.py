"""The automaton of one observed session.

new --begun--> watched --tool, gap, changes--> watched
               watched --stopped----> blind --gap--> watched
                                      blind --changes--> blind
               watched --ended------> ended
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET

from moot.core.clock import Millis
from moot.core.findings import check_all, select_errors
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Draft,
    Due,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    accept,
    refusal,
    refuse,
)
from moot.protocols.observed import commands as ask
from moot.protocols.observed import events as did
from moot.protocols.observed.evolution import evolve
from moot.protocols.observed.model import Stage, State
from moot.protocols.observed.rules import RULES

__all__ = ["MACHINE", "TRANSITIONS"]

# Where an event leads. A gap that does not begin with the blind time leaves the session blind.
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.NEW: {did.ObservingBegun: Stage.WATCHED},
    Stage.WATCHED: {
        did.ToolObserved: Stage.WATCHED,
        did.GapNoted: Stage.WATCHED,
        did.UnseenChangesNoted: Stage.WATCHED,
        did.WatchingStopped: Stage.BLIND,
        did.ObservingEnded: Stage.ENDED,
    },
    Stage.BLIND: {did.GapNoted: Stage.WATCHED, did.UnseenChangesNoted: Stage.BLIND},
    Stage.ENDED: {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    drafts = _DRAFTS.get(type(command))
    if drafts is None:
        return refusal(
            "T-10", "unknown_command", "this record knows no such command", "update moot"
        )
    findings = check_all(RULES[type(command)], Case(state, command, context))
    if select_errors(findings):
        return refuse(findings)
    return accept(*drafts(state, command, context.now))


def _draft_begin(_state: State, command: ask.BeginObserving, _now: Millis) -> Iterator[Event]:
    yield did.ObservingBegun(session=command.session)


def _draft_tool(state: State, command: ask.ObserveTool, now: Millis) -> Iterator[Event | Draft]:
    """The first use begins the record; a use after a stop ends the gap."""
    if not state.agent:
        yield did.ObservingBegun(session=command.session)
    yield from _open_gap(state, now)
    ref = command.artifact
    event = did.ToolObserved(
        number=state.count + 1,
        tool=command.tool,
        input_hash=command.input_hash,
        artifact=ref.sha256 if ref is not None else None,
        files=command.files,
        redacted=command.redacted,
        ok=command.ok,
        alias=command.alias,
        tests=command.tests,
        model=command.model,
    )
    yield Draft(event, (ref,) if ref is not None else ())


def _open_gap(state: State, now: Millis) -> Iterator[Event]:
    """The blind time that ends now, if there is one."""
    if state.blind_since is not None:
        until = max(now, state.blind_since)  # a clock may go backwards, a gap may not
        yield did.GapNoted(since=state.blind_since, until=until, why=state.blind_why)


def _draft_stop(state: State, command: ask.StopWatching, now: Millis) -> Iterator[Event]:
    """Stopping twice changes nothing: the gap began with the first stop."""
    if state.blind_since is None:
        since = now if command.since is None else command.since
        yield did.WatchingStopped(since=since, why=command.why)


def _draft_gap(_state: State, command: ask.NoteGap, _now: Millis) -> Iterator[Event]:
    yield did.GapNoted(since=command.since, until=command.until, why=command.why)


def _draft_unseen_changes(
    _state: State, command: ask.NoteUnseenChanges, _now: Millis
) -> Iterator[Event]:
    yield did.UnseenChangesNoted(files=command.files)


def _draft_end(state: State, command: ask.EndObserving, now: Millis) -> Iterator[Event]:
    yield from _open_gap(state, now)
    yield did.ObservingEnded(reason=command.reason, tests=state.tests_after_edit or UNSET)


_DRAFTS: Final[dict[type[Command], Callable[[State, Any, Millis], Iterable[Event | Draft]]]] = {
    ask.BeginObserving: _draft_begin,
    ask.ObserveTool: _draft_tool,
    ask.StopWatching: _draft_stop,
    ask.NoteGap: _draft_gap,
    ask.NoteUnseenChanges: _draft_unseen_changes,
    ask.EndObserving: _draft_end,
}


def agenda(_state: State, _now: Millis) -> tuple[Due, ...]:
    """Watching asks nothing of anybody."""
    return ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Which sessions were observed, and which observation left which artifact."""
    event, stream = recorded.event, recorded.stream
    if isinstance(event, did.ObservingBegun):
        row = {"agent": recorded.actor.id, "at": recorded.at, "session": event.session}
        yield Put("observed.sessions", stream, row)
    elif isinstance(event, did.ToolObserved) and event.artifact is not None:
        yield Put("observed.artifacts", f"{stream} {event.artifact}", {"number": event.number})


MACHINE: Machine[State] = Machine(
    name="observed",
    version=2,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
)
