"""One command under check: its text linted, and the message that it answers looked up.

A case is built once for each decision. The rules of `command_rules.py` and the drafts of
`command_events.py` look nothing up themselves, so both always mean the same message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, cast

import msgspec

from moot.core.findings import Finding, HintWords
from moot.core.machine import C, Case, Command, Context
from moot.core.record import MAX_TEXT_BYTES
from moot.protocols.mail import commands as ask
from moot.protocols.mail.body import MessageFacts, read_facts
from moot.protocols.mail.body_writer import read_ack
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.message_rules import LintedMessage, lint_message
from moot.protocols.mail.model import (
    MailMessage,
    Receiver,
    State,
    make_message_id,
    number_of_message,
    thread_of,
)
from moot.protocols.mail.types import AckStatus, MessageType


class MailCase(Case[State, C], Generic[C], frozen=True):
    """A command of a mail thread, with everything that its rules look at.

    `answered` is the message that it answers, with `status`; `answered_id` is the id it gives for
    that message, which may be unknown. `ack_status` is what an ACK says even if it answers nothing.
    `candidates` counts the messages that an ACK without an id could mean.
    """

    linted: LintedMessage | None = None
    facts: MessageFacts = MessageFacts()
    answered_id: str | None = None
    answered: MailMessage | None = None
    status: AckStatus | None = None
    ack_status: AckStatus | None = None
    candidates: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the linter says about the text; nothing if the command has no text."""
        return self.linted.findings if self.linted is not None else ()

    @property
    def type(self) -> MessageType | None:
        return self.linted.type if self.linted is not None else None

    @property
    def thread(self) -> str:
        return thread_of(self.context.stream)

    @property
    def hint_words(self) -> HintWords:
        """The values for the words in capitals of a hint."""
        message = self.answered
        names = {} if message is None else {"ID": message.id, "TO": message.sender}
        return {"THREAD": self.thread, **names}

    @property
    def is_answer(self) -> bool:
        """True if this answers a message: an ACK, or an INFO in reply to a question."""
        return self.status is not None

    @property
    def receiver(self) -> Receiver | None:
        """The actor, as a receiver of the message that is answered."""
        message, actor = self.answered, self.context.actor
        return message.find_receiver(actor.id, actor.epoch) if message is not None else None

    def has_message(self, id: str) -> bool:  # noqa: A002 - the word of every message
        """True if this thread ever had a message of this id, even if the state has dropped it."""
        number = number_of_message(id)
        return 1 <= number <= self.state.count and id == make_message_id(self.thread, number)


def encode_text(text: str) -> bytes:
    """Encode in UTF-8. A lone surrogate does not raise here: the record refuses it later."""
    return text.encode("utf-8", "surrogatepass")


def fits_in_event(text: str, data: bytes) -> bool:
    """True if an event can hold this text, both as it is and as escaped JSON in the record."""
    if len(data) > MAX_TEXT_BYTES:  # LDG-028
        return False
    return text.isprintable() or len(msgspec.json.encode(data.decode(errors="replace"))) <= (
        2 * MAX_TEXT_BYTES
    )


def build_case(state: State, command: C, context: Context) -> MailCase[C]:
    """Look up once what the rules and the drafts of this command need."""
    case = MailCase(state, command, context)
    return cast("MailCase[C]", _LOOKUPS[type(command)](case))


def _look_up_send(case: MailCase[ask.Send]) -> MailCase[ask.Send]:
    command, actor = case.command, case.context.actor
    linted = lint_message(command.subject, command.body, command.ack_required, sender=actor.id)
    facts = read_facts(linted.type, command.body)
    case = msgspec.structs.replace(case, linted=linted, facts=facts)
    if linted.type is MessageType.ACK:
        return _look_up_acknowledged(case)
    if linted.type is MessageType.INFO and command.re is not None:
        return _look_up_question(case, command.re)
    return case


