"""Breadth first through everything that a small world can do, until all states or enough are seen.

Each state is expanded once; states that differ only in when something was are one. The first state
that breaks a promise ends the exploration, and is told as the commands that lead to it: since
shorter ways are tried first, no shorter one does.
"""

from __future__ import annotations

import time
from collections import deque
from typing import NamedTuple

from tests.model.promises import find_broken_promises, find_flaws_of_state, is_stuck
from tests.model.small_world import Act, Scene, SmallWorld, Step


class BrokenPromise(AssertionError):
    """A counterexample, told as commands."""


class Explored(NamedTuple):
    """How far an exploration came. `depth` is the number of steps after which every state was seen;
    with `is_whole` there are no further states at all."""

    states: int
    decisions: int
    depth: int
    is_whole: bool
    seconds: float


class _Way(NamedTuple):
    """How a state was reached: from which one before it, by which step."""

    before: _Way | None
    step: Step | str
    length: int


class Exploration:
    def __init__(self, world: SmallWorld, most_states: int) -> None:
        self.world = world
        self.most_states = most_states
        self.seen: set[bytes] = set()
        self.decisions = 0
        self.waiting: deque[tuple[Scene, _Way]] = deque()

    def run(self) -> Explored:
        began, depth = time.monotonic(), 0
        for name, scene in self.world.find_openings().items():
            way = _Way(None, f"beginning: {name}", 0)
            self._add(scene, way)
            for flaw in find_flaws_of_state(self.world, scene):
                raise BrokenPromise(_tell(way, flaw))
        while self.waiting and len(self.seen) < self.most_states:
            scene, way = self.waiting.popleft()
            depth = way.length
            self._expand(scene, way)
        seconds = time.monotonic() - began
        return Explored(len(self.seen), self.decisions, depth, not self.waiting, seconds)

    def _add(self, scene: Scene, way: _Way) -> bool:
        key = self.world.key_of(scene)
        if key in self.seen:
            return False
        self.seen.add(key)
        self.waiting.append((scene, way))
        return True

    def _expand(self, scene: Scene, way: _Way) -> None:
        accepted: list[Step] = []
        for step in self.world.list_steps(scene):
            self.decisions += isinstance(step, Act)
            next_way = _Way(way, step, way.length + 1)
            try:
                taken = self.world.take(scene, step)
                accepted += [step] if taken.is_accepted else []
                flaw = find_broken_promises(self.world, scene, step, taken)
            except Exception as error:
                raise BrokenPromise(_tell(next_way, f"{type(error).__name__}: {error}")) from error
            if flaw is not None:
                raise BrokenPromise(_tell(next_way, flaw))
            if not taken.left_nothing:
                self._add(taken.scene, next_way)
        if is_stuck(self.world, scene, accepted):
            raise BrokenPromise(_tell(way, "nothing leads on from here, and it is no end"))


def _tell(way: _Way, flaw: str) -> str:
    steps = []
    one: _Way | None = way
    while one is not None:
        steps.append(str(one.step))
        one = one.before
    first, *rest = reversed(steps)
    numbered = [f"  {number}. {step}" for number, step in enumerate(rest, start=1)]
    return "\n".join([flaw, f"  {first}", *numbered])


def explore(world: SmallWorld, most_states: int) -> Explored:
    return Exploration(world, most_states).run()
