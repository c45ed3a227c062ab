"""The shapes of the four files, key by key, as the protocol prints them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    AmendmentStatus,
    Ballot,
    BillSection,
    Position,
)
from moot.protocols.parliament.messages.message import message_findings
from moot.protocols.parliament.messages.schema import seat_id
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

# The content of session.json and bill.json, as frozen values in the order of the files.


class TemperatureRow(msgspec.Struct, frozen=True):
    round: int
    temperature: int


class CastVoteRow(msgspec.Struct, frozen=True):
    round: int
    bill_version: int
    vote: Ballot


class Representative(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-092: a seat. A motive that was never scored has the satisfaction None."""

    agent_id: str
    name: str
    temperature: int
    temperature_history: tuple[TemperatureRow, ...]
    motives: tuple[str, ...]
    motive_satisfaction: dict[str, int | None]
    is_quiet: bool
    quiet_until_round: int | None
    voting_record: tuple[CastVoteRow, ...]


class DebateClock(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-098: the limits of the current round, and how much of it is used up."""

    max_exchanges_per_round: int
    response_budget: int
    exchanges_this_round: int


class VoteResult(msgspec.Struct, frozen=True, kw_only=True):
    """C-32: a vote as the session and the summaries print it."""

    round: int
    bill_version: int
    yes: int
    no: int
    total: int
    passed: bool
    forced: bool


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-086: `session.json`. The status is empty before the session was convened."""

    parliament_id: str
    problem_statement: str
    constituent_issues: tuple[str, ...]
    current_round: int
    max_rounds: int
    bill_version: int
    drafter: str | None
    status: str
    next_message_id: int
    representatives: tuple[Representative, ...]
    debate_clock: DebateClock
    vote_history: tuple[VoteResult, ...]


class BillScope(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-110: in the bill file all four lists are there, empty or not."""

    in_scope: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


class BillSections(msgspec.Struct, frozen=True, kw_only=True):
    problem: str = ""
    scope: BillScope = BillScope()
    solution: str = ""
    implementation: str = ""


class EndorsementRow(msgspec.Struct, frozen=True):
    agent_id: str
    position: Position
    round: int


class AmendmentRow(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-111: an amendment, with each seat's latest position on it."""

    amendment_id: str
    proposed_by: str
    round: int
    target_section: BillSection
    action: AmendmentAction
    description: str
    status: AmendmentStatus
    endorsements: tuple[EndorsementRow, ...]


class BillFile(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-109: `bill.json`. Before the first draft there is a file without a bill."""

    bill_id: str | None
    title: str | None
    version: int
    drafter: str | None
    sections: BillSections
    amendments: tuple[AmendmentRow, ...]


# A round's summary and a vote's row, as the files print them: their shape, and whether a summary
# says what the messages say.

# What is known of the round is added to it, and both are one event.
MAX_SUMMARY: Final = 16 * 1024

# What an amendment stays, whatever else happens.
SETTLED: Final = (
    contents.AmendmentStatus.INCORPORATED,
    contents.AmendmentStatus.REJECTED,
    contents.AmendmentStatus.WITHDRAWN,
)

_POSITION: Final = object_of(
    "PAR-123",
    ShapeField("lean", "PAR-123", one_of("PAR-123", contents.Lean)),
    ShapeField("key_concern", "PAR-123", any_text("PAR-123")),
)
_ACTIONED: Final = object_of(
    "PAR-124",
    ShapeField("amendment_id", "PAR-124", text_like("PAR-124", contents.AMENDMENT_ID, "amend-001")),
    ShapeField("status", "PAR-124", one_of("PAR-113", contents.AmendmentStatus)),
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
    """Return everything wrong with a document as a row of the summaries file."""
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


LEDGER_FILE: Final = "ledger.json"
SESSION_FILE: Final = "session.json"
BILL_FILE: Final = "bill.json"
SUMMARIES_FILE: Final = "round-summaries.json"
# The ledger is written first: the others follow from it (C-38).
FILES: Final = (LEDGER_FILE, SESSION_FILE, BILL_FILE, SUMMARIES_FILE)


def _message(value: Any, path: str) -> Iterator[Finding]:
    return iter(message_findings(value, path))


_PARLIAMENT_ID: Final = text_like("PAR-004", contents.PARLIAMENT_ID, "parl-20260210-001")

LEDGER: Final = object_of(
    "PAR-003",
    ShapeField("parliament_id", "PAR-003", _PARLIAMENT_ID),
    ShapeField("problem_statement", "PAR-003", nonblank_text("PAR-003")),
    ShapeField("messages", "PAR-003", list_of("PAR-003", _message)),
)

_HEAT: Final = object_of(
    "PAR-094",
    ShapeField("round", "PAR-094", whole_number("PAR-094", 0)),
    ShapeField("temperature", "PAR-094", whole_number("PAR-094", 0, 100)),
)
_CAST: Final = object_of(
    "PAR-057",
    ShapeField("round", "PAR-057", whole_number("PAR-057", 0)),
    ShapeField("bill_version", "PAR-057", whole_number("PAR-057", 1)),
    ShapeField("vote", "PAR-057", one_of("PAR-053", contents.Ballot)),
)
_REPRESENTATIVE: Final = object_of(
    "PAR-092",
    ShapeField("agent_id", "PAR-092", seat_id("PAR-093")),
    ShapeField("name", "PAR-092", nonblank_text("PAR-093")),
    ShapeField("temperature", "PAR-092", whole_number("PAR-094", 0, 100)),
    ShapeField("temperature_history", "PAR-092", list_of("PAR-094", _HEAT)),
    ShapeField("motives", "PAR-092", list_of_texts("PAR-095")),
    ShapeField(
        "motive_satisfaction",
        "PAR-092",
        map_of("PAR-095", null_or(whole_number("PAR-095", 1, 5))),
        required=False,
    ),
    ShapeField("is_quiet", "PAR-092", boolean("PAR-096")),
    ShapeField("quiet_until_round", "PAR-092", null_or(whole_number("PAR-096", 1))),
    ShapeField("voting_record", "PAR-092", list_of("PAR-097", _CAST)),
)
_CLOCK: Final = object_of(
    "PAR-098",
    ShapeField("max_exchanges_per_round", "PAR-098", whole_number("PAR-098", 0)),
    ShapeField("response_budget", "PAR-098", whole_number("PAR-098", 1)),
    ShapeField("exchanges_this_round", "PAR-098", whole_number("PAR-098", 0)),
)
SESSION: Final = object_of(
    "PAR-086",
    ShapeField("parliament_id", "PAR-086", _PARLIAMENT_ID),
    ShapeField("problem_statement", "PAR-086", nonblank_text("PAR-086")),
    ShapeField("constituent_issues", "PAR-086", list_of_texts("PAR-087")),
    ShapeField("current_round", "PAR-086", whole_number("PAR-086", 0)),
    ShapeField("max_rounds", "PAR-086", whole_number("PAR-088", 1)),
    ShapeField("bill_version", "PAR-086", whole_number("PAR-086", 0)),
    ShapeField("drafter", "PAR-086", null_or(seat_id("PAR-089"))),
    ShapeField("status", "PAR-086", one_of("PAR-091", contents.SessionStatus)),
    ShapeField("next_message_id", "PAR-086", whole_number("PAR-090", 1)),
    ShapeField("representatives", "PAR-086", list_of("PAR-092", _REPRESENTATIVE)),
    ShapeField("debate_clock", "PAR-086", _CLOCK),
    ShapeField("vote_history", "PAR-086", list_of("PAR-097", VOTE_ROW)),
)

_BILL_SCOPE: Final = object_of(
    "PAR-110",
    ShapeField("in_scope", "PAR-110", list_of_texts("PAR-110")),
    ShapeField("out_of_scope", "PAR-110", list_of_texts("PAR-110")),
    ShapeField("assumptions", "PAR-110", list_of_texts("PAR-110")),
    ShapeField("definitions", "PAR-110", list_of_texts("PAR-110")),
)
_BILL_SECTIONS: Final = object_of(
    "PAR-109",
    ShapeField("problem", "PAR-109", any_text("PAR-109")),
    ShapeField("scope", "PAR-109", _BILL_SCOPE),
    ShapeField("solution", "PAR-109", any_text("PAR-109")),
    ShapeField("implementation", "PAR-109", any_text("PAR-109")),
)
_ENDORSEMENT: Final = object_of(
    "PAR-112",
    ShapeField("agent_id", "PAR-112", seat_id("PAR-112")),
    ShapeField("position", "PAR-112", one_of("PAR-038", contents.Position)),
    ShapeField("round", "PAR-112", whole_number("PAR-112", 0)),
)
_AMENDMENT: Final = object_of(
    "PAR-111",
    ShapeField("amendment_id", "PAR-111", text_like("PAR-044", contents.AMENDMENT_ID, "amend-001")),
    ShapeField("proposed_by", "PAR-111", seat_id("PAR-111")),
    ShapeField("round", "PAR-111", whole_number("PAR-111", 0)),
    ShapeField("target_section", "PAR-111", one_of("PAR-046", contents.BillSection)),
    ShapeField("action", "PAR-111", one_of("PAR-045", contents.AmendmentAction)),
    ShapeField("description", "PAR-111", any_text("PAR-111")),
    ShapeField("status", "PAR-111", one_of("PAR-113", contents.AmendmentStatus)),
    ShapeField("endorsements", "PAR-111", list_of("PAR-112", _ENDORSEMENT)),
)
# Before the first draft there is a file, but no bill in it.
BILL: Final = object_of(
    "PAR-109",
    ShapeField("bill_id", "PAR-109", null_or(text_like("PAR-109", contents.BILL_ID, "BILL-001"))),
    ShapeField("title", "PAR-109", null_or(any_text("PAR-109"))),
    ShapeField("version", "PAR-109", whole_number("PAR-109", 0)),
    ShapeField("drafter", "PAR-109", null_or(seat_id("PAR-109"))),
    ShapeField("sections", "PAR-109", _BILL_SECTIONS),
    ShapeField("amendments", "PAR-109", list_of("PAR-111", _AMENDMENT)),
)
SUMMARIES: Final = list_of("PAR-120", SUMMARY)

SHAPES: Final[dict[str, Check]] = {
    LEDGER_FILE: LEDGER,
    SESSION_FILE: SESSION,
    BILL_FILE: BILL,
    SUMMARIES_FILE: SUMMARIES,
}
