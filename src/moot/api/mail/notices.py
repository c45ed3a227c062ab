"""HANDOFF and BLOCKED: an event of presence and the message of mail about it, in one commit.

Both are sent, accepted and acknowledged together. The message names the event, and its cause is the
event's hash. The same key gives the same pair. Both say the same, field by field (FLO-11).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.mail.outgoing import (
    OutgoingMessage,
    PostedMessage,
    describe_posted,
    make_send_job,
    read_handwritten_ack,
    run_job,
)
from moot.core.errors import NotFound, Refused
from moot.core.findings import Finding
from moot.engine.job import NO_LINK, Job, JobOutcome, Link
from moot.protocols.mail.body_writer import write_blocked_body, write_handoff_body
from moot.protocols.mail.case import read_ack_status
from moot.protocols.mail.commands import Acknowledge, Settle
from moot.protocols.mail.index_keys import MESSAGES_OF_EVENTS
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import MailMessage, is_thread_id, stream_of, thread_of_id
from moot.protocols.mail.types import AckStatus, MessageType
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import (
    Accept,
    MarkSeen,
    SendBlocked,
    SendHandoff,
    Withdraw,
)
from moot.protocols.presence.events import BlockedSent, HandoffSent, ScopeHandedOver

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

Notice = SendHandoff | SendBlocked
# The status of an answer in mail -> the command that records the same for the event in presence.
EVENT_COMMANDS: Final[dict[AckStatus | None, type[Accept] | type[MarkSeen]]] = {
    AckStatus.ACK: MarkSeen,
    AckStatus.UNDERSTOOD: Accept,
    AckStatus.WILL_ACTION: Accept,
    AckStatus.COMPLETED: Accept,
}
_MAX_SUBJECT: Final = 300
_MAX_WHY: Final = 500


class Acknowledged(NamedTuple):
    """What an answer changed in mail and, if it is about an event, in presence."""

    mail: JobOutcome
    event: JobOutcome | None = None

    @property
    def moved(self) -> tuple[str, ...]:
        """Scopes that the answering agent holds now."""
        return moved_scopes(self.event) if self.event is not None else ()

    @property
    def remarks(self) -> tuple[Finding, ...]:
        return self.event.findings if self.event is not None else ()


def moved_scopes(accepted: JobOutcome) -> tuple[str, ...]:
    """Return the scopes that an accepted HANDOFF moved."""
    moved = (recorded.event for recorded in accepted.recorded)
    return tuple(event.scope for event in moved if isinstance(event, ScopeHandedOver))


def send(
    workspace: Workspace,
    sender: str,
    notice: Notice,
    key: str | None = None,
    corr: str | None = None,
) -> list[JobOutcome]:
    """Send the event, then the message about it; both or neither."""
    send_job = make_send_job(workspace, sender, _MESSAGES[type(notice)](notice, sender, key))

    def cite_event(sent: JobOutcome) -> Job:
        recorded = sent.newest(_EVENTS[type(notice)])
        command = msgspec.structs.replace(send_job.command, event=recorded.event.id)
        cause = recorded.hash.hex()
        return msgspec.structs.replace(send_job, command=command, cause=cause, corr=corr)

    return workspace.engine.execute_chain(Job(STREAM, notice, sender, key, corr=corr), cite_event)


def _handoff(notice: SendHandoff, sender: str, key: str | None) -> OutgoingMessage:
    return OutgoingMessage(
        to=(notice.to,),
        subject=_subject(f"HANDOFF: {notice.subject} to {notice.to}"),
        body=write_handoff_body(
            item=notice.work or notice.subject,
            from_agent=sender,
            to_agent=notice.to,
            state=notice.summary,
            files=[notice.scope] if notice.scope else [],
            next_steps=notice.next_action,
        ),
        thread=thread_of_work(notice.work),
        ack_required=notice.requires_ack,
        key=key,
    )


def _blocked(notice: SendBlocked, _sender: str, key: str | None) -> OutgoingMessage:
    return OutgoingMessage(
        to=(notice.to,),
        subject=_subject(f"BLOCKED: {notice.subject}"),
        body=write_blocked_body(
            item=notice.work or notice.subject,
            blocker=notice.blocker,
            needed=notice.requested_action,
        ),
        thread=thread_of_work(notice.work),
        importance=_IMPORTANCE[notice.urgency],
        key=key,
    )


_IMPORTANCE: Final = {"low": "low", "medium": "normal", "high": "high"}
_EVENTS: Final[dict[type[Notice], type[HandoffSent | BlockedSent]]] = {
    SendHandoff: HandoffSent,
    SendBlocked: BlockedSent,
}
_MESSAGES: Final[dict[type[Any], Callable[[Any, str, str | None], OutgoingMessage]]] = {
    SendHandoff: _handoff,
    SendBlocked: _blocked,
}


def _subject(text: str) -> str:
    """Return the text as one line, whatever characters the event's subject contains."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_MAX_SUBJECT]


def thread_of_work(work: str) -> str | None:
    """Return the thread of a work item, named after it; None: the name gives no thread id."""
    if is_thread_id(work):
        return work
    thread = re.sub(r"[^a-z0-9_-]+", "-", work.lower()).strip("-")[:80]
    return thread if is_thread_id(thread) else None


