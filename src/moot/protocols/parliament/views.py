"""What people and agents read of a session: where it is, who stands where, what is possible."""

from __future__ import annotations

from typing import Any

from moot.protocols.parliament import amendments, clock, motives, votes
from moot.protocols.parliament.model import Amendment, Seat, State
from moot.protocols.parliament.temperatures import archetype, shift


def as_json(state: State) -> dict[str, Any]:
    """The session at a glance. The four files are the protocol's own view (`papers.py`)."""
    this, bill = state.round, state.bill
    return {
        "parliament_id": state.parliament_id,
        "status": state.status,
        "outcome": state.outcome,
        "round": this.number,
        "max_rounds": state.max_rounds,
        "round_running": this.running,
        "exchanges": this.exchanges,
        "max_exchanges": clock.cap(state),
        "response_budget": clock.budget(state),
        "drafter": state.drafter,
        "bill_version": bill.version if bill is not None else 0,
        "bill_title": bill.title if bill is not None else None,
        "guidance": state.guidance,
        "may_vote": motives.may_vote(state) if this.number else False,
        "underserved": [_underserved(one) for one in motives.underserved(state)],
        "ask_next": [_exchange(one) for one in motives.suggestions(state)],
        "seats": [_seat(seat, this.number) for seat in state.in_order()],
        "amendments": [_amendment(one, state.drafter) for one in state.proposals()],
        "next_amendment_id": amendments.next_id(state),
        "missing_votes": list(votes.missing(state)),
    }


def _underserved(one: motives.Underserved) -> dict[str, Any]:
    return {"seat": one.seat, "motive": one.motive, "score": one.score}


def _exchange(one: motives.Exchange) -> dict[str, Any]:
    return {"asker": one.asker, "asked": one.asked, "motive": one.motive}


def _seat(seat: Seat, number: int) -> dict[str, Any]:
    return {
        "id": seat.id,
        "name": seat.name,
        "agent": seat.agent,
        "bound": seat.bound,
        "temperature": seat.temperature,
        "archetype": archetype(seat.temperature),
        "shift": _shift(seat, number),
        "satisfaction": dict(seat.satisfaction()),
        "quiet": seat.is_quiet,
        "expelled": seat.expelled,
    }


def _shift(seat: Seat, number: int) -> str:
    """How strongly the seat's temperature changed with this round."""
    before = [row.temperature for row in seat.temperature_history if row.round < number]
    return shift(before[-1], seat.temperature) if before else ""


def _amendment(one: Amendment, drafter: str | None) -> dict[str, Any]:
    return {
        "id": one.amendment_id,
        "proposed_by": one.proposed_by,
        "description": one.description,
        "status": one.status,
        "carried": one.pending and amendments.carried(one, drafter),
    }
