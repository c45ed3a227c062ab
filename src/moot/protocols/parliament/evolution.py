"""The state after an event. Total: an event of the ledger happened, so nothing is refused here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from immutables import Map

from moot.core.machine import Event, Recorded
from moot.protocols.parliament import discipline
from moot.protocols.parliament import events as did
from moot.protocols.parliament.message_effects import (
    apply_message,
    bill_from_draft,
    with_round,
    with_seat,
)
from moot.protocols.parliament.messages.words import SessionStatus
from moot.protocols.parliament.model import (
    OpenBallot,
    OwedRuling,
    Round,
    Seat,
    SessionOutcome,
    SettledAmendment,
    State,
)
from moot.protocols.parliament.phases import TRANSITIONS

replace = msgspec.structs.replace


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return apply_event(state, recorded.event)


def apply_event(state: State, event: Event) -> State:
    """Like `evolve`, for an event that is not recorded yet: the minutes look ahead with it."""
    after = _EVOLVE.get(type(event), _keep_state)(state, event)
    if after.status is None:
        return after
    status = TRANSITIONS[after.status].get(type(event))
    return after if status is None else replace(after, status=status)


def _keep_state(state: State, _event: Event) -> State:
    return state


def _on_imported(state: State, event: did.SessionImported) -> State:
    return replace(state, imported=event.messages)


def _on_convened(state: State, event: did.ParliamentConvened) -> State:
    """PAR-094, PAR-096 and PAR-097: histories begin with round 0; nobody is quiet or has voted."""
    seats = [
        Seat(
            id=seated.id,
            name=seated.name,
            agent=seated.agent,
            bound=seated.bound,
            motives=seated.motives,
            scores=(None,) * len(seated.motives),
            temperature=seated.temperature,
            heat=(0, seated.temperature),
            epoch=seated.epoch,
        )
        for seated in event.seats
    ]
    return State(
        parliament_id=event.parliament_id,
        problem_statement=event.problem_statement,
        constituent_issues=event.issues,
        max_rounds=event.max_rounds,
        status=SessionStatus.SETUP,
        order=tuple(seat.id for seat in seats),
        seats=Map({seat.id: seat for seat in seats}),
        holders=Map({seat.agent: seat.id for seat in seats}),
        imported=state.imported,
    )


def _on_bound(state: State, event: did.SeatBound) -> State:
    seat = state.seats.get(event.seat)
    if seat is None:
        return state
    holders = state.holders.delete(seat.agent) if seat.agent in state.holders else state.holders
    bound = replace(seat, agent=event.agent, bound=True, epoch=event.epoch)
    return replace(with_seat(state, bound), holders=holders.set(event.agent, seat.id))


def _on_drafter(state: State, event: did.DrafterChosen | did.DrafterReplaced) -> State:
    return replace(state, drafter=event.seat)


def _on_message(state: State, event: did.MessageLogged) -> State:
    return apply_message(state, event.message)


def _on_owed(state: State, event: did.RulingOwed) -> State:
    owed = OwedRuling(event.ruling_type, event.action, event.target, event.ruling)
    return replace(state, owed=(*state.owed, owed))


def _on_given(state: State, _event: did.RulingGiven) -> State:
    return replace(state, owed=state.owed[1:])


def _on_started(state: State, event: did.RoundStarted) -> State:
    """PAR-066: the clock at zero (PAR-104), quiet seats free again, temperatures drawn anew."""
    seats = state.seats
    for name, temperature in zip(state.order, event.temperatures, strict=False):
        heard = discipline.end_quiet(seats[name], event.round)
        seats = seats.set(name, _with_temperature(heard, event.round, temperature))
    scores = Map({seat.id: seat.scores for seat in state.seats_in_order()})
    this = Round(number=event.round, running=True, scores=scores)
    return replace(state, seats=seats, round=this)


def _with_temperature(seat: Seat, number: int, temperature: int) -> Seat:
    """C-09: the history gets a row only where the temperature changes."""
    if temperature == seat.temperature:
        return seat
    return replace(seat, temperature=temperature, heat=(*seat.heat, number, temperature))


def _on_ended(state: State, event: did.RoundEnded) -> State:
    return with_round(
        state, running=False, questions=Map(), motions=Map(), open_issues=event.open_issues
    )


def _on_summarized(state: State, event: did.RoundSummarized) -> State:
    replaces_summary = event.told and event.summary.get("round") == state.round.number
    return with_round(state, told=event.summary) if replaces_summary else state


def _on_malformed(state: State, event: did.ReplyMalformed) -> State:
    seat = state.seats.get(event.seat)
    return state if seat is None else with_seat(state, replace(seat, malformed=event.count))


def _on_expelled(state: State, event: did.SeatExpelled) -> State:
    seat = state.seats.get(event.seat)
    return state if seat is None else with_seat(state, replace(seat, expelled=True))


def _on_settled(state: State, event: did.AmendmentSettled) -> State:
    amendment = state.amendments.get(event.amendment_id)
    if amendment is None:
        return state
    closed = replace(amendment, status=event.status, proposed_text="")
    amendments_now = state.amendments.set(amendment.amendment_id, closed)
    left = tuple(name for name in state.pending if name != event.amendment_id)
    row = SettledAmendment(event.amendment_id, event.status)
    return with_round(
        replace(state, amendments=amendments_now, pending=left), settled=(*state.round.settled, row)
    )


def _on_amendment_vote(state: State, event: did.AmendmentVoteCalled) -> State:
    amendment = state.amendments.get(event.amendment_id)
    if amendment is None:
        return state
    amendments_now = state.amendments.set(amendment.amendment_id, replace(amendment, formal=True))
    return replace(state, amendments=amendments_now)


def _on_called(state: State, event: did.VoteCalled) -> State:
    poll = OpenBallot(
        round=state.round.number, bill_version=event.bill_version, forced=event.forced
    )
    return replace(state, poll=poll)


def _on_closed(state: State, _event: did.BallotClosed) -> State:
    return state if state.poll is None else replace(state, poll=replace(state.poll, closed=True))


def _on_amended(state: State, event: did.BillAmended) -> State:
    return replace(
        state, bill=bill_from_draft(event.draft), outcome=SessionOutcome.APPROVED_WITH_AMENDMENTS
    )


def _on_returned(state: State, event: did.BillReturned) -> State:
    return replace(state, max_rounds=event.max_rounds)


def _end_with(outcome: SessionOutcome) -> Callable[[State, Event], State]:
    return lambda state, _event: replace(state, outcome=outcome)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.SessionImported: _on_imported,
    did.ParliamentConvened: _on_convened,
    did.SeatBound: _on_bound,
    did.DrafterChosen: _on_drafter,
    did.DrafterReplaced: _on_drafter,
    did.MessageLogged: _on_message,
    did.RulingOwed: _on_owed,
    did.RulingGiven: _on_given,
    did.RoundStarted: _on_started,
    did.RoundEnded: _on_ended,
    did.RoundSummarized: _on_summarized,
    did.ReplyMalformed: _on_malformed,
    did.SeatExpelled: _on_expelled,
    did.AmendmentSettled: _on_settled,
    did.AmendmentVoteCalled: _on_amendment_vote,
    did.VoteCalled: _on_called,
    did.BallotClosed: _on_closed,
    did.BillApproved: _end_with(SessionOutcome.APPROVED),
    did.BillAmended: _on_amended,
    did.BillReturned: _on_returned,
    did.BillRejected: _end_with(SessionOutcome.VETOED),
    did.PassageFailed: _end_with(SessionOutcome.NO_PASSAGE),
}
