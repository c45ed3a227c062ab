"""Whose words in a parliament were laid down beforehand: the decisions it belongs to know."""

from __future__ import annotations

from collections.abc import Iterator

from moot.flows.parliament.chamber import Room
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import QUESTIONS
from moot.protocols.decision.model import State


def scripted(room: Room) -> tuple[str, ...]:
    """Agents with a seat whose participant was a script or a rule, in the order of the seats."""
    found = {one.agent for state in _decisions(room) for one in state.seats if one.scripted}
    return tuple(seat.agent for seat in room.state.seats_in_order() if seat.agent in found)


def _decisions(room: Room) -> Iterator[State]:
    """The one under the session's own id, which keeps its books, or else that of the question."""
    engine = room.space.engine
    own: State = engine.state(stream_of(room.id))
    if _of(own, room):
        yield own
        return
    with room.space.store.read() as view:
        asked = [row.key for row in view.rows(QUESTIONS, limit=100_000)]
    states: Iterator[State] = (engine.state(stream) for stream in asked)
    yield from (state for state in states if _of(state, room))


def _of(state: State, room: Room) -> bool:
    return state.session is not None and state.session.id == room.stream
