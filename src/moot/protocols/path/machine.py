"""The automaton of a path. Each step goes through these stages:

(none) --begun--> begun --done----> done          (cut short: begun again)
                    |----failed---> failed --begun again, or done----> ...
                    `----moved----> begun, with another target
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from moot.protocols.path import PROTOCOL, model
from moot.protocols.path.model import PathStep, SourceRecord, Stage, State, make_step_key
from moot.protocols.path.rules import RULES, PathCase, build_case

replace = msgspec.structs.replace

# The stage of a step after an event; a step that failed or was interrupted may begin again.
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.BEGUN: {
        model.StepBegun: Stage.BEGUN,
        model.StepDone: Stage.DONE,
        model.StepFailed: Stage.FAILED,
    },
    Stage.FAILED: {
        model.StepBegun: Stage.BEGUN,
        model.StepDone: Stage.DONE,
        model.StepFailed: Stage.FAILED,
    },
    Stage.DONE: {},
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    apply = _EVOLVE.get(type(recorded.event))
    return apply(state, recorded) if apply is not None else state


def _on_path_begun(state: State, recorded: Recorded[model.PathBegun]) -> State:
    event = recorded.event
    return replace(state, title=event.title, origin=event.origin, since=recorded.at)


def _on_step_begun(state: State, recorded: Recorded[model.StepBegun]) -> State:
    event = recorded.event
    known = state.find_step(event.flow, event.source)
    if known is not None and known.stage is Stage.DONE:
        return state
    step = fill_from(
        PathStep,
        event,
        number=known.number if known is not None else event.number,
        since=known.since if known is not None else recorded.at,
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
    model.PathBegun: _on_path_begun,
    model.StepBegun: _on_step_begun,
    model.StepMoved: lambda state, new: _update_step(state, new, target=new.event.target),
    model.StepDone: lambda state, new: _update_step(state, new, made=new.event.made, why=""),
    model.StepFailed: lambda state, new: _update_step(state, new, why=new.event.why),
}


__all__ = ["MACHINE", "TRANSITIONS"]

PATHS: Final = "path.paths"
STEPS: Final = "path.steps"
# The path that a native id belongs to, or a stream that is a single session, trace or decision.
ITEMS: Final = "path.items"
SESSION_PROTOCOLS: Final = frozenset({"debate", "parliament", "trace", "decision"})


def decide(state: State, command: Command, context: Context) -> Decision:
    rules = RULES.get(type(command))
    if rules is None:
        return refusal(
            "PTH-001", "unknown_command", "a path knows no such command", hint="update moot"
        )
    case = build_case(state, command, context)
    findings = fill_hints(check_all(rules, case), {"ID": context.stream.partition("/")[2]})
    if select_errors(findings):
        return refuse(findings)
    return accept(_EVENT_OF[type(command)](case), findings=findings)


def _step_begun(case: PathCase[model.BeginStep]) -> Event:
    command = case.command
    return fill_from(
        model.StepBegun,
        command,
        number=case.step.number if case.step is not None else len(case.state.steps) + 1,
    )


def _step_done(case: PathCase[model.FinishStep]) -> Event:
    command = case.command
    assert case.step is not None
    return fill_from(
        model.StepDone, command, target=case.step.target, left=len(case.state.open) - 1
    )


_EVENT_OF: Final[dict[type[Command], Callable[[Any], Event]]] = {
    model.BeginPath: lambda case: fill_from(model.PathBegun, case.command),
    model.BeginStep: _step_begun,
    model.MoveStep: lambda case: fill_from(model.StepMoved, case.command),
    model.FinishStep: _step_done,
    model.FailStep: lambda case: fill_from(model.StepFailed, case.command),
}


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """List steps that failed or were interrupted: the operator runs them again."""
    waiting = (state.steps[key] for key in sorted(state.open, key=lambda key: state.open[key]))
    return tuple(
        Due(
            who=OPERATOR,
            what="go on" if step.stage is Stage.BEGUN else "try again",
            subject=f"{step.flow} {step.source.id}"[:200],
            since=step.since,
            hint=f"moot flow {step.flow} {step.source.id}" + (f" ({step.why})" if step.why else ""),
        )
        for step in waiting
    )


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    event, stream = recorded.event, recorded.stream
    path = stream.partition("/")[2]
    if isinstance(event, model.PathBegun):
        yield Put(PATHS, path, {"title": event.title, "origin": event.origin})
        yield Words(PATHS, path, event.title)
        yield from _index_source(event.source, path)
    elif isinstance(event, model.StepBegun):
        yield Put("open", stream, {})
        yield Put(STEPS, make_step_key(event.flow, event.source), {"path": path})
        yield from _index_source(event.source, path)
    elif isinstance(event, model.StepDone):
        if event.target.protocol in SESSION_PROTOCOLS:
            yield Put(ITEMS, event.target.stream, {"path": path})
        for made in event.made:
            yield Put(ITEMS, made.id, {"path": path})
        if not event.left:
            yield Drop("open", stream)


def _index_source(source: SourceRecord, path: str) -> Iterable[RowChange]:
    yield Put(ITEMS, source.id, {"path": path})
    if source.protocol in SESSION_PROTOCOLS:
        yield Put(ITEMS, source.stream, {"path": path})


MACHINE: Machine[State] = Machine(
    name=PROTOCOL,
    version=1,
    initial=State(),
    events=model.EVENTS,
    commands=model.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=lambda _state, _now: (),
)
