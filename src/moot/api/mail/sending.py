"""Send messages between agents, or import them from outside.

The sender signs each message; the author of an imported one is not proved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import Malformed
from moot.core.findings import Finding
from moot.core.text import Quoted
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.model import Importance
from moot.protocols.mail.types import TYPES, MessageType
from moot.protocols.mail.views import FlagView, ImportedView, describe_message

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

# Types whose body can be written from one line.
ONE_LINE_TYPES: Final = tuple(kind.value for kind, spec in TYPES.items() if spec.one_line)
IMPORTANCES: Final = tuple(importance.value for importance in Importance)


class SentMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was sent; `replayed`: it was sent before, under the same key.

    `by` is when an answer is due. `moved` are scopes that the sender holds now, because the message
    accepts a HANDOFF.
    """

    id: str
    thread: str
    type: MessageType | None
    sender: str = msgspec.field(name="from")
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    ack_required: bool
    artifact: str | None
    by: str | None
    replayed: bool
    moved: tuple[Quoted, ...]
    findings: tuple[Finding, ...]


class ValidationAnswer(msgspec.Struct, frozen=True):
    """The message that tells an outside sender what was wrong; a person or program delivers it."""

    id: str
    to: tuple[Quoted, ...]
    subject: Quoted
    body: Quoted


class ImportedMail(msgspec.Struct, frozen=True, kw_only=True):
    """A message from outside; `replayed`: it was imported before.

    `outside_thread` and `sent` are its own claims, empty if it makes none; `outside_id` is computed
    from its text (`sha256:...`) if it has none.
    """

    id: str
    thread: str
    outside_id: Quoted
    outside_thread: Quoted
    sent: Quoted
    valid: bool
    replayed: bool
    flags: tuple[FlagView, ...]
    answer: ValidationAnswer | None


@operation("mail.send", writes=True, also="send")
def send(
    session: Session,
    to: str | Sequence[str],
    subject: str,
    *,
    body: str | None = None,
    text: str | None = None,
    cc: str | Sequence[str] = (),
    sender: str | None = None,
    thread: str | None = None,
    answers: str | None = None,
    ack_required: bool | None = None,
    importance: str = Importance.NORMAL.value,
    ack_minutes: int | None = None,
    usual_ack_minutes: str = "",
    key: str | None = None,
) -> SentMessage:
    """Check a message and send it. `subject` begins with its type: `QUESTION: Which cache?`.

    `body` is the markdown that its type requires. A type with a `one_line` in `TYPES`, such as
    QUESTION, needs none: `text`, or the subject alone, is enough. `answers` is the id of the
    message that this one answers; its thread is the default for `thread`, else a new thread begins.
    `ack_required` defaults to what the type says, and `ack_minutes` to `usual_ack_minutes`: `30`,
    or by type `QUESTION=10,BLOCKED=5,60`.

    Refused with every finding if the text breaks a rule, if a receiver is unknown or has ended, or
    if it is the sender. The same `key` sends once.
    """
    from moot.api.mail.messages import canonical_id
    from moot.api.mail.notices import send_message
    from moot.api.mail.outgoing import OutgoingMessage

    workspace, name, subject = session.workspace, session.actor(sender), subject.strip()
    session.require_pace(name, key, to, cc, subject, body, text, thread, answers)
    if ack_minutes is None:
        ack_minutes = _minutes_for(subject, usual_ack_minutes)
    outgoing = OutgoingMessage(
        to=_receivers(workspace, to),
        cc=_receivers(workspace, cc),
        subject=subject,
        body=_choose_body(subject, name, body, text),
        thread=thread,
        ack_required=ack_required,
        importance=importance,
        ack_minutes=ack_minutes,
        re=canonical_id(workspace, answers) if answers else None,
        key=key,
    )
    posted = send_message(workspace, name, outgoing)
    event, message = posted.message.event, describe_message(posted.message)
    return SentMessage(
        id=message.id,
        thread=message.thread,
        type=message.type,
        sender=message.sender,
        to=message.to,
        cc=message.cc,
        subject=message.subject,
        ack_required=message.ack_required,
        artifact=message.artifact,
        by=None if event.ack_by is None else to_text(event.ack_by),
        replayed=posted.replayed,
        moved=tuple(map(Quoted, posted.moved)),
        findings=posted.findings,
    )


def _receivers(workspace: Workspace, names: str | Sequence[str]) -> tuple[str, ...]:
    """Return who receives this; for a name that has ended, the one of its family that is here."""
    from moot.api.presence.observation import find_receiver

    listed = (names,) if isinstance(names, str) else names
    return tuple(dict.fromkeys(find_receiver(workspace, name) for name in listed))


def _choose_body(subject: str, sender: str, body: str | None, text: str | None) -> str:
    """Return the body; without one, write it from `text` or the subject if one line is enough."""
    if body is not None and text is not None:
        raise Malformed("a file and --text are two bodies", code="two_bodies", hint="give only one")
    if body is not None:
        return body
    parsed, text = parse_subject(subject), text or ""
    line = text.strip() or (parsed.description.strip() if parsed is not None else "")
    if parsed is None or not line or not TYPES[parsed.type].one_line:
        return text
    from moot.protocols.mail.body_writer import write_one_line_body

    return write_one_line_body(parsed.type, line, sender)


def _minutes_for(subject: str, setting: str) -> int | None:
    """Return the minutes that a setting such as `QUESTION=10,BLOCKED=5,60` gives this type."""
    parsed = parse_subject(subject)
    minutes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in setting.split(","))):
        kind, _, digits = part.rpartition("=")
        number = re.fullmatch(r"\s*([0-9]{1,9})\s*", digits)
        if number is None or (kind and kind.strip() not in set(MessageType)):
            raise Malformed(
                f"MOOT_ACK_MINUTES: {part[:40]!r} is not a number of minutes",
                code="bad_setting",
                hint="set it to a number such as 30, or by type: QUESTION=10,BLOCKED=5,60",
            )
        minutes[kind.strip()] = int(number[1])
    return minutes.get(str(parsed.type), minutes.get("")) if parsed is not None else None


@operation("mail.import", writes=True)
def import_message(
    session: Session, message: str, *, agent: str | None = None, thread: str | None = None
) -> ImportedMail:
    """Import a message from outside this ledger: front matter with from, to, subject and id, then
    the body; or one JSON object.

    Its author is not proved, and lists say so; a sender with the name of an agent here is refused.
    A message that breaks rules is flagged, and `answer` tells its sender what to fix. Each message
    is imported once, by its own id or else by its text, so a repeat needs no key.
    """
    from moot.api.mail.imports import import_once
    from moot.api.mail.messages import read_message_text
    from moot.protocols.mail.codec import read_message_file

    workspace, name = session.workspace, session.actor(agent)
    imported = import_once(workspace, name, read_message_file(message), message, thread)
    view, answer = describe_message(imported.message), None
    assert isinstance(view, ImportedView)
    if imported.answer is not None:
        text = read_message_text(workspace, imported.answer)
        sent = describe_message(imported.answer, text)
        answer = ValidationAnswer(sent.id, sent.to, sent.subject, sent.body)
    return ImportedMail(
        id=view.id,
        thread=view.thread,
        outside_id=view.outside_id,
        outside_thread=view.outside_thread,
        sent=view.sent,
        valid=imported.is_valid,
        replayed=imported.replayed,
        flags=view.flags,
        answer=answer,
    )
