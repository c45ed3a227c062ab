"""Participants for tests: what they say is given, and what they were asked is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import NoAnswer
from moot.agents.participant import Nature, ParticipantKind, ParticipantReply

Step = dict[str, Any] | NoAnswer | Callable[[Brief], dict[str, Any]]


class Voice:
    """Says one thing after another; a step that is a NoAnswer is raised."""

    def __init__(self, *steps: Step, cost: Cost | None = None) -> None:
        self.nature = Nature(ParticipantKind.SCRIPT, "script:test")
        self.briefs: list[Brief] = []
        self.seconds: list[float] = []
        self.stopped = False
        self._steps = list(steps)
        self._cost = cost or Cost(calls=1)

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        self.briefs.append(brief)
        self.seconds.append(seconds)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, NoAnswer):
            raise step
        return ParticipantReply(step(brief) if callable(step) else step, self._cost)

    def stop(self) -> None:
        self.stopped = True


class Together:
    """Answers only once all of them are being asked: proves that they are asked at once."""

    def __init__(self, gate: threading.Barrier, said: dict[str, Any]) -> None:
        self.nature = Nature(ParticipantKind.SCRIPT, "script:test")
        self._gate = gate
        self._said = said

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        del brief, seconds
        self._gate.wait(20)
        return ParticipantReply(self._said, Cost(calls=1))

    def stop(self) -> None:
        self._gate.abort()


def brief(**changes: Any) -> Brief:
    given: dict[str, Any] = {
        "agent": "amber-otter",
        "role": "a participant",
        "what": "entry",
        "task": "Say what you think.",
        "schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    }
    return Brief(**{**given, **changes})
