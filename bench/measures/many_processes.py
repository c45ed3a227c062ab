"""Sixteen processes, one stream: nobody gets an error, and everybody gets a turn.

The raw limit is the same crowd doing single-row SQLite commits. Fairness is the smallest share
of a process divided by the largest; SQLite's lock has no queue, so raw commits show what is usual.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, at_most, ratio, value
from bench.ground import STREAM, Errands, Ground, executor, opened, record_size

PROCESSES = 16


def measure(ground: Ground) -> Iterator[Figure]:
    agents = [f"writer-{number:02d}" for number in range(PROCESSES)]
    place = ground.new("many-processes", agents)
    with opened(place) as space:
        sample = executor(space, Errands(STREAM, agents[0]))
        for _ in range(10):
            sample()
    size, seconds = str(record_size(place)), "4" if not ground.quick else "1.5"
    ours: list[list[int]] = []
    raw: list[list[int]] = []
    for number in range(ground.pick(3, 1)):
        file = ground.folder / f"raw-crowd-{number}.db"
        raw.append(crowd([["raw", str(file), size, seconds]] * PROCESSES))
        ours.append(crowd([["ours", str(place), agent, seconds] for agent in agents]))
    yield ratio(
        f"{PROCESSES} processes on one stream",
        "events/s",
        [sum(counts) / float(seconds) for counts in ours],
        [sum(counts) / float(seconds) for counts in raw],
        against="SQLite commits",
        more={"fairness": fairness(ours), "raw_fairness": fairness(raw)},
        note="fairness: smallest share / largest",
    )
    failed = sum(counts.count(-1) for counts in ours)
    yield value(f"{PROCESSES} processes, failed", "processes", failed, target=at_most(0))


def fairness(runs: list[list[int]]) -> float:
    """Over all rounds: a process may be unlucky once."""
    totals: list[int] = [sum(counts) for counts in zip(*runs, strict=True)]
    return min(totals) / max(totals)


def crowd(arguments: list[list[str]]) -> list[int]:
    """Start all, wait until all are ready, let them go; how much each got done, -1 if it failed."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(_start(words)) for words in arguments]
        for one in crowd:
            assert one.stdout is not None
            one.stdout.readline()
        for one in crowd:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        return [_result(one) for one in crowd]


def _start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench.appender", *words],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _result(one: subprocess.Popen[str]) -> int:
    said, _ = one.communicate()
    return int(said) if one.returncode == 0 else -1
