"""The shapes of the four files, key by key, as the protocol prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Finding
from moot.protocols.parliament.files.summary_shape import SUMMARY, VOTE_ROW
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.message import message_findings
from moot.protocols.parliament.messages.schema import seat
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

LEDGER_FILE: Final = "ledger.json"
SESSION_FILE: Final = "session.json"
BILL_FILE: Final = "bill.json"
SUMMARIES_FILE: Final = "round-summaries.json"
# The ledger is written first: the others follow from it (C-38).
FILES: Final = (LEDGER_FILE, SESSION_FILE, BILL_FILE, SUMMARIES_FILE)


def _message(value: Any, path: str) -> Iterator[Finding]:
    return iter(message_findings(value, path))


_PARLIAMENT_ID: Final = like("PAR-004", words.PARLIAMENT_ID, "parl-20260210-001")

LEDGER: Final = fields(
    "PAR-003",
    Field("parliament_id", "PAR-003", _PARLIAMENT_ID),
    Field("problem_statement", "PAR-003", said("PAR-003")),
    Field("messages", "PAR-003", listed("PAR-003", _message)),
)

_HEAT: Final = fields(
    "PAR-094",
    Field("round", "PAR-094", whole("PAR-094", 0)),
    Field("temperature", "PAR-094", whole("PAR-094", 0, 100)),
)
_CAST: Final = fields(
    "PAR-057",
    Field("round", "PAR-057", whole("PAR-057", 0)),
    Field("bill_version", "PAR-057", whole("PAR-057", 1)),
    Field("vote", "PAR-057", one_of("PAR-053", words.Ballot)),
)
_REPRESENTATIVE: Final = fields(
    "PAR-092",
    Field("agent_id", "PAR-092", seat("PAR-093")),
    Field("name", "PAR-092", said("PAR-093")),
    Field("temperature", "PAR-092", whole("PAR-094", 0, 100)),
    Field("temperature_history", "PAR-092", listed("PAR-094", _HEAT)),
    Field("motives", "PAR-092", texts("PAR-095")),
    Field("motive_satisfaction", "PAR-092", mapped("PAR-095", maybe(whole("PAR-095", 1, 5)))),
    Field("is_quiet", "PAR-092", boolean("PAR-096")),
    Field("quiet_until_round", "PAR-092", maybe(whole("PAR-096", 1))),
    Field("voting_record", "PAR-092", listed("PAR-097", _CAST)),
)
_CLOCK: Final = fields(
    "PAR-098",
    Field("max_exchanges_per_round", "PAR-098", whole("PAR-098", 0)),
    Field("response_budget", "PAR-098", whole("PAR-098", 1)),
    Field("exchanges_this_round", "PAR-098", whole("PAR-098", 0)),
)
SESSION: Final = fields(
    "PAR-086",
    Field("parliament_id", "PAR-086", _PARLIAMENT_ID),
    Field("problem_statement", "PAR-086", said("PAR-086")),
    Field("constituent_issues", "PAR-086", texts("PAR-087")),
    Field("current_round", "PAR-086", whole("PAR-086", 0)),
    Field("max_rounds", "PAR-086", whole("PAR-088", 1)),
    Field("bill_version", "PAR-086", whole("PAR-086", 0)),
    Field("drafter", "PAR-086", maybe(seat("PAR-089"))),
    Field("status", "PAR-086", one_of("PAR-091", words.Status)),
    Field("next_message_id", "PAR-086", whole("PAR-090", 1)),
    Field("representatives", "PAR-086", listed("PAR-092", _REPRESENTATIVE)),
    Field("debate_clock", "PAR-086", _CLOCK),
    Field("vote_history", "PAR-086", listed("PAR-097", VOTE_ROW)),
)

_BILL_SCOPE: Final = fields(
    "PAR-110",
    Field("in_scope", "PAR-110", texts("PAR-110")),
    Field("out_of_scope", "PAR-110", texts("PAR-110")),
    Field("assumptions", "PAR-110", texts("PAR-110")),
    Field("definitions", "PAR-110", texts("PAR-110")),
)
_BILL_SECTIONS: Final = fields(
    "PAR-109",
    Field("problem", "PAR-109", text("PAR-109")),
    Field("scope", "PAR-109", _BILL_SCOPE),
    Field("solution", "PAR-109", text("PAR-109")),
    Field("implementation", "PAR-109", text("PAR-109")),
)
_ENDORSEMENT: Final = fields(
    "PAR-112",
    Field("agent_id", "PAR-112", seat("PAR-112")),
    Field("position", "PAR-112", one_of("PAR-038", words.Position)),
    Field("round", "PAR-112", whole("PAR-112", 0)),
)
_AMENDMENT: Final = fields(
    "PAR-111",
    Field("amendment_id", "PAR-111", like("PAR-044", words.AMENDMENT_ID, "amend-001")),
    Field("proposed_by", "PAR-111", seat("PAR-111")),
    Field("round", "PAR-111", whole("PAR-111", 0)),
    Field("target_section", "PAR-111", one_of("PAR-046", words.Section)),
    Field("action", "PAR-111", one_of("PAR-045", words.Action)),
    Field("description", "PAR-111", text("PAR-111")),
    Field("status", "PAR-111", one_of("PAR-113", words.AmendmentStatus)),
    Field("endorsements", "PAR-111", listed("PAR-112", _ENDORSEMENT)),
)
# Before the first draft there is a file, but no bill in it.
BILL: Final = fields(
    "PAR-109",
    Field("bill_id", "PAR-109", maybe(like("PAR-109", words.BILL_ID, "BILL-001"))),
    Field("title", "PAR-109", maybe(text("PAR-109"))),
    Field("version", "PAR-109", whole("PAR-109", 0)),
    Field("drafter", "PAR-109", maybe(seat("PAR-109"))),
    Field("sections", "PAR-109", _BILL_SECTIONS),
    Field("amendments", "PAR-109", listed("PAR-111", _AMENDMENT)),
)
SUMMARIES: Final = listed("PAR-120", SUMMARY)

SHAPES: Final[dict[str, Check]] = {
    LEDGER_FILE: LEDGER,
    SESSION_FILE: SESSION,
    BILL_FILE: BILL,
    SUMMARIES_FILE: SUMMARIES,
}
