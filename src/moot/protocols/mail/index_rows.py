"""Index rows, to look things up without reading a thread: inboxes, messages, words, work items.

mail.inbox      AGENT/HOLDER/TIME/ID   one row for each receiver
mail.answers    ID/AGENT/HOLDER        the receiver's latest ACK
mail.messages   ID                     where a message stands; its words are findable
mail.long       ID                     a message whose whole text is stored beside the record
mail.events     EVENT                  the message that says the same as a presence event
mail.outside    OUTSIDE ID             an imported message
mail.items      ITEM                   who has claimed it or taken it over
open            STREAM                 while somebody waits for an answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from moot.core.clock import Millis
from moot.core.machine import Drop, Event, Put, Recorded, RowChange, Words
from moot.protocols.mail import events as did
from moot.protocols.mail.keys import (
    ANSWERS,
    IMPORTED_MESSAGES,
    INBOX,
    LONG_MESSAGES,
    MESSAGES,
    MESSAGES_OF_EVENTS,
    OPEN,
    WORK_ITEMS,
    answer_key,
    inbox_key,
)
from moot.protocols.mail.model import CLOSED_BY_COMPLETED
from moot.protocols.mail.types import MessageType


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    return _INDEX[type(recorded.event)](recorded)


def _index_sent(recorded: Recorded[did.MessageSent]) -> Iterator[RowChange]:
    event = recorded.event
    yield from _index_message(recorded, recorded.actor.id)
    if event.event is not None:
        yield Put(MESSAGES_OF_EVENTS, event.event, {"id": event.id})
    if event.type is MessageType.CLAIM and event.item:
        yield Put(WORK_ITEMS, event.item, {"owner": recorded.actor.id, "by": event.id})


def _index_imported(recorded: Recorded[did.MessageImported]) -> Iterator[RowChange]:
    event = recorded.event
    yield from _index_message(recorded, event.sender)
    yield Put(IMPORTED_MESSAGES, event.outside_id, {"id": event.id})


def _index_message(recorded: Recorded[Any], sender: str) -> Iterator[RowChange]:
    event: did.MessageKept = recorded.event
    yield Put(MESSAGES, event.id, {"at": recorded.at})
    yield Words(MESSAGES, event.id, f"{event.subject}\n{event.body}")
    if event.sha256 is not None:
        yield Put(LONG_MESSAGES, event.id, {"sha256": event.sha256, "size": event.size})
    receivers = [(party, False) for party in event.to] + [(party, True) for party in event.cc]
    for party, copy in receivers:
        if party.epoch:
            place = inbox_key(party.name, party.epoch, recorded.at, event.id)
            owes = event.ack_required and not copy
            yield Put(INBOX, place, _inbox_row(event, sender, recorded.at, owes, copy))
    closes = event.type in CLOSED_BY_COMPLETED and any(party.epoch for party in event.to)
    if event.ack_required or closes:
        yield Put(OPEN, recorded.stream, {})


def _inbox_row(event: Any, sender: str, at: Millis, owes: bool, copy: bool) -> dict[str, Any]:
    """What an inbox shows of a message."""
    status = getattr(event, "status", None)
    return {
        "id": event.id,
        "from": sender,
        "subject": event.subject,
        "type": None if event.type is None else str(event.type),
        "at": at,
        "ack_required": owes,
        "cc": copy,
        "importance": str(event.importance),
        "says": None if status is None else str(status),
        "imported": isinstance(event, did.MessageImported),
        "resent": isinstance(event, did.MessageResent),
    }


def _index_acknowledged(recorded: Recorded[did.MessageAcknowledged]) -> Iterator[RowChange]:
    event, actor = recorded.event, recorded.actor
    place = answer_key(event.id, actor.id, actor.epoch)
    yield Put(ANSWERS, place, {"status": str(event.status), "at": recorded.at, "by": event.by})
    if event.item:
        yield Put(WORK_ITEMS, event.item, {"owner": actor.id, "by": event.id})
    if not event.left:
        yield Drop(OPEN, recorded.stream)


def _index_resent(recorded: Recorded[did.MessageResent]) -> Iterator[RowChange]:
    """Move the message to its new time: it is in an inbox only once."""
    event = recorded.event
    for party in event.to:
        yield Drop(INBOX, inbox_key(party.name, party.epoch, event.sent_at, event.id))
        slip = _inbox_row(event, event.sender, recorded.at, owes=True, copy=False)
        yield Put(INBOX, inbox_key(party.name, party.epoch, recorded.at, event.id), slip)


def _index_escalated(_recorded: Recorded[did.MessageEscalated]) -> Iterator[RowChange]:
    return iter(())


def _index_lapsed(
    recorded: Recorded[did.MessageLapsed | did.MessageSettled],
) -> Iterator[RowChange]:
    if not recorded.event.left:
        yield Drop(OPEN, recorded.stream)


_INDEX: Final[dict[type[Event], Callable[[Any], Iterator[RowChange]]]] = {
    did.MessageSent: _index_sent,
    did.MessageImported: _index_imported,
    did.MessageAcknowledged: _index_acknowledged,
    did.MessageResent: _index_resent,
    did.MessageEscalated: _index_escalated,
    did.MessageLapsed: _index_lapsed,
    did.MessageSettled: _index_lapsed,
}
