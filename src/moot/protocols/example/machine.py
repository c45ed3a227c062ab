"""The automaton of one errand: what may follow what, and the functions that a `Machine` needs.

(none) --asked--> open --done-------> done
                    |---withdrawn---> withdrawn
                    `---lapsed------> lapsed        by `system`, once its time is over

All functions are pure: the time is an argument, and the engine records what they return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, select_errors
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
from moot.protocols.example import model
from moot.protocols.example.model import Errand, Stage, State
from moot.protocols.example.rules import RULES, case_of

TRANSITIONS: dict[Stage, dict[type[Event], Stage]] = {
    Stage.OPEN: {
        model.ErrandDone: Stage.DONE,
        model.ErrandWithdrawn: Stage.WITHDRAWN,
        model.ErrandLapsed: Stage.LAPSED,
    },
    Stage.DONE: {},
    Stage.WITHDRAWN: {},
    Stage.LAPSED: {},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    """Accept with the event that follows, or refuse with every finding. Never raises."""
    case = case_of(state, command, context)
    findings = check_all(RULES[type(command)], case)
    mistakes = select_errors(findings)
    if not mistakes:
        return accept(_DRAFTS[type(command)](state, command), findings=findings)
    if case.errand is not None and mistakes[0].code == "not_yours":
        # Record the refusal too: `meddlers` counts who tried to end another's errand.
        tried = type(command).__name__.lower()
        return refuse(findings, model.Meddled(id=case.errand.id, tried=tried))
    return refuse(findings)


def _draft_asked(state: State, command: model.Ask) -> Event:
    # Ids count upwards from the state: decisions are made one after the other, so none repeats.
    new_id = f"e{state.asked + 1}"
    return model.ErrandAsked(id=new_id, title=command.title, of=command.of, due_at=command.due_at)


_DRAFTS: dict[type[Command], Callable[[State, Any], Event]] = {
    model.Ask: _draft_asked,
    model.Finish: lambda _state, command: model.ErrandDone(id=command.id),
    model.Withdraw: lambda _state, command: model.ErrandWithdrawn(id=command.id),
    model.Lapse: lambda _state, command: model.ErrandLapsed(id=command.id),
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Return the state after an event. Never raises: what is in the ledger has happened."""
    return _EVOLVE[type(recorded.event)](state, recorded)


def _on_asked(state: State, recorded: Recorded[model.ErrandAsked]) -> State:
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
    still_open, next_due = state.open.delete(errand.id), state.next_due
    # Reading every open errand is needed only if the one with the earliest limit was closed.
    if errand.due_at is not None and errand.due_at == next_due:
        next_due = _earliest(other.due_at for other in still_open.values())
    return msgspec.structs.replace(
        state, open=still_open, closed=state.closed + 1, next_due=next_due
    )


def _on_meddled(state: State, recorded: Recorded[model.Meddled]) -> State:
    count = state.meddlers.get(recorded.actor.id, 0) + 1
    return msgspec.structs.replace(state, meddlers=state.meddlers.set(recorded.actor.id, count))


_EVOLVE: dict[type[Event], Callable[[State, Any], State]] = {
    model.ErrandAsked: _on_asked,
    model.ErrandDone: _on_closed,
    model.ErrandWithdrawn: _on_closed,
    model.ErrandLapsed: _on_closed,
    model.Meddled: _on_meddled,
}


def _earliest(limits: Iterable[Millis | None]) -> Millis | None:
    return min((limit for limit in limits if limit is not None), default=None)


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """List every open errand for the agent that was asked; once overdue, `Lapse` closes it."""
    return tuple(
        Due(
            who=errand.asked_of,
            what="errand",
            subject=f"{errand.id}: {errand.title}",
            since=errand.asked_at,
            by=errand.due_at,
            command=model.Lapse(id=errand.id) if errand.due_at is not None else None,
        )
        for errand in state.in_order()
    )


def timeouts(state: State, now: Millis) -> Iterable[Command]:
    """List what is overdue. The engine asks before every command; mostly `next_due` suffices."""
    if state.next_due is None or now < state.next_due:
        return ()
    return tuple(
        model.Lapse(id=errand.id)
        for errand in state.in_order()
        if errand.due_at is not None and errand.due_at <= now
    )


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Yield rows of the open errands, found by key, by prefix and by the words of their titles."""
    event = recorded.event
    key = f"{recorded.stream}#{event.id}"
    if recorded.seq == 0:
        yield Put("open", recorded.stream, {})  # so that `agenda` and `tick` find this stream
    if isinstance(event, model.ErrandAsked):
        yield Put("example.errands", key, {"of": event.of, "title": event.title})
        yield Words("example.errands", key, event.title)
    elif not isinstance(event, model.Meddled):
        yield Drop("example.errands", key)


MACHINE: Machine[State] = Machine(
    name="example",
    version=1,
    initial=State(),
    events=model.EVENTS,
    commands=model.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
    guarded=frozenset({model.Withdraw}),
)
