"""Round summaries, in the shape of `round-summaries.json`.

The clerk writes one from the state when the round ends; a better written one may replace it.
PAR-127: summaries are no messages; they have an event and a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from moot.protocols.parliament.files.contents import VoteResult
from moot.protocols.parliament.messages.words import Lean, Stance
from moot.protocols.parliament.model import Round, Seat, State, VoteRow
from moot.protocols.parliament.motives import SERVED_FROM

Summary = dict[str, Any]

_SHIFT_VERBS: Final = {Stance.CONCEDE: "conceded on", Stance.SOFTEN: "softened on"}


def summarize_round(state: State, open_issues: tuple[str, ...]) -> Summary:
    """PAR-121: the summary of the current round. Without a vote its result is null (PAR-126)."""
    this = state.round
    vote = next((row for row in reversed(state.vote_history) if row.round == this.number), None)
    return {
        "round": this.number,
        "summary": " ".join(_summary_sentences(state, vote)),
        "positions": {seat.id: _seat_position(seat, this) for seat in state.seats_in_order()},
        "key_shifts": list(_describe_shifts(state)),
        "amendments_actioned": [
            {"amendment_id": amendment.amendment_id, "status": str(amendment.status)}
            for amendment in this.settled
        ],
        "vote_result": None if vote is None else msgspec.structs.asdict(make_vote_result(vote)),
        "open_issues": list(open_issues),
    }


def make_vote_result(row: VoteRow) -> VoteResult:
    """C-32: a vote as both files print it."""
    return VoteResult(
        round=row.round,
        bill_version=row.bill_version,
        yes=row.yes,
        no=row.no,
        total=row.total,
        passed=row.passed,
        forced=row.forced,
    )


def _summary_sentences(state: State, vote: VoteRow | None) -> Iterator[str]:
    this = state.round
    yield (
        f"Round {this.number} saw {_count_of(this.exchanges, 'exchange')}"
        f" and {_count_of(len(this.settled), 'amendment')} settled."
    )
    moved = len({shift.seat for shift in this.shifts})
    yield (
        f"{_count_of(moved, 'representative')} moved on a point."
        if moved
        else "Nobody moved on any point."
    )
    if vote is not None:
        word = "passed" if vote.passed else "failed"
        yield f"Version {vote.bill_version} of the bill {word}, {vote.yes} of {vote.total} for it."


def _count_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def _seat_position(seat: Seat, this: Round) -> dict[str, str]:
    return {
        "lean": str(infer_lean(seat, this.number)),
        "key_concern": seat.concern or _lowest_motive(seat),
    }


def infer_lean(seat: Seat, number: int) -> Lean:
    """PAR-123: its vote in this round, else what its scores suggest, if it has scored all."""
    cast = [row.vote for row in seat.voting_record if row.round == number]
    if cast:
        return Lean(cast[-1])
    scores = [score for score in seat.scores if score is not None]
    if any(score < SERVED_FROM for score in scores):
        return Lean.NO
    return Lean.YES if len(scores) == len(seat.motives) else Lean.UNDECIDED


def _lowest_motive(seat: Seat) -> str:
    scored = [(score, motive) for motive, score in seat.scores_by_motive() if score is not None]
    if not scored:
        return f"{seat.motives[0]} is not scored yet" if seat.motives else ""
    score, motive = min(scored)
    return f"{motive} stands at {score} of 5"


def _describe_shifts(state: State) -> Iterator[str]:
    for shift in state.round.shifts:
        seat = state.seats.get(shift.seat)
        name = seat.name if seat is not None else shift.seat
        yield f"{name} {_SHIFT_VERBS.get(shift.stance, 'moved on')} {shift.topic}"
