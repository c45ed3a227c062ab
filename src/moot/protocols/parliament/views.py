"""What people and agents read of a session: where it is, who stands where, what is possible."""

from __future__ import annotations

import msgspec

from moot.core.machine import fill_from
from moot.core.text import Quoted
from moot.protocols.parliament import motives, round_clock, votes
from moot.protocols.parliament import votes as amendments
from moot.protocols.parliament.files.file_shapes import VoteResult
from moot.protocols.parliament.messages.contents import AmendmentStatus, SessionStatus
from moot.protocols.parliament.model import Amendment, Seat, SessionOutcome, State
from moot.protocols.parliament.round_clock import archetype_of, describe_shift
from moot.protocols.parliament.summaries import make_vote_result


class SeatView(msgspec.Struct, frozen=True, kw_only=True):
    """A seat. `shift` says how strongly its temperature changed with this round."""

    id: str
    name: Quoted
    agent: str
    bound: bool
    temperature: int
    archetype: str
    shift: str
    satisfaction: dict[str, int | None]
    quiet: bool
    expelled: bool


class AmendmentView(msgspec.Struct, frozen=True, kw_only=True):
    """`carried`: it has the support that it needs and can be incorporated."""

    id: str
    proposed_by: str
    description: Quoted
    status: AmendmentStatus
    carried: bool


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session at a glance. The four files are the protocol's own view (`session_files.py`)."""

    parliament_id: str
    status: SessionStatus | None
    outcome: SessionOutcome | None
    round: int
    max_rounds: int
    round_running: bool
    exchanges: int
    max_exchanges: int
    response_budget: int
    drafter: str | None
    bill_version: int
    bill_title: Quoted | None
    guidance: Quoted
    may_vote: bool
    underserved: tuple[motives.UnderservedMotive, ...]
    ask_next: tuple[motives.SuggestedExchange, ...]
    seats: tuple[SeatView, ...]
    amendments: tuple[AmendmentView, ...]
    next_amendment_id: str
    missing_votes: tuple[str, ...]
    vote_history: tuple[VoteResult, ...]


def view_session(state: State) -> SessionView:
    this, bill = state.round, state.bill
    return SessionView(
        parliament_id=state.parliament_id,
        status=state.status,
        outcome=state.outcome,
        round=this.number,
        max_rounds=state.max_rounds,
        round_running=this.running,
        exchanges=this.exchanges,
        max_exchanges=round_clock.exchange_cap(state),
        response_budget=round_clock.sentence_budget(state),
        drafter=state.drafter,
        bill_version=bill.version if bill is not None else 0,
        bill_title=Quoted(bill.title) if bill is not None else None,
        guidance=Quoted(state.guidance),
        may_vote=motives.may_vote(state) if this.number else False,
        underserved=tuple(motives.list_underserved(state)),
        ask_next=tuple(motives.suggest_exchanges(state)),
        seats=tuple(_view_seat(seat, this.number) for seat in state.seats_in_order()),
        amendments=tuple(
            _view_amendment(amendment, state.drafter) for amendment in state.amendments_in_order()
        ),
        next_amendment_id=amendments.next_amendment_id(state),
        missing_votes=votes.seats_without_vote(state),
        vote_history=tuple(map(make_vote_result, state.vote_history)),
    )


def _view_seat(seat: Seat, round_number: int) -> SeatView:
    return fill_from(
        SeatView,
        seat,
        archetype=archetype_of(seat.temperature),
        shift=_temperature_shift(seat, round_number),
        satisfaction=dict(seat.scores_by_motive()),
        quiet=seat.is_quiet,
    )


def _temperature_shift(seat: Seat, round_number: int) -> str:
    before = [row.temperature for row in seat.temperature_history if row.round < round_number]
    return describe_shift(before[-1], seat.temperature) if before else ""


def _view_amendment(amendment: Amendment, drafter: str | None) -> AmendmentView:
    return fill_from(
        AmendmentView,
        amendment,
        id=amendment.amendment_id,
        carried=amendment.pending and amendments.is_carried(amendment, drafter),
    )
