"""What follows from each event: the file is longer, a turn was taken, a session may have ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.failed_answer import find_failed_answer
from moot.core.machine import Event, Recorded
from moot.core.names import SYSTEM
from moot.protocols.debate import events as did
from moot.protocols.debate.model import DebateEntry, EntryField, EntryStatus
from moot.protocols.debate.schema import rules_from_settings
from moot.protocols.debate.state import (
    MOST_UNSIGNED,
    LastTurn,
    State,
    UnsignedEntry,
    make_request_naming,
    resume_walk,
    stub_entry,
    update_latest_round,
)


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Total: an event that does not fit its session leaves it as it was."""
    event = recorded.event
    if state.rules is None and not isinstance(event, did.SessionBegan):
        return state
    return _EVOLVE[type(event)](state, event)


def _began(state: State, event: did.SessionBegan) -> State:
    rules = rules_from_settings(event.settings)
    if rules is None or state.has_begun:
        return state
    return State(
        session_id=event.session_id,
        file=event.file,
        title=event.title,
        created=event.created,
        rules=rules,
        head=event.size,
        size=event.size,
        digest=event.digest,
    )


def _lengthen(state: State, event: did.Piece) -> State:
    return msgspec.structs.replace(
        state,
        size=state.size + event.size,
        digest=event.digest,
        timed_out=False,
        # BNC-145: one who failed early leaves nobody else late.
        escalating=isinstance(event, did.EntryGenerated)
        and find_failed_answer(event.summary) is None,
    )


def apply_entry(state: State, event: did.Spoken) -> State:
    """The session after one more entry: the same walk that `course.py` makes, one step of it."""
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
    """As much of the entry as the walk looks at."""
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
    """BNC-008: it counts like any other; its author may sign it later."""
    entry = UnsignedEntry(event.id, event.author, event.start, event.size, event.sha256)
    newest = (*state.unsigned, entry)[-MOST_UNSIGNED:]
    return msgspec.structs.replace(apply_entry(state, event), unsigned=newest)


def _signed(state: State, event: did.EntrySigned) -> State:
    unsigned = tuple(entry for entry in state.unsigned if entry.id != event.id)
    return msgspec.structs.replace(state, unsigned=unsigned, signed=state.signed + 1)


def _resumed(state: State, event: did.SessionResumed) -> State:
    return _resumed_at(_lengthen(state, event), event.said_at)


def _resumed_at(state: State, at: Millis | None) -> State:
    """The latest resumption counts, whatever order the marks stand in."""
    if at is None or (state.resumed is not None and at <= state.resumed):
        return state
    return msgspec.structs.replace(state, resumed=at)


def _context(state: State, event: did.ContextAdded) -> State:
    """BNC-062: the running turn's time goes on as before; what stood below has moved."""
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


def _timed_out(state: State, _event: did.TurnTimedOut) -> State:
    return msgspec.structs.replace(state, timed_out=True)


def _ended(state: State, _event: did.SessionEnded) -> State:
    return state  # the entry before it has already ended the session; this only says how


def _moved(state: State, event: did.FileMoved) -> State:
    return msgspec.structs.replace(state, file=event.file)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.SessionBegan: _began,
    did.EntryYielded: _yielded,
    did.EntryObserved: _observed,
    did.EntryGenerated: apply_entry,
    did.EntrySigned: _signed,
    did.SessionResumed: _resumed,
    did.ContextAdded: _context,
    did.TurnTimedOut: _timed_out,
    did.SessionEnded: _ended,
    did.FileMoved: _moved,
}
