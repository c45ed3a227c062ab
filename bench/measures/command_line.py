"""What a shell user waits for: whole processes, against a Python that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, at_most, ratio
from bench.ground import Ground, keys_of
from bench.rounds import Measure, millis, percentiles, take_turns

_MOOT = "from moot.surfaces.cli.entry import main; main()"
LIMIT = at_most(7)


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("command-line")
    env = {**os.environ, "MOOT_KEYS": str(keys_of(place))}
    yield _figure(ground, "moot agent list --json", ["agent", "list", "--json"], place, env)
    yield _figure(ground, "moot --help", ["--help"], place, env)


def _figure(
    ground: Ground, name: str, words: list[str], place: Path, env: dict[str, str]
) -> Figure:
    rounds = take_turns(
        _process([sys.executable, "-c", _MOOT, *words], place, env),
        _process([sys.executable, "-c", "pass"], place, env),
        ground.pick(25, 15),
    )
    against, known = "python -c pass", percentiles(rounds.ours)
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=LIMIT, more=known)


def _process(command: list[str], place: Path, env: dict[str, str]) -> Measure:
    return millis(
        lambda: subprocess.run(command, cwd=place, env=env, capture_output=True, check=True)
    )
