"""The record of a session: its pieces in the ledger, and what they lead to.

    (none) --began--> not-started --yielded, observed, generated--> active --> ended: ...
                                          `--timed out--> the operator, or the policy, acts

`TRANSITIONS` is the automaton of the session itself (`phases.py`), the same that a bare file runs
through. What may be recorded is in `rules.py`, what follows from it in `evolution.py`. A
timeout is only noted here: the entry that a policy writes needs the file, so whoever has the file
at hand writes it (`moot debate tick`), and nothing in the ledger ever runs ahead of a file that
others write to by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Draft,
    Drop,
    Due,
    KeyClass,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    accept,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR
from moot.core.record import ArtifactRef
from moot.protocols.debate import commands as ask
from moot.protocols.debate import events as did
from moot.protocols.debate.checks import Asked, look
from moot.protocols.debate.escalation import silent
from moot.protocols.debate.evolution import evolve, spoke
from moot.protocols.debate.model import Escalation, moment
from moot.protocols.debate.phases import TRANSITIONS
from moot.protocols.debate.pieces import MEDIA_TYPE, bytes_of, facts_of
from moot.protocols.debate.reader import read
from moot.protocols.debate.rules import RULES, findings, is_sound
from moot.protocols.debate.schema import read_known, settings_of
from moot.protocols.debate.state import State, course
from moot.protocols.debate.turns import standing

__all__ = ["MACHINE", "TRANSITIONS"]
FILES: Final = "debate.files"
ENTRIES: Final = "debate.entries"
STREAM: Final = "debate/"


def decide(state: State, command: Command, context: Context) -> Decision:
    if type(command) not in RULES:
        return refusal("BNC-165", "unknown_command", "a debate knows no such command")
    asked = look(state, command, context)
    found = findings(asked)
    return refuse(found) if errors(found) else accept(*_DRAFTS[type(command)](asked))


def _drafted(asked: Asked, event: did.Piece) -> Draft:
    """A piece that is too long for its event is cited by its hash."""
    actor = asked.context.actor
    if actor.kind is KeyClass.HUMAN:
        event = msgspec.structs.replace(event, attended=actor.attended)
    cited = ArtifactRef(event.sha256, event.size, MEDIA_TYPE)
    return Draft(event, () if event.text is not None else (cited,))


def _begun(asked: Asked) -> Iterable[Draft]:
    command: ask.Begin = asked.command
    document = read(command.text)
    rules = read_known(document.settings).rules
    yield _drafted(
        asked,
        _piece(
            did.SessionBegan,
            bytes_of(0, command.text, command.digest),
            session_id=document.session_id,
            file=command.file,
            title=document.name[:300],
            created=moment(document.head("created")),
            settings={} if rules is None else settings_of(rules),
        ),
    )


def _piece(kind: Callable[..., did.Piece], *fields: dict[str, Any], **more: Any) -> did.Piece:
    merged = {key: value for part in fields for key, value in part.items()}
    return kind(**merged, **more)


def _spoken(kind: type[did.Spoken], asked: Asked, **more: Any) -> Iterable[Draft]:
    """The entry, and in words how it ended the session, if it did."""
    command, entry, state = asked.command, asked.entry, asked.state
    if entry is None or state.rules is None:
        return
    where = bytes_of(command.start, command.text, command.digest)
    resumed = asked.said.resumed if asked.said else None
    facts = facts_of(entry, state.rules)
    event = kind(**where, **facts, resumed=resumed, **more)  # type: ignore[arg-type]
    yield _drafted(asked, event)
    after = spoke(state, event)
    if after.phase.ended and not state.phase.ended:
        yield Draft(did.SessionEnded(phase=after.phase.value, round=after.ended_at_round))


def _observed(asked: Asked) -> Iterable[Draft]:
    if asked.entry is None:
        return _resumed(asked)
    return _spoken(did.EntryObserved, asked, double=asked.command.double, sound=is_sound(asked))


def _resumed(asked: Asked) -> Iterable[Draft]:
    command, said = asked.command, asked.said
    where = bytes_of(command.start, command.text, command.digest)
    at = said.resumed if said else None
    yield _drafted(asked, _piece(did.SessionResumed, where, said_at=at))


def _context(asked: Asked) -> Iterable[Draft]:
    command: ask.AddContext = asked.command
    where = bytes_of(command.start, command.text, command.digest)
    yield _drafted(asked, _piece(did.ContextAdded, where))


def _signed(asked: Asked) -> Iterable[Draft]:
    found = asked.state.unsigned_entry(asked.command.id)
    if found is not None:
        fields = msgspec.structs.asdict(found)
        del fields["author"]
        yield Draft(did.EntrySigned(**fields))


def _move(asked: Asked) -> did.FileMoved:
    return did.FileMoved(was=asked.state.file, file=asked.command.file)


def _timed_out(asked: Asked) -> Iterable[Draft]:
    course = asked.course
    if course is not None:
        here = standing(course, asked.context.now)
        policy = course.rules.escalation.value
        who = list(silent(course))
        yield Draft(did.TurnTimedOut(agents=who, round=here.round, turn=here.turn, policy=policy))


_DRAFTS: Final[dict[type[Command], Callable[[Asked], Iterable[Draft]]]] = {
    ask.Begin: _begun,
    ask.Add: lambda asked: _spoken(did.EntryYielded, asked),
    ask.Observe: _observed,
    ask.Escalate: lambda asked: _spoken(did.EntryGenerated, asked),
    ask.Resume: _resumed,
    ask.AddContext: _context,
    ask.Sign: _signed,
    ask.NoteTimeout: _timed_out,
    ask.Move: lambda asked: (Draft(_move(asked)),),
}


def agenda(state: State, now: Millis) -> tuple[Due, ...]:
    """Whose turn it is and until when; once a person is waited for, that person."""
    if state.rules is None or state.phase.ended:
        return ()
    if state.blocked:
        hint = f"moot debate check {state.file}"
        return (Due(who=OPERATOR, what="mend the file", subject=state.title, hint=hint),)
    here = standing(course(state, state.rules), now)
    place = f"{state.title}: round {here.round} turn {here.turn}"
    if here.timed_out and state.rules.escalation is Escalation.HUMAN:
        hint = f"moot debate resume {state.file} --late, or --skip"
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
            since=state.since,
            by=here.deadline,
            hint=late if here.timed_out else f"moot debate add {state.file} --author {agent}",
            command=None if state.timed_out else ask.NoteTimeout(),
        )
        for agent in here.due
    )


def timeouts(state: State, now: Millis) -> Iterable[Command]:
    """A-23: time is up after the deadline, not at it; it is noted once."""
    if state.rules is None or state.timed_out or state.blocked or state.phase.ended:
        return ()
    late = standing(course(state, state.rules), now).timed_out
    return (ask.NoteTimeout(),) if late else ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Sessions by their file, entries by their words, and what is open."""
    event, stream = recorded.event, recorded.stream
    if isinstance(event, did.SessionBegan):
        yield Put("open", stream, {})
        yield Put(FILES, event.file, {"session": event.session_id})
    elif isinstance(event, did.FileMoved):
        yield Drop(FILES, event.was)
        yield Put(FILES, event.file, {"session": stream.removeprefix(STREAM)})
    elif isinstance(event, did.Spoken) and event.id:
        yield Words(ENTRIES, f"{stream}#{event.id}", f"{event.author} {event.summary}")
    elif isinstance(event, did.SessionEnded):
        yield Drop("open", stream)


MACHINE: Machine[State] = Machine(
    name="debate",
    version=1,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
)
