"""Does a crowd make presence slower? `moot status`, and reserving: warm and cold, at both sizes.

Warm: a process that has the state. Cold: a new process, as its user waits for it; and, without a
target, only from opening the workspace to what was reserved: there reading the snapshots shows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench.crowd import gathered
from bench.figure import Figure, Target, at_most, ratio
from bench.ground import AGENT, Ground, keys_of
from bench.reserver import acting
from bench.rounds import Measure, Rounds, millis, percentiles, take_turns
from moot.api.presence import scopes
from moot.api.session import Session

_STATUS = "from moot.surfaces.cli.entry import main; main()", "status"
FEW = 10
STATUS_LIMIT, GROWTH_LIMIT = at_most(10), at_most(1.3)
RESERVATIONS_A_ROUND = 20


def measure(ground: Ground) -> Iterator[Figure]:
    agents, held = ground.pick(5_000, 500), ground.pick(10_000, 1_000)
    many = gathered(ground, "presence-many", agents, held)
    few = gathered(ground, "presence-few", FEW + 1, FEW)
    yield _status(ground, many, f"moot status among {held:,} reservations, {agents:,} agents")
    yield _growth(f"reserve among {held:,}, warm", _warm(ground, many, few))
    inside, whole = _cold(ground, many, few)
    yield _growth(f"reserve among {held:,}, cold: a new process", whole)
    yield _growth(f"reserve among {held:,}, cold, without Python's own start", inside, None)


def _status(ground: Ground, place: Path, name: str) -> Figure:
    env = {**os.environ, "MOOT_KEYS": str(keys_of(place))}
    rounds = take_turns(
        _command([sys.executable, "-c", *_STATUS], place, env),
        _command([sys.executable, "-c", "pass"], place, env),
        ground.pick(7, 5),
    )
    against, known = "python -c pass", percentiles(rounds.ours)
    limit = STATUS_LIMIT
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=limit, more=known)


def _command(words: list[str], place: Path, env: dict[str, str]) -> Measure:
    return millis(
        lambda: subprocess.run(words, cwd=place, env=env, capture_output=True, check=True)
    )


def _growth(name: str, rounds: Rounds, limit: Target | None = GROWTH_LIMIT) -> Figure:
    against, known = f"among {FEW}", percentiles(rounds.ours)
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=limit, more=known)


def _warm(ground: Ground, many: Path, few: Path) -> Rounds:
    with acting(many, AGENT) as crowd, acting(few, AGENT) as handful:
        take_turns(_reserving(crowd), _reserving(handful), 3)
        return take_turns(_reserving(crowd), _reserving(handful), ground.pick(40, 15))


_fresh = count()


def _reserving(session: Session) -> Measure:
    """The mean of some; they are given back outside the time taken, so that the crowd stays."""

    def measure() -> float:
        files = [f"bench/f{next(_fresh)}.py" for _ in range(RESERVATIONS_A_ROUND)]
        start = time.perf_counter()
        for file in files:
            scopes.reserve(session, [file])
        spent = time.perf_counter() - start
        scopes.release(session, files)
        return spent * 1_000 / len(files)

    return measure


def _cold(ground: Ground, many: Path, few: Path) -> tuple[Rounds, Rounds]:
    inside: tuple[list[float], list[float]] = ([], [])
    sides = [_process(place, found) for place, found in zip((many, few), inside, strict=True)]
    whole = take_turns(sides[0], sides[1], ground.pick(21, 9))
    return Rounds(*inside), whole


def _process(place: Path, inside: list[float]) -> Measure:
    command = [sys.executable, "-m", "bench.reserver", "once", str(place), AGENT]
    folder = Path(__file__).parents[2]

    def run() -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        inside.append(float(done.stdout))

    return millis(run)
