"""Documents of the v1 contract: the seed's own sample and one good example of each type."""

from __future__ import annotations

from typing import Any

# The sample of section 6.1. It shows the envelope; its payload is left out there.
SAMPLE: dict[str, Any] = {
    "id": "proto_20260214_001",
    "version": "v1",
    "event_type": "HANDOFF",
    "project_root": "C:/Users/Zenchant/codex/beadboard",
    "bead_id": "bb-u6f.6.3",
    "from_agent": "amber-otter",
    "to_agent": "cobalt-harbor",
    "scope": "src/components/sessions/*",
    "created_at": "2026-02-14T18:05:11.000Z",
    "payload": {},
}

PAYLOADS: dict[str, dict[str, Any]] = {
    "HANDOFF": {
        "subject": "Parser",
        "summary": "half done",
        "next_action": "finish the lexer",
        "requires_ack": True,
    },
    "BLOCKED": {
        "subject": "Schema",
        "blocker": "two schemas disagree",
        "requested_action": "say which one holds",
        "urgency": "high",
        "requires_ack": True,
    },
    "INCURSION": {
        "incursion_kind": "partial",
        "owner_agent": "cobalt-harbor",
        "incoming_agent": "amber-otter",
        "owner_liveness": "active",
        "resolution_hint": "work elsewhere",
    },
    "RESUME": {
        "resume_reason": "uncommitted_scope",
        "prior_session_agent": "amber-otter",
        "adopted_agent": "amber-otter",
        "evidence": "1 uncommitted file",
    },
}


def document(event_type: str = "HANDOFF", **changes: Any) -> dict[str, Any]:
    """A good document; `changes` replace top-level fields."""
    return {**SAMPLE, "event_type": event_type, "payload": PAYLOADS[event_type], **changes}


def with_payload(event_type: str, **changes: Any) -> dict[str, Any]:
    """A good document with some payload fields changed."""
    return document(event_type, payload={**PAYLOADS[event_type], **changes})


def without_payload(event_type: str, field: str) -> dict[str, Any]:
    payload = {key: value for key, value in PAYLOADS[event_type].items() if key != field}
    return document(event_type, payload=payload)
