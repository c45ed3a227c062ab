"""What people and agents read of a session: where it is, who stands where, what is possible."""

from __future__ import annotations

import msgspec

from moot.protocols.parliament import amendments, clock, motives, votes
from moot.protocols.parliament.files.contents import VoteResult
from moot.protocols.parliament.messages.words import AmendmentStatus, Status
from moot.protocols.parliament.model import Amendment, Outcome, Seat, State
from moot.protocols.parliament.summaries import vote_result
from moot.protocols.parliament.temperatures import archetype, shift


class SeatView(msgspec.Struct, frozen=True, kw_only=True):
    """A seat. `shift` says how strongly its temperature changed with this round."""

    id: str
    name: str
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
    description: str
    status: AmendmentStatus
    carried: bool


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session at a glance. The four files are the protocol's own view (`papers.py`)."""

    parliament_id: str
    status: Status | None
    outcome: Outcome | None
    round: int
    max_rounds: int
    round_running: bool
    exchanges: int
    max_exchanges: int
    response_budget: int
    drafter: str | None
    bill_version: int
    bill_title: str | None
    guidance: str
    may_vote: bool
    underserved: tuple[motives.Underserved, ...]
    ask_next: tuple[motives.Exchange, ...]
    seats: tuple[SeatView, ...]
    amendments: tuple[AmendmentView, ...]
    next_amendment_id: str
    missing_votes: tuple[str, ...]
    vote_history: tuple[VoteResult, ...]


def as_json(state: State) -> SessionView:
    this, bill = state.round, state.bill
    return SessionView(
        parliament_id=state.parliament_id,
        status=state.status,
        outcome=state.outcome,
        round=this.number,
        max_rounds=state.max_rounds,
        round_running=this.running,
        exchanges=this.exchanges,
        max_exchanges=clock.cap(state),
        response_budget=clock.budget(state),
        drafter=state.drafter,
        bill_version=bill.version if bill is not None else 0,
        bill_title=bill.title if bill is not None else None,
        guidance=state.guidance,
        may_vote=motives.may_vote(state) if this.number else False,
        underserved=tuple(motives.underserved(state)),
        ask_next=tuple(motives.suggestions(state)),
        seats=tuple(_view_seat(seat, this.number) for seat in state.in_order()),
        amendments=tuple(
            _view_amendment(amendment, state.drafter) for amendment in state.proposals()
        ),
        next_amendment_id=amendments.next_id(state),
        missing_votes=votes.missing(state),
        vote_history=tuple(map(vote_result, state.vote_history)),
    )


def _view_seat(seat: Seat, round_number: int) -> SeatView:
    return SeatView(
        id=seat.id,
        name=seat.name,
        agent=seat.agent,
        bound=seat.bound,
        temperature=seat.temperature,
        archetype=archetype(seat.temperature),
        shift=_temperature_shift(seat, round_number),
        satisfaction=dict(seat.satisfaction()),
        quiet=seat.is_quiet,
        expelled=seat.expelled,
    )


def _temperature_shift(seat: Seat, round_number: int) -> str:
    before = [row.temperature for row in seat.temperature_history if row.round < round_number]
    return shift(before[-1], seat.temperature) if before else ""


def _view_amendment(amendment: Amendment, drafter: str | None) -> AmendmentView:
    return AmendmentView(
        id=amendment.amendment_id,
        proposed_by=amendment.proposed_by,
        description=amendment.description,
        status=amendment.status,
        carried=amendment.pending and amendments.carried(amendment, drafter),
    )
