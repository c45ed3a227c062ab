"""Answers to mail: given, still owed, chased when they are overdue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.machine import KeyClass
from moot.core.text import Quoted
from moot.protocols.mail.events import MessageEscalated, MessageResent, MessageSent
from moot.protocols.mail.types import AckStatus
from moot.protocols.mail.views import StandingView, describe_standing, list_pending

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.machine import Recorded
    from moot.engine.engine import Engine
    from moot.protocols.mail.model import Party

__all__ = [
    "ACK_STATUSES",
    "ChasedMessage",
    "ChasedMessages",
    "GivenAck",
    "PendingMessages",
    "StandingView",
    "ack",
    "canonical_status",
    "pending",
    "tick",
]
ACK_STATUSES: Final = tuple(status.value for status in AckStatus)


class GivenAck(msgspec.Struct, frozen=True, kw_only=True):
    """An acknowledgement; `ack` is the id of its message, None if nothing changed by it.

    `subject` is that of the message that was answered, so that a wrong number is noticed;
    `standing` is how far the message is answered now, None if it is long settled.
    """

    id: str
    agent: str
    ack: str | None
    standing: StandingView | None
    moved: tuple[Quoted, ...]
    findings: tuple[Finding, ...]
    subject: Quoted | None = None


class PendingMessages(msgspec.Struct, frozen=True):
    """Messages that wait for an answer, and for whose."""

    pending: list[StandingView]


class ChasedMessage(msgspec.Struct, frozen=True):
    """A message whose answer was overdue, and what was done about it.

    `told` is who learns that no answer came: every person registered here, then the sender.
    """

    id: str
    did: Literal["resent", "escalated"]
    missing: tuple[Quoted, ...]
    at: str
    told: tuple[str, ...] = ()


class ChasedMessages(msgspec.Struct, frozen=True):
    applied: list[ChasedMessage]


def canonical_status(text: str) -> str | None:
    """The status of an acknowledgement that is meant, whatever its case; None if there is none."""
    from moot.protocols.mail.case import read_ack_status

    status = read_ack_status(text)
    return None if status is None else status.value


@operation("mail.ack", writes=True)
def ack(
    session: Session,
    message_id: str,
    status: str,
    *,
    notes: str = "",
    agent: str | None = None,
    key: str | None = None,
) -> GivenAck:
    """Acknowledge a message. `status` is Received, Understood, Will Action or Completed.

    Any status acknowledges it; Completed also closes a QUESTION, HANDOFF or BLOCKED. A later one
    takes the place of an earlier one; the same again, without notes, changes nothing. The event
    that a HANDOFF or BLOCKED is about is answered in the same commit. Refused to its
    sender and to agents that it was not sent to.
    """
    from moot.api.mail.messages import canonical_id, require_thread_of
    from moot.api.mail.notices import acknowledge
    from moot.protocols.mail.machine import MACHINE as MAIL

    workspace, name = session.workspace, session.actor(agent)
    message_id = canonical_id(workspace, message_id)
    require_thread_of(workspace, message_id)
    done = acknowledge(workspace, name, message_id, status, notes, key=key)
    outcome = done.mail
    message = MAIL.require_state(outcome.state).find_message(message_id)
    events = (recorded.event for recorded in outcome.recorded)
    sent = next((event for event in events if isinstance(event, MessageSent)), None)
    now = workspace.engine.clock()
    return GivenAck(
        id=message_id,
        agent=name,
        ack=None if sent is None else sent.id,
        standing=None if message is None else describe_standing(message, now),
        moved=tuple(map(Quoted, done.moved)),
        findings=(*outcome.findings, *done.remarks),
        subject=None if message is None else Quoted(message.subject),
    )


@operation("mail.pending")
def pending(session: Session, *, agent: str | None = None) -> PendingMessages:
    """What still waits for an answer: all of it, or what `agent` (default: whose session it is)
    sent or owes; what is due first comes first."""
    from moot.api.mail.lapsed_duties import find_settled
    from moot.api.mail.messages import open_threads

    workspace, name = session.workspace, agent or session.acting
    holder = workspace.engine.registry().agents.get(name or "")
    epoch, now = 0 if holder is None else holder.epoch, workspace.engine.clock()
    settled = find_settled(workspace)
    waiting = [
        message
        for _, thread in open_threads(workspace)
        for message in list_pending(thread, now, name, epoch, settled)
    ]
    waiting.sort(key=lambda message: (message.by is None, message.by or "", message.sent_at))
    return PendingMessages(waiting)


@operation("mail.tick", writes=True, as_ledger=True)
def tick(session: Session) -> ChasedMessages:
    """Remind agents whose answer is overdue, then tell the registered people and the sender.

    Each thread is a commit of its own. What was applied is no longer overdue, so a repeat needs no
    key. Refused where the root key, which applies time limits, is not in the key folder.
    """
    from moot.api.mail.messages import open_threads

    engine = session.workspace.engine
    _require_root_key(engine)
    outcomes = [engine.tick(stream) for stream, _ in open_threads(session.workspace)]
    registered = engine.registry().agents.values()
    people = [one.name for one in registered if one.kind is KeyClass.HUMAN and not one.retired]
    return ChasedMessages(
        [
            chased
            for outcome in outcomes
            if outcome is not None
            for chased in _describe_chased(outcome.recorded, people)
        ]
    )


def _require_root_key(engine: Engine) -> None:
    engine.require_writable()
    if not engine.signs_as_ledger:
        raise Refused(
            "key_missing",
            "time limits are applied by the root key, which is not in this key folder",
            hint="it stays due until the user who ran `moot init` runs `moot mail tick`",
        )


def _describe_chased(
    recorded: Sequence[Recorded[Any]], people: list[str]
) -> Iterator[ChasedMessage]:
    for one in recorded:
        event, at = one.event, to_text(one.at)
        if isinstance(event, MessageResent):
            yield ChasedMessage(event.id, "resent", _names(event.to), at)
        elif isinstance(event, MessageEscalated):
            told = [other.event for other in recorded if isinstance(other.event, MessageSent)]
            senders = [party.name for sent in told if sent.re == event.id for party in sent.to]
            names = _names(event.missing)
            yield ChasedMessage(event.id, "escalated", names, at, (*people, *senders))


def _names(parties: Iterable[Party]) -> tuple[Quoted, ...]:
    return tuple(Quoted(party.name) for party in parties)
