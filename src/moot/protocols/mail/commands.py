"""What may be asked of a mail thread.

Whoever asks is the sender: no command has a field for it. Which holder of a name is meant
(`epoch`, 0 if there is nobody of that name) is looked up by whoever builds the command.
"""

from __future__ import annotations

from moot.core.machine import Command
from moot.core.record import ArtifactRef
from moot.protocols.mail.model import Party


class Send(Command, frozen=True):
    """Send a typed message into this thread.

    A body of more than 16 KiB is stored first; `artifact` says where. `re` is the message this one
    answers, `event` the id of a presence event that says the same.
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
    """Take in a message from outside of this ledger; whoever wrote it is not proved.

    `sender_here`: its sender is called like an agent of this ledger, or by a reserved name
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
    """Go after an ACK that is overdue: send again, then tell the operator. The machine asks it."""

    id: str


class Lapse(Command, frozen=True):
    """Nobody can answer `id` any more, or nobody waits: `ended` has ended. The machine asks it.

    `tell_sender`: whoever sent it still works, and is told.
    """

    id: str
    ended: str
    tell_sender: bool


class Settle(Command, frozen=True):
    """Nobody needs an answer to `id` any more: the event that it tells of is over. Say why."""

    id: str
    why: str


COMMANDS = (Send, Acknowledge, Import, Chase, Lapse, Settle)
