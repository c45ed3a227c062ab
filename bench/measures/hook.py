"""What an agent waits for before each edit: `moot hook claude`, against a Python that is idle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from bench.figure import Figure, at_most, ratio
from bench.ground import AGENT, Ground
from bench.rounds import Measure, millis, take_turns

_MOOT = "from moot.surfaces.cli.entry import main; main()"
LIMIT = at_most(8)


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("hook")
    fresh = count()
    yield _figure(ground, "hook, a free file is reserved", place, lambda: f"f{next(fresh)}.txt")
    yield _figure(ground, "hook, a file one holds already", place, lambda: "f0.txt")
    yield _figure(ground, "hook, a call that has ended", place, lambda: "f0.txt", "PostToolUse")


def _figure(
    ground: Ground, name: str, place: Path, file: Callable[[], str], event: str = "PreToolUse"
) -> Figure:
    env = {**os.environ, "MOOT_KEYS": str(place / "keys"), "MOOT_AGENT": AGENT}
    rounds = take_turns(
        _process([sys.executable, "-c", _MOOT, "hook", "claude"], place, env, file, event),
        _process([sys.executable, "-c", "pass"], place, env, file, event),
        ground.pick(25, 15),
    )
    against = "python -c pass"
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=LIMIT)


def _process(
    command: list[str], place: Path, env: dict[str, str], file: Callable[[], str], event: str
) -> Measure:
    def once() -> None:
        said = _call(place, file(), event)
        done = subprocess.run(
            command, input=said, cwd=place, env=env, capture_output=True, check=True
        )
        assert not done.stdout, done.stdout

    return millis(once)


def _call(place: Path, file: str, event: str) -> bytes:
    said = {
        "session_id": "bench",
        "cwd": str(place),
        "hook_event_name": event,
        "tool_name": "Write",
        "tool_input": {"file_path": str(place / file), "content": "x"},
    }
    return json.dumps(said).encode()
