"""The shapes of the four files, key by key, as the protocol prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Finding
from moot.protocols.parliament.files.summary_shape import SUMMARY, VOTE_ROW
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.message import message_findings
from moot.protocols.parliament.messages.schema import seat_id
from moot.protocols.parliament.messages.shapes import (
    Check,
    ShapeField,
    any_text,
    boolean,
    list_of,
    list_of_texts,
    map_of,
    nonblank_text,
    null_or,
    object_of,
    one_of,
    text_like,
    whole_number,
)

LEDGER_FILE: Final = "ledger.json"
SESSION_FILE: Final = "session.json"
BILL_FILE: Final = "bill.json"
SUMMARIES_FILE: Final = "round-summaries.json"
# The ledger is written first: the others follow from it (C-38).
FILES: Final = (LEDGER_FILE, SESSION_FILE, BILL_FILE, SUMMARIES_FILE)


def _message(value: Any, path: str) -> Iterator[Finding]:
    return iter(message_findings(value, path))


_PARLIAMENT_ID: Final = text_like("PAR-004", words.PARLIAMENT_ID, "parl-20260210-001")

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
    ShapeField("vote", "PAR-057", one_of("PAR-053", words.Ballot)),
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
    ShapeField("status", "PAR-086", one_of("PAR-091", words.SessionStatus)),
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
    ShapeField("position", "PAR-112", one_of("PAR-038", words.Position)),
    ShapeField("round", "PAR-112", whole_number("PAR-112", 0)),
)
_AMENDMENT: Final = object_of(
    "PAR-111",
    ShapeField("amendment_id", "PAR-111", text_like("PAR-044", words.AMENDMENT_ID, "amend-001")),
    ShapeField("proposed_by", "PAR-111", seat_id("PAR-111")),
    ShapeField("round", "PAR-111", whole_number("PAR-111", 0)),
    ShapeField("target_section", "PAR-111", one_of("PAR-046", words.BillSection)),
    ShapeField("action", "PAR-111", one_of("PAR-045", words.AmendmentAction)),
    ShapeField("description", "PAR-111", any_text("PAR-111")),
    ShapeField("status", "PAR-111", one_of("PAR-113", words.AmendmentStatus)),
    ShapeField("endorsements", "PAR-111", list_of("PAR-112", _ENDORSEMENT)),
)
# Before the first draft there is a file, but no bill in it.
BILL: Final = object_of(
    "PAR-109",
    ShapeField("bill_id", "PAR-109", null_or(text_like("PAR-109", words.BILL_ID, "BILL-001"))),
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
