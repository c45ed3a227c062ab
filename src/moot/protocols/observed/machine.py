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
from msgspec.structs import replace

from moot.core.clock import Millis
from moot.core.findings import check_all
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Draft,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    decide_by_findings,
    fill_from,
    no_agenda,
    refusal,
)
from moot.protocols.observed import model
from moot.protocols.observed.model import MAX_GAPS, MAX_TOOLS, OTHER_TOOLS, Gap, Stage, State
from moot.protocols.observed.rules import RULES

# The state after each event. Total: what is in the ledger has happened.


def evolve(state: State, recorded: Recorded[Any]) -> State:
    after = _EVOLVE[type(recorded.event)](state, recorded)
    return replace(after, last_at=recorded.at)


def _on_begun(state: State, recorded: Recorded[model.ObservingBegun]) -> State:
    actor = recorded.actor
    return replace(
        state,
        agent=actor.id,
        epoch=actor.epoch,
        session=recorded.event.session,
        since=recorded.at,
    )


def _on_tool(state: State, recorded: Recorded[model.ToolObserved]) -> State:
    tool = recorded.event.tool
    if tool not in state.tools and len(state.tools) >= MAX_TOOLS:
        tool = OTHER_TOOLS
    number = state.count + 1
    after = replace(
        state,
        tools=state.tools.set(tool, state.tools.get(tool, 0) + 1),
        count=number,
        files=state.files + len(recorded.event.files),
    )
    tests = recorded.event.tests
    if tests:  # files that tests write are no edits
        return replace(after, last_tests=number, tests=tests)
    return replace(after, last_edit=number) if recorded.event.files else after


def _on_stopped(state: State, recorded: Recorded[model.WatchingStopped]) -> State:
    return replace(state, blind_since=recorded.event.since, blind_why=recorded.event.why)


def _on_gap(state: State, recorded: Recorded[model.GapNoted]) -> State:
    """Add a gap. It ends the blind time only if it began when watching stopped."""
    event = recorded.event
    gap = Gap(event.since, event.until, event.why)
    closes = state.blind_since == event.since
    return replace(
        state,
        gaps=(*state.gaps, gap)[-MAX_GAPS:],
        gap_count=state.gap_count + 1,
        blind_since=None if closes else state.blind_since,
        blind_why="" if closes else state.blind_why,
    )


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    model.ObservingBegun: _on_begun,
    model.ToolObserved: _on_tool,
    model.WatchingStopped: _on_stopped,
    model.GapNoted: _on_gap,
    model.UnseenChangesNoted: lambda state, _recorded: state,  # the event has the names
    model.ObservingEnded: lambda state, _recorded: replace(state, ended=True),
}


__all__ = ["MACHINE", "TRANSITIONS"]

# The stage after an event. A gap that did not begin with the blind time leaves the session blind.
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.NEW: {model.ObservingBegun: Stage.WATCHED},
    Stage.WATCHED: {
        model.ToolObserved: Stage.WATCHED,
        model.GapNoted: Stage.WATCHED,
        model.UnseenChangesNoted: Stage.WATCHED,
        model.WatchingStopped: Stage.BLIND,
        model.ObservingEnded: Stage.ENDED,
    },
    Stage.BLIND: {model.GapNoted: Stage.WATCHED, model.UnseenChangesNoted: Stage.BLIND},
    Stage.ENDED: {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    drafts = _DRAFTS.get(type(command))
    if drafts is None:
        return refusal(
            "T-10", "unknown_command", "this record knows no such command", "update moot"
        )
    findings = check_all(RULES[type(command)], Case(state, command, context))
    return decide_by_findings(findings, *drafts(state, command, context.now))


def _draft_tool(state: State, command: model.ObserveTool, now: Millis) -> Iterator[Event | Draft]:
    """Record a use. The first one begins the record; one after a stop ends the gap."""
    if not state.agent:
        yield model.ObservingBegun(session=command.session)
    yield from _open_gap(state, now)
    ref = command.artifact
    event = fill_from(
        model.ToolObserved,
        command,
        number=state.count + 1,
        artifact=ref.sha256 if ref is not None else None,
    )
    yield Draft(event, (ref,) if ref is not None else ())


def _open_gap(state: State, now: Millis) -> Iterator[Event]:
    """Yield the blind time that ends now, if there is one."""
    if state.blind_since is not None:
        until = max(now, state.blind_since)  # a clock may go backwards, a gap may not
        yield model.GapNoted(since=state.blind_since, until=until, why=state.blind_why)


def _draft_stop(state: State, command: model.StopWatching, now: Millis) -> Iterator[Event]:
    """Record a stop; a second one changes nothing: the gap began with the first."""
    if state.blind_since is None:
        since = now if command.since is None else command.since
        yield model.WatchingStopped(since=since, why=command.why)


def _draft_end(state: State, command: model.EndObserving, now: Millis) -> Iterator[Event]:
    yield from _open_gap(state, now)
    yield model.ObservingEnded(reason=command.reason, tests=state.tests_after_edit or UNSET)


def _as_asked(kind: type[Event]) -> Callable[[State, Any, Millis], Iterator[Event]]:
    return lambda _state, command, _now: iter((fill_from(kind, command),))


_DRAFTS: Final[dict[type[Command], Callable[[State, Any, Millis], Iterable[Event | Draft]]]] = {
    model.BeginObserving: _as_asked(model.ObservingBegun),
    model.ObserveTool: _draft_tool,
    model.StopWatching: _draft_stop,
    model.NoteGap: _as_asked(model.GapNoted),
    model.NoteUnseenChanges: _as_asked(model.UnseenChangesNoted),
    model.EndObserving: _draft_end,
}


agenda = no_agenda


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index the observed sessions, and which observation left which artifact."""
    event, stream = recorded.event, recorded.stream
    if isinstance(event, model.ObservingBegun):
        row = {"agent": recorded.actor.id, "at": recorded.at, "session": event.session}
        yield Put("observed.sessions", stream, row)
    elif isinstance(event, model.ToolObserved) and event.artifact is not None:
        yield Put("observed.artifacts", f"{stream} {event.artifact}", {"number": event.number})


MACHINE: Machine[State] = Machine(
    name="observed",
    version=2,
    initial=State(),
    events=model.EVENTS,
    commands=model.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
)
