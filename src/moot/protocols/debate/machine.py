"""The record of a session: its pieces in the ledger, and what they lead to.

    (none) --began--> not-started --yielded, observed, generated--> active --> ended: ...
                                          `--timed out--> the operator, or the policy, acts

`TRANSITIONS` is the automaton of the session itself (`phases.py`), the same as for a bare file. The
rules are in `rules.py`. A timeout is only recorded here: the entry that a policy writes needs the
file, so a process with the file writes it (`moot debate tick`). So the ledger never runs ahead of a
file that others write to by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.failed_answer import find_failed_answer
from moot.core.findings import select_errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Draft,
    Drop,
    Due,
    Event,
    KeyClass,
    Machine,
    Put,
    Recorded,
    RowChange,
    VerifiedActor,
    Words,
    accept,
    fill_from,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import ArtifactRef
from moot.protocols.debate import commands as ask
from moot.protocols.debate import events as did
from moot.protocols.debate.escalation import find_silent_agents
from moot.protocols.debate.model import DebateEntry, EntryField, EntryStatus, Escalation, parse_time
from moot.protocols.debate.phases import TRANSITIONS, Phase
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.rules import (
    RULES,
    D,
    DebateCase,
    case_of,
    find_breaches,
    keeps_file_rules,
)
from moot.protocols.debate.settings import (
    interpret_settings,
    rules_from_settings,
    rules_to_settings,
)
from moot.protocols.debate.state import (
    MEDIA_TYPE,
    MOST_UNSIGNED,
    LastTurn,
    State,
    UnsignedEntry,
    course_from_state,
    entry_fields,
    make_request_naming,
    piece_fields,
    resume_walk,
    stub_entry,
    update_latest_round,
)
from moot.protocols.debate.turns import find_standing

# The state after each event: the file is longer, a turn was taken, a session may have ended.


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Return the state after an event; an event that does not fit the session changes nothing."""
    event = recorded.event
    if state.rules is None and not isinstance(event, did.SessionBegan):
        return state
    return _EVOLVE[type(event)](state, event)


def _began(state: State, event: did.SessionBegan) -> State:
    rules = rules_from_settings(event.settings)
    if rules is None or state.has_begun:
        return state
    return fill_from(State, event, rules=rules, head=event.size)


def _lengthen(state: State, event: did.Piece) -> State:
    return msgspec.structs.replace(
        state,
        size=state.size + event.size,
        digest=event.digest,
        timed_out=False,
        # BNC-145: an agent that failed early does not make others late.
        escalating=isinstance(event, did.EntryGenerated)
        and find_failed_answer(event.summary) is None,
    )


def apply_entry(state: State, event: did.Spoken) -> State:
    """Return the session after one more entry: one step of the walk of `course.py`."""
    rules = state.rules
    longer = _resumed_at(_lengthen(state, event), event.resumed)
    if rules is None or event.double:
        return longer
    walk = resume_walk(state, rules, not event.sound)
    entry = _entry_of(event)
    walk.marked = frozenset({entry.index} if event.closes else ())
    walk.take_entry(entry)
    took_turn = walk.last_entry is entry
    return msgspec.structs.replace(
        longer,
        entries=state.entries + 1,
        phase=walk.phase,
        ended_at_round=walk.ended_at_round,
        latest=update_latest_round(walk.latest_round, state.latest, entry)
        if took_turn
        else state.latest,
        last=LastTurn(event.author, event.said_at, tuple(event.names)) if took_turn else state.last,
        blocked=state.blocked or not event.sound,
        summed_up=state.summed_up or (walk.phase.has_ended and event.author == SYSTEM),
    )


def _entry_of(event: did.Spoken) -> DebateEntry:
    """Return the parts of the entry that the walk uses."""
    vote = (("stance", event.stance), ("confidence", event.confidence))
    fields = tuple(EntryField(name, value, 0) for name, value in vote if value)
    status = EntryStatus.CLOSED if event.closes else EntryStatus.YIELD
    place = (event.turn, event.round)
    return stub_entry(
        event.author, *place, (*fields, *make_request_naming(tuple(event.names))), status
    )


def _yielded(state: State, event: did.EntryYielded) -> State:
    return msgspec.structs.replace(apply_entry(state, event), signed=state.signed + 1)


def _observed(state: State, event: did.EntryObserved) -> State:
    """BNC-008: count it like any other; its author may sign it later."""
    entry = UnsignedEntry(event.id, event.author, event.start, event.size, event.sha256)
    newest = (*state.unsigned, entry)[-MOST_UNSIGNED:]
    return msgspec.structs.replace(apply_entry(state, event), unsigned=newest)


def _signed(state: State, event: did.EntrySigned) -> State:
    unsigned = tuple(entry for entry in state.unsigned if entry.id != event.id)
    return msgspec.structs.replace(state, unsigned=unsigned, signed=state.signed + 1)


