"""The automaton of one message, and the machine of its thread.

    (none) --sent, imported--> waiting --resent--> resent --escalated--> escalated
                                  |       once, to   |      the operator    |
                                  |      the missing |          is told     |
                                  `---acknowledged---+----------------------`--> settled

It is settled when everyone has acknowledged it, and one has said Completed if it asks for more
than an ACK. A message that asks for nothing is settled at once; one whose answer nobody can give
or wants any more, because they have ended, lapses and is settled, too; so is one that tells of an
event of presence which is over.

The rules of the text are in `rules.py`, those of sending and answering in `command_rules.py`; what
is recorded in `event_drafts.py`, what follows from it in `evolution.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, fill_hints, select_errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Due,
    Event,
    Machine,
    accept,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.case import build_case
from moot.protocols.mail.command_rules import RULES
from moot.protocols.mail.event_drafts import draft_events, remarks_on
from moot.protocols.mail.evolution import evolve
from moot.protocols.mail.index_rows import index
from moot.protocols.mail.model import PROTOCOL, MailMessage, Receiver, Stage, State
from moot.protocols.mail.types import TYPES

TRANSITIONS: Final[dict[Stage, dict[type[Event], frozenset[Stage]]]] = {
    Stage.WAITING: {
        did.MessageAcknowledged: frozenset({Stage.WAITING, Stage.SETTLED}),
        did.MessageResent: frozenset({Stage.RESENT}),
        did.MessageLapsed: frozenset({Stage.SETTLED}),
        did.MessageSettled: frozenset({Stage.SETTLED}),
    },
    Stage.RESENT: {
        did.MessageAcknowledged: frozenset({Stage.RESENT, Stage.SETTLED}),
        did.MessageEscalated: frozenset({Stage.ESCALATED}),
        did.MessageLapsed: frozenset({Stage.SETTLED}),
        did.MessageSettled: frozenset({Stage.SETTLED}),
    },
    Stage.ESCALATED: {
        did.MessageAcknowledged: frozenset({Stage.ESCALATED, Stage.SETTLED}),
        did.MessageLapsed: frozenset({Stage.SETTLED}),
        did.MessageSettled: frozenset({Stage.SETTLED}),
    },
    Stage.SETTLED: {did.MessageAcknowledged: frozenset({Stage.SETTLED})},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    rules = RULES.get(type(command))
    if rules is None:
        return refusal("MBX-200", "unknown_command", "mail knows no such command", "update moot")
    case = build_case(state, command, context)
    # What is sent must be right (BRN-078); what is received is only flagged (BRN-079).
    on_the_text = case.findings if isinstance(command, ask.Send) else ()
    findings = (*on_the_text, *fill_hints(check_all(rules, case), case.hint_words))
    if select_errors(findings):
        return refuse(findings)
    return accept(*draft_events(case), findings=(*findings, *remarks_on(case)))


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """What each message that waits needs from whom, in the order they were sent."""
    return tuple(due for message in state.waiting_in_order() for due in _dues_of(message))


def _dues_of(message: MailMessage) -> Iterator[Due]:
    """Who owes the ACK, who owes more than an ACK, and the operator if nobody answers.

    A message with an `event` is on the agenda of presence until it is accepted, and not on this.
    """
    missing, in_presence = message.missing_receivers, message.event is not None
    for receiver in missing:
        if not in_presence:
            yield _build_due(message, receiver, message.ack_by)
    for receiver in message.to if message.is_unfinished else ():
        accepted_there = not in_presence or receiver.status is not None
        if receiver not in missing and receiver.epoch and accepted_there:
            yield _build_due(message, receiver, None)
    if message.escalated_at is not None and missing:
        names = [receiver.name for receiver in missing]
        yield Due(
            who=OPERATOR,
            what="no answer",
            subject=f"{message.id}: {message.subject} ({', '.join(names)})",
            since=message.escalated_at,
            hint=f"moot mail show {message.id}",
            owed_to=message.sender,
            owed_to_epoch=message.sender_epoch,
        )


def _build_due(message: MailMessage, receiver: Receiver, by: Millis | None) -> Due:
    """What this receiver owes; once that holder of the name is gone, it is the sender's to settle.

    A later holder of the same name is someone else and may not answer for the earlier one.
    """
    owed = Due(
        who=receiver.name,
        what=TYPES[message.type].duty if message.type else "acknowledge",
        subject=f"{message.id}: {message.subject}",
        since=message.sent_at,
        by=by,
        hint=_ack_command(message, receiver),
        command=ask.Chase(id=message.id) if by is not None else None,
        epoch=receiver.epoch,
        owed_to=message.sender,
        owed_to_epoch=message.sender_epoch,
    )
    unanswered = msgspec.structs.replace(
        owed,
        who=message.sender,
        what=f"not answered: {receiver.name} ended",
        hint=f"moot mail show {message.id}",
    )
    return msgspec.structs.replace(owed, instead=unanswered)


def _ack_command(message: MailMessage, receiver: Receiver) -> str:
    """The words of an answer are the acknowledgement's notes, where words are asked for."""
    status = "Completed" if message.is_unfinished else "Received"
    in_words = message.type is not None and TYPES[message.type].answered_in_words
    words = " --notes TEXT" if message.is_unfinished and in_words else ""
    return f"moot mail ack {message.id} --agent {receiver.name} --status {status}{words}"


def timeouts(state: State, now: Millis) -> tuple[Command, ...]:
    """A Chase for each message that is overdue, the earliest first; no other message is read."""
    late = takewhile(lambda deadline: deadline[0] <= now, state.deadlines)
    return tuple(ask.Chase(id=message_id) for _, message_id in late)


MACHINE: Machine[State] = Machine(
    name=PROTOCOL,
    version=2,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
)
