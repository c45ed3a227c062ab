"""What people and agents read of mail: Structs whose JSON is the `data` of the commands.

Text by a sender is `Quoted`; so are the names in a message from outside, which nothing proves.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.findings import Severity
from moot.core.machine import Recorded, fill_from
from moot.core.text import Quoted
from moot.protocols.mail import events as did
from moot.protocols.mail.index_keys import label_sender
from moot.protocols.mail.model import (
    AckProgress,
    Importance,
    MailMessage,
    Party,
    Receiver,
    Stage,
    State,
    thread_of,
)
from moot.protocols.mail.types import AckStatus, MessageType


class MessageView(msgspec.Struct, frozen=True, kw_only=True):
    """One message as it was sent. `proved`: its sender signed it here; `artifact` is the hash of a
    text that is stored outside of the record, and `size` counts the bytes of the whole text."""

    id: Quoted
    thread: Quoted
    sender: Quoted = msgspec.field(name="from")
    proved: bool
    to: tuple[Quoted, ...]
    cc: tuple[Quoted, ...]
    subject: Quoted
    type: MessageType | None
    ack_required: bool
    importance: Importance
    created_at: str
    size: int
    artifact: str | None
    body: Quoted

    @property
    def sender_label(self) -> str:
        return label_sender(self.sender, self.proved)


class SentView(MessageView, frozen=True, kw_only=True):
    """A message that an agent of this ledger has sent and signed."""

    role: Quoted | None
    status: AckStatus | None
    re: str | None
    event: str | None


class FlagView(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of an imported message found."""

    rule: str
    code: str
    severity: Severity
    line: int | None
    message: Quoted


class ImportedView(MessageView, frozen=True, kw_only=True):
    """A message from outside; `sent` and `outside_thread` are what it claims, if it does."""

    outside_id: Quoted
    sent: Quoted
    flags: tuple[FlagView, ...]
    outside_thread: Quoted


class ReceiverView(msgspec.Struct, frozen=True, kw_only=True):
    """One receiver: does it still owe an answer, and what did it say last?"""

    agent: Quoted
    owes: bool
    status: AckStatus | None
    at: str | None


class StandingView(msgspec.Struct, frozen=True, kw_only=True):
    """How far a message is answered, by whom, and who is missing."""

    id: Quoted
    sender: Quoted = msgspec.field(name="from")
    proved: bool
    subject: Quoted
    type: MessageType | None
    sent_at: str
    stage: Stage
    acknowledged: AckProgress
    open: bool
    missing: tuple[Quoted, ...]
    receivers: tuple[ReceiverView, ...]
    cc: tuple[Quoted, ...]
    by: str | None
    overdue: bool
    resent: bool
    escalated_at: str | None
    item: Quoted | None

    @property
    def sender_label(self) -> str:
        return label_sender(self.sender, self.proved)

    @property
    def agents_owing(self) -> list[Quoted]:
        """Everyone who still has to answer."""
        return [receiver.agent for receiver in self.receivers if receiver.owes]


def describe_message(recorded: Recorded[Any], body: str | None = None) -> SentView | ImportedView:
    """Describe one message; `body` is the whole text if the event has only its beginning."""
    event: did.MessageSent | did.MessageImported = recorded.event
    common: dict[str, Any] = {
        "thread": thread_of(recorded.stream),
        "sender": sender_of(recorded),
        "proved": isinstance(event, did.MessageSent),
        "to": _names(event.to),
        "cc": _names(event.cc),
        "created_at": to_text(recorded.at),
        "artifact": event.sha256,
        "body": event.body if body is None else body,
    }
    if isinstance(event, did.MessageSent):
        return fill_from(SentView, event, **common, role=event.role or None)
    flags = tuple(fill_from(FlagView, flag) for flag in event.flags)
    return fill_from(ImportedView, event, **common, flags=flags)


def sender_of(recorded: Recorded[Any]) -> str:
    """Return who an imported message claims to be from; who signed any other."""
    event = recorded.event
    return event.sender if isinstance(event, did.MessageImported) else recorded.actor.id


def _names(parties: Iterable[Party | Receiver]) -> tuple[Quoted, ...]:
    return tuple(Quoted(party.name) for party in parties)


def describe_standing(message: MailMessage, now: Millis) -> StandingView:
    """Return how far a message is answered, by whom, and who is missing (BRN-076)."""
    return StandingView(
        id=Quoted(message.id),
        sender=Quoted(message.sender),
        proved=message.sender_epoch > 0,
        subject=Quoted(message.subject),
        type=message.type,
        sent_at=to_text(message.sent_at),
        stage=message.stage,
        acknowledged=message.progress,
        open=message.is_waiting,
        missing=_names(message.missing_receivers),
        receivers=tuple(_receiver(message, receiver) for receiver in message.to),
        cc=_names(message.cc),
        by=None if message.ack_by is None else to_text(message.ack_by),
        overdue=message.ack_by is not None and message.ack_by <= now,
        resent=message.resent,
        escalated_at=None if message.escalated_at is None else to_text(message.escalated_at),
        item=Quoted(message.item) if message.item else None,
    )


def _receiver(message: MailMessage, receiver: Receiver) -> ReceiverView:
    return ReceiverView(
        agent=Quoted(receiver.name),
        owes=_owes(message, receiver),
        status=receiver.status,
        at=None if receiver.acked_at is None else to_text(receiver.acked_at),
    )


def _owes(message: MailMessage, receiver: Receiver) -> bool:
    """True if its ACK is missing, or the message waits for someone to say Completed."""
    return receiver in message.missing_receivers or (message.is_unfinished and bool(receiver.epoch))


def list_pending(
    state: State,
    now: Millis,
    agent: str | None = None,
    epoch: int = 0,
    settled: Container[str] = frozenset(),
) -> list[StandingView]:
    """Return what waits in this thread: all of it, or what `agent` sent, or owes as this holder.

    `settled` are events that are over: a message about one of them waits no longer.
    """
    return [
        describe_standing(message, now)
        for message in state.waiting_in_order()
        if message.event not in settled
        if agent is None or _concerns(message, agent, epoch)
    ]


def _concerns(message: MailMessage, agent: str, epoch: int) -> bool:
    owing = message.to if message.is_unfinished else message.missing_receivers
    return message.sender == agent or any(receiver.is_holder(agent, epoch) for receiver in owing)


def list_owed_by(
    state: State, agent: str, epoch: int, settled: Container[str] = frozenset()
) -> list[str]:
    """Return the messages of this thread that this holder of a name owes an answer to."""
    return [
        message.id
        for message in state.waiting_in_order()
        if message.event not in settled
        if any(to.is_holder(agent, epoch) and _owes(message, to) for to in message.to)
    ]


def receivers_owing(state: State, settled: Container[str] = frozenset()) -> Iterable[Receiver]:
    """Yield everyone who owes an answer here, once for each message."""
    for message in state.open.values():
        if message.event in settled:
            continue
        yield from message.missing_receivers or (
            receiver for receiver in message.to if receiver.epoch
        )
