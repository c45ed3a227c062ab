"""The automaton of one plan.

(none) --amended--> written --amended--> written
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from moot.core.clock import Millis
from moot.core.findings import check_all, select_errors
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
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
from moot.protocols.plan import commands as ask
from moot.protocols.plan import events as did
from moot.protocols.plan.model import PROTOCOL, Stage, State
from moot.protocols.plan.rules import RULES

TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.UNWRITTEN: {did.PlanAmended: Stage.WRITTEN},
    Stage.WRITTEN: {did.PlanAmended: Stage.WRITTEN},
}


def decide(state: State, command: Command, context: Context) -> Decision:
    if not isinstance(command, ask.Amend):
        return refusal("PLN-05", "unknown_command", "a plan knows no such command", "update moot")
    findings = check_all(RULES[ask.Amend], Case(state, command, context))
    if select_errors(findings):
        return refuse(findings)
    version = state.version + 1
    return accept(did.PlanAmended(work=command.work, version=version, text=command.text))


def evolve(_state: State, recorded: Recorded[Any]) -> State:
    event = recorded.event
    return State(event.work, event.version, event.text, recorded.actor.id, recorded.at)


def agenda(_state: State, _now: Millis) -> tuple[Due, ...]:
    """Nobody owes anything to a plan."""
    return ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Plans by their work item; their words are findable."""
    event = recorded.event
    yield Put("plan.pages", event.work, {"version": event.version})
    yield Words("plan.pages", event.work, event.text)


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
)
