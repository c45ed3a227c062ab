"""Short words for the tests of the path machine."""

from __future__ import annotations

from typing import Any

from moot.core.names import SYSTEM
from moot.protocols.path import model as ask
from moot.protocols.path import stream_of
from moot.protocols.path.machine import MACHINE
from moot.protocols.path.model import MadeThing, ResultStanding, SourceRecord, State, StepTarget
from moot.testing import World, given
from moot.testing.world import Scenario

STREAM = stream_of("p-0123456789ab")
MESSAGE = SourceRecord("mail/pay-7", 0, "a" * 64, "pay-7-1")
DEBATE = SourceRecord("debate/d1", 5, "b" * 64, "d1")
BILL = SourceRecord("parliament/parl-20260218-001", 40, "c" * 64, "parl-20260218-001")
TO_DEBATE = StepTarget("debate/d1", "d1", "debates/d1.md")
TO_PARLIAMENT = StepTarget("parliament/parl-20260218-001", "parl-20260218-001", "bills")
TO_TRACE = StepTarget("trace/t1", "t1")
SURE = ResultStanding(reached=True)
SESSION = MadeThing("session", "debate/d1", 0, "d1")


def path() -> Scenario[State]:
    return given(World(), MACHINE, STREAM).as_("amber-otter")


def by_machine(scenario: Scenario[State]) -> Scenario[State]:
    scenario.actor = SYSTEM
    return scenario


def begun() -> Scenario[State]:
    command = ask.BeginPath(title="Payments", origin="amber-otter", source=MESSAGE)
    return by_machine(path()).when(command)


def step(**more: Any) -> ask.BeginStep:
    said: dict[str, Any] = {
        "flow": "blocked-to-debate",
        "source": MESSAGE,
        "target": TO_DEBATE,
        "asked_by": "amber-otter",
    }
    return ask.BeginStep(**{**said, **more})


def to_parliament(**more: Any) -> ask.BeginStep:
    said: dict[str, Any] = {
        "flow": "consensus-to-parliament",
        "source": DEBATE,
        "target": TO_PARLIAMENT,
        "standing": SURE,
    }
    return step(**{**said, **more})


def to_trace(**more: Any) -> ask.BeginStep:
    return step(**{"flow": "approval-to-trace", "source": BILL, "target": TO_TRACE, **more})


def finish(*made: MadeThing, **more: Any) -> ask.FinishStep:
    said: dict[str, Any] = {"flow": "blocked-to-debate", "source": MESSAGE, "made": made}
    return ask.FinishStep(**{**said, **more})


def fail(**more: Any) -> ask.FailStep:
    said = {"flow": "blocked-to-debate", "source": MESSAGE, "code": "file_taken", "why": "taken"}
    return ask.FailStep(**{**said, **more})
