"""Does a long history make anything slower? One command, and opening, at both lengths.

Warm: a process that has the state. Cold: a new process that opens the workspace and executes one
command, timed inside (from the imports done to the commit) and outside (the whole process).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, at_most, ratio
from bench.ground import STREAM, Errands, Ground, executor, fill, opened
from bench.rounds import Measure, Rounds, millis, percentiles, take_turns

SHORT = 1_000
LIMIT = at_most(1.3)
COMMANDS_A_ROUND = 20


def measure(ground: Ground) -> Iterator[Figure]:
    length = ground.pick(1_000_000, 100_000)
    short, long = ground.new("short-history"), ground.new("long-history")
    for place, events in ((short, SHORT), (long, length)):
        with opened(place) as space:
            fill(space, [STREAM], events)
    name = f"{length:,} events"
    yield _figure(f"execute at {name}, warm", _warm(ground, long, short))
    yield _figure(f"open a workspace at {name}", _opening(ground, long, short))
    inside, whole = _cold(ground, long, short)
    yield _figure(f"execute at {name}, cold", inside)
    yield _figure(f"execute at {name}, whole process", whole)


def _figure(name: str, rounds: Rounds) -> Figure:
    against, known = f"at {SHORT:,}", percentiles(rounds.ours)
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=LIMIT, more=known)


def _warm(ground: Ground, long: Path, short: Path) -> Rounds:
    with opened(long) as one, opened(short) as other:
        ours = millis(executor(one, Errands()), COMMANDS_A_ROUND)
        raw = millis(executor(other, Errands()), COMMANDS_A_ROUND)
        take_turns(ours, raw, 3)
        return take_turns(ours, raw, ground.pick(40, 15))


def _opening(ground: Ground, long: Path, short: Path) -> Rounds:
    ours, raw = millis(lambda: opened(long).close()), millis(lambda: opened(short).close())
    return take_turns(ours, raw, ground.pick(41, 15))


def _cold(ground: Ground, long: Path, short: Path) -> tuple[Rounds, Rounds]:
    inside: tuple[list[float], list[float]] = ([], [])
    sides = [_process(place, found) for place, found in zip((long, short), inside, strict=True)]
    whole = take_turns(sides[0], sides[1], ground.pick(21, 9))
    return Rounds(*inside), whole


def _process(place: Path, inside: list[float]) -> Measure:
    command = [sys.executable, "-m", "bench.newcomer", str(place)]
    folder = Path(__file__).parents[2]

    def run() -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        inside.append(float(done.stdout))

    return millis(run)
