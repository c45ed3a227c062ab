"""Acknowledge messages, list the answers that are owed, and chase those that are overdue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.findings import Finding
from moot.core.machine import KeyClass
from moot.core.text import Quoted
from moot.protocols.mail.events import MessageEscalated, MessageResent, MessageSent
from moot.protocols.mail.types import AckStatus
from moot.protocols.mail.views import StandingView, describe_standing, list_pending

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.machine import Recorded
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
    """An acknowledgement; `ack` is the id of its message, None if it changed nothing.

    `subject` is that of the answered message, so that a caller notices a wrong id. `standing` says
    who has answered the message, None if it is no longer tracked.
    """

    id: str
    agent: str
    ack: str | None
    standing: StandingView | None
    moved: tuple[Quoted, ...]
    findings: tuple[Finding, ...]
    subject: Quoted | None = None


class PendingMessages(msgspec.Struct, frozen=True):
    """Messages that wait for an answer, and whose answers are missing."""

    pending: list[StandingView]


class ChasedMessage(msgspec.Struct, frozen=True):
    """A message whose answer was overdue, and what Moot did about it.

    `told` is who was notified: every registered person, then the sender.
    """

    id: str
    did: Literal["resent", "escalated"]
    missing: tuple[Quoted, ...]
    at: str
    told: tuple[str, ...] = ()


class ChasedMessages(msgspec.Struct, frozen=True):
    applied: list[ChasedMessage]


def canonical_status(text: str) -> str | None:
    """Return the acknowledgement status with this name, in any case; None if there is none."""
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
    replaces an earlier one; the same again, without notes, changes nothing. The same commit answers
    the event that a HANDOFF or BLOCKED is about. Refused to the sender of the message and to agents
    that did not receive it.
    """
    from moot.api.mail.messages import canonical_id, require_thread_of
    from moot.api.mail.notices import acknowledge
    from moot.protocols.mail.machine import MACHINE as MAIL

    workspace, name = session.workspace, session.actor(agent)
    message_id = canonical_id(workspace, message_id)
    require_thread_of(workspace, message_id)
    acknowledged = acknowledge(workspace, name, message_id, status, notes, key=key)
    outcome = acknowledged.mail
    message = MAIL.require_state(outcome.state).find_message(message_id)
    events = (recorded.event for recorded in outcome.recorded)
    sent = next((event for event in events if isinstance(event, MessageSent)), None)
    now = workspace.engine.clock()
    return GivenAck(
        id=message_id,
        agent=name,
        ack=None if sent is None else sent.id,
        standing=None if message is None else describe_standing(message, now),
        moved=tuple(map(Quoted, acknowledged.moved)),
        findings=(*outcome.findings, *acknowledged.remarks),
        subject=None if message is None else Quoted(message.subject),
    )


@operation("mail.pending")
def pending(session: Session, *, agent: str | None = None) -> PendingMessages:
    """List messages that wait for an answer, the earliest due first.

    With `agent` (default: the acting agent, if any) only those that it sent or owes an answer.
    """
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
    """Remind agents whose answer is overdue, then notify the registered people and the sender.

    Each thread is a separate commit. A limit applies once, so a repeat needs no key. Refused
    without the root key, which applies time limits.
    """
    from moot.api.mail.messages import open_threads
    from moot.api.presence.agenda import require_root_key

    engine = session.workspace.engine
    require_root_key(engine, "moot mail tick")
    outcomes = [engine.tick(stream) for stream, _ in open_threads(session.workspace)]
    registered = engine.registry().agents.values()
    people = [each.name for each in registered if each.kind is KeyClass.HUMAN and not each.retired]
    return ChasedMessages(
        [
            chased
            for outcome in outcomes
            if outcome is not None
            for chased in _describe_chased(outcome.recorded, people)
        ]
    )


def _describe_chased(
    recorded: Sequence[Recorded[Any]], people: list[str]
) -> Iterator[ChasedMessage]:
    for each in recorded:
        event, at = each.event, to_text(each.at)
        if isinstance(event, MessageResent):
            yield ChasedMessage(event.id, "resent", _names(event.to), at)
        elif isinstance(event, MessageEscalated):
            sent = [other.event for other in recorded if isinstance(other.event, MessageSent)]
            notices = [message for message in sent if message.re == event.id]
            senders = [party.name for notice in notices for party in notice.to]
            names = _names(event.missing)
            yield ChasedMessage(event.id, "escalated", names, at, (*people, *senders))


def _names(parties: Iterable[Party]) -> tuple[Quoted, ...]:
    return tuple(Quoted(party.name) for party in parties)
