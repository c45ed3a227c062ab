"""The rules of sending and answering, one table for each command.

The rules of the text are in `message_rules.py`.

The actor's key signs a message, so no agent can write in another's name. These rows say the rest:
who may answer which message, for which holder of a name, and until when.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Breach, Rule, Severity
from moot.core.machine import Command, KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.core.sha256 import sha256
from moot.protocols.mail import commands as ask
from moot.protocols.mail.case import MailCase, encode_text, find_other_subject, fits_in_event
from moot.protocols.mail.model import MAX_OPEN, Importance, Party, is_thread_id
from moot.protocols.mail.types import MessageType

MAX_RECEIVERS: Final = 64
MAX_SUBJECT: Final = 500
MAX_NOTES: Final = 4_000
MAX_ACK_MINUTES: Final = 7 * 24 * 60
MAX_OUTSIDE_NAME: Final = 200

Breaches = Iterator[tuple[str, str | None]]
NewMessageCase = MailCase[ask.Send | ask.Import]
AnswerCase = MailCase[ask.Send | ask.Acknowledge]


def bad_thread(case: NewMessageCase) -> Breaches:
    if not is_thread_id(case.thread):
        yield f"{case.thread!r} is no thread id", "thread"


def no_receiver(case: MailCase[ask.Send]) -> Breaches:
    """Refuse a message without a receiver, except a COMPILED, which its thread keeps."""
    if not case.command.to and case.type is not MessageType.COMPILED:
        yield "", "to"


def unknown_receivers(case: MailCase[ask.Send]) -> Breaches:
    for party in _receivers(case.command):
        if party.epoch < 1 or not AGENT.match(party.name):
            yield f"no agent {party.name[:60]!r} is registered here", "to"


def _receivers(command: ask.Send | ask.Import) -> tuple[Party, ...]:
    return (*command.to, *command.cc)


def too_many_receivers(case: NewMessageCase) -> Breaches:
    count = len(_receivers(case.command))
    if count > MAX_RECEIVERS:
        yield f"{count} receivers, the limit is {MAX_RECEIVERS}", "to"


def to_oneself(case: MailCase[ask.Send]) -> Breaches:
    actor = case.context.actor
    if Party(actor.id, actor.epoch) in _receivers(case.command):
        yield "", "to"


def long_subject(case: NewMessageCase) -> Breaches:
    length = len(case.command.subject)
    if length > MAX_SUBJECT:
        yield f"the subject has {length} characters, the limit is {MAX_SUBJECT}", "subject"


def bad_importance(case: NewMessageCase) -> Breaches:
    if case.command.importance not in set(Importance):
        yield f"{case.command.importance!r} is no importance", "importance"


def bad_ack_minutes(case: MailCase[ask.Send]) -> Breaches:
    minutes = case.command.ack_minutes
    if minutes is not None and not 1 <= minutes <= MAX_ACK_MINUTES:
        yield f"{minutes} is not 1 to {MAX_ACK_MINUTES} minutes", "ack_minutes"


def body_not_stored(case: NewMessageCase) -> Breaches:
    """Refuse a text that is too long for an event, unless exactly this text was stored before."""
    data, stored = encode_text(case.command.body), case.command.artifact
    if fits_in_event(case.command.body, data):
        return
    if stored is None or (stored.sha256, stored.size) != (
        sha256(data).hexdigest(),
        len(data),
    ):
        yield f"a body of {len(data)} bytes is stored before it is sent", "body"


def unknown_message(case: AnswerCase) -> Breaches:
    replied_to = case.command.re if isinstance(case.command, ask.Send) else None
    ids = (case.answered_id, replied_to)
    for text in dict.fromkeys(text for text in ids if text is not None):
        if not case.has_message(text):
            yield f"there is no message {text[:80]!r} in {case.thread}", "id"


def thread_full(case: NewMessageCase) -> Breaches:
    if len(case.state.open) >= MAX_OPEN:
        yield f"{MAX_OPEN} messages wait for an answer in {case.thread}", "thread"


def version_out_of_order(case: MailCase[ask.Send]) -> Breaches:
    version, expected = case.facts.version, case.state.compiled + 1
    if version is not None and version != expected:
        yield f"this is v{version}; the next version of {case.thread} is v{expected}", "body"


def own_message(case: AnswerCase) -> Breaches:
    message, actor = case.answered, case.context.actor
    if message is None or not case.is_answer:
        return
    if (message.sender, message.sender_epoch) == (actor.id, actor.epoch):
        yield f"you sent {message.id} yourself", "id"


def not_addressed(case: AnswerCase) -> Breaches:
    message, actor = case.answered, case.context.actor
    if message is None or not case.is_answer or case.receiver is not None:
        return
    own = (message.sender, message.sender_epoch) == (actor.id, actor.epoch)
    if not own and all(other.name != actor.id for other in (*message.to, *message.cc)):
        yield f"{message.id} was not sent to {actor.id}", "id"


def earlier_holder(case: AnswerCase) -> Breaches:
    message, actor = case.answered, case.context.actor
    if message is None or not case.is_answer or case.receiver is not None:
        return
    if any(other.name == actor.id for other in (*message.to, *message.cc)):
        yield f"{message.id} was sent to an earlier session called {actor.id}", "id"


def already_settled(case: AnswerCase) -> Breaches:
    if (
        case.answered_id is not None
        and case.answered is None
        and case.has_message(case.answered_id)
    ):
        yield f"{case.answered_id} no longer waits for an answer", "id"


def bad_status(case: MailCase[ask.Acknowledge]) -> Breaches:
    if case.status is None:
        yield f"{case.command.status[:40]!r} is no status", "status"


def long_notes(case: MailCase[ask.Acknowledge]) -> Breaches:
    length = len(case.command.notes)
    if length > MAX_NOTES:
        yield f"the notes have {length} characters, the limit is {MAX_NOTES}", "notes"


def ack_matches_no_message(case: MailCase[ask.Send]) -> Breaches:
    if case.type is MessageType.ACK and case.answered_id is None and case.answered is None:
        many = f"{case.candidates} messages have" if case.candidates else "no message to you has"
        yield f"{many} this subject, so nothing is acknowledged", "subject"


def answers_another(case: MailCase[ask.Send]) -> Breaches:
    """Report an ACK that repeats one subject and names the number of another message."""
    other, message = find_other_subject(case), case.answered
    if other is not None and message is not None:
        yield f"this ACK says {other[:80]!r}, and {message.id} is {message.subject[:80]!r}", "id"


def info_is_no_answer(case: MailCase[ask.Send]) -> Iterator[Breach]:
    """Report an INFO about a message for which its sender still owes an ACK (D-14)."""
    named = case.command.re if case.type is MessageType.INFO and not case.is_answer else None
    message, actor = case.state.find_message(named or ""), case.context.actor
    if message is None or message.type is None:
        return
    if any(party.is_holder(actor.id, actor.epoch) for party in message.missing_receivers):
        words = f"{message.id} is a {message.type} and still waits for an ACK of {actor.id}"
        yield words, "re", None, {"ID": message.id}


def nothing_asked(case: AnswerCase) -> Breaches:
    """Report an ACK of a message that asks for none: its author may mean another number."""
    message = case.answered
    is_ack = isinstance(case.command, ask.Acknowledge) or case.type is MessageType.ACK
    if message is None or message.type is None or not is_ack or case.receiver is None:
        return
    if not (message.ack_required or message.closed or message.is_unfinished):
        yield f"{message.id}, {message.subject[:80]!r}, asks for no ACK", "id"


def taker_not_a_receiver(case: MailCase[ask.Send]) -> Breaches:
    taker = case.facts.taker if case.type is MessageType.HANDOFF else ""
    if taker and all(party.name != taker for party in case.command.to):
        yield f"the work is handed to {taker[:60]}, who does not get this message", "to"


def claimed_for_another(case: MailCase[ask.Send]) -> Breaches:
    taker = case.facts.taker if case.type is MessageType.CLAIM else ""
    if taker and taker != case.context.actor.id:
        yield f"the work is claimed for {taker[:60]}, not for you", "body"


def forged_sender(case: MailCase[ask.Import]) -> Breaches:
    if case.command.sender_here and case.command.sender != case.context.actor.id:
        name = case.command.sender[:60]
        if case.command.sender_reserved:
            yield f"{name} is a reserved name: no message from outside may use it", "from"
        else:
            yield f"{name} is an agent here and has not signed this", "from"


def bad_outside_name(case: MailCase[ask.Import]) -> Breaches:
    command = case.command
    named = [("id", command.outside_id), ("from", command.sender)]
    named += [("thread_id", command.outside_thread)] if command.outside_thread else []
    for where, text in named:
        if not text.strip() or len(text) > MAX_OUTSIDE_NAME or not text.isprintable():
            yield f"{where} is not 1 to {MAX_OUTSIDE_NAME} printable characters", where


def not_the_machine(case: MailCase[ask.Chase] | MailCase[ask.Lapse]) -> Breaches:
    if case.context.actor.id != SYSTEM:
        yield "", None


def not_overdue(case: MailCase[ask.Chase]) -> Breaches:
    message = case.answered
    if message is None or message.ack_by is None or case.context.now < message.ack_by:
        yield "", "id"


def no_party_or_person(case: MailCase[ask.Settle]) -> Breaches:
    """Refuse everyone but the sender, the receivers, a person and the machine."""
    message, actor = case.answered, case.context.actor
    if message is None or actor.kind in (KeyClass.SYSTEM, KeyClass.HUMAN):
        return
    is_sender = (message.sender, message.sender_epoch) == (actor.id, actor.epoch)
    if not is_sender and not any(each.is_holder(actor.id, actor.epoch) for each in message.to):
        yield f"{actor.id} has nothing to do with {message.id}", "id"


def not_about_an_event(case: MailCase[ask.Settle]) -> Breaches:
    if case.answered is not None and case.answered.event is None:
        yield f"{case.answered.id} waits for an answer and is about no event", "id"


def nothing_waits(case: MailCase[ask.Lapse] | MailCase[ask.Settle]) -> Breaches:
    if case.answered is None:
        yield f"{case.command.id[:80]} does not wait for an answer", "id"


def no_party_to_it(case: MailCase[ask.Lapse]) -> Breaches:
    message = case.answered
    if message is not None and case.command.ended not in (
        message.sender,
        *(receiver.name for receiver in message.to),
    ):
        yield f"{case.command.ended[:60]} has nothing to do with {message.id}", "ended"


_WARNING: Final = Severity.WARNING
_LOOK: Final = "`moot inbox` shows what was sent to you, `moot mail thread THREAD` a whole thread"

_THREAD: Final = Rule(
    "MBX-201",
    "bad_thread_id",
    "a thread has an id such as auth-cache, RS-20260218-cell-fate or COORD-release",
    bad_thread,
    hint="letters, digits, - and _ in parts joined by dots; or leave --thread out",
)
_STORED: Final = Rule(
    "MBX-202",
    "body_not_stored",
    "a body of more than 16 KiB is stored as an artifact and cited by its hash",
    body_not_stored,
    hint="`moot send` does this by itself; a program stores the artifact first",
)
_FULL: Final = Rule("MBX-203", "thread_full",
                    "a thread holds a limited number of messages that wait for an answer",
                    thread_full,
                    "answer some of them (`moot mail pending`), or begin a new thread")  # fmt: skip
_SUBJECT: Final = Rule("MBX-204", "subject_too_long", "a subject is one short line", long_subject,
                       "shorten the subject; the rest belongs into the body")  # fmt: skip
_IMPORTANCE: Final = Rule("MBX-205", "bad_importance", "importance is low, normal, high or urgent",
                          bad_importance, "use low, normal, high or urgent")  # fmt: skip
_ANSWER: Final = (
    Rule("MBX-211", "message_not_found", "what is answered is a message of this thread",
         unknown_message, _LOOK),
    Rule("MBX-212", "own_message", "an agent does not acknowledge its own message", own_message,
         "its receivers acknowledge it: `moot mail show ID` names them",
         requirement="BRN-075"),
    Rule("MBX-213", "not_addressed", "only the receivers of a message acknowledge it",
         not_addressed, _LOOK, requirement="BRN-075"),
    Rule("MBX-214", "earlier_holder",
         "a message to an earlier holder of a name is not the later one's to answer",
         earlier_holder,
         "ask the sender to send it again, or write to the sender in the same thread",
         requirement="BRN-075"),
    Rule("MBX-215", "message_settled",
         "an answer is taken while someone waits for it, and for a while after", already_settled,
         "write into the thread instead: `moot send TO SUBJECT --thread THREAD`"),
)  # fmt: skip

_NOT_ASKED: Final = Rule(
    "MBX-233", "no_ack_owed", "an ACK answers a message that asks for one", nothing_asked,
    "`moot mail pending` shows what waits for you, with its number", _WARNING,
    requirement="BRN-073")  # fmt: skip

RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.Send: (
        _THREAD,
        Rule("MBX-206", "no_receiver", "a message goes to somebody", no_receiver,
             "name at least one agent; `moot agent list` shows who there is"),
        Rule("MBX-207", "agent_not_found", "everyone a message goes to is known here",
             unknown_receivers, "`moot agent list` shows who there is"),
        Rule("MBX-208", "too_many_receivers", "a message goes to a limited number of agents",
             too_many_receivers, "send it in parts"),
        Rule("MBX-209", "to_yourself", "a message goes to someone else", to_oneself,
             "take yourself out of --to and --cc"),
        _SUBJECT,
        _IMPORTANCE,
        Rule("MBX-210", "bad_ack_minutes", "an answer is due after a sensible time",
             bad_ack_minutes, "1 to 10080 minutes; the default is 30"),
        _STORED,
        _FULL,
        *_ANSWER,
        Rule("MBX-216", "version_out_of_order",
             "versions of a compiled artifact count from v1 and skip none", version_out_of_order,
             "`moot mail compile THREAD` numbers them by itself", requirement="BRN-022"),
        Rule("MBX-217", "ack_unmatched",
             "an ACK that names no message is matched by its subject, if only one fits",
             ack_matches_no_message, "`moot mail ack ID --status STATUS` names the message",
             _WARNING, requirement="BRN-040"),
        Rule("MBX-231", "another_message",
             "an ACK repeats the subject of the message that it names", answers_another,
             "if you meant another one: `moot mail pending` shows the numbers", _WARNING,
             requirement="BRN-037"),
        Rule("MBX-232", "info_no_ack", "an INFO answers a QUESTION; all else is answered by an ACK",
             info_is_no_answer, "`moot mail ack ID --status STATUS` answers it", _WARNING,
             requirement="BRN-075"),
        _NOT_ASKED,
        Rule("MBX-226", "taker_not_told", "the agent that gets the work gets the message",
             taker_not_a_receiver, "name the same agent in --to, in the subject and under `## To`",
             _WARNING, requirement="BRN-049"),
        Rule("MBX-227", "claim_for_another",
             "an agent claims work for itself; the claim is recorded as the sender's",
             claimed_for_another,
             "put your own name under `## Agent`, or let the other agent claim it", _WARNING,
             requirement="BRN-047"),
    ),
    ask.Acknowledge: (
        *_ANSWER,
        _NOT_ASKED,
        Rule("MBX-218", "bad_status", "an ACK says Received, Understood, Will Action or Completed",
             bad_status, "use Received, Understood, 'Will Action' or Completed",
             requirement="BRN-036"),
        Rule("MBX-219", "notes_too_long", "the notes of an ACK are short", long_notes,
             "send a long answer as a message: `moot send TO 'INFO: ...' FILE --re ID`"),
    ),
    ask.Import: (
        _THREAD,
        Rule("MBX-220", "forged_sender",
             "a message in the name of an agent of this ledger is signed by that agent",
             forged_sender,
             "let that agent send it itself, or fix its `from` line; nothing was imported",
             requirement="BRN-079"),
        Rule("MBX-221", "bad_outside_name", "a message from outside has a short id and a sender",
             bad_outside_name, "fix its `id`, `from` and `thread_id` lines"),
        Rule("MBX-208", "too_many_receivers", "a message goes to a limited number of agents",
             too_many_receivers, "import it for fewer agents"),
        _SUBJECT,
        _IMPORTANCE,
        _STORED,
        _FULL,
    ),
    ask.Chase: (
        Rule("MBX-222", "not_allowed", "only the machine itself asks again for an answer",
             not_the_machine, "`moot tick` lets it act", requirement="BRN-077"),
        Rule("MBX-223", "nothing_overdue", "only an answer that is overdue is asked for again",
             not_overdue, "`moot mail pending` shows what is due when", requirement="BRN-077"),
    ),
    ask.Lapse: (
        Rule("MBX-228", "not_allowed", "only the machine itself lets a duty lapse",
             not_the_machine, "`moot tick` lets it act", requirement="BRN-075"),
        Rule("MBX-229", "message_settled", "only a message that still waits can lapse",
             nothing_waits, "`moot mail pending` shows the messages that wait",
             requirement="BRN-075"),
        Rule("MBX-230", "not_addressed", "a duty lapses with the agent that owed it or asked",
             no_party_to_it, "`moot mail show ID` names them", requirement="BRN-075"),
    ),
    ask.Settle: (
        Rule("MBX-229", "message_settled", "only a message that still waits can be settled",
             nothing_waits, "`moot mail pending` shows the messages that wait",
             requirement="BRN-075"),
        Rule("MBX-234", "not_addressed", "only its sender or a receiver settles it",
             no_party_or_person, "`moot mail show ID` names them", requirement="BRN-075"),
        Rule("MBX-235", "not_a_notice", "only a message about an event ends with it",
             not_about_an_event, "`moot mail ack ID --status Completed` answers it",
             requirement="BRN-075"),
    ),
}  # fmt: skip
