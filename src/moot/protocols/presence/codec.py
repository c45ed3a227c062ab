"""The v1 envelope (section 6): our events as its JSON, and its JSON read back and checked.

Strict when writing, tolerant when reading (OPR-006): a document of another tool may have unknown
keys, which are kept, and another format of its time. `parse_envelope` raises only `Malformed`.
OPR-061: names and types never change within v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from moot.core.clock import parse_time, to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding, Rule, Severity, check_all, select_errors
from moot.core.machine import Recorded
from moot.core.names import SYSTEM
from moot.protocols.presence import events as did
from moot.protocols.presence.model import (
    EVENT_ID,
    EventType,
    Kind,
    Liveness,
    ResumeReason,
    Urgency,
    name_with_alias,
)
from moot.protocols.presence.paths import require_absolute_root

# The contract of the v1 envelope (section 6), row by row: ENVELOPE, then PAYLOADS by event type.
#
# OPR-006: an error makes a document unreadable; a warning is tolerated in what other tools wrote
# and refused in what we write.

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
    """Return all breaches of the contract, envelope first, then the payload by event type."""
    if not isinstance(document, dict):
        message = "an event is a JSON object"
        return (Finding(rule="OPR-049", code="not_an_object", message=message),)
    return (*check_all(ENVELOPE_RULES, document), *check_payload(document))


def check_payload(document: Document) -> tuple[Finding, ...]:
    """Return the breaches of the payload's own rows.

    OPR-050: separate from the envelope, because the sample in the document has no payload.
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
    """Return one field, if it is there: a missing one has its own row."""

    def check(document: Document) -> Breaches:
        if name in document and not holds(document[name], document):
            yield f"{name}: {sentence}", f"{within}{name}"

    return Rule(norm, code, sentence, check, severity=severity, requirement=requirement)


def _required(
    norm: str, name: str, holds: FieldTest, sentence: str = "text is required"
) -> tuple[Rule[Document], Rule[Document]]:
    """Return two rows for a field of a payload: that it is there, and that its value is right."""

    def check(payload: Document) -> Breaches:
        if name not in payload:
            yield f"{name} is missing", f"payload.{name}"

    present = Rule(norm, "missing_field", f"{name} is required", check)
    return present, _field(norm, "bad_field", name, holds, sentence, within="payload.")


ENVELOPE_RULES: Final[tuple[Rule[Document], ...]] = (
    Rule("OPR-049", "missing_key", "all ten keys are required", _missing_keys),
    _only(*FIELDS),
    _field("OPR-051", "bad_id", "id", is_text, "is text"),
    _field("OPR-051", "unusual_id", "id", is_usual_id, "looks like proto_20260214_001",
           Severity.WARNING),
    _field("OPR-052", "bad_version", "version", is_one_of(VERSION), "is v1"),
    _field("OPR-053", "bad_event_type", "event_type", is_one_of(*EventType),
           "is HANDOFF, BLOCKED, INCURSION or RESUME"),
    _field("OPR-054", "bad_root", "project_root", is_absolute_root, "is an absolute path"),
    _field("OPR-054", "backward_slashes", "project_root", has_forward_slashes,
           "is written with /", Severity.WARNING),
    _field("OPR-055", "bad_bead_id", "bead_id", is_text_or_from_system,
           "is text; null in INCURSION, RESUME"),
    _field("OPR-056", "bad_from_agent", "from_agent", is_text_or_from_system,
           "is null in system events only"),
    _field("OPR-057", "bad_to_agent", "to_agent", is_text_or_from_system,
           "is null in system events only"),
    _field("OPR-058", "bad_scope", "scope", is_text_or_null, "is text or null"),
    _field("OPR-059", "bad_created_at", "created_at", is_time, "is ISO-8601 with a zone"),
    _field("OPR-059", "unusual_time", "created_at", is_utc_with_milliseconds,
           "is UTC with milliseconds, such as 2026-02-14T18:05:11.000Z", Severity.WARNING),
    _field("OPR-060", "bad_payload", "payload", is_object, "is an object"),
)  # fmt: skip

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
        _only("subject", "blocker", "requested_action", "urgency", "requires_ack",
              within="payload."),
    ),
    EventType.INCURSION: (
        *_required("OPR-067", "incursion_kind", is_one_of(*_CLASH), "is exact or partial"),
        *_required("OPR-068", "owner_agent", is_text),
        *_required("OPR-068", "incoming_agent", is_text),
        *_required("OPR-069", "owner_liveness", is_one_of(*Liveness),
                   "is active, stale or evicted"),
        *_required("OPR-070", "resolution_hint", is_text),
        *(_field("P-14", "bad_field", name, is_text, "names a sub-agent, such as amber-otter/2",
                 within="payload.", requirement="OPR-068")
          for name in ("owner_alias", "incoming_alias")),
        _only("incursion_kind", "owner_agent", "incoming_agent", "owner_liveness",
              "resolution_hint", "owner_alias", "incoming_alias", "blob_before", "blob_after",
              within="payload."),
    ),
    EventType.RESUME: (
        *_required("OPR-071", "resume_reason", is_one_of(*ResumeReason),
                   "is uncommitted_scope or in_progress_ownership"),
        *_required("OPR-072", "prior_session_agent", is_text),
        *_required("OPR-072", "adopted_agent", is_text),
        *_required("OPR-073", "evidence", is_text),
        *(_field("B-05", "bad_field", name, is_list_of_texts, f"is a list of {what}",
                 within="payload.", requirement="OPR-018")
          for name, what in (("bead_ids", "bead ids"), ("scopes", "scopes"))),
        _only("resume_reason", "prior_session_agent", "adopted_agent", "evidence", "bead_ids",
              "scopes", within="payload."),
    ),
}  # fmt: skip


