"""The automaton of one message, and the machine of its thread.

    (none) --sent, imported--> waiting --resent--> resent --escalated--> escalated
                                  |       once, to   |     to the operator  |
                                  |      the missing |                      |
                                  `---acknowledged---+----------------------`--> settled

It is settled when every receiver has acknowledged it and, if it asks for more than an ACK, one has
said Completed. A message that asks for nothing is settled at once. A message lapses and is settled
when its sender or its receiver has ended, or when it reports an event of presence that is over.

The rules of the text are in `message_rules.py`, those of sending and answering in
`command_rules.py`, the events to record in `command_events.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, fill_hints, select_errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Drop,
    Due,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    accept,
    fill_from,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail import model
from moot.protocols.mail.case import build_case
from moot.protocols.mail.command_events import draft_events, remarks_on
from moot.protocols.mail.command_rules import RULES
from moot.protocols.mail.index_keys import (
    ANSWERS,
    IMPORTED_MESSAGES,
    INBOX,
    LONG_MESSAGES,
    MESSAGES,
    MESSAGES_OF_EVENTS,
    OPEN,
    WORK_ITEMS,
    answer_key,
    inbox_key,
)
from moot.protocols.mail.model import (
    CLOSED_BY_COMPLETED,
    MAX_RECENT,
    PROTOCOL,
    MailMessage,
    Receiver,
    Stage,
    State,
    with_deadline,
    without_deadline,
)
from moot.protocols.mail.types import TYPES, MessageType

# The state after each event.


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return _EVOLVE[type(recorded.event)](state, recorded)


def _on_sent(state: State, recorded: Recorded[did.MessageSent]) -> State:
    event, actor = recorded.event, recorded.actor
    message = _build_message(recorded, actor.id, actor.epoch, event.event)
    compiled = event.version if event.version is not None else state.compiled
    state = msgspec.structs.replace(state, title=event.title or state.title, compiled=compiled)
    return _add_message(state, recorded, message)


def _on_imported(state: State, recorded: Recorded[did.MessageImported]) -> State:
    event = recorded.event
    message = _build_message(recorded, event.sender, 0, None)
    outside = (*state.outside, event.outside_id)[-MAX_RECENT:]
    return _add_message(msgspec.structs.replace(state, outside=outside), recorded, message)


def _build_message(
    recorded: Recorded[Any], sender: str, sender_epoch: int, linked: str | None
) -> MailMessage:
    event: did.MessageKept = recorded.event
    return fill_from(
        MailMessage,
        event,
        sender=sender,
        sender_epoch=sender_epoch,
        sent_at=recorded.at,
        to=tuple(Receiver(party.name, party.epoch) for party in event.to),
        cc=tuple(Receiver(party.name, party.epoch) for party in event.cc),
        event=linked,
    )


def _add_message(state: State, recorded: Recorded[Any], message: MailMessage) -> State:
    """Count the message, and keep it among those that wait or among the recent ones.

    An ACK that waits for nothing is not kept, because no one acknowledges it.
    """
    event: did.MessageKept = recorded.event
    state = msgspec.structs.replace(state, count=state.count + 1)
    if message.is_waiting:
        return _keep_waiting(state, message)
    return _settle(state, message) if event.type is not MessageType.ACK else state


def _keep_waiting(state: State, message: MailMessage) -> State:
    """Put the message among those that wait, and its time limit among the deadlines."""
    before, deadlines = state.open.get(message.id), state.deadlines
    if before is not None and before.ack_by is not None:
        deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    if message.ack_by is not None:
        deadlines = with_deadline(deadlines, (message.ack_by, message.id))
    return msgspec.structs.replace(
        state, open=state.open.set(message.id, message), deadlines=deadlines
    )


def _settle(state: State, message: MailMessage) -> State:
    """Move a message that waits no longer to the recent ones: a late answer still finds it."""
    before, opened, deadlines = state.open.get(message.id), state.open, state.deadlines
    if before is not None:
        opened = opened.delete(message.id)
        if before.ack_by is not None:
            deadlines = without_deadline(deadlines, (before.ack_by, message.id))
    others = tuple(other for other in state.recent if other.id != message.id)
    recent = (*others, message)[-MAX_RECENT:]
    return msgspec.structs.replace(state, open=opened, deadlines=deadlines, recent=recent)


def _update(state: State, message: MailMessage) -> State:
    return _keep_waiting(state, message) if message.is_waiting else _settle(state, message)


def _change(state: State, recorded: Recorded[Any], **changes: Any) -> State:
    """Change the message that the event is about, if it still waits."""
    message = state.open.get(recorded.event.id)
    if message is None:
        return state
    return _update(state, msgspec.structs.replace(message, **changes))


def _on_acknowledged(state: State, recorded: Recorded[did.MessageAcknowledged]) -> State:
    event, actor = recorded.event, recorded.actor
    message = state.find_message(event.id)
    if message is None:
        return state
    after = model.with_ack(message, actor.id, actor.epoch, event.status, recorded.at)
    return _update(state, after)


def _on_resent(state: State, recorded: Recorded[did.MessageResent]) -> State:
    """Give the receivers that did not answer another time limit."""
    return _change(state, recorded, ack_by=recorded.event.ack_by, resent=True)


def _on_escalated(state: State, recorded: Recorded[did.MessageEscalated]) -> State:
    """Remove the time limit: from now on the operator must settle it."""
    return _change(state, recorded, ack_by=None, escalated_at=recorded.at)


def _on_lapsed(
    state: State, recorded: Recorded[did.MessageLapsed] | Recorded[did.MessageSettled]
) -> State:
    """End the wait for an answer; a late answer does not open it again."""
    return _change(state, recorded, ack_by=None, ack_required=False, closed=True)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.MessageSent: _on_sent,
    did.MessageImported: _on_imported,
    did.MessageAcknowledged: _on_acknowledged,
    did.MessageResent: _on_resent,
    did.MessageEscalated: _on_escalated,
    did.MessageLapsed: _on_lapsed,
    did.MessageSettled: _on_lapsed,
}


# Index rows, to look things up without reading a thread: inboxes, messages, words, work items.
#
# mail.inbox      AGENT/HOLDER/TIME/ID   one row for each receiver
# mail.answers    ID/AGENT/HOLDER        the receiver's latest ACK
# mail.messages   ID                     the time of a message; its text is in the full-text index
# mail.long       ID                     a message whose whole text is stored as an artifact
# mail.events     EVENT                  the message with the content of a presence event
# mail.outside    OUTSIDE ID             an imported message
# mail.items      ITEM                   who has claimed it or taken it over
# open            STREAM                 while a message waits for an answer


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    return _INDEX[type(recorded.event)](recorded)


def _index_sent(recorded: Recorded[did.MessageSent]) -> Iterator[RowChange]:
    event = recorded.event
    yield from _index_message(recorded, recorded.actor.id)
    if event.event is not None:
        yield Put(MESSAGES_OF_EVENTS, event.event, {"id": event.id})
    if event.type is MessageType.CLAIM and event.item:
        yield Put(WORK_ITEMS, event.item, {"owner": recorded.actor.id, "by": event.id})


def _index_imported(recorded: Recorded[did.MessageImported]) -> Iterator[RowChange]:
    event = recorded.event
    yield from _index_message(recorded, event.sender)
    yield Put(IMPORTED_MESSAGES, event.outside_id, {"id": event.id})


def _index_message(recorded: Recorded[Any], sender: str) -> Iterator[RowChange]:
    event: did.MessageKept = recorded.event
    yield Put(MESSAGES, event.id, {"at": recorded.at})
    yield Words(MESSAGES, event.id, f"{event.subject}\n{event.body}")
    if event.sha256 is not None:
        yield Put(LONG_MESSAGES, event.id, {"sha256": event.sha256, "size": event.size})
    receivers = [(party, False) for party in event.to] + [(party, True) for party in event.cc]
    for party, copy in receivers:
        if party.epoch:
            place = inbox_key(party.name, party.epoch, recorded.at, event.id)
            owes = event.ack_required and not copy
            yield Put(INBOX, place, _inbox_row(event, sender, recorded.at, owes, copy))
    closes = event.type in CLOSED_BY_COMPLETED and any(party.epoch for party in event.to)
    if event.ack_required or closes:
        yield Put(OPEN, recorded.stream, {})


def _inbox_row(event: Any, sender: str, at: Millis, owes: bool, copy: bool) -> dict[str, Any]:
    """Return what an inbox shows of a message."""
    status = getattr(event, "status", None)
    return {
        "id": event.id,
        "from": sender,
        "subject": event.subject,
        "type": None if event.type is None else str(event.type),
        "at": at,
        "ack_required": owes,
        "cc": copy,
        "importance": str(event.importance),
        "says": None if status is None else str(status),
        "imported": isinstance(event, did.MessageImported),
        "resent": isinstance(event, did.MessageResent),
    }


def _index_acknowledged(recorded: Recorded[did.MessageAcknowledged]) -> Iterator[RowChange]:
    event, actor = recorded.event, recorded.actor
    place = answer_key(event.id, actor.id, actor.epoch)
    yield Put(ANSWERS, place, {"status": str(event.status), "at": recorded.at, "by": event.by})
    if event.item:
        yield Put(WORK_ITEMS, event.item, {"owner": actor.id, "by": event.id})
    if not event.left:
        yield Drop(OPEN, recorded.stream)


def _index_resent(recorded: Recorded[did.MessageResent]) -> Iterator[RowChange]:
    """Move the message to its new time: it is in an inbox only once."""
    event = recorded.event
    for party in event.to:
        yield Drop(INBOX, inbox_key(party.name, party.epoch, event.sent_at, event.id))
        row = _inbox_row(event, event.sender, recorded.at, owes=True, copy=False)
        yield Put(INBOX, inbox_key(party.name, party.epoch, recorded.at, event.id), row)


def _index_lapsed(
    recorded: Recorded[did.MessageLapsed | did.MessageSettled],
) -> Iterator[RowChange]:
    if not recorded.event.left:
        yield Drop(OPEN, recorded.stream)


_INDEX: Final[dict[type[Event], Callable[[Any], Iterator[RowChange]]]] = {
    did.MessageSent: _index_sent,
    did.MessageImported: _index_imported,
    did.MessageAcknowledged: _index_acknowledged,
    did.MessageResent: _index_resent,
    did.MessageEscalated: lambda _recorded: iter(()),
    did.MessageLapsed: _index_lapsed,
    did.MessageSettled: _index_lapsed,
}


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
    # A message that is sent must be valid (BRN-078); a received one is only flagged (BRN-079).
    text_findings = case.findings if isinstance(command, ask.Send) else ()
    findings = (*text_findings, *fill_hints(check_all(rules, case), case.hint_words))
    if select_errors(findings):
        return refuse(findings)
    return accept(*draft_events(case), findings=(*findings, *remarks_on(case)))


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """Return what each message that waits needs from whom, in the order they were sent."""
    return tuple(due for message in state.waiting_in_order() for due in _dues_of(message))


def _dues_of(message: MailMessage) -> Iterator[Due]:
    """Yield who owes the ACK, who owes more than an ACK, and the operator after no answer.

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
    """Return what this receiver owes; once that holder has ended, the sender must settle it.

    A later holder of the same name may not answer for the earlier one.
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
    """Return the command that answers; `--notes` takes the words if the type asks for words."""
    status = "Completed" if message.is_unfinished else "Received"
    in_words = message.type is not None and TYPES[message.type].answered_in_words
    words = " --notes TEXT" if message.is_unfinished and in_words else ""
    return f"moot mail ack {message.id} --agent {receiver.name} --status {status}{words}"


def timeouts(state: State, now: Millis) -> tuple[Command, ...]:
    """Return a Chase for each overdue message, earliest first, without reading the others."""
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
