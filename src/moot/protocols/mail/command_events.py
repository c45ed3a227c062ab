"""The events that an accepted command leaves on record.

An ACK is a message like any other. The event that says what it acknowledges is in the same commit:
a reader never sees one without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from moot.core.clock import MINUTE
from moot.core.findings import Finding, Severity, select_errors
from moot.core.machine import C, Command, Draft, Event, fill_from, make_remark
from moot.core.names import SYSTEM
from moot.core.record import MAX_TEXT_BYTES, ArtifactRef
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.body_writer import write_ack_body, write_error_body, write_error_subject
from moot.protocols.mail.case import MailCase, encode_text, fits_in_event
from moot.protocols.mail.message import write_ack_subject
from moot.protocols.mail.model import (
    ACK_MINUTES,
    Importance,
    MailMessage,
    Party,
    make_message_id,
    with_ack,
)
from moot.protocols.mail.types import AckStatus, MessageType

EXCERPT_BYTES: Final = 4_096
MAX_FLAGS: Final = 20
_LONGEST_FLAG: Final = 300

EventDrafts = Iterator[Event | Draft]


def draft_events(case: MailCase[C]) -> tuple[Event | Draft, ...]:
    """Return the events of an accepted command; none if the command would change nothing."""
    return tuple(_DRAFTS[type(case.command)](case))


def remarks_on(case: MailCase[C]) -> Iterable[Finding]:
    """Yield remarks on a command that was accepted."""
    command = case.command
    if isinstance(command, ask.Acknowledge) and _repeats_ack(case, command):
        words = f"{case.context.actor.id} has said {case.status} before; nothing was added"
        yield make_remark(
            "D-22", "already_acknowledged", words, "another --status, or --notes, is sent"
        )
    if isinstance(command, ask.Import) and command.outside_id in case.state.outside:
        words = f"{command.outside_id} was taken in before; nothing was added"
        yield make_remark("BRN-079", "already_imported", words, "a message is taken in once")


def _repeats_ack(case: MailCase[C], command: ask.Acknowledge) -> bool:
    """True if this receiver gave the same ACK before and adds no notes (D-22)."""
    receiver = case.receiver
    return receiver is not None and receiver.status is case.status and not command.notes


# Sending ------------------------------------------------------------------------------------------


def _send(case: MailCase[ask.Send]) -> EventDrafts:
    sent = _message_sent(case)
    yield _cite(sent, case.command.artifact)
    if case.answered is not None and case.is_answer:
        yield _message_acknowledged(case, case.answered, sent)


def _message_sent(case: MailCase[ask.Send]) -> did.MessageSent:
    command, facts, linted = case.command, case.facts, case.linted
    assert linted is not None
    millis = (command.ack_minutes or ACK_MINUTES) * MINUTE
    to, cc = _receivers(command)
    text, size, sha256 = _text_to_record(command.body, command.artifact)
    return did.MessageSent(
        id=make_message_id(case.thread, case.state.count + 1),
        type=linted.type,
        role=linted.role,
        status=case.ack_status if linted.type is MessageType.ACK else None,
        subject=command.subject,
        body=text,
        size=size,
        sha256=sha256,
        to=to,
        cc=cc,
        ack_required=linted.ack_required,
        ack_by=case.context.now + millis if linted.ack_required else None,
        ack_millis=millis,
        importance=Importance(command.importance),
        re=case.answered_id or command.re,
        event=command.event,
        title=facts.title,
        version=facts.version,
        item=facts.item,
        taker=facts.taker,
    )


def _receivers(command: ask.Send | ask.Import) -> tuple[tuple[Party, ...], tuple[Party, ...]]:
    """Return `to` and `cc`, each name once; names in `to` are not in `cc` as well."""
    to = tuple(dict.fromkeys(command.to))
    return to, tuple(party for party in dict.fromkeys(command.cc) if party not in to)


def _text_to_record(body: str, artifact: ArtifactRef | None) -> tuple[str, int, str | None]:
    """Return text, size and hash: the whole text if an event can hold it, else its beginning."""
    data = encode_text(body)
    if artifact is None or fits_in_event(body, data):
        return body, len(data), None
    return data[:EXCERPT_BYTES].decode("utf-8", "ignore"), len(data), artifact.sha256


def _cite(event: did.MessageKept, artifact: ArtifactRef | None) -> Event | Draft:
    return Draft(event, (artifact,)) if artifact is not None and event.sha256 else event


def _message_by_moot(
    new_id: str,
    kind: MessageType,
    subject: str,
    body: str,
    *,
    to: Party,
    re: str,
    status: AckStatus | None = None,
) -> did.MessageSent:
    """Return a short message whose text Moot writes; it asks for no ACK."""
    return did.MessageSent(
        id=new_id,
        type=kind,
        role="",
        status=status,
        subject=subject,
        body=body,
        size=len(encode_text(body)),
        sha256=None,
        to=(to,),
        cc=(),
        ack_required=False,
        ack_by=None,
        ack_millis=ACK_MINUTES * MINUTE,
        importance=Importance.NORMAL,
        re=re,
        event=None,
        title="",
        version=None,
        item="",
        taker="",
    )


# Answering ----------------------------------------------------------------------------------------


def _acknowledge(case: MailCase[ask.Acknowledge]) -> EventDrafts:
    message, status = case.answered, case.status
    if message is None or status is None or _repeats_ack(case, case.command):
        return
    sent = _message_by_moot(
        make_message_id(case.thread, case.state.count + 1),
        MessageType.ACK,
        write_ack_subject(message.subject),
        write_ack_body(message.id, status, case.command.notes),
        to=Party(message.sender, message.sender_epoch),
        re=message.id,
        status=status,
    )
    yield sent
    yield _message_acknowledged(case, message, sent)


def _message_acknowledged(case: MailCase[C], message: MailMessage, sent: did.MessageSent) -> Event:
    """Return what the answer changes; work that is handed over moves with the first ACK
    (BRN-049)."""
    receiver, status, actor = case.receiver, case.status, case.context.actor
    assert receiver is not None
    assert status is not None
    after = with_ack(message, actor.id, actor.epoch, status, case.context.now)
    settles = message.id in case.state.open and not after.is_waiting
    # An ACK may itself ask for an ACK (MB-009 only warns), and then waits in this thread.
    opens = sent.ack_required and any(party.epoch for party in sent.to)
    return did.MessageAcknowledged(
        id=message.id,
        by=sent.id,
        status=status,
        left=len(case.state.open) + opens - settles,
        item=message.item if message.hands_work_to(receiver) else "",
    )


# Importing ----------------------------------------------------------------------------------------


def _import(case: MailCase[ask.Import]) -> EventDrafts:
    """Yield the message with what the check found; if it is invalid, the answer that says so."""
    if case.command.outside_id in case.state.outside:
        return
    yield _cite(_message_imported(case), case.command.artifact)
    wrong = select_errors(case.findings)
    if wrong:
        yield _validation_error(case, wrong)


def _message_imported(case: MailCase[ask.Import]) -> did.MessageImported:
    command, linted = case.command, case.linted
    assert linted is not None
    to, cc = _receivers(command)
    text, size, sha256 = _text_to_record(command.body, command.artifact)
    owed = linted.ack_required and any(party.epoch for party in to)
    return did.MessageImported(
        id=make_message_id(case.thread, case.state.count + 1),
        outside_id=command.outside_id,
        sender=command.sender,
        sent=command.sent[:64],
        type=linted.type,
        subject=command.subject,
        body=text,
        size=size,
        sha256=sha256,
        to=to,
        cc=cc,
        ack_required=owed,
        ack_by=case.context.now + ACK_MINUTES * MINUTE if owed else None,
        ack_millis=ACK_MINUTES * MINUTE,
        importance=Importance(command.importance),
        item=case.facts.item,
        taker=case.facts.taker,
        flags=tuple(map(_flag, case.findings[:MAX_FLAGS])),
        outside_thread=command.outside_thread,
    )


def _flag(finding: Finding) -> did.Flag:
    return fill_from(
        did.Flag,
        finding,
        severity=Severity(finding.severity),
        message=finding.message[:_LONGEST_FLAG],
    )


def _validation_error(case: MailCase[ask.Import], wrong: tuple[Finding, ...]) -> did.MessageSent:
    """Make the Validation Error of the document, for the sender that it claims (BRN-080, D-15)."""
    outside_id, imported = case.command.outside_id, case.state.count + 1
    body = write_error_body(outside_id, wrong[:MAX_FLAGS])
    if len(encode_text(body)) > MAX_TEXT_BYTES:
        body = write_error_body(outside_id, wrong[:1])
    return _message_by_moot(
        make_message_id(case.thread, imported + 1),
        MessageType.INFO,
        write_error_subject(outside_id),
        body,
        to=Party(case.command.sender, 0),
        re=make_message_id(case.thread, imported),
    )


# Time limits --------------------------------------------------------------------------------------


def _chase(case: MailCase[ask.Chase]) -> EventDrafts:
    """Send again to those that have not answered, then tell the operator (BRN-077; D-11, D-25)."""
    message = case.answered
    if message is None:
        return
    missing = tuple(Party(receiver.name, receiver.epoch) for receiver in message.missing_receivers)
    if message.resent:
        yield did.MessageEscalated(id=message.id, missing=missing)
        if message.sender_epoch and message.sender != SYSTEM:
            yield _no_answer(case, message, ", ".join(party.name for party in missing))
        return
    yield fill_from(
        did.MessageResent, message, to=missing, ack_by=case.context.now + message.ack_millis
    )


def _no_answer(case: MailCase[ask.Chase], message: MailMessage, names: str) -> did.MessageSent:
    """Tell the sender, too: this thread does not know whether a person is registered here."""
    return _message_by_moot(
        make_message_id(case.thread, case.state.count + 1),
        MessageType.INFO,
        f"INFO: no answer from {names} to {message.id}",
        f"No answer from {names} to {message.id}, which was sent twice: {message.subject}\n\n"
        "It is left to the people who are registered here (`moot agent list`). If there is none,"
        " nobody else was told: ask another agent, or go on without the answer.\n",
        to=Party(message.sender, message.sender_epoch),
        re=message.id,
    )


def _lapse(case: MailCase[ask.Lapse]) -> EventDrafts:
    """End the wait for an answer, and tell the sender if it still works."""
    message, ended = case.answered, case.command.ended
    if message is None:
        return
    yield did.MessageLapsed(id=message.id, ended=ended, left=len(case.state.open) - 1)
    if case.command.tell_sender:
        yield _message_by_moot(
            make_message_id(case.thread, case.state.count + 1),
            MessageType.INFO,
            f"INFO: not answered: {ended} ended",
            f"Not answered: {ended} ended. It was about {message.id}: {message.subject}\n\n"
            "Nobody owes you this answer any more. Ask whoever goes on with that work.\n",
            to=Party(message.sender, message.sender_epoch),
            re=message.id,
        )


def _settle(case: MailCase[ask.Settle]) -> EventDrafts:
    message = case.answered
    if message is not None:
        left = len(case.state.open) - 1
        yield did.MessageSettled(id=message.id, why=case.command.why, left=left)


_DRAFTS: Final[dict[type[Command], Callable[[Any], EventDrafts]]] = {
    ask.Send: _send,
    ask.Acknowledge: _acknowledge,
    ask.Import: _import,
    ask.Chase: _chase,
    ask.Lapse: _lapse,
    ask.Settle: _settle,
}
