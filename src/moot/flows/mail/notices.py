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

from moot.core.errors import NotFound, Refused
from moot.core.findings import Finding
from moot.engine.job import ALONE, Job, Link, Outcome
from moot.flows.mail.post import Letter, Posted, ack_in, job_of, posted, run
from moot.protocols.mail.body_writer import write_blocked_body, write_handoff_body
from moot.protocols.mail.case import read_ack_status
from moot.protocols.mail.commands import Acknowledge
from moot.protocols.mail.keys import MESSAGES_OF_EVENTS
from moot.protocols.mail.model import MailMessage, stream_of, thread_of_id
from moot.protocols.mail.model import State as Thread
from moot.protocols.mail.threads import is_thread_id
from moot.protocols.mail.types import AckStatus
from moot.protocols.presence import STREAM
from moot.protocols.presence import events as did
from moot.protocols.presence.commands import Accept, MarkSeen, SendBlocked, SendHandoff

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

Notice = SendHandoff | SendBlocked
# What mail says about a message is what presence says about its event.
RECEIPTS: Final[dict[AckStatus | None, type[Accept] | type[MarkSeen]]] = {
    AckStatus.RECEIVED: MarkSeen,
    AckStatus.UNDERSTOOD: MarkSeen,
    AckStatus.WILL_ACTION: Accept,
    AckStatus.COMPLETED: Accept,
}
_MAX_SUBJECT: Final = 300


class Answered(NamedTuple):
    """What an answer changed in mail and, if it is about an event, in presence."""

    mail: Outcome
    event: Outcome | None = None

    @property
    def moved(self) -> tuple[str, ...]:
        """Scopes that whoever answered holds from now on."""
        return moved_to(self.event) if self.event is not None else ()

    @property
    def remarks(self) -> tuple[Finding, ...]:
        return self.event.findings if self.event is not None else ()


def moved_to(accepted: Outcome) -> tuple[str, ...]:
    """The scopes that an accepted HANDOFF moved."""
    moved = (one.event for one in accepted.recorded)
    return tuple(event.scope for event in moved if isinstance(event, did.ScopeHandedOver))


def send(
    space: Workspace,
    sender: str,
    notice: Notice,
    key: str | None = None,
    corr: str | None = None,
) -> list[Outcome]:
    """The event, then the message about it; both or neither."""
    made = job_of(space, sender, _LETTERS[type(notice)](notice, sender, key))

    def message(sent: Outcome) -> Job:
        event = next(one for one in sent.recorded if isinstance(one.event, did.WITH_ENVELOPE))
        command = msgspec.structs.replace(made.command, event=event.event.id)
        cause = event.hash.hex()
        return msgspec.structs.replace(made, command=command, cause=cause, corr=corr)

    return space.engine.execute_chain(Job(STREAM, notice, sender, key, corr=corr), message)


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


def accept(space: Workspace, name: str, event: str, key: str | None = None) -> Outcome:
    """Accept an event of presence; its message is acknowledged with it."""
    first = Job(STREAM, Accept(id=event), name, key)
    message = message_about(space, event)
    if message is None or not _expects(space, message, name):
        return run(space, first)
    second = _acknowledging(message.id, AckStatus.WILL_ACTION.value, "", name)
    return space.engine.execute_chain(first, lambda _: second)[0]


def answer(
    space: Workspace,
    name: str,
    id: str,  # noqa: A002
    status: str,
    notes: str = "",
    link: Link = ALONE,
) -> Answered:
    """Acknowledge a message, and the event it is about, if that is not long over."""
    job = _acknowledging(id, status, notes, name, link)
    return _with_receipt(space, job, id, read_ack_status(status))


def post(space: Workspace, sender: str, letter: Letter) -> Posted:
    """Send a message; an ACK that was written by hand is a receipt like any other."""
    job, said = job_of(space, sender, letter), ack_in(letter)
    if said is None:
        return posted(space, letter, run(space, job))
    about = said.message_id or letter.re or ""
    done = _with_receipt(space, job, about, said.status)
    sent = posted(space, letter, done.mail)
    found = (*sent.findings, *done.remarks)
    return msgspec.structs.replace(sent, findings=found, moved=done.moved)


def _with_receipt(space: Workspace, job: Job, id: str, status: AckStatus | None) -> Answered:  # noqa: A002
    """Answer message `id`, and let the event it is about know."""
    state: Thread = space.engine.state(job.stream)
    message = state.find_message(id)
    if message is None or message.event is None or status is None:
        return Answered(run(space, job))
    receipt = RECEIPTS[status](id=message.event)
    first = Job(STREAM, receipt, job.actor, cause=job.cause, corr=job.corr)
    try:
        event, mail = space.engine.execute_chain(first, lambda _: job)
        return Answered(mail, event)
    except (Refused, NotFound) as refused:
        if refused.code not in _LONG_OVER:
            raise
    return Answered(run(space, job))


_LONG_OVER: Final = frozenset({"event_not_found", "ack_forbidden"})


def message_about(space: Workspace, event: str) -> MailMessage | None:
    """The message of mail that says the same as an event of presence, if an answer still counts."""
    with space.store.read() as view:
        row = view.row(MESSAGES_OF_EVENTS, event)
    if row is None:
        return None
    state: Thread = space.engine.state(row.stream)
    return state.find_message(msgspec.json.decode(row.value)["id"])


def _expects(space: Workspace, message: MailMessage, name: str) -> bool:
    """Has `name` not said yet that it takes this on?"""
    agent = space.engine.registry().agents.get(name)
    receiver = message.find_receiver(name, agent.epoch) if agent is not None else None
    return receiver is not None and RECEIPTS.get(receiver.status, MarkSeen) is MarkSeen


def _acknowledging(
    id: str,  # noqa: A002
    status: str,
    notes: str,
    name: str,
    link: Link = ALONE,
) -> Job:
    command = Acknowledge(id=id, status=status, notes=notes)
    stream = stream_of(thread_of_id(id))
    return Job(stream, command, name, cause=link.cause, corr=link.corr)
