"""The v1 envelope (section 6): our events as its JSON, and its JSON read back and checked.

Strict when writing, tolerant when reading (OPR-006): another tool's document may carry keys that we
do not know, which are kept, and may write its time in another way. `parse_envelope` raises only
`Malformed`. What must hold of a document is in `contract.py`. OPR-061: names and types never
change within v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from moot.core.clock import to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding, select_errors
from moot.core.machine import Recorded
from moot.core.names import SYSTEM
from moot.protocols.presence import events as did
from moot.protocols.presence.contract import FIELDS, VERSION, Document, check_document
from moot.protocols.presence.model import EventType, name_with_alias

MAX_BYTES: Final = 65_536


class OperativeEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """The ten fields, in the order of the document; `extra` is what another tool added."""

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
    """The v1 form of a recorded HANDOFF, BLOCKED, INCURSION or RESUME."""
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
    """Plain values in the order of the document."""
    fields = {name: getattr(envelope, name) for name in FIELDS}
    return {**fields, "event_type": str(envelope.event_type), **envelope.extra}


def write_envelope(envelope: OperativeEnvelope) -> bytes:
    """Its JSON, indented; Malformed unless every row of the contract holds."""
    document = make_document(envelope)
    _raise_first(check_document(document))
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def parse_envelope(data: bytes | str) -> OperativeEnvelope:
    """A document as an envelope; Malformed, with the place, if a row of the contract is broken."""
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
    """The work items an event belongs to."""
    linked = envelope.payload.get("bead_ids", ())
    return tuple(dict.fromkeys(work for work in (envelope.bead_id, *linked) if work))


def searchable_text(envelope: OperativeEnvelope) -> str:
    """The texts of its payload: what a search should find it by."""
    return "\n".join(text for text in envelope.payload.values() if isinstance(text, str))
