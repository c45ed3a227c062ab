"""A desk for the smallest protocol: each open errand is answered by finishing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.desk import Passed
from moot.agents.outcome import Ended, Ending, Outcome
from moot.agents.repeats import Said
from moot.core.errors import Malformed
from moot.core.machine import Due
from moot.protocols.example.commands import Ask, Finish
from moot.testing import World
from tests.agents_here.voices import brief

LIST = "example/today"


class ErrandDesk:
    def __init__(self, world: World, together: bool = False) -> None:
        self.world = world
        self.outcomes: list[Outcome] = []
        self.endings: list[Ended] = []
        self.said: list[Said] = []
        self.before = Spent()
        self.passes = Passed.LATER
        self._together = together

    def ask(self, of: str, title: str = "look", due_at: int | None = None) -> None:
        self.world.engine.execute(LIST, Ask(title=title, of=of, due_at=due_at), "amber-otter")

    def advance(self) -> None:
        """Nothing here moves by itself."""

    def dues(self) -> Sequence[Due]:
        return [due for _, due in self.world.engine.agenda([LIST])]

    def together(self, due: Due) -> bool:
        del due
        return self._together

    def brief(self, due: Due) -> Brief:
        return brief(agent=due.who, what=due.what, by=due.by)

    def submit(self, due: Due, said: dict[str, Any]) -> None:
        if said.get("done") is not True:
            raise Malformed("say that it is done", code="bad_reply", where="done", hint="true")
        self.said.append(Said(due.who, str(said)))
        command = Finish(id=due.subject.partition(":")[0])
        self.world.engine.execute(LIST, command, due.who)

    def pass_over(self, due: Due, ending: Ending, detail: str) -> Passed:
        del due, ending, detail
        if self.passes is Passed.NEVER:
            return Passed.NEVER
        return Passed.DONE if self.world.engine.tick(LIST) is not None else Passed.LATER

    def history(self) -> Sequence[Said]:
        return self.said

    def standing(self) -> dict[str, Any]:
        return {"open": len(self.dues())}

    def spent(self) -> Spent:
        return self.before

    def note(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def ended(self, ended: Ended) -> None:
        self.endings.append(ended)