def _look_up_acknowledged(case: MailCase[ask.Send]) -> MailCase[ask.Send]:
    """Find what an ACK answers by the id it names, else by its subject if only one message fits.

    With several candidates none is chosen: a guess could settle the wrong message.
    """
    ack = read_ack(case.command.body)
    if ack is None:
        return case
    named = ack.message_id or case.command.re
    if named:
        return msgspec.structs.replace(
            case,
            answered_id=named,
            answered=case.state.find_message(named),
            status=ack.status,
            ack_status=ack.status,
        )
    candidates = _messages_with_this_subject(case)
    message = candidates[0] if len(candidates) == 1 else None
    return msgspec.structs.replace(
        case,
        answered=message,
        status=ack.status if message is not None else None,
        ack_status=ack.status,
        candidates=len(candidates),
    )


def find_other_subject(case: MailCase[ask.Send]) -> str | None:
    """Return the subject that an ACK repeats, if it is not that of the message the ACK names."""
    message, subject = case.answered, parse_subject(case.command.subject)
    if case.type is not MessageType.ACK or case.answered_id is None or message is None:
        return None
    rest = subject.description.strip() if subject is not None else ""
    if rest in (message.subject, _without_prefix(message.subject)):
        return None
    quoted = parse_subject(rest)
    is_other_kind = quoted is not None and quoted.type is not message.type
    return rest if is_other_kind or _messages_with_this_subject(case) else None


def _messages_with_this_subject(case: MailCase[ask.Send]) -> list[MailMessage]:
    """Return the messages to the actor that have the subject of this ACK."""
    actor, wanted = case.context.actor, parse_subject(case.command.subject)
    rest = wanted.description.strip() if wanted is not None else ""
    messages = (*case.state.open.values(), *case.state.recent)
    received = (message for message in messages if message.find_receiver(actor.id, actor.epoch))
    return [
        message
        for message in received
        if rest in (message.subject, _without_prefix(message.subject))
    ]


def _without_prefix(line: str) -> str:
    subject = parse_subject(line)
    return subject.description.strip() if subject is not None else line


def _look_up_question(case: MailCase[ask.Send], answered_id: str) -> MailCase[ask.Send]:
    """Find the question that an INFO of one of its receivers closes (D-14)."""
    message, actor = case.state.find_message(answered_id), case.context.actor
    if message is None or message.type is not MessageType.QUESTION:
        return case
    if not any(receiver.is_holder(actor.id, actor.epoch) for receiver in message.to):
        return case
    return msgspec.structs.replace(case, answered=message, status=AckStatus.COMPLETED)


def _look_up_acknowledge(case: MailCase[ask.Acknowledge]) -> MailCase[ask.Acknowledge]:
    command, status = case.command, read_ack_status(case.command.status)
    return msgspec.structs.replace(
        case,
        answered_id=command.id,
        answered=case.state.find_message(command.id),
        status=status,
        ack_status=status,
    )


def read_ack_status(text: str) -> AckStatus | None:
    """Return the status of this name, whatever the case (D-19)."""
    wanted = " ".join(text.split()).casefold()
    return next((status for status in AckStatus if status.value.casefold() == wanted), None)


def _look_up_import(case: MailCase[ask.Import]) -> MailCase[ask.Import]:
    command = case.command
    linted = lint_message(
        command.subject,
        command.body,
        command.ack_required,
        received=True,
        sender=command.sender,
        agents=frozenset(command.agents) if command.agents else None,
    )
    facts = read_facts(linted.type, command.body)
    return msgspec.structs.replace(case, linted=linted, facts=facts)


def _look_up_waiting(
    case: MailCase[ask.Chase] | MailCase[ask.Lapse] | MailCase[ask.Settle],
) -> MailCase[ask.Chase] | MailCase[ask.Lapse] | MailCase[ask.Settle]:
    """Find the message among those that still wait: no other can be overdue, lapse or settle."""
    id_ = case.command.id
    return msgspec.structs.replace(case, answered_id=id_, answered=case.state.open.get(id_))


_LOOKUPS: Final[dict[type[Command], Callable[[Any], object]]] = {
    ask.Send: _look_up_send,
    ask.Acknowledge: _look_up_acknowledge,
    ask.Import: _look_up_import,
    ask.Chase: _look_up_waiting,
    ask.Lapse: _look_up_waiting,
    ask.Settle: _look_up_waiting,
}
