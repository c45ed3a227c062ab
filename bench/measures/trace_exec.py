"""What `trace exec` adds around a command: two commits, four stored files, the lock, the notes.

The raw limit is the same command started by Python alone. The comparison of what was written is
measured apart: it depends on the project, not on us.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.figure import Figure, at_most, value
from bench.ground import Ground, opened
from moot.api.traces import running, tracing
from moot.core.machine import Command
from moot.protocols.trace import commands as ask
from moot.protocols.trace.model import Role
from moot.system import footprint
from moot.system.footprint import Footprint
from moot.workspace.workspace import Workspace

AGENTS = dict(zip(Role, ("amber-otter", "teal-crane", "coral-finch", "slate-heron"), strict=True))
COMMAND = ("true",)
LIMIT = at_most(30)


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("executing", list(AGENTS.values()))
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    rounds = ground.pick(60, 20)
    with opened(place) as space:
        shop = _Shop(space, place)
        with_looking, _ = shop.rounds(rounds)
        yield value("trace exec, comparison of writes included", "ms added", with_looking)
        look, footprint.take_footprint = footprint.take_footprint, _look_at_nothing
        try:
            without, more = shop.rounds(rounds)
        finally:
            footprint.take_footprint = look
    yield value(
        "trace exec, our own work around the command", "ms added", without, target=LIMIT, more=more
    )


def _look_at_nothing(root: Path, scopes: Iterable[str]) -> Footprint:
    del root, scopes
    return Footprint({})


class _Shop:
    def __init__(self, space: Workspace, root: Path) -> None:
        self.space = space
        self.root = root
        self.stream = tracing.open_trace(space, "measure", AGENTS).stream
        made = self._ask(
            Role.PLANNER,
            ask.CreateProposal(
                objective="measure",
                required_tools=("true",),
                assumptions=("none",),
                expected_evidence=("none",),
            ),
        )
        self.proposal = made.proposal_id
        approved = ask.ReviewProposal(proposal_id=self.proposal, status="approved", rationale="ok")
        self._ask(Role.CRITIC, approved)

    def _ask(self, role: Role, command: Command) -> Any:
        outcome = self.space.engine.execute(self.stream, command, AGENTS[role])
        return outcome.recorded[-1].event

    def rounds(self, count: int) -> tuple[float, dict[str, float]]:
        """Milliseconds that ours takes longer than the bare command, side by side."""
        added = []
        for _ in range(count):
            intent = self._ask(
                Role.EXECUTOR,
                ask.SignIntent(
                    proposal_id=self.proposal,
                    tool="true",
                    command=COMMAND,
                    risk="low",
                    justification="measure",
                ),
            )
            bare = _millis(self._bare)
            ours = _millis(partial(self._run, intent.intent_id))
            added.append(ours - bare)
        added.sort()
        return median(added), {"p95_ms": added[int(len(added) * 0.95)]}

    def _run(self, intent: str) -> None:
        env = dict(os.environ)
        done = running.execute(
            self.space, self.stream, intent, AGENTS[Role.EXECUTOR], env, self.root
        )
        assert not done.failed, done

    def _bare(self) -> None:
        subprocess.run(
            COMMAND, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )


def _millis(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000
