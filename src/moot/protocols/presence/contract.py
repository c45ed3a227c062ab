"""The contract of the v1 envelope (section 6), row by row: ENVELOPE, then PAYLOADS by event type.

OPR-006: an error makes a document unreadable; a warning is tolerated in what other tools wrote and
refused in what we write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.core.clock import parse_time, to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.protocols.presence.model import EventType, Kind, Liveness, ResumeReason, Urgency
from moot.protocols.presence.numbering import EVENT_ID
from moot.protocols.presence.paths import require_absolute_root

VERSION: Final = "v1"
FIELDS: Final = (
    "id",
    "version",
    "event_type",
    "project_root",
    "bead_id",
    "from_agent",
    "to_agent",
    "scope",
    "created_at",
    "payload",
)
# Moot itself may note these, so they need neither a sender nor a bead (B-05, B-08).
EVENTS_WITHOUT_SENDER: Final = (EventType.INCURSION, EventType.RESUME)

Document = dict[str, Any]
FieldTest = Callable[[Any, Document], bool]
Breaches = Iterator[tuple[str, str | None]]


def check_document(document: Any) -> tuple[Finding, ...]:
    """All breaches of the contract, envelope first; a payload is checked by its event type."""
    if not isinstance(document, dict):
        message = "an event is a JSON object"
        return (Finding(rule="OPR-049", code="not_an_object", message=message),)
    return (*check_all(ENVELOPE_RULES, document), *check_payload(document))


def check_payload(document: Document) -> tuple[Finding, ...]:
    """Breaches of the payload's own rows.

    OPR-050: apart from the envelope, because the sample in the document leaves its payload out.
    """
    kind, payload = document.get("event_type"), document.get("payload")
    if kind not in tuple(EventType) or not isinstance(payload, dict):
        return ()  # the rows of the envelope report it
    return check_all(PAYLOAD_RULES[EventType(kind)], payload)


def is_text(value: Any, _document: Document) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_text_or_null(value: Any, document: Document) -> bool:
    return value is None or is_text(value, document)


def is_text_or_from_system(value: Any, document: Document) -> bool:
    if value is None:
        return document.get("event_type") in EVENTS_WITHOUT_SENDER
    return is_text(value, document)


def is_list_of_texts(value: Any, document: Document) -> bool:
    return isinstance(value, list) and all(is_text(item, document) for item in value)


def is_one_of(*values: str) -> FieldTest:
    return lambda value, _document: isinstance(value, str) and value in values


def is_boolean(value: Any, _document: Document) -> bool:
    return isinstance(value, bool)


def is_true(value: Any, _document: Document) -> bool:
    return value is True


def is_object(value: Any, _document: Document) -> bool:
    return isinstance(value, dict)


def is_usual_id(value: Any, document: Document) -> bool:
    return not is_text(value, document) or EVENT_ID.match(value) is not None


def is_absolute_root(value: Any, _document: Document) -> bool:
    try:
        return isinstance(value, str) and bool(require_absolute_root(value))
    except Malformed:
        return False


def has_forward_slashes(value: Any, document: Document) -> bool:
    return not is_absolute_root(value, document) or value.startswith("/") or "\\" not in value


def is_time(value: Any, _document: Document) -> bool:
    try:
        return isinstance(value, str) and bool(parse_time(value) or True)
    except Malformed:
        return False


def is_utc_with_milliseconds(value: Any, document: Document) -> bool:
    return not is_time(value, document) or to_text(parse_time(value)) == value


def _missing_keys(document: Document) -> Breaches:
    for name in FIELDS:
        if name not in document:
            yield f"{name} is missing", name


def _only(*known: str, within: str = "") -> Rule[Document]:
    def check(document: Document) -> Breaches:
        for name in document:
            if name not in known:
                yield f"{name[:60]!r} is not of this contract", f"{within}{name[:60]}"

    return Rule("OPR-049", "unknown_key", "no other key", check, severity=Severity.WARNING)


def _field(
    norm: str,
    code: str,
    name: str,
    holds: FieldTest,
    sentence: str,
    severity: Severity = Severity.ERROR,
    within: str = "",
    requirement: str | tuple[str, ...] = (),
) -> Rule[Document]:
    """One field, if it is there: a missing one has its own row."""

    def check(document: Document) -> Breaches:
        if name in document and not holds(document[name], document):
            yield f"{name}: {sentence}", f"{within}{name}"

    return Rule(norm, code, sentence, check, severity=severity, requirement=requirement)


def _required(
    norm: str, name: str, holds: FieldTest, sentence: str = "text is required"
) -> tuple[Rule[Document], Rule[Document]]:
    """Two rows for a field of a payload: that it is there, and that its value is right."""

    def check(payload: Document) -> Breaches:
        if name not in payload:
            yield f"{name} is missing", f"payload.{name}"

    present = Rule(norm, "missing_field", f"{name} is required", check)
    return present, _field(norm, "bad_field", name, holds, sentence, within="payload.")


ENVELOPE_RULES: Final[tuple[Rule[Document], ...]] = (
    Rule("OPR-049", "missing_key", "all ten keys are required", _missing_keys),
    _only(*FIELDS),
    _field("OPR-051", "bad_id", "id", is_text, "is text"),
    _field(
        "OPR-051",
        "unusual_id",
        "id",
        is_usual_id,
        "looks like proto_20260214_001",
        Severity.WARNING,
    ),
    _field("OPR-052", "bad_version", "version", is_one_of(VERSION), "is v1"),
    _field(
        "OPR-053",
        "bad_event_type",
        "event_type",
        is_one_of(*EventType),
        "is HANDOFF, BLOCKED, INCURSION or RESUME",
    ),
    _field("OPR-054", "bad_root", "project_root", is_absolute_root, "is an absolute path"),
    _field(
        "OPR-054",
        "backward_slashes",
        "project_root",
        has_forward_slashes,
        "is written with /",
        Severity.WARNING,
    ),
    _field(
        "OPR-055",
        "bad_bead_id",
        "bead_id",
        is_text_or_from_system,
        "is text; null in INCURSION, RESUME",
    ),
    _field(
        "OPR-056",
        "bad_from_agent",
        "from_agent",
        is_text_or_from_system,
        "is null in system events only",
    ),
    _field(
        "OPR-057",
        "bad_to_agent",
        "to_agent",
        is_text_or_from_system,
        "is null in system events only",
    ),
    _field("OPR-058", "bad_scope", "scope", is_text_or_null, "is text or null"),
    _field("OPR-059", "bad_created_at", "created_at", is_time, "is ISO-8601 with a zone"),
    _field(
        "OPR-059",
        "unusual_time",
        "created_at",
        is_utc_with_milliseconds,
        "is UTC with milliseconds, such as 2026-02-14T18:05:11.000Z",
        Severity.WARNING,
    ),
    _field("OPR-060", "bad_payload", "payload", is_object, "is an object"),
)

_CLASH = (Kind.EXACT, Kind.PARTIAL)

PAYLOAD_RULES: Final[dict[EventType, tuple[Rule[Document], ...]]] = {
    EventType.HANDOFF: (
        *_required("OPR-062", "subject", is_text),
        *_required("OPR-062", "summary", is_text),
        *_required("OPR-062", "next_action", is_text),
        *_required("OPR-063", "requires_ack", is_boolean, "is true or false"),
        _only("subject", "summary", "next_action", "requires_ack", within="payload."),
    ),
    EventType.BLOCKED: (
        *_required("OPR-064", "subject", is_text),
        *_required("OPR-064", "blocker", is_text),
        *_required("OPR-064", "requested_action", is_text),
        *_required("OPR-065", "urgency", is_one_of(*Urgency), "is low, medium or high"),
        *_required("OPR-066", "requires_ack", is_true, "is true"),
        _only(
            "subject", "blocker", "requested_action", "urgency", "requires_ack", within="payload."
        ),
    ),
    EventType.INCURSION: (
        *_required("OPR-067", "incursion_kind", is_one_of(*_CLASH), "is exact or partial"),
        *_required("OPR-068", "owner_agent", is_text),
        *_required("OPR-068", "incoming_agent", is_text),
        *_required(
            "OPR-069", "owner_liveness", is_one_of(*Liveness), "is active, stale or evicted"
        ),
        *_required("OPR-070", "resolution_hint", is_text),
        *(
            _field(
                "P-14",
                "bad_field",
                name,
                is_text,
                "names a sub-agent, such as amber-otter/2",
                within="payload.",
                requirement="OPR-068",
            )
            for name in ("owner_alias", "incoming_alias")
        ),
        _only(
            "incursion_kind",
            "owner_agent",
            "incoming_agent",
            "owner_liveness",
            "resolution_hint",
            "owner_alias",
            "incoming_alias",
            "blob_before",
            "blob_after",
            within="payload.",
        ),
    ),
    EventType.RESUME: (
        *_required(
            "OPR-071",
            "resume_reason",
            is_one_of(*ResumeReason),
            "is uncommitted_scope or in_progress_ownership",
        ),
        *_required("OPR-072", "prior_session_agent", is_text),
        *_required("OPR-072", "adopted_agent", is_text),
        *_required("OPR-073", "evidence", is_text),
        *(
            _field(
                "B-05",
                "bad_field",
                name,
                is_list_of_texts,
                f"is a list of {what}",
                within="payload.",
                requirement="OPR-018",
            )
            for name, what in (("bead_ids", "bead ids"), ("scopes", "scopes"))
        ),
        _only(
            "resume_reason",
            "prior_session_agent",
            "adopted_agent",
            "evidence",
            "bead_ids",
            "scopes",
            within="payload.",
        ),
    ),
}
