"""The automaton of a path. Each of its steps goes its own way:

    (none) --begun--> begun --done----> done          (cut short: begun again)
                        |----failed---> failed --begun again, or done----> ...
                        `----moved----> begun, with another target

The rules are in `rules.py`, what follows from an event in `evolution.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

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
    refusal,
    refuse,
)
from moot.core.names import OPERATOR
from moot.protocols.path import PROTOCOL
from moot.protocols.path import commands as ask
from moot.protocols.path import events as did
from moot.protocols.path.case import PathCase, build_case
from moot.protocols.path.evolution import TRANSITIONS, evolve
from moot.protocols.path.model import SourceRecord, Stage, State, make_step_key
from moot.protocols.path.rules import RULES

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


def _path_begun(case: PathCase[ask.BeginPath]) -> Event:
    command = case.command
    return did.PathBegun(title=command.title, origin=command.origin, source=command.source)


def _step_begun(case: PathCase[ask.BeginStep]) -> Event:
    command = case.command
    return did.StepBegun(
        number=case.step.number if case.step is not None else len(case.state.steps) + 1,
        flow=command.flow,
        source=command.source,
        target=command.target,
        asked_by=command.asked_by,
        standing=command.standing,
        parts=command.parts,
        approvers=command.approvers,
    )


def _step_moved(case: PathCase[ask.MoveStep]) -> Event:
    command = case.command
    return did.StepMoved(flow=command.flow, source=command.source, target=command.target)


def _step_done(case: PathCase[ask.FinishStep]) -> Event:
    command = case.command
    assert case.step is not None
    return did.StepDone(
        flow=command.flow,
        source=command.source,
        target=case.step.target,
        made=command.made,
        left=len(case.state.open) - 1,
    )


def _step_failed(case: PathCase[ask.FailStep]) -> Event:
    command = case.command
    return did.StepFailed(
        flow=command.flow,
        source=command.source,
        code=command.code,
        why=command.why,
        told=command.told,
    )


_EVENT_OF: Final[dict[type[Command], Callable[[Any], Event]]] = {
    ask.BeginPath: _path_begun,
    ask.BeginStep: _step_begun,
    ask.MoveStep: _step_moved,
    ask.FinishStep: _step_done,
    ask.FailStep: _step_failed,
}


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """Steps that failed or were cut short: the operator runs them again."""
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
    if isinstance(event, did.PathBegun):
        yield Put(PATHS, path, {"title": event.title, "origin": event.origin})
        yield Words(PATHS, path, event.title)
        yield from _index_source(event.source, path)
    elif isinstance(event, did.StepBegun):
        yield Put("open", stream, {})
        yield Put(STEPS, make_step_key(event.flow, event.source), {"path": path})
        yield from _index_source(event.source, path)
    elif isinstance(event, did.StepDone):
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
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=lambda _state, _now: (),
)
