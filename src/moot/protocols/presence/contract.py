"""The contract of the v1 envelope (section 6), row by row: ENVELOPE, then PAYLOADS by event type.

OPR-006: an error makes a document unreadable; a warning is tolerated in what other tools wrote and
refused in what we write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.core.clock import from_text, to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.protocols.presence.model import EventType, Kind, Liveness, ResumeReason, Urgency
from moot.protocols.presence.numbering import EVENT_ID
from moot.protocols.presence.paths import absolute_root

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
SYSTEM_EVENTS: Final = (EventType.INCURSION, EventType.RESUME)

Document = dict[str, Any]
Holds = Callable[[Any, Document], bool]
Breaches = Iterator[tuple[str, str | None]]


def findings(document: Any) -> tuple[Finding, ...]:
    """All breaches of the contract, envelope first; a payload is checked by its event type."""
    if not isinstance(document, dict):
        message = "an event is a JSON object"
        return (Finding(rule="OPR-049", code="not_an_object", message=message),)
    return (*check_all(ENVELOPE, document), *payload_findings(document))


def payload_findings(document: Document) -> tuple[Finding, ...]:
    """Breaches of the payload's own rows.

    OPR-050: apart from the envelope, because the sample in the document leaves its payload out.
    """
    kind, payload = document.get("event_type"), document.get("payload")
    if kind not in tuple(EventType) or not isinstance(payload, dict):
        return ()  # the rows of the envelope report it
    return check_all(PAYLOADS[EventType(kind)], payload)


def text(value: Any, _document: Document) -> bool:
    return isinstance(value, str) and bool(value.strip())


def text_or_null(value: Any, document: Document) -> bool:
    return value is None or text(value, document)


def text_or_system(value: Any, document: Document) -> bool:
    if value is None:
        return document.get("event_type") in SYSTEM_EVENTS
    return text(value, document)


def texts(value: Any, document: Document) -> bool:
    return isinstance(value, list) and all(text(item, document) for item in value)


def one_of(*values: str) -> Holds:
    return lambda value, _document: isinstance(value, str) and value in values


def boolean(value: Any, _document: Document) -> bool:
    return isinstance(value, bool)


def true(value: Any, _document: Document) -> bool:
    return value is True


def mapping(value: Any, _document: Document) -> bool:
    return isinstance(value, dict)


def event_id(value: Any, _document: Document) -> bool:
    return isinstance(value, str) and EVENT_ID.match(value) is not None


def root(value: Any, _document: Document) -> bool:
    try:
        return isinstance(value, str) and bool(absolute_root(value))
    except Malformed:
        return False


def forward_slashes(value: Any, document: Document) -> bool:
    return not root(value, document) or value.startswith("/") or "\\" not in value


def time(value: Any, _document: Document) -> bool:
    try:
        return isinstance(value, str) and bool(from_text(value) or True)
    except Malformed:
        return False


def usual_time(value: Any, document: Document) -> bool:
    return not time(value, document) or to_text(from_text(value)) == value


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
    holds: Holds,
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
    norm: str, name: str, holds: Holds, sentence: str = "text is required"
) -> tuple[Rule[Document], Rule[Document]]:
    """Two rows for a field of a payload: that it is there, and that its value is right."""

    def check(payload: Document) -> Breaches:
        if name not in payload:
            yield f"{name} is missing", f"payload.{name}"

    present = Rule(norm, "missing_field", f"{name} is required", check)
    return present, _field(norm, "bad_field", name, holds, sentence, within="payload.")


ENVELOPE: Final[tuple[Rule[Document], ...]] = (
    Rule("OPR-049", "missing_key", "all ten keys are required", _missing_keys),
    _only(*FIELDS),
    _field("OPR-051", "bad_id", "id", event_id, "looks like proto_20260214_001"),
    _field("OPR-052", "bad_version", "version", one_of(VERSION), "is v1"),
    _field(
        "OPR-053",
        "bad_event_type",
        "event_type",
        one_of(*EventType),
        "is HANDOFF, BLOCKED, INCURSION or RESUME",
    ),
    _field("OPR-054", "bad_root", "project_root", root, "is an absolute path"),
    _field(
        "OPR-054",
        "backward_slashes",
        "project_root",
        forward_slashes,
        "is written with /",
        Severity.WARNING,
    ),
    _field(
        "OPR-055", "bad_bead_id", "bead_id", text_or_system, "is text; null in INCURSION, RESUME"
    ),
    _field(
        "OPR-056", "bad_from_agent", "from_agent", text_or_system, "is null in system events only"
    ),
    _field("OPR-057", "bad_to_agent", "to_agent", text_or_system, "is null in system events only"),
    _field("OPR-058", "bad_scope", "scope", text_or_null, "is text or null"),
    _field("OPR-059", "bad_created_at", "created_at", time, "is ISO-8601 with a zone"),
    _field(
        "OPR-059",
        "unusual_time",
        "created_at",
        usual_time,
        "is UTC with milliseconds, such as 2026-02-14T18:05:11.000Z",
        Severity.WARNING,
    ),
    _field("OPR-060", "bad_payload", "payload", mapping, "is an object"),
)

_CLASH = (Kind.EXACT, Kind.PARTIAL)

PAYLOADS: Final[dict[EventType, tuple[Rule[Document], ...]]] = {
    EventType.HANDOFF: (
        *_required("OPR-062", "subject", text),
        *_required("OPR-062", "summary", text),
        *_required("OPR-062", "next_action", text),
        *_required("OPR-063", "requires_ack", boolean, "is true or false"),
        _only("subject", "summary", "next_action", "requires_ack", within="payload."),
    ),
    EventType.BLOCKED: (
        *_required("OPR-064", "subject", text),
        *_required("OPR-064", "blocker", text),
        *_required("OPR-064", "requested_action", text),
        *_required("OPR-065", "urgency", one_of(*Urgency), "is low, medium or high"),
        *_required("OPR-066", "requires_ack", true, "is true"),
        _only(
            "subject", "blocker", "requested_action", "urgency", "requires_ack", within="payload."
        ),
    ),
    EventType.INCURSION: (
        *_required("OPR-067", "incursion_kind", one_of(*_CLASH), "is exact or partial"),
        *_required("OPR-068", "owner_agent", text),
        *_required("OPR-068", "incoming_agent", text),
        *_required("OPR-069", "owner_liveness", one_of(*Liveness), "is active, stale or evicted"),
        *_required("OPR-070", "resolution_hint", text),
        _only(
            "incursion_kind",
            "owner_agent",
            "incoming_agent",
            "owner_liveness",
            "resolution_hint",
            within="payload.",
        ),
    ),
    EventType.RESUME: (
        *_required(
            "OPR-071",
            "resume_reason",
            one_of(*ResumeReason),
            "is uncommitted_scope or in_progress_ownership",
        ),
        *_required("OPR-072", "prior_session_agent", text),
        *_required("OPR-072", "adopted_agent", text),
        *_required("OPR-073", "evidence", text),
        _field(
            "B-05",
            "bad_field",
            "bead_ids",
            texts,
            "is a list of bead ids",
            within="payload.",
            requirement="OPR-018",
        ),
        _only(
            "resume_reason",
            "prior_session_agent",
            "adopted_agent",
            "evidence",
            "bead_ids",
            within="payload.",
        ),
    ),
}
