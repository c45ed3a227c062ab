"""What an agent waits for before each edit: the hook of Claude, against a Python that is idle.

Directly (`moot hook claude`), in the user's key folder and in the one that `moot run` lends; and by
the thin client, which asks that run, or goes on alone where there is none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

from bench.crowd import crowded
from bench.figure import Figure, Target, at_most, ratio
from bench.ground import AGENT, Ground, keys_of
from bench.lender import lender
from bench.rounds import Measure, millis, take_turns
from moot.coding_tools.hook_command import hook_words

DIRECT = [sys.executable, "-c", "from moot.surfaces.cli.entry import main; main()", "hook"]
THIN = list(hook_words("claude"))[:-1]
DIRECT_LIMIT, THIN_LIMIT = at_most(7), at_most(3)
AS_STARTED = "hook as a tool starts it, with nobody beside it"
FREE, HELD, ENDED = "a free file is reserved", "a file one holds already", "a call that has ended"


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("hook")
    users = {"MOOT_KEYS": str(keys_of(place)), "MOOT_AGENT": AGENT}
    yield from _all(ground, place, "hook", DIRECT, users, DIRECT_LIMIT)
    yield free_file_figure(ground, place, f"{AS_STARTED}, {FREE}", THIN, users, DIRECT_LIMIT)
    with lender(place, AGENT) as lent:
        yield from _all(ground, place, "hook in its own key folder", DIRECT, lent, DIRECT_LIMIT)
        yield from _all(ground, place, "thin hook", THIN, lent, THIN_LIMIT)
    place, crowd = crowded(ground, "hook-crowd")
    with lender(place, AGENT) as lent:
        yield free_file_figure(ground, place, f"hook, {crowd}", DIRECT, lent, DIRECT_LIMIT)
        yield free_file_figure(ground, place, f"thin hook, {crowd}", THIN, lent, THIN_LIMIT)


def _all(
    ground: Ground,
    place: Path,
    what: str,
    words: list[str],
    settings: Mapping[str, str],
    limit: Target,
) -> Iterator[Figure]:
    yield free_file_figure(ground, place, f"{what}, {FREE}", words, settings, limit)
    for name, event in ((HELD, "PreToolUse"), (ENDED, "PostToolUse")):
        yield _figure(
            ground, f"{what}, {name}", place, lambda: "f0.txt", words, settings, limit, event
        )


_fresh = count()


def free_file_figure(
    ground: Ground,
    place: Path,
    name: str,
    words: list[str],
    settings: Mapping[str, str],
    limit: Target,
) -> Figure:
    return _figure(ground, name, place, lambda: f"f{next(_fresh)}.txt", words, settings, limit)


def _figure(
    ground: Ground,
    name: str,
    place: Path,
    file: Callable[[], str],
    words: list[str],
    settings: Mapping[str, str],
    limit: Target,
    event: str = "PreToolUse",
) -> Figure:
    env = {**os.environ, **settings}
    rounds = take_turns(
        _process([*words, "claude"], place, env, file, event),
        _process([sys.executable, "-c", "pass"], place, env, file, event),
        ground.pick(25, 15),
    )
    against = "python -c pass"
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=limit)


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
