"""A notice is one act in two records: the event of presence, and the message of mail.

HANDOFF and BLOCKED are sent, accepted and acknowledged together, in one commit; the message names
the event and its cause is the event's hash. The same key gives the same pair. Both say the same,
field by field (FLO-11).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.mail.letters import (
    Letter,
    PostedLetter,
    describe_posted,
    make_job,
    read_ack_in,
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
from moot.protocols.presence import events as did
from moot.protocols.presence.commands import (
    Accept,
    MarkSeen,
    SendBlocked,
    SendHandoff,
    Withdraw,
)

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

Notice = SendHandoff | SendBlocked
# What mail says about a message is what presence says about its event: the table of receipts, by
# which Received is only seen.
RECEIPTS: Final[dict[AckStatus | None, type[Accept] | type[MarkSeen]]] = {
    AckStatus.RECEIVED: MarkSeen,
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
        """Scopes that the agent that answered holds from now on."""
        return moved_to(self.event) if self.event is not None else ()

    @property
    def remarks(self) -> tuple[Finding, ...]:
        return self.event.findings if self.event is not None else ()


def moved_to(accepted: JobOutcome) -> tuple[str, ...]:
    """The scopes that an accepted HANDOFF moved."""
    moved = (recorded.event for recorded in accepted.recorded)
    return tuple(event.scope for event in moved if isinstance(event, did.ScopeHandedOver))


def send(
    workspace: Workspace,
    sender: str,
    notice: Notice,
    key: str | None = None,
    corr: str | None = None,
) -> list[JobOutcome]:
    """The event, then the message about it; both or neither."""
    made = make_job(workspace, sender, _LETTERS[type(notice)](notice, sender, key))

    def message(sent: JobOutcome) -> Job:
        recorded = sent.newest(_EVENTS[type(notice)])
        command = msgspec.structs.replace(made.command, event=recorded.event.id)
        cause = recorded.hash.hex()
        return msgspec.structs.replace(made, command=command, cause=cause, corr=corr)

    return workspace.engine.execute_chain(Job(STREAM, notice, sender, key, corr=corr), message)


def _handoff(notice: SendHandoff, sender: str, key: str | None) -> Letter:
    return Letter(
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


def _blocked(notice: SendBlocked, _sender: str, key: str | None) -> Letter:
    return Letter(
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
_EVENTS: Final[dict[type[Notice], type[did.HandoffSent | did.BlockedSent]]] = {
    SendHandoff: did.HandoffSent,
    SendBlocked: did.BlockedSent,
}
_LETTERS: Final[dict[type[Any], Callable[[Any, str, str | None], Letter]]] = {
    SendHandoff: _handoff,
    SendBlocked: _blocked,
}


def _subject(text: str) -> str:
    """One line, whatever the event's subject holds."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_MAX_SUBJECT]


def thread_of_work(work: str) -> str | None:
    """A work item has one thread, called like it as far as letters allow; None: a new one."""
    if is_thread_id(work):
        return work
    named = re.sub(r"[^a-z0-9_-]+", "-", work.lower()).strip("-")[:80]
    return named if is_thread_id(named) else None


def accept(
    workspace: Workspace, name: str, event: str, key: str | None = None, notes: str = ""
) -> JobOutcome:
    """Accept an event of presence; its message is acknowledged with it, in the words of `notes`.

    What a HANDOFF asks for, that somebody takes the work on, has happened then: it is settled. So
    is a BLOCKED with `notes`, which are the input; without, it waits until the input is there.
    """
    first = Job(STREAM, Accept(id=event), name, key)
    message = message_about(workspace, event)
    if message is None or not message.is_waiting or not _expects(workspace, message, name):
        return run_job(workspace, first)
    is_done = message.type is MessageType.HANDOFF or bool(notes.strip())
    status = AckStatus.COMPLETED if is_done else AckStatus.WILL_ACTION
    second = _acknowledgement(message.id, status.value, notes, name)
    return workspace.engine.execute_chain(first, lambda _: second)[0]


def withdraw(workspace: Workspace, name: str, ask: Withdraw, key: str | None = None) -> JobOutcome:
    """Withdraw an entry of presence; the message about it, if it waits, is settled with it."""
    first, message = Job(STREAM, ask, name, key), message_about(workspace, ask.id)
    if message is None or not message.is_waiting:
        return run_job(workspace, first)
    second = settlement(message.id, f"{ask.id} was withdrawn: {ask.reason}", name)
    return workspace.engine.execute_chain(first, lambda _: second)[0]


def settlement(message_id: str, why: str, name: str) -> Job:
    """Settles the message about an event that is over."""
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
    """Acknowledge a message, and the event it is about, if that is not long over."""
    job = _acknowledgement(message_id, status, notes, name, link)
    job = msgspec.structs.replace(job, key=key)
    return _acknowledge_both(workspace, job, message_id, read_ack_status(status))


def send_message(workspace: Workspace, sender: str, letter: Letter) -> PostedLetter:
    """Send a message; an ACK that was written by hand is a receipt like any other."""
    job, ack = make_job(workspace, sender, letter), read_ack_in(letter)
    if ack is None:
        return describe_posted(workspace, letter, run_job(workspace, job))
    answered = ack.message_id or letter.re or ""
    done = _acknowledge_both(workspace, job, answered, ack.status)
    sent = describe_posted(workspace, letter, done.mail)
    findings = (*sent.findings, *done.remarks)
    return msgspec.structs.replace(sent, findings=findings, moved=done.moved)


def _acknowledge_both(
    workspace: Workspace, job: Job, message_id: str, status: AckStatus | None
) -> Acknowledged:
    """Answer a message, and the event it is about in the same commit and under the same key."""
    state = workspace.engine.state(MACHINE, job.stream)
    message = state.find_message(message_id)
    if message is None or message.event is None or status is None:
        return Acknowledged(run_job(workspace, job))
    receipt = RECEIPTS[status](id=message.event)
    first = Job(STREAM, receipt, job.actor, job.key, cause=job.cause, corr=job.corr)
    try:
        event, mail = workspace.engine.execute_chain(first, lambda _: job)
        return Acknowledged(mail, event)
    except (Refused, NotFound) as refused:
        if refused.code not in _MESSAGE_ALONE:
            raise
    return Acknowledged(run_job(workspace, job))


# Why the event may not be answered while its message may: it is long over, or was sent to others.
_MESSAGE_ALONE: Final = frozenset({"event_not_found", "ack_forbidden", "not_addressed"})


def message_about(workspace: Workspace, event: str) -> MailMessage | None:
    """The message of mail that says the same as an event of presence, if an answer still counts."""
    with workspace.store.read() as view:
        row = view.row(MESSAGES_OF_EVENTS, event)
    if row is None:
        return None
    state = workspace.engine.state(MACHINE, row.stream)
    return state.find_message(msgspec.json.decode(row.value)["id"])


def _expects(workspace: Workspace, message: MailMessage, name: str) -> bool:
    """Has `name` not said yet that it takes this on?"""
    agent = workspace.engine.registry().agents.get(name)
    receiver = message.find_receiver(name, agent.epoch) if agent is not None else None
    return receiver is not None and RECEIPTS.get(receiver.status, MarkSeen) is MarkSeen


def _acknowledgement(
    message_id: str, status: str, notes: str, name: str, link: Link = NO_LINK
) -> Job:
    command = Acknowledge(id=message_id, status=status, notes=notes)
    stream = stream_of(thread_of_id(message_id))
    return Job(stream, command, name, cause=link.cause, corr=link.corr)
