"""Our own work in a turn of a debate, early and late: everything but the participant.

Ten participants with replies laid down beforehand argue in one process until a thousand entries
stand there, each signed, recorded and made durable; from one question to the next it is all ours.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec

from bench.debates import beginning, draft, rules
from bench.figure import Figure, Target, at_most, value
from bench.ground import Ground, opened
from moot.agents.participant import Nature, read_spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import NoWatcher
from moot.api.debates import session
from moot.api.runs.debate import run_debate
from moot.core.machine import Due
from moot.protocols.debate.model import Rules, TurnOrder
from moot.workspace.workspace import Workspace

AGENTS = 10
LIMIT = at_most(5)
Turn = tuple[float, float]


class Times(NoWatcher):
    """When each question was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, float]] = []

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        del due, nature, attempt
        self.asked.append((time.perf_counter(), time.process_time()))


def measure(ground: Ground) -> Iterator[Figure]:
    rounds = ground.pick(100, 20)
    for name, recorded in (("recorded", True), ("on a bare file", False)):
        turns = _run(ground, rounds, recorded)
        yield _figure(f"debate turn, {name}, at 10 turns", turns[5:15], LIMIT)
        yield _figure(f"debate turn, {name}, at {len(turns) + 1:,} turns", turns[-20:])


def _figure(name: str, turns: list[Turn], limit: Target | None = None) -> Figure:
    """The time that went by, the disk's included; beside it how much of it the processor worked."""
    spent, worked = (median(side) for side in zip(*turns, strict=True))
    return value(name, "ms", spent, target=limit, more={"processor_ms": worked})


def _run(ground: Ground, rounds: int, recorded: bool) -> list[Turn]:
    """How long each turn took, in milliseconds, and how long the processor was busy with it."""
    of = msgspec.structs.replace(rules(AGENTS, rounds, 1), turn_order=TurnOrder.ROUND_ROBIN)
    place = ground.new(f"turns-{recorded}", of.agents)
    with opened(place) as space:
        return _turns(place, of, space if recorded else None, space)


def _turns(place: Path, of: Rules, space: Workspace | None, known: Workspace) -> list[Turn]:
    clock, times = known.engine.clock, Times()
    file = session.new(place / "long.md", beginning(of, now=clock()), space)
    specs = {}
    for agent in of.agents:
        replies = [_reply(agent, number) for number in range(of.max_rounds)]
        (place / f"{agent}.json").write_text(json.dumps(replies))
        specs[agent] = read_spec(f"script:{agent}.json")
    run_debate(file, specs, RunSurroundings(place, {}), clock, space, watch=times)
    return [
        ((after[0] - before[0]) * 1_000, (after[1] - before[1]) * 1_000)
        for before, after in pairwise(times.asked)
    ]


def _reply(agent: str, number: int) -> dict[str, object]:
    """Something new each time: a participant that repeats itself is stopped."""
    said = draft(agent, number)
    words = " ".join(f"{number}-{place}" for place in range(100))
    return {
        "stance": said.stance, "confidence": 0.6, "summary": said.summary,
        "body": f"{said.body}\n\n{words}",
    }  # fmt: skip
