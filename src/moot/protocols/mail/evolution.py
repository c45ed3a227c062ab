"""The state after each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.machine import Event, Recorded
from moot.protocols.mail import acknowledgement
from moot.protocols.mail import events as did
from moot.protocols.mail.model import (
    MAX_RECENT,
    MailMessage,
    Receiver,
    State,
    with_deadline,
    without_deadline,
)
from moot.protocols.mail.types import MessageType


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return _EVOLVE[type(recorded.event)](state, recorded)


def _on_sent(state: State, recorded: Recorded[did.MessageSent]) -> State:
    event, actor = recorded.event, recorded.actor
    message = _build_message(recorded, actor.id, actor.epoch, event.event)
    compiled = event.version if event.version is not None else state.compiled
    state = msgspec.structs.replace(state, title=event.title or state.title, compiled=compiled)
    return _add_message(state, recorded, message)


def _on_imported(state: State, recorded: Recorded[did.MessageImported]) -> State:
    event = recorded.event
    message = _build_message(recorded, event.sender, 0, None)
    outside = (*state.outside, event.outside_id)[-MAX_RECENT:]
    return _add_message(msgspec.structs.replace(state, outside=outside), recorded, message)


def _build_message(
    recorded: Recorded[Any], sender: str, sender_epoch: int, linked: str | None
) -> MailMessage:
    event: did.MessageKept = recorded.event
    return MailMessage(
        id=event.id,
        type=event.type,
        sender=sender,
        sender_epoch=sender_epoch,
        subject=event.subject,
        sent_at=recorded.at,
        to=tuple(Receiver(party.name, party.epoch) for party in event.to),
        cc=tuple(Receiver(party.name, party.epoch) for party in event.cc),
        ack_required=event.ack_required,
        ack_millis=event.ack_millis,
        ack_by=event.ack_by,
        importance=event.importance,
        item=event.item,
        taker=event.taker,
        event=linked,
    )


def _add_message(state: State, recorded: Recorded[Any], message: MailMessage) -> State:
    """Count the message, and keep it among those that wait or among the recent ones.

    An ACK that waits for nothing is not kept: nobody acknowledges an ACK.
    """
    event: did.MessageKept = recorded.event
    state = msgspec.structs.replace(state, count=state.count + 1)
    if message.is_waiting:
        return _keep_waiting(state, message)
    return _settle(state, message) if event.type is not MessageType.ACK else state


def _keep_waiting(state: State, message: MailMessage) -> State:
    """Put the message among those that wait, and its time limit among the deadlines."""
    before, deadlines = state.open.get(message.id), state.deadlines
    if before is not None and before.ack_by is not None:
        deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    if message.ack_by is not None:
        deadlines = with_deadline(deadlines, (message.ack_by, message.id))
    return msgspec.structs.replace(
        state, open=state.open.set(message.id, message), deadlines=deadlines
    )


def _settle(state: State, message: MailMessage) -> State:
    """Move the message to the recent ones: nobody waits for it; a late answer still finds it."""
    before, opened, deadlines = state.open.get(message.id), state.open, state.deadlines
    if before is not None:
        opened = opened.delete(message.id)
        if before.ack_by is not None:
            deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    others = tuple(other for other in state.recent if other.id != message.id)
    recent = (*others, message)[-MAX_RECENT:]
    return msgspec.structs.replace(state, open=opened, deadlines=deadlines, recent=recent)


def _update(state: State, message: MailMessage) -> State:
    return _keep_waiting(state, message) if message.is_waiting else _settle(state, message)


def _on_acknowledged(state: State, recorded: Recorded[did.MessageAcknowledged]) -> State:
    event, actor = recorded.event, recorded.actor
    message = state.find_message(event.id)
    if message is None:
        return state
    after = acknowledgement.with_ack(message, actor.id, actor.epoch, event.status, recorded.at)
    return _update(state, after)


def _on_resent(state: State, recorded: Recorded[did.MessageResent]) -> State:
    message = state.open.get(recorded.event.id)
    if message is None:
        return state
    return _update(state, acknowledgement.with_new_limit(message, recorded.event.ack_by))


def _on_escalated(state: State, recorded: Recorded[did.MessageEscalated]) -> State:
    message = state.open.get(recorded.event.id)
    return (
        state
        if message is None
        else _update(state, acknowledgement.without_limit(message, recorded.at))
    )


def _on_lapsed(
    state: State, recorded: Recorded[did.MessageLapsed] | Recorded[did.MessageSettled]
) -> State:
    message = state.open.get(recorded.event.id)
    return state if message is None else _settle(state, acknowledgement.lapsed(message))


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.MessageSent: _on_sent,
    did.MessageImported: _on_imported,
    did.MessageAcknowledged: _on_acknowledged,
    did.MessageResent: _on_resent,
    did.MessageEscalated: _on_escalated,
    did.MessageLapsed: _on_lapsed,
    did.MessageSettled: _on_lapsed,
}
