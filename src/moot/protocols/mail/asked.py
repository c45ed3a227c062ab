"""A command in its moment: the text checked, the message it answers looked up.

Made once for each decision; the rules of `conduct.py` and the drafts of `sending.py` look at it
and at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.findings import Finding, Known
from moot.core.machine import Command, Context
from moot.core.record import MAX_TEXT_BYTES
from moot.protocols.mail import commands as ask
from moot.protocols.mail.facts import Facts, facts_of
from moot.protocols.mail.lint import Linted, lint
from moot.protocols.mail.model import Message, Receiver, State, message_id, number_of, thread_of
from moot.protocols.mail.reply import read_ack
from moot.protocols.mail.subject import find_subject
from moot.protocols.mail.types import AckStatus, MessageType


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """`message` is what the command answers, with `status`; `named` the id it gives for it; `said`
    the status of an ACK, whether it answers anything or not.

    `rivals` is how many messages an ACK without an id could mean.
    """

    state: State
    command: Any
    context: Context
    linted: Linted | None = None
    facts: Facts = Facts()
    named: str | None = None
    message: Message | None = None
    status: AckStatus | None = None
    said: AckStatus | None = None
    rivals: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.linted.findings if self.linted is not None else ()

    @property
    def type(self) -> MessageType | None:
        return self.linted.type if self.linted is not None else None

    @property
    def thread(self) -> str:
        return thread_of(self.context.stream)

    @property
    def known(self) -> Known:
        """What the words in capitals of a hint stand for."""
        answered = self.message
        named = {} if answered is None else {"ID": answered.id, "TO": answered.sender}
        return {"THREAD": self.thread, **named}

    @property
    def answers(self) -> bool:
        """Is this an answer to something: an ACK, or an INFO that answers a question?"""
        return self.status is not None

    @property
    def receiver(self) -> Receiver | None:
        """Whoever acts, as a receiver of the message that is answered."""
        actor = self.context.actor
        return self.message.receiver(actor.id, actor.epoch) if self.message is not None else None

    def knows(self, id: str) -> bool:  # noqa: A002 - the word of every message
        """Was there ever such a message in this thread?"""
        number = number_of(id)
        return 1 <= number <= self.state.count and id == message_id(self.thread, number)


def text_bytes(text: str) -> bytes:
    """A lone surrogate is no reason to raise here: the record refuses it."""
    return text.encode("utf-8", "surrogatepass")


def fits(text: str, data: bytes) -> bool:
    """Can an event hold this text, as it is and as the record writes it, escapes and all?"""
    if len(data) > MAX_TEXT_BYTES:
        return False
    return text.isprintable() or len(msgspec.json.encode(data.decode(errors="replace"))) <= (
        2 * MAX_TEXT_BYTES
    )


def look(state: State, command: Command, context: Context) -> Asked:
    """Everything the rules and drafts of this command need to see."""
    return _LOOKS[type(command)](Asked(state=state, command=command, context=context))


def _replace(asked: Asked, **more: Any) -> Asked:
    return msgspec.structs.replace(asked, **more)


def _send(asked: Asked) -> Asked:
    command, actor = asked.command, asked.context.actor
    linted = lint(command.subject, command.body, command.ack_required, sender=actor.id)
    asked = _replace(asked, linted=linted, facts=facts_of(linted.type, command.body))
    if linted.type is MessageType.ACK:
        return _acking(asked)
    if linted.type is MessageType.INFO and command.re is not None:
        return _answering(asked)
    return asked


def _acking(asked: Asked) -> Asked:
    """By the id it names, else by thread and subject if only one message fits; never guessed."""
    said = read_ack(asked.command.body)
    if said is None:
        return asked
    asked = _replace(asked, said=said.status)
    named = said.message_id or asked.command.re
    if named:
        message = asked.state.message(named)
        return _replace(asked, named=named, message=message, status=said.status)
    fitting = _fitting(asked)
    message = fitting[0] if len(fitting) == 1 else None
    status = said.status if message is not None else None
    return _replace(asked, message=message, status=status, rivals=len(fitting))


def _fitting(asked: Asked) -> list[Message]:
    """Messages to whoever acts that have the subject of this ACK."""
    subject, actor = find_subject(asked.command.subject), asked.context.actor
    rest = subject.rest.strip() if subject is not None else ""
    known = (*asked.state.open.values(), *asked.state.recent)
    mine = (one for one in known if one.receiver(actor.id, actor.epoch) is not None)
    return [one for one in mine if rest in (one.subject, _rest(one.subject))]


def _rest(subject: str) -> str:
    found = find_subject(subject)
    return found.rest.strip() if found is not None else subject


def _answering(asked: Asked) -> Asked:
    """An INFO in answer to a question put to its sender closes the question (D-14)."""
    message, actor = asked.state.message(asked.command.re), asked.context.actor
    if message is None or message.type is not MessageType.QUESTION:
        return asked
    if not any(one.is_(actor.id, actor.epoch) for one in message.to):
        return asked
    return _replace(asked, message=message, status=AckStatus.COMPLETED)


def _acknowledge(asked: Asked) -> Asked:
    command = asked.command
    message = asked.state.message(command.id)
    status = status_of(command.status)
    return _replace(asked, named=command.id, message=message, status=status, said=status)


def status_of(text: str) -> AckStatus | None:
    """The status of this name, whatever the case (D-19)."""
    wanted = " ".join(text.split()).casefold()
    return next((one for one in AckStatus if one.value.casefold() == wanted), None)


def _import(asked: Asked) -> Asked:
    command = asked.command
    linted = lint(
        command.subject,
        command.body,
        command.ack_required,
        received=True,
        sender=command.sender,
        agents=frozenset(command.agents) if command.agents else None,
    )
    return _replace(asked, linted=linted, facts=facts_of(linted.type, command.body))


def _chase(asked: Asked) -> Asked:
    id_ = asked.command.id
    return _replace(asked, named=id_, message=asked.state.open.get(id_))


_LOOKS: Final[dict[type[Command], Callable[[Asked], Asked]]] = {
    ask.Send: _send,
    ask.Acknowledge: _acknowledge,
    ask.Import: _import,
    ask.Chase: _chase,
}
