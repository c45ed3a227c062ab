"""Errands between two agents: at most three are asked, each of them by either of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.core.clock import MINUTE
from moot.core.names import SYSTEM
from moot.protocols.example import model as ask
from moot.protocols.example.machine import MACHINE
from tests.model.small_world import Act, Scene, SmallWorld, Step, TimePasses

NAMES = ("amber-otter", "teal-crane")
MOST_ASKED = 3


class Errands(SmallWorld):
    machine = MACHINE
    stream = "example/today"

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        state = scene.state
        if state.asked < MOST_ASKED:
            for asker in NAMES:
                for limit in (None, scene.now + 10 * MINUTE):
                    yield Act(asker, ask.Ask(title="review", of=NAMES[1], due_at=limit))
            yield Act(NAMES[0], ask.Ask(title=" ", of=NAMES[1]))
        for id_ in (f"e{number}" for number in range(1, MOST_ASKED + 1)):
            for name in NAMES:
                if state.meddlers.get(name, 0) < 2:
                    yield Act(name, ask.Finish(id=id_))
                    yield Act(name, ask.Withdraw(id=id_))
            if state.meddlers.get(SYSTEM, 0) < 1:
                yield Act(SYSTEM, ask.Lapse(id=id_))
        yield TimePasses(10)

    def is_final(self, scene: Scene) -> bool:
        return scene.state.asked == MOST_ASKED and not scene.state.open

    def is_at_bound(self, scene: Scene) -> bool:
        """Who has meddled twice is left out of the menu."""
        return any(count >= 2 for count in scene.state.meddlers.values())

    def find_flaws(self, scene: Scene) -> Iterator[str]:
        state = scene.state
        if state.asked != state.closed + len(state.open):
            yield "an errand is neither open nor closed"
        owed = {due.subject.partition(":")[0] for due in self.machine.agenda(state, scene.now)}
        if owed != set(state.open):
            yield f"open are {sorted(state.open)}, due are {sorted(owed)}"