def _resumed_at(state: State, at: Millis | None) -> State:
    """Return the state with the latest resumption, whatever the order of the marks."""
    if at is None or (state.resumed is not None and at <= state.resumed):
        return state
    return msgspec.structs.replace(state, resumed=at)


def _context(state: State, event: did.ContextAdded) -> State:
    """BNC-062: move the pieces below; the running turn keeps its time."""
    moved = tuple(
        msgspec.structs.replace(entry, start=entry.start + event.size) for entry in state.unsigned
    )
    return msgspec.structs.replace(
        state,
        head=state.head + event.size,
        size=state.size + event.size,
        digest=event.digest,
        unsigned=moved,
    )


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.SessionBegan: _began,
    did.EntryYielded: _yielded,
    did.EntryObserved: _observed,
    did.EntryGenerated: apply_entry,
    did.EntrySigned: _signed,
    did.SessionResumed: lambda state, event: _resumed_at(_lengthen(state, event), event.said_at),
    did.ContextAdded: _context,
    did.TurnTimedOut: lambda state, _event: msgspec.structs.replace(state, timed_out=True),
    did.SessionEnded: lambda state, _event: state,  # the entry before it has ended the session
    did.FileMoved: lambda state, event: msgspec.structs.replace(state, file=event.file),
}


__all__ = ["MACHINE", "TRANSITIONS"]
FILES: Final = "debate.files"
ENTRIES: Final = "debate.entries"
STREAM: Final = "debate/"


def decide(state: State, command: Command, context: Context) -> Decision:
    if type(command) not in RULES:
        return refusal("BNC-165", "unknown_command", "a debate knows no such command")
    case = case_of(state, command, context)
    found = find_breaches(case)
    return refuse(found) if select_errors(found) else accept(*_DRAFTS[type(command)](case))


def _draft_piece(actor: VerifiedActor, event: did.Piece) -> Draft:
    """Return the draft; a piece that is too long for its event is cited by its hash."""
    if actor.kind is KeyClass.HUMAN:
        event = msgspec.structs.replace(event, attended=actor.attended)
    cited = ArtifactRef(event.sha256, event.size, MEDIA_TYPE)
    return Draft(event, () if event.text is not None else (cited,))


def _make_piece(kind: Callable[..., did.Piece], *fields: dict[str, Any], **more: Any) -> did.Piece:
    merged = {key: value for part in fields for key, value in part.items()}
    return kind(**merged, **more)


def _draft_session(case: DebateCase[ask.Begin]) -> Iterable[Draft]:
    command = case.command
    document = read_document(command.text)
    rules = interpret_settings(document.settings).rules
    event = _make_piece(
        did.SessionBegan,
        piece_fields(0, command.text, command.digest),
        session_id=document.session_id,
        file=command.file,
        title=document.name[:300],
        created=parse_time(document.header_value("created")),
        settings={} if rules is None else rules_to_settings(rules),
    )
    yield _draft_piece(case.context.actor, event)


def _draft_entry(kind: type[did.Spoken], case: DebateCase[D], **more: Any) -> Iterable[Draft]:
    """Yield the entry and, if it ended the session, how it did."""
    command, entry, state = case.command, case.entry, case.state
    if entry is None or state.rules is None:
        return
    where = piece_fields(command.start, command.text, command.digest)
    resumed = case.piece.resumed_at if case.piece else None
    marked = case.piece is not None and case.piece.has_close_mark
    facts = entry_fields(entry, state.rules, marked)
    event = kind(**where, **facts, resumed=resumed, **more)  # type: ignore[arg-type]
    yield _draft_piece(case.context.actor, event)
    after = apply_entry(state, event)
    if after.phase.has_ended and not state.phase.has_ended:
        waits = after.phase is Phase.DEADLOCK
        policy = state.rules.escalation.value if waits else ""
        ended = did.SessionEnded(phase=after.phase.value, round=after.ended_at_round, policy=policy)
        yield Draft(ended)


def _draft_observed(case: DebateCase[ask.Observe]) -> Iterable[Draft]:
    if case.entry is None:
        return _draft_resumption(case)
    double = case.command.double
    return _draft_entry(did.EntryObserved, case, double=double, sound=keeps_file_rules(case))


def _draft_resumption(case: DebateCase[D]) -> Iterable[Draft]:
    command, piece = case.command, case.piece
    where = piece_fields(command.start, command.text, command.digest)
    at = piece.resumed_at if piece else None
    yield _draft_piece(case.context.actor, _make_piece(did.SessionResumed, where, said_at=at))


def _draft_context(case: DebateCase[ask.AddContext]) -> Iterable[Draft]:
    command = case.command
    where = piece_fields(command.start, command.text, command.digest)
    yield _draft_piece(case.context.actor, _make_piece(did.ContextAdded, where))


