"""The state after each event. Total: whatever stands in the ledger happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.machine import Event, Recorded
from moot.protocols.path import events as did
from moot.protocols.path.model import PathStep, Stage, State, make_step_key

replace = msgspec.structs.replace

# The stage of a step after an event; a step that failed or was cut short may be begun again.
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
    apply = _EVOLVE.get(type(recorded.event))
    return apply(state, recorded) if apply is not None else state


def _on_path_begun(state: State, recorded: Recorded[did.PathBegun]) -> State:
    event = recorded.event
    return replace(state, title=event.title, origin=event.origin, since=recorded.at)


def _on_step_begun(state: State, recorded: Recorded[did.StepBegun]) -> State:
    event = recorded.event
    known = state.find_step(event.flow, event.source)
    if known is not None and known.stage is Stage.DONE:
        return state
    step = PathStep(
        number=known.number if known is not None else event.number,
        flow=event.flow,
        source=event.source,
        target=event.target,
        asked_by=event.asked_by,
        since=known.since if known is not None else recorded.at,
        approvers=event.approvers,
    )
    return _store_step(state, step)


def _update_step(state: State, recorded: Recorded[Any], **changes: Any) -> State:
    event = recorded.event
    step = state.steps.get(make_step_key(event.flow, event.source))
    if step is None or step.stage is Stage.DONE:
        return state
    stage = TRANSITIONS[step.stage].get(type(event), step.stage)
    return _store_step(state, replace(step, stage=stage, **changes))


def _store_step(state: State, step: PathStep) -> State:
    waiting = state.open
    if step.stage is not Stage.DONE:
        waiting = waiting.set(step.key, step.number)
    elif step.key in waiting:
        waiting = waiting.delete(step.key)
    return replace(state, steps=state.steps.set(step.key, step), open=waiting)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.PathBegun: _on_path_begun,
    did.StepBegun: _on_step_begun,
    did.StepMoved: lambda state, new: _update_step(state, new, target=new.event.target),
    did.StepDone: lambda state, new: _update_step(state, new, made=new.event.made, why=""),
    did.StepFailed: lambda state, new: _update_step(state, new, why=new.event.why),
}
