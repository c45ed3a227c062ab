"""The automaton of one errand.

(none) --asked--> open --done-------> done
                    |---withdrawn---> withdrawn
                    `---lapsed------> lapsed        by `system`, once its time is over
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, errors
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
    refuse,
)
from moot.protocols.example import commands as ask
from moot.protocols.example import events as did
from moot.protocols.example.model import Errand, Stage, State
from moot.protocols.example.rules import RULES, Asked

TRANSITIONS: dict[Stage, dict[type[Event], Stage]] = {
    Stage.OPEN: {
        did.ErrandDone: Stage.DONE,
        did.ErrandWithdrawn: Stage.WITHDRAWN,
        did.ErrandLapsed: Stage.LAPSED,
    },
    Stage.DONE: {},
    Stage.WITHDRAWN: {},
    Stage.LAPSED: {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    errand = state.open.get(getattr(command, "id", ""))
    findings = check_all(RULES[type(command)], Asked(state, command, context, errand))
    bad = errors(findings)
    if not bad:
        return accept(_EVENT_OF[type(command)](state, command), findings=findings)
    if errand is not None and bad[0].code == "not_yours":
        return refuse(findings, did.Meddled(id=errand.id, tried=type(command).__name__.lower()))
    return refuse(findings)


def _asked(state: State, command: ask.Ask) -> Event:
    new_id = f"e{state.asked + 1}"
    return did.ErrandAsked(id=new_id, title=command.title, of=command.of, due_at=command.due_at)


_EVENT_OF: dict[type[Command], Callable[[State, Any], Event]] = {
    ask.Ask: _asked,
    ask.Finish: lambda _, command: did.ErrandDone(id=command.id),
    ask.Withdraw: lambda _, command: did.ErrandWithdrawn(id=command.id),
    ask.Lapse: lambda _, command: did.ErrandLapsed(id=command.id),
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    return _EVOLVE[type(recorded.event)](state, recorded)


def _on_asked(state: State, recorded: Recorded[did.ErrandAsked]) -> State:
    event = recorded.event
    errand = Errand(event.id, event.title, recorded.actor.id, event.of, recorded.at, event.due_at)
    return msgspec.structs.replace(
        state,
        open=state.open.set(event.id, errand),
        asked=state.asked + 1,
        next_due=_earliest([state.next_due, event.due_at]),
    )


def _on_closed(state: State, recorded: Recorded[Any]) -> State:
    errand = state.open.get(recorded.event.id)
    if errand is None:
        return state
    left = state.open.delete(errand.id)
    # Only when the earliest goes must the others be asked.
    moved = errand.due_at is not None and errand.due_at == state.next_due
    due = _earliest(other.due_at for other in left.values()) if moved else state.next_due
    return msgspec.structs.replace(state, open=left, closed=state.closed + 1, next_due=due)


def _on_meddled(state: State, recorded: Recorded[did.Meddled]) -> State:
    count = state.meddlers.get(recorded.actor.id, 0) + 1
    return msgspec.structs.replace(state, meddlers=state.meddlers.set(recorded.actor.id, count))


_EVOLVE: dict[type[Event], Callable[[State, Any], State]] = {
    did.ErrandAsked: _on_asked,
    did.ErrandDone: _on_closed,
    did.ErrandWithdrawn: _on_closed,
    did.ErrandLapsed: _on_closed,
    did.Meddled: _on_meddled,
}


def _earliest(limits: Iterable[Millis | None]) -> Millis | None:
    return min((limit for limit in limits if limit is not None), default=None)


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """Each open errand waits for the one asked; once overdue the machine closes it."""
    return tuple(
        Due(
            who=errand.asked_of,
            what="errand",
            subject=f"{errand.id}: {errand.title}",
            since=errand.asked_at,
            by=errand.due_at,
            command=ask.Lapse(id=errand.id) if errand.due_at is not None else None,
        )
        for errand in state.in_order()
    )


def timeouts(state: State, now: Millis) -> Iterable[Command]:
    if state.next_due is None or now < state.next_due:
        return ()
    late = (e for e in state.in_order() if e.due_at is not None and e.due_at <= now)
    return tuple(ask.Lapse(id=errand.id) for errand in late)


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    event = recorded.event
    place = f"{recorded.stream}#{event.id}"
    if recorded.seq == 0:
        yield Put("open", recorded.stream, {})
    if isinstance(event, did.ErrandAsked):
        yield Put("example.errands", place, {"of": event.of, "title": event.title})
        yield Words("example.errands", place, event.title)
    elif not isinstance(event, did.Meddled):
        yield Drop("example.errands", place)


MACHINE: Machine[State] = Machine(
    name="example",
    version=1,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
    guarded=frozenset({ask.Withdraw}),
)
