"""What follows from an event. Total: whatever stands in the ledger happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from moot.core.machine import Event, Recorded
from moot.protocols.observed import events as did
from moot.protocols.observed.model import MAX_GAPS, MAX_TOOLS, OTHER_TOOLS, Gap, State


def evolve(state: State, recorded: Recorded[Any]) -> State:
    after = _EVOLVE[type(recorded.event)](state, recorded)
    return replace(after, last_at=recorded.at)


def _on_begun(state: State, recorded: Recorded[did.ObservingBegun]) -> State:
    actor = recorded.actor
    return replace(
        state,
        agent=actor.id,
        epoch=actor.epoch,
        session=recorded.event.session,
        since=recorded.at,
    )


def _on_tool(state: State, recorded: Recorded[did.ToolObserved]) -> State:
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
    if tests:  # what tests write themselves is no edit
        return replace(after, last_tests=number, tests=tests)
    return replace(after, last_edit=number) if recorded.event.files else after


def _on_stopped(state: State, recorded: Recorded[did.WatchingStopped]) -> State:
    return replace(state, blind_since=recorded.event.since, blind_why=recorded.event.why)


def _on_gap(state: State, recorded: Recorded[did.GapNoted]) -> State:
    """A gap that began when watching stopped ends the blind time; any other leaves it as it is."""
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


def _on_unseen_changes(state: State, _recorded: Recorded[did.UnseenChangesNoted]) -> State:
    """The event has the names; nothing follows from them."""
    return state


def _on_ended(state: State, _recorded: Recorded[did.ObservingEnded]) -> State:
    return replace(state, ended=True)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.ObservingBegun: _on_begun,
    did.ToolObserved: _on_tool,
    did.WatchingStopped: _on_stopped,
    did.GapNoted: _on_gap,
    did.UnseenChangesNoted: _on_unseen_changes,
    did.ObservingEnded: _on_ended,
}