def accept(
    workspace: Workspace, name: str, event: str, key: str | None = None, notes: str = ""
) -> JobOutcome:
    """Accept an event of presence, and acknowledge its message in the same commit with `notes`.

    This completes a HANDOFF: an agent has taken on the work. It completes a BLOCKED only with
    `notes`, which are the requested input; otherwise the message still waits for it.
    """
    first = Job(STREAM, Accept(id=event), name, key)
    message = find_message_about(workspace, event)
    if message is None or not message.is_waiting or not _can_accept(workspace, message, name):
        return run_job(workspace, first)
    is_done = message.type is MessageType.HANDOFF or bool(notes.strip())
    status = AckStatus.COMPLETED if is_done else AckStatus.WILL_ACTION
    second = _acknowledgement(message.id, status.value, notes, name)
    return workspace.engine.execute_chain(first, lambda _: second)[0]


def withdraw(
    workspace: Workspace, name: str, command: Withdraw, key: str | None = None
) -> JobOutcome:
    """Withdraw an event of presence; the same commit settles its message if that still waits."""
    first, message = Job(STREAM, command, name, key), find_message_about(workspace, command.id)
    if message is None or not message.is_waiting:
        return run_job(workspace, first)
    second = settle_job(message.id, f"{command.id} was withdrawn: {command.reason}", name)
    return workspace.engine.execute_chain(first, lambda _: second)[0]


def settle_job(message_id: str, why: str, name: str) -> Job:
    """Return the job that settles the message about an event that is over."""
    return Job(stream_of(thread_of_id(message_id)), Settle(id=message_id, why=why[:_MAX_WHY]), name)


def acknowledge(
    workspace: Workspace,
    name: str,
    message_id: str,
    status: str,
    notes: str = "",
    *,
    link: Link = NO_LINK,
    key: str | None = None,
) -> Acknowledged:
    """Acknowledge a message, and the event it is about if that can still be answered."""
    job = _acknowledgement(message_id, status, notes, name, link)
    job = msgspec.structs.replace(job, key=key)
    return _acknowledge_both(workspace, job, message_id, read_ack_status(status))


def send_message(workspace: Workspace, sender: str, outgoing: OutgoingMessage) -> PostedMessage:
    """Send a message; an ACK written by hand also answers the event it is about."""
    job, ack = make_send_job(workspace, sender, outgoing), read_handwritten_ack(outgoing)
    if ack is None:
        return describe_posted(workspace, outgoing, run_job(workspace, job))
    answered = ack.message_id or outgoing.re or ""
    acknowledged = _acknowledge_both(workspace, job, answered, ack.status)
    posted = describe_posted(workspace, outgoing, acknowledged.mail)
    findings = (*posted.findings, *acknowledged.remarks)
    return msgspec.structs.replace(posted, findings=findings, moved=acknowledged.moved)


def _acknowledge_both(
    workspace: Workspace, job: Job, message_id: str, status: AckStatus | None
) -> Acknowledged:
    """Answer a message, and the event it is about in the same commit and under the same key."""
    state = workspace.engine.state(MACHINE, job.stream)
    message = state.find_message(message_id)
    if message is None or message.event is None or status is None:
        return Acknowledged(run_job(workspace, job))
    command = EVENT_COMMANDS[status](id=message.event)
    first = Job(STREAM, command, job.actor, job.key, cause=job.cause, corr=job.corr)
    try:
        event, mail = workspace.engine.execute_chain(first, lambda _: job)
        return Acknowledged(mail, event)
    except (Refused, NotFound) as refused:
        if refused.code not in _MESSAGE_ONLY_CODES:
            raise
    return Acknowledged(run_job(workspace, job))


# Refusals of the event's answer after which the message is still answered: the event is no longer
# kept, or was sent to others.
_MESSAGE_ONLY_CODES: Final = frozenset({"event_not_found", "ack_forbidden", "not_addressed"})


def find_message_about(workspace: Workspace, event: str) -> MailMessage | None:
    """Return the message about an event of presence, if it can still be answered."""
    with workspace.store.read() as view:
        row = view.row(MESSAGES_OF_EVENTS, event)
    if row is None:
        return None
    state = workspace.engine.state(MACHINE, row.stream)
    return state.find_message(msgspec.json.decode(row.value)["id"])


def _can_accept(workspace: Workspace, message: MailMessage, name: str) -> bool:
    """Return True if `name` received the message and has not yet accepted the work."""
    agent = workspace.engine.registry().agents.get(name)
    receiver = message.find_receiver(name, agent.epoch) if agent is not None else None
    return receiver is not None and EVENT_COMMANDS.get(receiver.status, MarkSeen) is MarkSeen


def _acknowledgement(
    message_id: str, status: str, notes: str, name: str, link: Link = NO_LINK
) -> Job:
    command = Acknowledge(id=message_id, status=status, notes=notes)
    stream = stream_of(thread_of_id(message_id))
    return Job(stream, command, name, cause=link.cause, corr=link.corr)
