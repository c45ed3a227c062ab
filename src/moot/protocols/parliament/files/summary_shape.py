"""The shape of a round's summary and of a vote's row, as the files print them."""

from __future__ import annotations

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

# What is known of the round is added to it, and both are one event.
MAX_SUMMARY: Final = 16 * 1024

_POSITION: Final = fields(
    "PAR-123",
    Field("lean", "PAR-123", one_of("PAR-123", words.Lean)),
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
