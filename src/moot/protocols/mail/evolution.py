"""What follows from each event: the state after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.machine import Event, Recorded
from moot.protocols.mail import acks
from moot.protocols.mail import events as did
from moot.protocols.mail.model import (
    MAX_RECENT,
    Message,
    Receiver,
    State,
    with_deadline,
    without_deadline,
)
from moot.protocols.mail.types import MessageType


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return _EVOLVE[type(recorded.event)](state, recorded)


def _sent(state: State, recorded: Recorded[did.MessageSent]) -> State:
    event, actor = recorded.event, recorded.actor
    message = _message(recorded, actor.id, actor.epoch, event.event)
    compiled = event.version if event.version is not None else state.compiled
    state = msgspec.structs.replace(state, title=event.title or state.title, compiled=compiled)
    return _kept(state, recorded, message)


def _imported(state: State, recorded: Recorded[did.MessageImported]) -> State:
    event = recorded.event
    message = _message(recorded, event.sender, 0, None)
    outside = (*state.outside, event.outside_id)[-MAX_RECENT:]
    return _kept(msgspec.structs.replace(state, outside=outside), recorded, message)


def _message(
    recorded: Recorded[Any], sender: str, sender_epoch: int, linked: str | None
) -> Message:
    event: did.MessageKept = recorded.event
    return Message(
        id=event.id,
        type=event.type,
        sender=sender,
        sender_epoch=sender_epoch,
        subject=event.subject,
        sent_at=recorded.at,
        to=tuple(Receiver(one.name, one.epoch) for one in event.to),
        cc=tuple(Receiver(one.name, one.epoch) for one in event.cc),
        ack_required=event.ack_required,
        ack_millis=event.ack_millis,
        ack_by=event.ack_by,
        importance=event.importance,
        item=event.item,
        taker=event.taker,
        event=linked,
    )


def _kept(state: State, recorded: Recorded[Any], message: Message) -> State:
    """One message more; it waits, or it is among the recent ones. An ACK is never acknowledged."""
    event: did.MessageKept = recorded.event
    state = msgspec.structs.replace(state, count=state.count + 1)
    if message.waits:
        return _open(state, message)
    return _rest(state, message) if event.type is not MessageType.ACK else state


def _open(state: State, message: Message) -> State:
    """Wait for it, or go on waiting: its time limit moves with it."""
    before, deadlines = state.open.get(message.id), state.deadlines
    if before is not None and before.ack_by is not None:
        deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    if message.ack_by is not None:
        deadlines = with_deadline(deadlines, (message.ack_by, message.id))
    return msgspec.structs.replace(
        state, open=state.open.set(message.id, message), deadlines=deadlines
    )


def _rest(state: State, message: Message) -> State:
    """Nobody waits for it; for a while an answer still finds it."""
    before, opened, deadlines = state.open.get(message.id), state.open, state.deadlines
    if before is not None:
        opened = opened.delete(message.id)
        if before.ack_by is not None:
            deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    others = tuple(one for one in state.recent if one.id != message.id)
    recent = (*others, message)[-MAX_RECENT:]
    return msgspec.structs.replace(state, open=opened, deadlines=deadlines, recent=recent)


def _changed(state: State, message: Message) -> State:
    return _open(state, message) if message.waits else _rest(state, message)


def _acknowledged(state: State, recorded: Recorded[did.MessageAcknowledged]) -> State:
    event, actor = recorded.event, recorded.actor
    message = state.message(event.id)
    if message is None:
        return state
    after = acks.acknowledged(message, actor.id, actor.epoch, event.status, recorded.at)
    return _changed(state, after)


def _resent(state: State, recorded: Recorded[did.MessageResent]) -> State:
    message = state.open.get(recorded.event.id)
    if message is None:
        return state
    return _changed(state, acks.resent(message, recorded.event.ack_by))


def _escalated(state: State, recorded: Recorded[did.MessageEscalated]) -> State:
    message = state.open.get(recorded.event.id)
    return state if message is None else _changed(state, acks.escalated(message, recorded.at))


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.MessageSent: _sent,
    did.MessageImported: _imported,
    did.MessageAcknowledged: _acknowledged,
    did.MessageResent: _resent,
    did.MessageEscalated: _escalated,
}
