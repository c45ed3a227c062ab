"""What follows from an event. Total: whatever stands in the ledger happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.machine import Event, Recorded
from moot.protocols.path import events as did
from moot.protocols.path.model import Stage, State, Step, step_key

replace = msgspec.structs.replace

# What becomes of a step; one that failed or was cut short is begun again.
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.BEGUN: {
        did.StepBegun: Stage.BEGUN,
        did.StepDone: Stage.DONE,
        did.StepFailed: Stage.FAILED,
    },
    Stage.FAILED: {
        did.StepBegun: Stage.BEGUN,
        did.StepDone: Stage.DONE,
        did.StepFailed: Stage.FAILED,
    },
    Stage.DONE: {},
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    follow = _FOLLOW.get(type(recorded.event))
    return follow(state, recorded) if follow is not None else state


def _begun(state: State, recorded: Recorded[did.PathBegun]) -> State:
    event = recorded.event
    return replace(state, title=event.title, origin=event.origin, since=recorded.at)


def _step(state: State, recorded: Recorded[did.StepBegun]) -> State:
    event = recorded.event
    known = state.step(event.flow, event.source)
    if known is not None and known.stage is Stage.DONE:
        return state
    step = Step(
        number=known.number if known is not None else event.number,
        flow=event.flow,
        source=event.source,
        target=event.target,
        asked_by=event.asked_by,
        since=known.since if known is not None else recorded.at,
        approvers=event.approvers,
    )
    return _with(state, step)


def _changed(state: State, recorded: Recorded[Any], **changes: Any) -> State:
    event = recorded.event
    step = state.steps.get(step_key(event.flow, event.source))
    if step is None or step.stage is Stage.DONE:
        return state
    stage = TRANSITIONS[step.stage].get(type(event), step.stage)
    return _with(state, replace(step, stage=stage, **changes))


def _with(state: State, step: Step) -> State:
    waiting = state.open
    if step.stage is not Stage.DONE:
        waiting = waiting.set(step.key, step.number)
    elif step.key in waiting:
        waiting = waiting.delete(step.key)
    return replace(state, steps=state.steps.set(step.key, step), open=waiting)


_FOLLOW: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.PathBegun: _begun,
    did.StepBegun: _step,
    did.StepMoved: lambda state, one: _changed(state, one, target=one.event.target),
    did.StepDone: lambda state, one: _changed(state, one, made=one.event.made, why=""),
    did.StepFailed: lambda state, one: _changed(state, one, why=one.event.why),
}
