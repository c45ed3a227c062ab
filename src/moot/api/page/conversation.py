"""The conversation about one work item: all events and messages between agents, in order.

It is read from the record, so a restart does not change it; overlaps and adoptions are rows like
the others (OPR-089, OPR-019, OPR-094).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.presence.events import find_withdrawal
from moot.core.clock import DAY, parse_time, to_text
from moot.core.errors import NotFound
from moot.core.text import Quoted, quote_optional
from moot.protocols.presence import STREAM, labels, timeline
from moot.protocols.presence.codec import Document
from moot.protocols.presence.events import IncursionNoted
from moot.protocols.presence.machine import MACHINE, SETTLED
from moot.protocols.presence.model import EVENT_ID, EventType, ReceiptKind

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import StoredRow, View
    from moot.protocols.mail.views import ImportedView, SentView
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


EVENTS: Final = "presence.events"
_EARLIER_DAYS: Final = 14
_PAGE: Final = 1000


class StoredEvent(msgspec.Struct, frozen=True):
    """An event in its v1 form, and the position of its record."""

    document: Document
    seq: int


def read_newest_events(view: View, state: State, limit: int) -> list[StoredEvent]:
    """Return at most `limit` events between agents, the newest first.

    Today's are looked up by number, backwards. The last number of an earlier day is not stored, so
    of those days only one page is read.
    """
    rows: list[StoredRow] = []
    for number in range(state.day_count, 0, -1):
        row = view.row(EVENTS, f"proto_{state.day}_{number:03d}")
        if row is not None:
            rows.append(row)
        if len(rows) >= limit:
            break
    day = state.day
    for _ in range(_EARLIER_DAYS if day else 0):
        if len(rows) >= limit:
            break
        day = _day_before(day)
        rows += sorted(view.rows(EVENTS, f"proto_{day}_", limit=_PAGE), key=_number, reverse=True)
    return [read_event(row) for row in rows[:limit]]


def read_event(row: StoredRow) -> StoredEvent:
    return StoredEvent(msgspec.json.decode(row.value), row.seq)


def order_of_event(event_id: str) -> tuple[str, int]:
    """Return the day and number of an event: its sort key, in the order of the record."""
    parts = EVENT_ID.match(event_id)
    return (parts[1], int(parts[2])) if parts is not None else ("", 0)


def _number(row: StoredRow) -> int:
    return order_of_event(row.key)[1]


def _day_before(day: str) -> str:
    noon = parse_time(f"{day[:4]}-{day[4:6]}-{day[6:]}T12:00:00.000Z")
    return to_text(noon - DAY)[:10].replace("-", "")


NEWEST: Final = 500
MESSAGE, MESSAGE_LABEL = "MESSAGE", "Message"


class RowReceipt(msgspec.Struct, frozen=True):
    """An agent that has seen, accepted or answered it, and when."""

    agent: str
    label: str
    at: str


class ThreadRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `kind` is an event type of v1, or MESSAGE; `label` is what people read instead.

    `payload` has all fields of the event. `waits_for` is the agent that must accept it, if one
    must. `settled`: the request is no longer needed.
    """

    id: str
    kind: str
    label: str
    from_agent: Quoted | None
    to_agent: Quoted | None
    at: str
    title: Quoted
    text: Quoted
    scope: Quoted | None
    payload: dict[str, Quoted | bool | list[Quoted]]
    receipts: tuple[RowReceipt, ...]
    waits_for: str | None
    withdrawn: timeline.Withdrawal | None = None
    settled: bool = False


class WorkConversation(msgspec.Struct, frozen=True):
    """`more` counts older rows that are not shown; `mail_thread` is the thread of its messages."""

    work: Quoted
    thread: tuple[ThreadRow, ...]
    more: int
    mail_thread: str | None


@operation("conversation")
def conversation(session: Session, work: str, *, limit: int = NEWEST) -> WorkConversation:
    """Show the newest `limit` events and messages about `work`, oldest first.

    An unknown work item has no rows.
    """
    from moot.api.mail.notices import thread_of_work

    workspace = session.workspace
    with workspace.store.read() as view:
        events = _events_of(view, work)
        rows = [_event_row(view, event) for event in events]
    thread = thread_of_work(work)
    rows += _message_rows(workspace, thread)
    rows.sort(key=lambda row: (row.at, order_of_event(row.id)))
    shown = rows[-limit:]
    return WorkConversation(Quoted(work), tuple(shown), len(rows) - len(shown), thread)