def _draft_signature(case: DebateCase[ask.Sign]) -> Iterable[Draft]:
    observed = case.state.find_unsigned_entry(case.command.id)
    if observed is not None:
        fields = msgspec.structs.asdict(observed)
        del fields["author"]
        yield Draft(did.EntrySigned(**fields))


def _draft_timeout(case: DebateCase[ask.NoteTimeout]) -> Iterable[Draft]:
    course = case.course
    if course is not None:
        here = find_standing(course, case.context.now)
        policy = course.rules.escalation.value
        who = list(find_silent_agents(course))
        yield Draft(did.TurnTimedOut(agents=who, round=here.round, turn=here.turn, policy=policy))


def _draft_move(case: DebateCase[ask.Move]) -> Iterable[Draft]:
    yield Draft(did.FileMoved(was=case.state.file, file=case.command.file))


_DRAFTS: Final[dict[type[Command], Callable[[DebateCase[Any]], Iterable[Draft]]]] = {
    ask.Begin: _draft_session,
    ask.Add: partial(_draft_entry, did.EntryYielded),
    ask.Observe: _draft_observed,
    ask.Escalate: partial(_draft_entry, did.EntryGenerated),
    ask.Resume: _draft_resumption,
    ask.AddContext: _draft_context,
    ask.Sign: _draft_signature,
    ask.NoteTimeout: _draft_timeout,
    ask.Move: _draft_move,
}


def agenda(state: State, now: Millis) -> tuple[Due, ...]:
    """BNC-166: list whose turn it is and until when; BNC-051: or the person who must act."""
    if state.rules is None or state.phase.has_ended:
        return _agenda_of_deadlock(state)
    if state.blocked:
        hint = f"moot debate check {state.file}"
        return (Due(who=OPERATOR, what="fix the file", subject=state.title, hint=hint),)
    here = find_standing(course_from_state(state, state.rules), now)
    place = f"{state.title}: round {here.round} turn {here.turn}"
    if here.timed_out and state.rules.escalation is Escalation.HUMAN:
        hint = f"moot debate resume {state.file} --late (or --skip)"
        return (
            Due(who=OPERATOR, what="resume the debate", subject=place, since=here.deadline,
                hint=hint, command=None if state.timed_out else ask.NoteTimeout()),
        )  # fmt: skip
    late = f"moot debate tick {state.file}"
    return tuple(
        Due(
            who=agent,
            what="speak",
            subject=place,
            since=state.turn_began,
            by=here.deadline,
            hint=late if here.timed_out else f"moot debate add {state.file} --author {agent}",
            command=None if state.timed_out else ask.NoteTimeout(),
        )
        for agent in here.due
    )


# 7.4: what a deadlock waits for, under the policies that ask for an action.
_AFTER_DEADLOCK: Final = {
    Escalation.HUMAN: ("decide a deadlock", "close FILE --reason ..."),
    Escalation.DEFAULT_ACTION: ("apply the default action", "tick FILE"),
}


def _agenda_of_deadlock(state: State) -> tuple[Due, ...]:
    """BNC-138: list a deadlock for the operator until `system` has summed it up."""
    if state.rules is None or state.phase is not Phase.DEADLOCK or state.summed_up:
        return ()
    what, words = _AFTER_DEADLOCK.get(state.rules.escalation, ("", ""))
    hint = f"moot debate {words.replace('FILE', state.file)}"
    return (Due(who=OPERATOR, what=what, subject=state.title, hint=hint),) if what else ()


def timeouts(state: State, now: Millis) -> Iterable[Command]:
    """BNC-145: time is up after the deadline, not at it (A-23); it is recorded once."""
    if state.rules is None or state.timed_out or state.blocked or state.phase.has_ended:
        return ()
    late = find_standing(course_from_state(state, state.rules), now).timed_out
    return (ask.NoteTimeout(),) if late else ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index sessions by their file, entries for search, and what is open."""
    event, stream = recorded.event, recorded.stream
    if isinstance(event, did.SessionBegan):
        yield Put("open", stream, {})
        yield Put(FILES, event.file, {"session": event.session_id})
    elif isinstance(event, did.FileMoved):
        yield Drop(FILES, event.was)
        yield Put(FILES, event.file, {"session": stream.removeprefix(STREAM)})
    elif isinstance(event, did.Spoken) and event.id:
        yield Words(ENTRIES, f"{stream}#{event.id}", f"{event.author} {event.summary}")
        if event.author == SYSTEM:  # it sums up what is over
            yield Drop("open", stream)
    elif isinstance(event, did.SessionEnded) and event.policy not in _AFTER_DEADLOCK:
        yield Drop("open", stream)


MACHINE: Machine[State] = Machine(
    name="debate",
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
