"""What an accepted command leaves on record.

An ACK is a message like any other, and beside it stands what it acknowledges: both in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from moot.core.clock import MINUTE
from moot.core.findings import Finding, Severity, errors
from moot.core.machine import Command, Draft, Event, remark
from moot.core.record import MAX_TEXT_BYTES, ArtifactRef
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.acks import acknowledged
from moot.protocols.mail.asked import Asked, fits, text_bytes
from moot.protocols.mail.model import ACK_MINUTES, Importance, Message, Party, message_id
from moot.protocols.mail.reply import ack_body, error_body, error_subject
from moot.protocols.mail.subject import ack_subject
from moot.protocols.mail.types import MessageType

EXCERPT_BYTES: Final = 4_096
MAX_FLAGS: Final = 20
_LONGEST_FLAG: Final = 300

Drafts = Iterator[Event | Draft]


def accepted(asked: Asked) -> tuple[Event | Draft, ...]:
    """The events of an accepted command; none if it asks for what is already so."""
    return tuple(_DRAFTS[type(asked.command)](asked))


def remarks(asked: Asked) -> Iterable[Finding]:
    """What is worth saying although it was accepted."""
    if isinstance(asked.command, ask.Acknowledge) and _already_so(asked):
        said = f"{asked.context.actor.id} has said {asked.status} before; nothing was added"
        yield remark("D-22", "already_acknowledged", said, "another --status, or --notes, is sent")
    if isinstance(asked.command, ask.Import) and _taken_in(asked):
        said = f"{asked.command.outside_id} was taken in before; nothing was added"
        yield remark("BRN-079", "already_imported", said, "a message is taken in once")


def _send(asked: Asked) -> Drafts:
    command = asked.command
    sent = _new(asked, command.subject, command.body, asked.type)
    yield _citing(sent, command.artifact)
    if asked.message is not None and asked.answers:
        yield _acknowledged(asked, asked.message, sent)


def _citing(event: did.MessageKept, artifact: ArtifactRef | None) -> Event | Draft:
    return Draft(event, (artifact,)) if artifact is not None and event.sha256 else event


def _new(asked: Asked, subject: str, body: str, kind: MessageType | None) -> did.MessageSent:
    command, facts = asked.command, asked.facts
    ack_required = asked.linted.ack_required if asked.linted is not None else False
    millis = (getattr(command, "ack_minutes", None) or ACK_MINUTES) * MINUTE
    to, cc = _receivers(asked)
    artifact: ArtifactRef | None = getattr(command, "artifact", None)
    text, size, sha256 = _kept(body, artifact)
    return did.MessageSent(
        id=message_id(asked.thread, asked.state.count + 1),
        type=kind,
        role=asked.linted.role if asked.linted is not None else "",
        status=asked.said if kind is MessageType.ACK else None,
        subject=subject,
        body=text,
        size=size,
        sha256=sha256,
        to=to,
        cc=cc,
        ack_required=ack_required,
        ack_by=asked.context.now + millis if ack_required else None,
        ack_millis=millis,
        importance=Importance(getattr(command, "importance", "normal")),
        re=asked.named or getattr(command, "re", None),
        event=getattr(command, "event", None),
        title=facts.title,
        version=facts.version,
        item=facts.item,
        taker=facts.taker,
    )


def _receivers(asked: Asked) -> tuple[tuple[Party, ...], tuple[Party, ...]]:
    """Each once; who is among `to` is not in `cc` as well. An ACK goes back to the sender."""
    if isinstance(asked.command, ask.Acknowledge):
        message = asked.message
        assert message is not None
        return (Party(message.sender, message.sender_epoch),), ()
    to = tuple(dict.fromkeys(asked.command.to))
    return to, tuple(one for one in dict.fromkeys(asked.command.cc) if one not in to)


def _kept(body: str, artifact: ArtifactRef | None) -> tuple[str, int, str | None]:
    """The text if an event can hold it, else its beginning and the hash of all."""
    data = text_bytes(body)
    if artifact is None or fits(body, data):
        return body, len(data), None
    return data[:EXCERPT_BYTES].decode("utf-8", "ignore"), len(data), artifact.sha256


def _acknowledge(asked: Asked) -> Drafts:
    message, status = asked.message, asked.status
    if message is None or status is None or _already_so(asked):
        return
    body = ack_body(message.id, status, asked.command.notes)
    sent = _new(asked, ack_subject(message.subject), body, MessageType.ACK)
    yield sent
    yield _acknowledged(asked, message, sent)


def _already_so(asked: Asked) -> bool:
    """The same ACK again says nothing new (D-22)."""
    receiver = asked.receiver
    return receiver is not None and receiver.status is asked.status and not asked.command.notes


def _acknowledged(asked: Asked, message: Message, sent: did.MessageSent) -> Event:
    """What the answer changes; passed-on work changes hands with its first ACK (BRN-049)."""
    receiver, status, actor = asked.receiver, asked.status, asked.context.actor
    assert receiver is not None
    assert status is not None
    after = acknowledged(message, actor.id, actor.epoch, status, asked.context.now)
    settles = message.id in asked.state.open and not after.waits
    opens = sent.ack_required and any(one.epoch for one in sent.to)  # an ACK that wants one itself
    return did.MessageAcknowledged(
        id=message.id,
        by=sent.id,
        status=status,
        left=len(asked.state.open) + opens - settles,
        item=message.item if message.passes_to(receiver) else "",
    )


def _import(asked: Asked) -> Drafts:
    """The message with what the check found; if it is invalid, the answer that says so."""
    if _taken_in(asked):
        return
    command, findings = asked.command, asked.findings
    kept = _imported(asked)
    yield _citing(kept, command.artifact)
    wrong = errors(findings)
    if wrong:
        yield _answer(asked, wrong)


def _taken_in(asked: Asked) -> bool:
    return asked.command.outside_id in asked.state.outside


def _imported(asked: Asked) -> did.MessageImported:
    command, linted = asked.command, asked.linted
    assert linted is not None
    to, cc = _receivers(asked)
    text, size, sha256 = _kept(command.body, command.artifact)
    owed = linted.ack_required and any(one.epoch for one in to)
    return did.MessageImported(
        id=message_id(asked.thread, asked.state.count + 1),
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
        ack_by=asked.context.now + ACK_MINUTES * MINUTE if owed else None,
        ack_millis=ACK_MINUTES * MINUTE,
        importance=Importance(command.importance),
        item=asked.facts.item,
        taker=asked.facts.taker,
        flags=tuple(map(_flag, asked.findings[:MAX_FLAGS])),
    )


def _flag(finding: Finding) -> did.Flag:
    said = finding.message[:_LONGEST_FLAG]
    return did.Flag(
        rule=finding.rule,
        code=finding.code,
        severity=Severity(finding.severity),
        message=said,
        line=finding.line,
    )


def _answer(asked: Asked, wrong: tuple[Finding, ...]) -> did.MessageSent:
    """The Validation Error of the document, back to whoever it claims to be from (D-15)."""
    command = asked.command
    body = error_body(command.outside_id, wrong[:MAX_FLAGS])
    if len(text_bytes(body)) > MAX_TEXT_BYTES:
        body = error_body(command.outside_id, wrong[:1])
    return did.MessageSent(
        id=message_id(asked.thread, asked.state.count + 2),
        type=MessageType.INFO,
        role="",
        status=None,
        subject=error_subject(command.outside_id),
        body=body,
        size=len(text_bytes(body)),
        sha256=None,
        to=(Party(command.sender, 0),),
        cc=(),
        ack_required=False,
        ack_by=None,
        ack_millis=ACK_MINUTES * MINUTE,
        importance=Importance.NORMAL,
        re=message_id(asked.thread, asked.state.count + 1),
        event=None,
        title="",
        version=None,
        item="",
        taker="",
    )


def _chase(asked: Asked) -> Drafts:
    """Once more to the missing only, then to the operator (D-11, D-25)."""
    message = asked.message
    if message is None:
        return
    missing = tuple(Party(one.name, one.epoch) for one in message.missing)
    if message.resent:
        yield did.MessageEscalated(id=message.id, missing=missing)
        return
    yield did.MessageResent(
        id=message.id,
        type=message.type,
        sender=message.sender,
        subject=message.subject,
        importance=message.importance,
        to=missing,
        sent_at=message.sent_at,
        ack_by=asked.context.now + message.ack_millis,
    )


_DRAFTS: Final[dict[type[Command], Callable[[Any], Drafts]]] = {
    ask.Send: _send,
    ask.Acknowledge: _acknowledge,
    ask.Import: _import,
    ask.Chase: _chase,
}