def label_event(view: View, event: StoredEvent) -> str:
    """Return the label that people read instead of the event type."""
    kind = EventType(event.document["event_type"])
    return labels.label_event(
        kind,
        is_refused=kind is EventType.INCURSION and was_refused(view, event.seq),
        is_withdrawn=find_withdrawal(view, event.document["id"]) is not None,
    )


def was_refused(view: View, seq: int) -> bool:
    """Return True if the overlap was refused: v1 has no field for it, the record does."""
    from moot.engine.replay import read_record

    record = next(view.records(STREAM, after=seq - 1), None)
    event = None if record is None else read_record(MACHINE, record).event
    return isinstance(event, IncursionNoted) and event.outcome == "refused"


def _events_of(view: View, work: str) -> list[StoredEvent]:
    links: list[StoredRow] = []
    while page := view.rows("presence.work", f"{work} ", links[-1].key if links else "", _PAGE):
        links += page
    rows = (view.row(EVENTS, link.key.rpartition(" ")[2]) for link in links)
    return [read_event(row) for row in rows if row is not None]


def _event_row(view: View, event: StoredEvent) -> ThreadRow:
    document = event.document
    kind, payload = EventType(document["event_type"]), document["payload"]
    title, text = timeline.shown_fields(document)
    receipts = _receipts(view, document["id"])
    receiver = document["to_agent"]
    accepted = {receipt.agent for receipt in receipts if receipt.label == _ACCEPTED}
    withdrawal = find_withdrawal(view, document["id"])
    is_settled = view.row(SETTLED, document["id"]) is not None
    is_over = withdrawal is not None or is_settled or receiver in accepted
    return ThreadRow(
        id=document["id"],
        kind=str(kind),
        label=label_event(view, event),
        from_agent=quote_optional(document["from_agent"]),
        to_agent=quote_optional(receiver),
        at=to_text(parse_time(document["created_at"])),
        title=Quoted(title),
        text=Quoted(text),
        scope=quote_optional(document["scope"]),
        payload=payload,
        receipts=receipts,
        waits_for=receiver if payload.get("requires_ack") and not is_over else None,
        withdrawn=withdrawal,
        settled=is_settled,
    )


_ACCEPTED: Final = labels.RECEIPT_LABELS[ReceiptKind.ACCEPTED]


def _receipts(view: View, event_id: str) -> tuple[RowReceipt, ...]:
    given = (
        timeline.read_receipt(row.key, msgspec.json.decode(row.value))
        for row in view.rows("presence.receipts", f"{event_id} ")
    )
    in_order = sorted(given, key=lambda receipt: receipt.at)
    return tuple(
        RowReceipt(each.agent, labels.RECEIPT_LABELS[each.receipt], to_text(each.at))
        for each in in_order
    )


def _message_rows(workspace: Workspace, thread: str | None) -> Iterable[ThreadRow]:
    """Yield the messages of the work item's thread, without those that only repeat an event."""
    from moot.api.mail.messages import read_thread
    from moot.protocols.mail.views import describe_message

    if thread is None:
        return
    try:
        messages = read_thread(workspace, thread)
    except NotFound:
        return
    with workspace.store.read() as view:
        for recorded in messages:
            message = describe_message(recorded)
            if getattr(message, "event", None) is None:
                yield _message_row(view, message)


def _message_row(view: View, message: SentView | ImportedView) -> ThreadRow:
    from moot.protocols.mail.index_keys import ANSWERS

    rows = view.rows(ANSWERS, f"{message.id}/")
    answers = {row.key.split("/")[-2]: msgspec.json.decode(row.value) for row in rows}
    owing = [name for name in message.to if message.ack_required and name not in answers]
    return ThreadRow(
        id=message.id,
        kind=MESSAGE,
        label=MESSAGE_LABEL,
        from_agent=message.sender,
        to_agent=Quoted(", ".join(message.to)),
        at=message.created_at,
        title=message.subject,
        text=message.body,
        scope=None,
        payload={},
        receipts=tuple(
            RowReceipt(name, answer["status"], to_text(answer["at"]))
            for name, answer in answers.items()
        ),
        waits_for=owing[0] if owing else None,
    )
