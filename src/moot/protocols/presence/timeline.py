"""The conversation of a work item: v1 events and their receipts, in order, with plain labels.

All four event types are shown (OPR-094): overlaps (OPR-078) and adoptions (OPR-079) are rows like
the others. It reads envelopes as JSON objects, so that a page rests on the stable contract alone
(OPR-100).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

import msgspec

from moot.core.clock import Millis, parse_time, to_text
from moot.core.text import Quoted, quote_optional
from moot.protocols.presence import labels
from moot.protocols.presence.codec import Document
from moot.protocols.presence.model import EventType, ReceiptKind


class GivenReceipt(msgspec.Struct, frozen=True):
    """A receipt: who has seen or accepted which event, and when."""

    event: str
    agent: str
    receipt: ReceiptKind
    at: Millis


class Withdrawal(msgspec.Struct, frozen=True):
    """Who withdrew a false entry, in which capacity (holder, person or system), when and why."""

    by: str
    capacity: str
    at: str
    reason: Quoted
    evidence: Quoted = Quoted("")

    def __str__(self) -> str:
        why = f"{self.reason} ({self.evidence})" if self.evidence else self.reason
        return f"withdrawn by {self.by} ({self.capacity}): {why}"


class TimelineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `label` is for people; `kind` is the event type, or `RECEIPT`."""

    at: str
    id: str
    kind: str
    label: str
    from_agent: str | None
    to_agent: str | None
    title: Quoted
    text: Quoted = Quoted("")
    scope: Quoted | None = None
    work: Quoted | None = None
    status: str = ""
    withdrawn: Withdrawal | None = None

    @property
    def mark(self) -> str:
        """A mark for a row that is settled or withdrawn; most rows have none."""
        settled = f" [{self.status.lower()}]" if self.status == labels.SETTLED else ""
        return settled if self.withdrawn is None else f" [{self.withdrawn}]"


def read_withdrawal(value: dict[str, Any]) -> Withdrawal:
    """Return a row of the index space `presence.withdrawn`."""
    texts = (Quoted(value["reason"]), Quoted(value["evidence"]))
    return Withdrawal(value["by"], value["as"], to_text(value["at"]), *texts)


def read_receipt(key: str, value: dict[str, Any]) -> GivenReceipt:
    """Return a row of the index space `presence.receipts`."""
    event, agent, receipt = key.split(" ")
    return GivenReceipt(event, agent, ReceiptKind(receipt), value["at"])


def make_timeline(
    envelopes: Iterable[Document],
    receipts: Iterable[GivenReceipt],
    refused: Container[str] = frozenset(),
    withdrawn: Mapping[str, Withdrawal] = {},
    settled: Container[str] = frozenset(),
) -> tuple[TimelineRow, ...]:
    """Return events and receipts by time; a receipt is never before its event.

    `refused` are the ids of INCURSIONs that were refused, so that nothing happened; `withdrawn`
    are, by id, events that are false or not needed, `settled` those that wait no longer.
    """
    by_id = {envelope["id"]: envelope for envelope in envelopes}
    known = [receipt for receipt in receipts if receipt.event in by_id]
    rows = [
        _event_row(
            envelope,
            _status(envelope, known, settled),
            withdrawn.get(envelope["id"]),
            is_refused=envelope["id"] in refused,
        )
        for envelope in by_id.values()
    ]
    rows += (_receipt_row(receipt, by_id[receipt.event]) for receipt in known)
    return tuple(sorted(rows, key=lambda row: (row.at, row.id, row.kind == RECEIPT, row.label)))


RECEIPT: Final = "RECEIPT"


def _event_row(
    envelope: Document,
    status: str,
    withdrawn: Withdrawal | None,
    *,
    is_refused: bool,
) -> TimelineRow:
    kind = EventType(envelope["event_type"])
    title, text = shown_fields(envelope)
    return TimelineRow(
        at=to_text(parse_time(envelope["created_at"])),
        id=envelope["id"],
        kind=str(kind),
        label=labels.label_event(kind, is_refused=is_refused, is_withdrawn=withdrawn is not None),
        from_agent=envelope["from_agent"],
        to_agent=envelope["to_agent"],
        title=Quoted(title),
        text=Quoted(text),
        scope=quote_optional(envelope["scope"]),
        work=quote_optional(envelope["bead_id"]),
        status=status,
        withdrawn=withdrawn,
    )


def shown_fields(envelope: Document) -> tuple[str, str]:
    """Return the title and the text of an event's row."""
    title, text = _SHOWN_FIELDS[EventType(envelope["event_type"])]
    payload = envelope["payload"]
    return payload.get(title, ""), payload.get(text, "")


# Which payload fields a row shows: its title and its text.
_SHOWN_FIELDS: Final[dict[EventType, tuple[str, str]]] = {
    EventType.HANDOFF: ("subject", "next_action"),
    EventType.BLOCKED: ("subject", "requested_action"),
    EventType.INCURSION: ("resolution_hint", "owner_liveness"),
    EventType.RESUME: ("evidence", "resume_reason"),
}


def _status(envelope: Document, receipts: Iterable[GivenReceipt], settled: Container[str]) -> str:
    """Return how far it has come with its receiver; receipts of others do not count."""
    if envelope["id"] in settled:
        return labels.SETTLED
    theirs = {
        receipt.receipt
        for receipt in receipts
        if (receipt.event, receipt.agent) == (envelope["id"], envelope["to_agent"])
    }
    for receipt in (ReceiptKind.ACCEPTED, ReceiptKind.SEEN):
        if receipt in theirs:
            return labels.RECEIPT_LABELS[receipt]
    return labels.RECEIPT_LABELS[ReceiptKind.SENT]


def _receipt_row(receipt: GivenReceipt, envelope: Document) -> TimelineRow:
    payload, kind = envelope["payload"], EventType(envelope["event_type"])
    return TimelineRow(
        at=to_text(receipt.at),
        id=receipt.event,
        kind=RECEIPT,
        label=labels.RECEIPT_LABELS[receipt.receipt],
        from_agent=receipt.agent,
        to_agent=envelope["from_agent"],
        title=Quoted(payload.get(_SHOWN_FIELDS[kind][0], "")),
        work=quote_optional(envelope["bead_id"]),
    )
