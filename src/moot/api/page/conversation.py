"""The conversation about one work item: every event between agents, and every message.

OPR-089, OPR-019, OPR-094: it is read from the record, so it is the same after any restart, and
overlaps and adoptions are rows like the others.
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


# The newest events between agents, read from their end: today's are looked up by number, backwards;
# of earlier days, whose last number nobody keeps, a bounded part is read.

EVENTS: Final = "presence.events"
_EARLIER_DAYS: Final = 14
_PAGE: Final = 1000


class StoredEvent(msgspec.Struct, frozen=True):
    """An event in its v1 form, and where the record of it stands."""

    document: Document
    seq: int


def read_newest_events(view: View, state: State, limit: int) -> list[StoredEvent]:
    """At most `limit` of them, the newest first."""
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
    """By day, then by number: the order in which events were recorded."""
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
    """Who has seen, accepted or answered it, as a label, and when."""

    agent: str
    label: str
    at: str


class ThreadRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `kind` is an event type of v1, or MESSAGE; `label` is what people read instead.

    `payload` holds all that the event says, by its own names. `waits_for` owes an acceptance
    since `at`; None: nobody does. `settled`: a request that is no longer needed.
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
    """`more` counts older rows that are not shown; `mail_thread` is where its messages stand."""

    work: Quoted
    thread: tuple[ThreadRow, ...]
    more: int
    mail_thread: str | None


@operation("conversation")
def conversation(session: Session, work: str, *, limit: int = NEWEST) -> WorkConversation:
    """What was passed on, asked for, overlapped, picked up again and written about `work`.

    Oldest first, the newest `limit` rows. A work item that nobody ever named has no rows.
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
    """True if the overlap was refused and nothing was written: v1 has no field for it, the record
    does."""
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
    mark, is_settled = find_withdrawal(view, document["id"]), _is_settled(view, document["id"])
    owed = bool(payload.get("requires_ack")) and receiver not in accepted
    owed = owed and mark is None and not is_settled
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
        waits_for=receiver if owed else None,
        withdrawn=mark,
        settled=is_settled,
    )


def _is_settled(view: View, event_id: str) -> bool:
    return view.row(SETTLED, event_id) is not None


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
    """Messages of the work item's thread, without those that only repeat an event."""
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
