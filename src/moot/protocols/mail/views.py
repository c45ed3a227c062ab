"""What people and agents read of mail, as plain values ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot.core.clock import Millis, to_text
from moot.core.machine import Recorded
from moot.protocols.mail import events as did
from moot.protocols.mail.model import Message, Party, Receiver, State, thread_of


def message(recorded: Recorded[Any], body: str | None = None) -> dict[str, Any]:
    """One message as it was sent; `body` is the whole text if the event holds its beginning."""
    event: did.MessageKept = recorded.event
    return {
        "id": event.id,
        "thread": thread_of(recorded.stream),
        "from": sender_of(recorded),
        "proved": isinstance(event, did.MessageSent),
        "to": _names(event.to),
        "cc": _names(event.cc),
        "subject": event.subject,
        "type": None if event.type is None else str(event.type),
        "ack_required": event.ack_required,
        "importance": str(event.importance),
        "created_at": to_text(recorded.at),
        "size": event.size,
        "artifact": event.sha256,
        "body": event.body if body is None else body,
        **_more(event),
    }


def sender_of(recorded: Recorded[Any]) -> str:
    event = recorded.event
    return event.sender if isinstance(event, did.MessageImported) else recorded.actor.id


def _more(event: did.MessageKept) -> dict[str, Any]:
    if isinstance(event, did.MessageSent):
        status = None if event.status is None else str(event.status)
        said = {"role": event.role or None, "status": status}
        return {**said, "re": event.re, "event": event.event}
    if isinstance(event, did.MessageImported):
        flags = [
            {"rule": one.rule, "code": one.code, "severity": str(one.severity), "line": one.line}
            | {"message": one.message}
            for one in event.flags
        ]
        return {"outside_id": event.outside_id, "sent": event.sent, "flags": flags}
    return {}


def _names(parties: Iterable[Party]) -> list[str]:
    return [party.name for party in parties]


def standing(message: Message, now: Millis) -> dict[str, Any]:
    """How far a message is answered, by whom, and who is missing (BRN-076)."""
    return {
        "id": message.id,
        "from": message.sender,
        "proved": message.sender_epoch > 0,
        "subject": message.subject,
        "type": None if message.type is None else str(message.type),
        "sent_at": to_text(message.sent_at),
        "stage": str(message.stage),
        "acknowledged": str(message.progress),
        "open": message.waits,
        "missing": [one.name for one in message.missing],
        "receivers": [_receiver(message, one) for one in message.to],
        "cc": [one.name for one in message.cc],
        "by": None if message.ack_by is None else to_text(message.ack_by),
        "overdue": message.ack_by is not None and message.ack_by <= now,
        "resent": message.resent,
        "escalated_at": None if message.escalated_at is None else to_text(message.escalated_at),
        "item": message.item or None,
    }


def _receiver(message: Message, one: Receiver) -> dict[str, Any]:
    return {
        "agent": one.name,
        "owes": _owes(message, one),
        "status": None if one.status is None else str(one.status),
        "at": None if one.acked_at is None else to_text(one.acked_at),
    }


def _owes(message: Message, one: Receiver) -> bool:
    return one in message.missing or (message.unfinished and bool(one.epoch))


def pending(
    state: State, now: Millis, agent: str | None = None, epoch: int = 0
) -> list[dict[str, Any]]:
    """What waits in this thread: all of it, or what `agent` sent, or owes as this holder."""
    mine = (one for one in state.in_order() if agent is None or _about(one, agent, epoch))
    return [standing(one, now) for one in mine]


def _about(message: Message, agent: str, epoch: int) -> bool:
    owing = message.to if message.unfinished else message.missing
    return message.sender == agent or any(one.is_(agent, epoch) for one in owing)


def owed_by(state: State, agent: str, epoch: int) -> list[str]:
    """The messages of this thread that this holder of a name owes an answer to."""
    return [
        message.id
        for message in state.in_order()
        if any(one.is_(agent, epoch) and _owes(message, one) for one in message.to)
    ]


def owed(state: State) -> Iterable[Receiver]:
    """Everyone who owes an answer here, once for each message."""
    for message in state.open.values():
        yield from message.missing or (one for one in message.to if one.epoch)
