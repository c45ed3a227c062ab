"""The shape of a round's summary and of a vote's row, as the files print them."""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Finding
from moot.protocols.parliament.messages import words
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

# What is known of the round is added to it, and both are one event.
MAX_SUMMARY: Final = 16 * 1024

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
