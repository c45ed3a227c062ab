"""Eight processes send mail at once: how long each waits for its turn.

A median says little here: a process that just had the lock could take it again at once. What a
process feels is the slowest of a hundred.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, at_most, value
from bench.ground import Ground
from bench.letters import filled
from bench.rounds import percentiles

PROCESSES = 8
APART = 1_000_000  # so many messages each could send before it came to another's threads
LIMIT = at_most(30)


def measure(ground: Ground) -> Iterator[Figure]:
    place, seconds = filled(ground, "mail-crowd", 1_000), ground.pick(5, 2)
    latencies, fewest, most = _crowd(place, seconds)
    known = percentiles(latencies)
    more = {**known, "fairness": fewest / most, "max_ms": max(latencies)}
    rate = len(latencies) / seconds
    yield value(f"{PROCESSES} processes send mail at once", "messages/s", rate, more=more)
    yield value(f"{PROCESSES} senders, p99 latency", "ms", known["p99_ms"], target=LIMIT)


def _crowd(place: Path, seconds: int) -> tuple[list[float], int, int]:
    with ExitStack() as stack:
        crowd = [
            stack.enter_context(_start(place, number * APART, seconds))
            for number in range(1, PROCESSES + 1)
        ]
        for process in crowd:
            assert process.stdout is not None
            process.stdout.readline()
        for process in crowd:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        each: list[list[float]] = [
            json.loads(process.communicate(timeout=120)[0]) for process in crowd
        ]
    counts = [len(latencies) for latencies in each]
    return [one for latencies in each for one in latencies], min(counts), max(counts)


def _start(place: Path, first: int, seconds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench.letter_sender", place, str(first), str(seconds)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
