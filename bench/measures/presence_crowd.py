"""Thirty processes reserve, release and beat: no error, never two owners, everybody gets a turn.

They want the same two hundred files, so some are refused; a refusal is an act like any other.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, at_least, at_most, value
from bench.ground import Ground, opened
from moot.protocols.presence import STREAM

PROCESSES = 30


def measure(ground: Ground) -> Iterator[Figure]:
    names = [f"worker-{number:02d}" for number in range(PROCESSES)]
    place, seconds = ground.new("presence-crowd", names), ground.pick(20, 4)
    counts = _let_loose(place, names, seconds)
    what = f"{PROCESSES} processes reserve, release and beat for {seconds} s"
    done: list[int] = [count for count in counts if count >= 0]
    yield value(what, "acts/s", sum(done) / seconds)
    yield value(f"{what}, failed", "processes", counts.count(-1), target=at_most(0))
    share = min(done, default=0) / max(1, *done)
    yield value(f"{what}, smallest share / largest", "", share, target=at_least(1 / 3))
    yield value(f"{what}, two owners", "times", _count_two_owners(place), target=at_most(0))


def _let_loose(place: Path, names: list[str], seconds: float) -> list[int]:
    """Start all, wait until all are ready, let them go; how much each got done, -1 if it failed."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(_start(place, name, seconds)) for name in names]
        for one in crowd:
            assert one.stdout is not None
            one.stdout.readline()
        for one in crowd:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        return [_result(one, seconds) for one in crowd]


def _start(place: Path, name: str, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench.reserver", "crowd", str(place), name, str(seconds)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _result(one: subprocess.Popen[str], seconds: float) -> int:
    said, _ = one.communicate(timeout=seconds + 120)
    return int(said) if one.returncode == 0 else -1


def _count_two_owners(place: Path) -> int:
    """By the signed records, event by event: how often was a file given that another held?"""
    owners: dict[str, str] = {}
    times = 0
    with opened(place) as space, space.store.read() as view:
        for record in view.records(STREAM):
            body = record.body
            if body.type == "presence.scope_reserved":
                times += owners.get(body.data["key"], body.actor.id) != body.actor.id
                owners[body.data["key"]] = body.actor.id
            elif body.type == "presence.scope_released":
                owners.pop(body.data["key"], None)
    return times
