"""The commands of a mail thread.

The actor is the sender: no command has a field for it. The caller that builds a command looks up
the holder of each name (`epoch`, 0 if no agent has that name).
"""

from __future__ import annotations

from moot.core.machine import Command
from moot.core.record import ArtifactRef
from moot.protocols.mail.model import Party


class Send(Command, frozen=True):
    """Send a typed message into this thread.

    A body of more than 16 KiB is stored first, as `artifact`. `re` is the message that this one
    answers, `event` the id of a presence event with the same content.
    """

    subject: str
    body: str
    to: tuple[Party, ...]
    cc: tuple[Party, ...] = ()
    ack_required: bool | None = None
    importance: str = "normal"
    ack_minutes: int | None = None
    re: str | None = None
    event: str | None = None
    artifact: ArtifactRef | None = None


class Acknowledge(Command, frozen=True):
    """Say that a message sent to you was received, understood, taken on or completed."""

    id: str
    status: str
    notes: str = ""


class Import(Command, frozen=True):
    """Import a message from outside of this ledger; nothing proves who wrote it.

    `sender_here`: its sender has the name of an agent of this ledger, or a reserved name
    (`sender_reserved`). `agents` are known names.
    """

    outside_id: str
    sender: str
    subject: str
    body: str
    to: tuple[Party, ...]
    cc: tuple[Party, ...] = ()
    ack_required: bool | None = None
    importance: str = "normal"
    sent: str = ""
    sender_here: bool = False
    agents: tuple[str, ...] = ()
    artifact: ArtifactRef | None = None
    outside_thread: str = ""
    sender_reserved: bool = False


class Chase(Command, frozen=True):
    """Chase an overdue ACK: send again, then tell the operator. Only the machine does this."""

    id: str


class Lapse(Command, frozen=True):
    """Stop waiting for an answer to `id`: its sender or receiver, `ended`, has ended.

    Only the machine does this. `tell_sender`: the sender still works and gets a message.
    """

    id: str
    ended: str
    tell_sender: bool


class Settle(Command, frozen=True):
    """Stop waiting for an answer to `id`, because the event that it reports is over. Say why."""

    id: str
    why: str


COMMANDS = (Send, Acknowledge, Import, Chase, Lapse, Settle)
