"""A plan that two agents amend, from whichever version they have read; at most six times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.protocols.plan import machine as ask
from moot.protocols.plan.machine import MACHINE
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken, TimePasses

NAMES = ("amber-otter", "teal-crane", "coral-finch")
MOST_VERSIONS = 6


class Plan(SmallWorld):
    machine = MACHINE
    stream = "plan/bb-7"

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        for name in NAMES if scene.state.version < MOST_VERSIONS else ():
            for text in ("first this", "first that", ""):
                for version in range(MOST_VERSIONS):
                    yield Act(name, ask.Amend(work="bb-7", text=text, version=version))
        yield TimePasses(10)

    def is_final(self, scene: Scene) -> bool:
        return bool(scene.state.version == MOST_VERSIONS)

    def find_flaws_of_step(self, before: Scene, step: Step, taken: Taken) -> Iterator[str]:
        """Nobody's amendment is lost: who has not read the newest page does not overwrite it."""
        if isinstance(step, Act) and isinstance(step.command, ask.Amend) and taken.is_accepted:
            if step.command.version != before.state.version:
                yield "a page was overwritten by someone who had not read it"
            if taken.scene.state.version != before.state.version + 1:
                yield "an amendment does not count one version up"
