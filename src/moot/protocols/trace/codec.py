"""Events of a trace as plain JSON with the document's own words, and read back.

The document names its fields in prose only; ours are listed in docs/readings.md (E-36).
`parse_event` reads one event's payload, raises only `Malformed`, and asks for every field that
must be there.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from moot.core.canonical import check_profile
from moot.core.clock import to_text
from moot.core.errors import Malformed
from moot.core.machine import Event, Recorded, to_snake_case
from moot.core.record import MAX_BODY_BYTES, ArtifactRef
from moot.protocols.trace import events as did

EVENT_TYPES: Final[dict[str, type[Event]]] = {
    to_snake_case(kind.__name__): kind for kind in did.EVENTS
}
EVENT_NAMES: Final[dict[type[Event], str]] = {kind: name for name, kind in EVENT_TYPES.items()}
EXTENSION_NAMES: Final = frozenset(EVENT_NAMES[kind] for kind in did.EXTENSIONS)


class ActorDocument(msgspec.Struct, frozen=True):
    agent_id: str
    role: str | None
    key_id: str


class EventDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One event for people and programs. The signed bytes are in the export, not here."""

    seq: int
    event_type: str
    extension: bool
    created_at: str
    actor: ActorDocument
    event_hash: str
    payload: Event
    artifacts: tuple[ArtifactRef, ...]


def event_document(recorded: Recorded[Any]) -> EventDocument:
    name = EVENT_NAMES[type(recorded.event)]
    actor = recorded.actor
    return EventDocument(
        seq=recorded.seq,
        event_type=name,
        extension=name in EXTENSION_NAMES,
        created_at=to_text(recorded.at),
        actor=ActorDocument(actor.id, actor.role, actor.kid),
        event_hash=recorded.hash.hex(),
        payload=recorded.event,
        artifacts=recorded.artifacts,
    )


def parse_event(event_type: str, payload: bytes | str) -> Event:
    """The event of a payload; Malformed, with the place, if it is none."""
    kind = EVENT_TYPES.get(event_type)
    if kind is None:
        known = ", ".join(EVENT_TYPES)
        raise Malformed(
            f"{event_type[:60]!r} is no event of a trace",
            code="unknown_event",
            hint=f"one of {known}",
        )
    if len(payload) > MAX_BODY_BYTES:
        raise Malformed(f"larger than {MAX_BODY_BYTES} bytes", code="too_large")
    try:
        plain = msgspec.json.decode(payload)
        check_profile(plain)
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}", code="not_json") from None


def _invalid(error: msgspec.ValidationError) -> Malformed:
    """The library says `... - at `$.a.b``; the place is ours to name."""
    what, _, place = str(error).partition(" - at ")
    return Malformed(what, code="schema_invalid", where=place.strip("`").lstrip("$."))
