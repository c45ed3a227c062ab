"""The events of a mail thread.

An event has everything that its index rows need: each row is made from one event alone.
"""

from __future__ import annotations

import msgspec

from moot.core.clock import Millis
from moot.core.findings import Severity
from moot.core.machine import Event
from moot.protocols.mail.model import Importance, Party
from moot.protocols.mail.types import AckStatus, MessageType


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of an imported message found."""

    rule: str
    code: str
    severity: Severity
    message: str
    line: int | None = None


class MessageKept(Event, frozen=True):
    """What a message that was sent and one that was imported have in common.

    `body` is the whole text up to 16 KiB; of a longer one it is the beginning, and `sha256` names
    the stored text. `item` is the work it is about, `taker` the agent that gets this work.
    """

    id: str
    type: MessageType | None
    subject: str
    body: str
    size: int
    sha256: str | None
    to: tuple[Party, ...]
    cc: tuple[Party, ...]
    ack_required: bool
    ack_by: Millis | None
    ack_millis: Millis
    importance: Importance
    item: str
    taker: str


class MessageSent(MessageKept, frozen=True):
    """`title` is set by a KICKOFF, `version` by a COMPILED, `status` by an ACK."""

    role: str
    status: AckStatus | None
    re: str | None
    event: str | None
    title: str
    version: int | None


class MessageImported(MessageKept, frozen=True):
    """`sender`, `sent` and `outside_thread` are what the message claims."""

    outside_id: str
    sender: str
    sent: str
    flags: tuple[Flag, ...]
    outside_thread: str = ""


class MessageAcknowledged(Event, frozen=True):
    """The actor has answered `id` with the message `by`.

    `left` is how many messages still wait in this thread; `item` is the work that the actor takes
    over with this answer.
    """

    id: str
    by: str
    status: AckStatus
    left: int
    item: str


class MessageResent(Event, frozen=True):
    """Sent again to those that have not answered, under the same id (D-25)."""

    id: str
    type: MessageType | None
    sender: str
    subject: str
    importance: Importance
    to: tuple[Party, ...]
    sent_at: Millis
    ack_by: Millis


class MessageEscalated(Event, frozen=True):
    """There is still no answer: it is on the operator's agenda."""

    id: str
    missing: tuple[Party, ...]


class MessageLapsed(Event, frozen=True):
    """`id` no longer waits for an answer: `ended`, who owed it or asked for it, has ended.

    `left` is how many messages still wait in this thread.
    """

    id: str
    ended: str
    left: int


class MessageSettled(Event, frozen=True):
    """`id` no longer waits for an answer: the event that it reports is over, `why` says how.

    `left` is how many messages still wait in this thread.
    """

    id: str
    why: str
    left: int


EVENTS = (
    *(MessageSent, MessageImported, MessageAcknowledged, MessageResent),
    *(MessageEscalated, MessageLapsed, MessageSettled),
)
