"""A session that is watched, goes blind and ends, with a second agent who is not watched here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.core.clock import MINUTE
from moot.core.names import SYSTEM
from moot.protocols.observed import model as ask
from moot.protocols.observed.machine import MACHINE, TRANSITIONS
from moot.protocols.observed.model import Stage
from tests.model.small_world import Act, Scene, SmallWorld, Step, Taken, TimePasses

NAMES = ("amber-otter", "teal-crane")
MOST_TOOLS = 3
MOST_GAPS = 4


class Observed(SmallWorld):
    machine = MACHINE
    stream = "observed/s-1"

    def list_steps(self, scene: Scene) -> Iterable[Step]:
        now = scene.now
        tools = scene.state.count < MOST_TOOLS
        for name in (*NAMES, SYSTEM):
            yield Act(name, ask.BeginObserving(session="s-1"))
            if tools:
                yield Act(name, ask.ObserveTool(tool="Edit", input_hash="0" * 64, files=("a.py",)))
            yield Act(name, ask.StopWatching(why="off"))
            yield Act(name, ask.StopWatching(why="off", since=now - 5 * MINUTE))
            if scene.state.gap_count < MOST_GAPS:
                yield Act(name, ask.NoteGap(since=now - 5 * MINUTE, until=now, why="off"))
            if scene.state.files < MOST_TOOLS + 2:
                yield Act(name, ask.NoteUnseenChanges(files=("b.py",)))
            yield Act(name, ask.EndObserving(reason="done"))
        yield TimePasses(5)

    def is_final(self, scene: Scene) -> bool:
        return bool(scene.state.ended)

    def find_flaws_of_step(self, before: Scene, _step: Step, taken: Taken) -> Iterator[str]:
        """Blind time never vanishes: it ends with a gap on record that covers it."""
        since = before.state.blind_since
        if since is not None and taken.scene.state.blind_since is None and taken.recorded:
            gaps = [one.event.since for one in taken.recorded if hasattr(one.event, "until")]
            if since not in gaps:
                yield "the session sees again, and no gap stands for the time it was blind"
        if before.state.ended and taken.recorded:
            yield "something was recorded after the end"

    def find_flaws(self, _scene: Scene) -> Iterator[str]:
        if set(TRANSITIONS) != set(Stage):
            yield "a stage is missing from the table"