MAX_BYTES: Final = 65_536


class OperativeEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """The ten fields, in the order of the document; `extra` are keys that another tool added."""

    id: str
    version: str = VERSION
    event_type: EventType
    project_root: str
    bead_id: str | None
    from_agent: str | None
    to_agent: str | None
    scope: str | None
    created_at: str
    payload: Document
    extra: Document = {}


def make_envelope(recorded: Recorded[Any]) -> OperativeEnvelope:
    """Return the v1 form of a recorded HANDOFF, BLOCKED, INCURSION or RESUME."""
    event, actor = recorded.event, recorded.actor.id
    kind, to, scope, payload = _PARTS[type(event)](event, actor)
    return OperativeEnvelope(
        id=event.id,
        event_type=kind,
        project_root=event.project_root,
        bead_id=event.work,
        from_agent=None if actor == SYSTEM else actor,
        to_agent=to,
        scope=scope,
        created_at=to_text(recorded.at),
        payload=payload,
    )


# What differs between the four: the event type, the receiver, the scope and the payload.
_Parts = tuple[EventType, str, str | None, Document]


def _handoff(event: did.HandoffSent, _actor: str) -> _Parts:
    payload = {
        "subject": event.subject,
        "summary": event.summary,
        "next_action": event.next_action,
        "requires_ack": event.requires_ack,
    }
    return EventType.HANDOFF, event.to, event.scope, payload


def _blocked(event: did.BlockedSent, _actor: str) -> _Parts:
    payload = {
        "subject": event.subject,
        "blocker": event.blocker,
        "requested_action": event.requested_action,
        "urgency": str(event.urgency),
        "requires_ack": True,  # OPR-066
    }
    return EventType.BLOCKED, event.to, event.scope, payload


def _incursion(event: did.IncursionNoted, actor: str) -> _Parts:
    payload = {
        "incursion_kind": event.kind,
        "owner_agent": event.owner,
        "incoming_agent": actor,
        "owner_liveness": str(event.owner_liveness),
        "resolution_hint": event.resolution_hint,
    }
    if event.owner_alias:
        payload["owner_alias"] = name_with_alias(event.owner, event.owner_alias)
    if event.alias:
        payload["incoming_alias"] = name_with_alias(actor, event.alias)
    if event.blob_before is not None:
        payload |= {"blob_before": event.blob_before, "blob_after": event.blob_after or ""}
    return EventType.INCURSION, event.owner, event.scope, payload


def _resume(event: did.AgentResumed, actor: str) -> _Parts:
    payload: Document = {
        "resume_reason": str(event.reason),
        "prior_session_agent": event.prior_agent,
        "adopted_agent": actor,
        "evidence": event.evidence,
        "bead_ids": list(event.bead_ids),
    }
    if event.scopes:
        payload["scopes"] = list(event.scopes)
    return EventType.RESUME, actor, next(iter(event.scopes), None), payload


_PARTS: Final[dict[type, Callable[[Any, str], _Parts]]] = {
    did.HandoffSent: _handoff,
    did.BlockedSent: _blocked,
    did.IncursionNoted: _incursion,
    did.AgentResumed: _resume,
}


def make_document(envelope: OperativeEnvelope) -> Document:
    """Return plain values in the order of the document."""
    fields = {name: getattr(envelope, name) for name in FIELDS}
    return {**fields, "event_type": str(envelope.event_type), **envelope.extra}


def write_envelope(envelope: OperativeEnvelope) -> bytes:
    """Return its JSON, indented; Malformed unless every row of the contract holds."""
    document = make_document(envelope)
    _raise_first(check_document(document))
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def parse_envelope(data: bytes | str) -> OperativeEnvelope:
    """Read a document; Malformed, with the place, if it breaks a row of the contract."""
    if len(data) > MAX_BYTES:
        raise Malformed(f"larger than {MAX_BYTES} bytes", code="too_large")
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}", code="not_json") from None
    _raise_first(select_errors(check_document(document)))
    fields = {name: document[name] for name in FIELDS if name != "event_type"}
    extra = {key: value for key, value in document.items() if key not in FIELDS}
    return OperativeEnvelope(event_type=EventType(document["event_type"]), extra=extra, **fields)


def _raise_first(problems: Iterable[Finding]) -> None:
    for finding in problems:
        raise Malformed(finding.message, code=finding.code, where=finding.where or "")


def list_work_items(envelope: OperativeEnvelope) -> tuple[str, ...]:
    """Return the work items an event belongs to."""
    linked = envelope.payload.get("bead_ids", ())
    return tuple(dict.fromkeys(work for work in (envelope.bead_id, *linked) if work))


def searchable_text(envelope: OperativeEnvelope) -> str:
    """Return the texts of its payload, for the full-text index."""
    return "\n".join(text for text in envelope.payload.values() if isinstance(text, str))
