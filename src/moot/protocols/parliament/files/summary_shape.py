"""A round's summary and a vote's row, as the files print them: their shape, and whether a summary
says what the messages say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.shapes import (
    Check,
    ShapeField,
    any_text,
    boolean,
    list_of,
    list_of_texts,
    make_finding,
    map_of,
    nonblank_text,
    null_or,
    object_of,
    one_of,
    text_like,
    whole_number,
)

# What is known of the round is added to it, and both are one event.
MAX_SUMMARY: Final = 16 * 1024

# What an amendment stays, whatever else happens.
SETTLED: Final = (
    words.AmendmentStatus.INCORPORATED,
    words.AmendmentStatus.REJECTED,
    words.AmendmentStatus.WITHDRAWN,
)

_POSITION: Final = object_of(
    "PAR-123",
    ShapeField("lean", "PAR-123", one_of("PAR-123", words.Lean)),
    ShapeField("key_concern", "PAR-123", any_text("PAR-123")),
)
_ACTIONED: Final = object_of(
    "PAR-124",
    ShapeField("amendment_id", "PAR-124", text_like("PAR-124", words.AMENDMENT_ID, "amend-001")),
    ShapeField("status", "PAR-124", one_of("PAR-113", words.AmendmentStatus)),
)
VOTE_ROW: Final = object_of(
    "PAR-073",
    ShapeField("round", "PAR-073", whole_number("PAR-073", 0)),
    ShapeField("bill_version", "PAR-073", whole_number("PAR-073", 1)),
    ShapeField("yes", "PAR-073", whole_number("PAR-073", 0)),
    ShapeField("no", "PAR-073", whole_number("PAR-073", 0)),
    ShapeField("total", "PAR-073", whole_number("PAR-073", 1)),
    ShapeField("passed", "PAR-073", boolean("PAR-073")),
    ShapeField("forced", "PAR-073", boolean("PAR-073"), required=False),
)
SUMMARY: Final[Check] = object_of(
    "PAR-121",
    ShapeField("round", "PAR-121", whole_number("PAR-121", 1)),
    ShapeField("summary", "PAR-121", nonblank_text("PAR-121")),
    ShapeField("positions", "PAR-121", map_of("PAR-123", _POSITION)),
    ShapeField("key_shifts", "PAR-121", list_of_texts("PAR-125")),
    ShapeField("amendments_actioned", "PAR-121", list_of("PAR-124", _ACTIONED)),
    ShapeField("vote_result", "PAR-121", null_or(VOTE_ROW)),
    ShapeField("open_issues", "PAR-121", list_of_texts("PAR-125")),
)


def summary_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Everything wrong with a document as a row of the summaries file."""
    return tuple(SUMMARY(document, path))


class KnownAmendment(NamedTuple):
    """An amendment's status now, and the round it was proposed in."""

    status: str
    round: int


class RoundFacts(NamedTuple):
    """What the messages say about a round. `votes` are its counted votes (one, unless somebody
    else's session counted twice), `cast` the ballots of the last one; `amendments` is None where
    nobody knows them."""

    seats: Collection[str]
    votes: Collection[Mapping[str, Any]]
    cast: Mapping[str, str]
    amendments: Mapping[str, KnownAmendment] | None


def find_contradictions(
    summary: Mapping[str, Any], facts: RoundFacts, where: str
) -> Iterator[Finding]:
    """S-35: where a sound summary says something else than the messages. Agents read it instead of
    them."""
    yield from _position_findings(summary["positions"], facts, f"{where}.positions")
    yield from _result_findings(summary, facts, f"{where}.vote_result")
    if facts.amendments is not None:
        for place, row in enumerate(summary["amendments_actioned"]):
            known, at = facts.amendments.get(row["amendment_id"]), f"{where}.amendments_actioned"
            yield from _actioned_findings(row, known, summary["round"], f"{at}[{place}]")


def _position_findings(
    positions: Mapping[str, Any], facts: RoundFacts, where: str
) -> Iterator[Finding]:
    for seat, position in positions.items():
        if seat not in facts.seats:
            why, at = f"{seat} has no seat", f"{where}.{seat}"
            yield make_finding("PAR-123", "unknown_seat", why, at, "name a seat")
        elif position["lean"] != facts.cast.get(seat, position["lean"]):
            why, hint = f"{seat} voted {facts.cast[seat]} in this round", "lean as the seat voted"
            yield make_finding("PAR-123", "wrong_summary", why, f"{where}.{seat}.lean", hint)
    for seat in facts.seats:
        if seat not in positions:
            why, hint = f"{seat} is left out", "give the lean and the key concern of every seat"
            yield make_finding("PAR-123", "seat_left_out", why, where, hint, Severity.WARNING)


def _result_findings(
    summary: Mapping[str, Any], facts: RoundFacts, where: str
) -> Iterator[Finding]:
    """PAR-126: the vote of this round, and null if it had none."""
    result, number = summary["vote_result"], summary["round"]
    if result is None and facts.votes:
        why, hint = f"a vote was counted in round {number}", "copy its row of the vote history"
        yield make_finding("PAR-126", "wrong_summary", why, where, hint)
    elif result is not None and not facts.votes:
        why, hint = f"no vote was counted in round {number}", "it is null"
        yield make_finding("PAR-126", "wrong_summary", why, where, hint)
    elif result is not None and not any(_is_vote(result, vote) for vote in facts.votes):
        why = f"this is not the vote of round {number}"
        hint = "copy its row of the vote history"
        yield make_finding("PAR-126", "wrong_summary", why, where, hint)


def _is_vote(result: Mapping[str, Any], vote: Mapping[str, Any]) -> bool:
    """Files from elsewhere may not say whether a vote was forced (C-32)."""
    return all(result.get(name, value) == value for name, value in vote.items())


def _actioned_findings(
    row: Mapping[str, str], known: KnownAmendment | None, number: int, where: str
) -> Iterator[Finding]:
    name, status = row["amendment_id"], row["status"]
    if known is None:
        why, hint = f"{name} is unknown", "name an amendment of the bill"
        yield make_finding("PAR-124", "unknown_amendment", why, where, hint)
    elif known.round > number:
        why, hint = f"{name} was proposed in round {known.round}", "leave it out of this round"
        yield make_finding("PAR-124", "wrong_summary", why, where, hint)
    elif status in SETTLED and status != known.status:
        why, hint = f"{name} is {known.status}, not {status}", f"it is {known.status}"
        yield make_finding("PAR-124", "wrong_summary", why, f"{where}.status", hint)
