"""The nouns of one mail thread: messages that may still be answered, and who owes what.

A thread may be long, so the state has only the messages that wait for an answer, and the last few
of the others; the rest is in the records and the index.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import MINUTE, Millis
from moot.core.errors import Malformed
from moot.protocols.mail.types import TYPES, AckStatus, MessageType

PROTOCOL: Final = "mail"
ACK_MINUTES: Final = 30
MAX_OPEN: Final = 1_000
MAX_RECENT: Final = 64
# These types ask for work, so an ACK alone does not end them: they wait until a receiver says
# Completed (BRN-056, BRN-064; D-13, D-14).
CLOSED_BY_COMPLETED: Final = frozenset(
    kind for kind, spec in TYPES.items() if spec.needs_completion
)


class Importance(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


class AckProgress(StrEnum):
    """How many of the agents that owe an ACK have given it."""

    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"


class Stage(StrEnum):
    """How far a message is with its answers."""

    WAITING = "waiting"
    RESENT = "resent"
    ESCALATED = "escalated"
    SETTLED = "settled"


class Party(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One holder of a name; `epoch` 0 is a name outside of this ledger."""

    name: str
    epoch: int


class Receiver(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One receiver of a message, and the latest ACK."""

    name: str
    epoch: int
    status: AckStatus | None = None
    acked_at: Millis | None = None

    def is_holder(self, name: str, epoch: int) -> bool:
        """True if this is that holder of the name; an earlier holder is someone else."""
        return self.name == name and self.epoch == epoch


class MailMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message as far as its answers are concerned; its text is in its event."""

    id: str
    type: MessageType | None
    sender: str
    sender_epoch: int
    subject: str
    sent_at: Millis
    to: tuple[Receiver, ...]
    cc: tuple[Receiver, ...] = ()
    ack_required: bool = False
    ack_millis: Millis = ACK_MINUTES * MINUTE
    ack_by: Millis | None = None
    importance: Importance = Importance.NORMAL
    item: str = ""
    taker: str = ""
    event: str | None = None
    resent: bool = False
    escalated_at: Millis | None = None
    closed: bool = False

    @property
    def missing_receivers(self) -> tuple[Receiver, ...]:
        """The receivers that owe an ACK: each `to` without one (BRN-075), no `cc` (D-10)."""
        if not self.ack_required:
            return ()
        return tuple(receiver for receiver in self.to if receiver.status is None and receiver.epoch)

    @property
    def progress(self) -> AckProgress:
        if not self.missing_receivers:
            return AckProgress.COMPLETE
        answered = any(receiver.status is not None for receiver in self.to)
        return AckProgress.PARTIAL if answered else AckProgress.NONE

    @property
    def is_unfinished(self) -> bool:
        """True for a QUESTION, HANDOFF or BLOCKED to an agent here before any said Completed."""
        here = any(receiver.epoch for receiver in self.to)
        return self.type in CLOSED_BY_COMPLETED and here and not self.closed

    @property
    def is_waiting(self) -> bool:
        return bool(self.missing_receivers) or self.is_unfinished

    @property
    def stage(self) -> Stage:
        if not self.is_waiting:
            return Stage.SETTLED
        if self.escalated_at is not None:
            return Stage.ESCALATED
        return Stage.RESENT if self.resent else Stage.WAITING

    def hands_work_to(self, receiver: Receiver) -> bool:
        """True if the work of a HANDOFF becomes this receiver's with its ACK.

        It goes to the agent that the message names, else to the only one it was sent to.
        """
        if self.type is not MessageType.HANDOFF or receiver not in self.to:
            return False
        if any(other.name == self.taker for other in self.to):
            return receiver.name == self.taker
        return len(self.to) == 1

    def find_receiver(self, name: str, epoch: int) -> Receiver | None:
        everyone = (*self.to, *self.cc)
        return next((receiver for receiver in everyone if receiver.is_holder(name, epoch)), None)


Deadline = tuple[Millis, str]


class State(msgspec.Struct, frozen=True):
    """`deadlines` is sorted; `outside` are the last few ids of imported messages.

    `title` is the research question of the latest KICKOFF, `compiled` the latest version.
    """

    count: int = 0
    open: Map[str, MailMessage] = Map()
    recent: tuple[MailMessage, ...] = ()
    deadlines: tuple[Deadline, ...] = ()
    outside: tuple[str, ...] = ()
    title: str = ""
    compiled: int = 0

    def find_message(self, id: str) -> MailMessage | None:  # noqa: A002 - the word of every message
        """Return a message that may still be answered; None if long settled, or never sent."""
        waiting = self.open.get(id)
        return waiting or next((message for message in self.recent if message.id == id), None)

    def waiting_in_order(self) -> list[MailMessage]:
        """Return the messages that wait, by number, because a clock may go back."""
        return sorted(self.open.values(), key=lambda message: number_of_message(message.id))


def stream_of(thread: str) -> str:
    return f"{PROTOCOL}/{thread}"


def thread_of(stream: str) -> str:
    return stream.partition("/")[2]


def make_message_id(thread: str, number: int) -> str:
    """Return `auth-cache:3` for the third message of the thread `auth-cache`."""
    return f"{thread}:{number}"


def number_of_message(id: str) -> int:  # noqa: A002
    """Return 3 for `auth-cache:3`; 0 if it is no message id."""
    digits = id.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


def thread_of_id(id: str) -> str:  # noqa: A002
    return id.rpartition(":")[0]


def with_deadline(deadlines: tuple[Deadline, ...], new: Deadline) -> tuple[Deadline, ...]:
    changed = list(deadlines)
    insort(changed, new)
    return tuple(changed)


def without_deadline(deadlines: tuple[Deadline, ...], old: Deadline) -> tuple[Deadline, ...]:
    at = bisect_left(deadlines, old)
    is_there = at < len(deadlines) and deadlines[at] == old
    return deadlines[:at] + deadlines[at + 1 :] if is_there else deadlines


# Thread ids: a work id, `RS-{date}-{words}` for research, `COORD-{words}` for coordination.
#
# One id names the thread, its artifact and the artifact's `session_id`.


class ThreadKind(StrEnum):
    WORK = "work"
    RESEARCH = "research"
    COORDINATION = "coordination"


MAX_ID_LENGTH = 120
# By how an id begins: what it must look like, the code if it does not, and an example.
_GRAMMARS: tuple[tuple[str, ThreadKind, re.Pattern[str], str, str], ...] = (
    (
        "RS-",
        ThreadKind.RESEARCH,
        re.compile(r"RS-[0-9]{8}-[a-z0-9-]{2,40}"),
        "invalid_rs_thread_id",
        "RS-20260218-cell-fate: a date, then 2 to 40 of a-z, 0-9 and hyphens",
    ),
    (
        "COORD-",
        ThreadKind.COORDINATION,
        re.compile(r"COORD-[a-z0-9-]{2,30}"),
        "invalid_coord_thread_id",
        "COORD-release-2: 2 to 30 of a-z, 0-9 and hyphens",
    ),
    (
        "",
        ThreadKind.WORK,
        re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"),
        "invalid_bead_id",
        "a work id such as brenner_bot-5so.3.4, or RS-{date}-{words}, or COORD-{words}",
    ),
)


def require_thread_kind(text: str) -> ThreadKind:
    """Return what kind of thread this id names, else Malformed with its own code."""
    for start, kind, grammar, code, example in _GRAMMARS:
        if text.upper().startswith(start):
            if len(text) <= MAX_ID_LENGTH and grammar.fullmatch(text):
                return kind
            raise Malformed(f"{text[:80]!r} is not a thread id", code=code, hint=example)
    raise AssertionError("the last row takes any id")


def require_thread_id(text: str) -> str:
    """Return the id that `text` names, in the case we write, else Malformed.

    The companion's own example has capitals that its pattern does not allow (D-27).
    """
    named = normalize_id(text)
    require_thread_kind(named)
    return named


def normalize_id(text: str) -> str:
    """Return the id of a thread or message in the case we write: no two differ only in case."""
    start = next(row[0] for row in _GRAMMARS if text.upper().startswith(row[0]))
    return start + text[len(start) :].lower()


def is_thread_id(text: str) -> bool:
    try:
        require_thread_kind(text)
    except Malformed:
        return False
    return True


def with_ack(
    message: MailMessage, name: str, epoch: int, status: AckStatus, at: Millis
) -> MailMessage:
    """Return the message with the latest ACK of this receiver.

    Once completed it stays so: a later, lesser status does not open it again (D-13).
    """
    addressed = any(receiver.is_holder(name, epoch) for receiver in message.to)
    done = addressed and status is AckStatus.COMPLETED and message.type in CLOSED_BY_COMPLETED
    after = msgspec.structs.replace(
        message,
        to=_with_status(message.to, name, epoch, status, at),
        cc=_with_status(message.cc, name, epoch, status, at),
        closed=message.closed or done,
    )
    return after if after.missing_receivers else msgspec.structs.replace(after, ack_by=None)


def _with_status(
    receivers: tuple[Receiver, ...], name: str, epoch: int, status: AckStatus, at: Millis
) -> tuple[Receiver, ...]:
    return tuple(
        msgspec.structs.replace(receiver, status=status, acked_at=at)
        if receiver.is_holder(name, epoch)
        else receiver
        for receiver in receivers
    )
