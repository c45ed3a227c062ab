"""The conversation of a work item: v1 events and their receipts, in order, with plain labels.

Overlaps and adoptions are rows like the others, not diagnostics (6.3). It reads envelopes as
JSON objects, so that a page needs nothing but the stable contract.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from moot.core.clock import Millis, from_text, to_text
from moot.protocols.presence import labels
from moot.protocols.presence.contract import Document
from moot.protocols.presence.model import EventType, Receipt


class Given(msgspec.Struct, frozen=True):
    """A receipt: who has seen or accepted which event, and when."""

    event: str
    agent: str
    receipt: Receipt
    at: Millis


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `label` is for people; `kind` is the event type, or `RECEIPT`."""

    at: str
    id: str
    kind: str
    label: str
    from_agent: str | None
    to_agent: str | None
    title: str
    text: str = ""
    scope: str | None = None
    work: str | None = None
    status: str = ""


def read_receipt(key: str, value: dict[str, Any]) -> Given:
    """A row of the index space `presence.receipts`."""
    event, agent, receipt = key.split(" ")
    return Given(event, agent, Receipt(receipt), value["at"])


def timeline(envelopes: Iterable[Document], receipts: Iterable[Given]) -> tuple[Row, ...]:
    """Events and receipts by time; the receipt of an event never stands above it."""
    by_id = {envelope["id"]: envelope for envelope in envelopes}
    given = [one for one in receipts if one.event in by_id]
    rows = [_event_row(envelope, given) for envelope in by_id.values()]
    rows += (_receipt_row(one, by_id[one.event]) for one in given)
    return tuple(sorted(rows, key=lambda row: (row.at, row.id, row.kind == RECEIPT, row.label)))


RECEIPT: Final = "RECEIPT"


def _event_row(envelope: Document, given: Iterable[Given]) -> Row:
    kind, payload = EventType(envelope["event_type"]), envelope["payload"]
    title, text = (payload.get(name, "") for name in _SAID[kind])
    return Row(
        at=to_text(from_text(envelope["created_at"])),
        id=envelope["id"],
        kind=str(kind),
        label=labels.EVENTS[kind],
        from_agent=envelope["from_agent"],
        to_agent=envelope["to_agent"],
        title=title,
        text=text,
        scope=envelope["scope"],
        work=envelope["bead_id"],
        status=_status(envelope, given),
    )


# Which payload fields a row shows: its title and its text.
_SAID: Final[dict[EventType, tuple[str, str]]] = {
    EventType.HANDOFF: ("subject", "next_action"),
    EventType.BLOCKED: ("subject", "requested_action"),
    EventType.INCURSION: ("resolution_hint", "owner_liveness"),
    EventType.RESUME: ("evidence", "resume_reason"),
}


def _status(envelope: Document, given: Iterable[Given]) -> str:
    """How far it has come with the one it was sent to."""
    theirs = {
        one.receipt
        for one in given
        if (one.event, one.agent) == (envelope["id"], envelope["to_agent"])
    }
    for receipt in (Receipt.ACCEPTED, Receipt.SEEN):
        if receipt in theirs:
            return labels.RECEIPTS[receipt]
    return labels.RECEIPTS[Receipt.SENT]


def _receipt_row(given: Given, envelope: Document) -> Row:
    payload, kind = envelope["payload"], EventType(envelope["event_type"])
    return Row(
        at=to_text(given.at),
        id=given.event,
        kind=RECEIPT,
        label=labels.RECEIPTS[given.receipt],
        from_agent=given.agent,
        to_agent=envelope["from_agent"],
        title=payload.get(_SAID[kind][0], ""),
        work=envelope["bead_id"],
    )
