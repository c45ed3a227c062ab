"""Which agents of a parliament spoke from a script: the decisions argued in it know."""

from __future__ import annotations

from collections.abc import Iterator

from moot.flows.parliament.parliament_session import ParliamentSession
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.machine import QUESTIONS
from moot.protocols.decision.model import State


def list_scripted_agents(session: ParliamentSession) -> tuple[str, ...]:
    """Agents with a seat whose participant was a script or a rule, in the order of the seats."""
    scripted = {
        seat.agent for decision in _decisions(session) for seat in decision.seats if seat.scripted
    }
    return tuple(seat.agent for seat in session.state.seats_in_order() if seat.agent in scripted)


def _decisions(session: ParliamentSession) -> Iterator[State]:
    """The decision under the session's own id, which records its runs, else the question's."""
    engine = session.workspace.engine
    own = engine.state(DECISION, stream_of(session.id))
    if _is_argued_in(own, session):
        yield own
        return
    with session.workspace.store.read() as view:
        streams = [row.key for row in view.rows(QUESTIONS, limit=100_000)]
    decisions = (engine.state(DECISION, stream) for stream in streams)
    yield from (decision for decision in decisions if _is_argued_in(decision, session))


def _is_argued_in(decision: State, session: ParliamentSession) -> bool:
    return decision.session is not None and decision.session.id == session.stream
