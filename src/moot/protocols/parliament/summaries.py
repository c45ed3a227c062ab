"""Round summaries: what a round came to, in the shape of `round-summaries.json`.

The clerk tells it from the state as it stands when the round ends; someone who tells it better
may replace it. Summaries are no messages: they stand in a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Finding
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.shapes import (
    Check,
    Field,
    boolean,
    fields,
    like,
    listed,
    mapped,
    maybe,
    one_of,
    said,
    text,
    texts,
    whole,
)
from moot.protocols.parliament.messages.words import Lean, Stance
from moot.protocols.parliament.model import Round, Seat, State, VoteRow
from moot.protocols.parliament.motives import SERVED

Summary = dict[str, Any]

# What is known of the round is added to it, and both are one event.
MAX_SUMMARY: Final = 16 * 1024
_MOVED: Final = {Stance.CONCEDE: "conceded on", Stance.SOFTEN: "softened on"}

_POSITION: Final = fields(
    "PAR-123",
    Field("lean", "PAR-123", one_of("PAR-123", Lean)),
    Field("key_concern", "PAR-123", text("PAR-123")),
)
_ACTIONED: Final = fields(
    "PAR-124",
    Field("amendment_id", "PAR-124", like("PAR-124", words.AMENDMENT_ID, "amend-001")),
    Field("status", "PAR-124", one_of("PAR-113", words.AmendmentStatus)),
)
VOTE_ROW: Final = fields(
    "PAR-073",
    Field("round", "PAR-073", whole("PAR-073", 0)),
    Field("bill_version", "PAR-073", whole("PAR-073", 1)),
    Field("yes", "PAR-073", whole("PAR-073", 0)),
    Field("no", "PAR-073", whole("PAR-073", 0)),
    Field("total", "PAR-073", whole("PAR-073", 1)),
    Field("passed", "PAR-073", boolean("PAR-073")),
    Field("forced", "PAR-073", boolean("PAR-073"), required=False),
)
SUMMARY: Final[Check] = fields(
    "PAR-121",
    Field("round", "PAR-121", whole("PAR-121", 1)),
    Field("summary", "PAR-121", said("PAR-121")),
    Field("positions", "PAR-121", mapped("PAR-123", _POSITION)),
    Field("key_shifts", "PAR-121", texts("PAR-125")),
    Field("amendments_actioned", "PAR-121", listed("PAR-124", _ACTIONED)),
    Field("vote_result", "PAR-121", maybe(VOTE_ROW)),
    Field("open_issues", "PAR-121", texts("PAR-125")),
)


def summary_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Everything wrong with a document as a row of the summaries file."""
    return tuple(SUMMARY(document, path))


def summary_of(state: State, open_issues: tuple[str, ...]) -> Summary:
    """The round that ends, told in three sentences."""
    this = state.round
    vote = next((row for row in reversed(state.vote_history) if row.round == this.number), None)
    return {
        "round": this.number,
        "summary": " ".join(_told(state, vote)),
        "positions": {seat.id: _position(seat, this) for seat in state.in_order()},
        "key_shifts": list(_shifts(state)),
        "amendments_actioned": [
            {"amendment_id": one.amendment_id, "status": str(one.status)} for one in this.settled
        ],
        "vote_result": None if vote is None else vote_result(vote),
        "open_issues": list(open_issues),
    }


def vote_result(row: VoteRow) -> dict[str, Any]:
    """A vote as both files print it (C-32)."""
    return {
        "round": row.round,
        "bill_version": row.bill_version,
        "yes": row.yes,
        "no": row.no,
        "total": row.total,
        "passed": row.passed,
        "forced": row.forced,
    }


def _told(state: State, vote: VoteRow | None) -> Iterator[str]:
    this = state.round
    yield (
        f"Round {this.number} saw {_count(this.exchanges, 'exchange')}"
        f" and {_count(len(this.settled), 'amendment')} settled."
    )
    moved = len({shift.seat for shift in this.shifts})
    yield (
        f"{_count(moved, 'representative')} moved on a point."
        if moved
        else "Nobody moved on any point."
    )
    if vote is not None:
        word = "passed" if vote.passed else "failed"
        yield f"Version {vote.bill_version} of the bill {word}, {vote.yes} of {vote.total} for it."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def _position(seat: Seat, this: Round) -> dict[str, str]:
    return {"lean": str(lean_of(seat, this.number)), "key_concern": seat.concern or _lowest(seat)}


def lean_of(seat: Seat, number: int) -> Lean:
    """Its vote in this round, else what its scores say; a motive nobody scored leaves it open."""
    cast = [row.vote for row in seat.voting_record if row.round == number]
    if cast:
        return Lean(cast[-1])
    scores = [score for score in seat.scores if score is not None]
    if any(score < SERVED for score in scores):
        return Lean.NO
    return Lean.YES if len(scores) == len(seat.motives) else Lean.UNDECIDED


def _lowest(seat: Seat) -> str:
    scored = [(score, motive) for motive, score in seat.satisfaction() if score is not None]
    if not scored:
        return f"{seat.motives[0]} is not scored yet" if seat.motives else ""
    score, motive = min(scored)
    return f"{motive} stands at {score} of 5"


def _shifts(state: State) -> Iterator[str]:
    for shift in state.round.shifts:
        seat = state.seats.get(shift.seat)
        name = seat.name if seat is not None else shift.seat
        yield f"{name} {_MOVED.get(shift.stance, 'moved on')} {shift.topic}"
