"""The smallest protocol, run by participants: each open errand is answered by finishing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.agents.brief import Brief
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd
from moot.agents.runnable import PassOverResult, Spent, Utterance
from moot.core.errors import Malformed
from moot.core.machine import Due
from moot.protocols.example.model import Ask, Finish
from moot.testing import World
from tests.participants.scripted_participants import brief

LIST = "example/today"


class RunnableErrands:
    def __init__(self, world: World, together: bool = False) -> None:
        self.world = world
        self.outcomes: list[CallOutcome] = []
        self.endings: list[RunEnd] = []
        self.said: list[Utterance] = []
        self.before = Spent()
        self.passes = PassOverResult.LATER
        self._together = together

    def ask(self, of: str, title: str = "look", due_at: int | None = None) -> None:
        self.world.engine.execute(LIST, Ask(title=title, of=of, due_at=due_at), "amber-otter")

    def advance(self) -> None:
        """Nothing here moves by itself."""

    def dues(self) -> Sequence[Due]:
        return [due for _, due in self.world.engine.agenda([LIST])]

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return self._together

    def brief(self, due: Due) -> Brief:
        return brief(agent=due.who, what=due.what, by=due.by)

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        if reply_fields.get("done") is not True:
            raise Malformed("say that it is done", code="bad_reply", where="done", hint="true")
        self.said.append(Utterance(due.who, str(reply_fields)))
        command = Finish(id=due.subject.partition(":")[0])
        self.world.engine.execute(LIST, command, due.who)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        del due, failure
        if self.passes is PassOverResult.NEVER:
            return PassOverResult.NEVER
        return (
            PassOverResult.DONE
            if self.world.engine.tick(LIST) is not None
            else PassOverResult.LATER
        )

    def history(self) -> Sequence[Utterance]:
        return self.said

    def standing(self) -> dict[str, Any]:
        return {"open": len(self.dues())}

    def spent(self) -> Spent:
        return self.before

    def record_outcome(self, outcome: CallOutcome) -> None:
        self.outcomes.append(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self.endings.append(ended)
