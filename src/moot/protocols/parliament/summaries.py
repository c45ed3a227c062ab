"""Round summaries, in the shape of `round-summaries.json`.

The clerk writes one from the state when the round ends; a better written one may replace it.
PAR-127: summaries are no messages; they have their own event and file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from moot.core.findings import Finding
from moot.core.machine import fill_from
from moot.protocols.parliament.files.file_shapes import (
    KnownAmendment,
    RoundFacts,
    VoteResult,
    find_contradictions,
)
from moot.protocols.parliament.messages.contents import Ballot, Lean, Stance
from moot.protocols.parliament.messages.limits import shorten
from moot.protocols.parliament.model import Round, Seat, State, VoteRow
from moot.protocols.parliament.motives import SERVED_FROM

Summary = dict[str, Any]

_MAX_LINES: Final = 12
_MAX_SCORES: Final = 3
_MAX_NAME: Final = 60
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
        "open_issues": list(
            dict.fromkeys((*open_issues, *_open_conditions(state), *list_pending(state)))
        ),
    }


def with_facts(written: Summary, clerks: Summary) -> Summary:
    """Return a summary that someone wrote, with the facts of the clerk's: its words stay."""
    facts = {name: clerks[name] for name in ("amendments_actioned", "vote_result")}
    if facts["vote_result"] is not None:
        leans = {seat: position["lean"] for seat, position in clerks["positions"].items()}
        facts["positions"] = {
            seat: {**position, "lean": leans[seat]}
            for seat, position in written["positions"].items()
        }
    return {**written, **facts}


def contradictions_in(state: State, summary: Summary) -> Iterator[Finding]:
    """Return where a summary that someone brings says something else than the record."""
    number = summary["round"]
    votes = [row for row in state.vote_history if row.round == number]
    cast = {
        seat.id: str(row.vote)
        for seat in state.seats_in_order()
        for row in seat.voting_record
        if votes and row.round == number
    }
    facts = RoundFacts(
        seats=state.order,
        votes=[msgspec.structs.asdict(make_vote_result(row)) for row in votes],
        cast=cast,
        amendments={
            name: KnownAmendment(amendment.status, amendment.round)
            for name, amendment in state.amendments.items()
        },
    )
    return find_contradictions(summary, facts, "summary")


def make_vote_result(row: VoteRow) -> VoteResult:
    """C-32: a vote as both files print it."""
    return fill_from(VoteResult, row)


def _summary_sentences(state: State, vote: VoteRow | None) -> Iterator[str]:
    this = state.round
    yield (
        f"Round {this.number} saw {_count_of(this.exchanges, 'exchange')}"
        f" and {_count_of(len(this.settled), 'amendment')} settled."
    )
    moved = len({*(shift.seat for shift in this.shifts), *dict(_changes_of_mind(state))})
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
    """Who gave way on which point, who leans or scores otherwise than when the round began."""
    for shift in state.round.shifts:
        seat = state.seats.get(shift.seat)
        name = seat.name if seat is not None else shift.seat
        yield f"{name} {_SHIFT_VERBS.get(shift.stance, 'moved on')} {shift.topic}"
    yield from _first_few([line for _, line in _changes_of_mind(state)], "further seats that moved")


def _changes_of_mind(state: State) -> Iterator[tuple[str, str]]:
    """Yield each seat whose lean or scores changed in this round, and how."""
    number = state.round.number
    for seat in state.seats_in_order():
        before = state.round.scores.get(seat.id, seat.scores)
        leaned = infer_lean(msgspec.structs.replace(seat, scores=before), number - 1)
        leans = infer_lean(seat, number)
        parts = []
        if Lean.UNDECIDED not in (leaned, leans) and leaned is not leans:
            parts.append(f"went from {leaned} to {leans}")
        parts += [
            f"scores {shorten(motive, _MAX_NAME)} {score}, not {old}"
            for motive, score, old in zip(seat.motives, seat.scores, before, strict=True)
            if None not in (score, old) and score != old
        ][:_MAX_SCORES]
        if parts:
            yield seat.id, f"{seat.name} {', '.join(parts)}"


def _open_conditions(state: State) -> Iterator[str]:
    """Yield the NO votes of this round that say what would change them."""
    number = state.round.number
    for seat in state.seats_in_order():
        voted_no = any(row.round == number and row.vote is Ballot.NO for row in seat.voting_record)
        if voted_no and seat.conditions:
            yield f"{seat.name} votes NO until this is met: {seat.conditions}"


def list_pending(state: State) -> Iterator[str]:
    """Return the amendments that wait, a line each."""
    lines = [
        f"{amendment.amendment_id} is pending: {shorten(amendment.description, _MAX_NAME)}"
        for amendment in state.pending_amendments()
    ]
    return _first_few(lines, "further pending amendments")


def _first_few(lines: list[str], rest: str) -> Iterator[str]:
    """So many lines that a summary of thirty seats still fits into one event."""
    yield from lines[:_MAX_LINES]
    if len(lines) > _MAX_LINES:
        yield f"{rest}: {len(lines) - _MAX_LINES}"
