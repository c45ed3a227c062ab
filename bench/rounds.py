"""Taking turns: what is compared is measured side by side, so that a busy minute hits both."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import quantiles
from typing import NamedTuple

Measure = Callable[[], float]


class Rounds(NamedTuple):
    """The results of both sides, round by round."""

    ours: list[float]
    raw: list[float]


def take_turns(ours: Measure, raw: Measure, rounds: int) -> Rounds:
    """Both sides once a round; who begins alternates, so that a drift favours neither."""
    mine: list[float] = []
    theirs: list[float] = []
    for number in range(rounds):
        if number % 2:
            mine.append(ours())
            theirs.append(raw())
        else:
            theirs.append(raw())
            mine.append(ours())
    return Rounds(mine, theirs)


def rate(work: Callable[[int], object], count: int) -> Measure:
    """How many a second, when `work(count)` does `count` of them."""

    def measure() -> float:
        start = time.perf_counter()
        work(count)
        return count / (time.perf_counter() - start)

    return measure


def millis(work: Callable[[], object], times: int = 1) -> Measure:
    """How long each takes, in milliseconds, over `times` of them."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(times):
            work()
        return (time.perf_counter() - start) * 1_000 / times

    return measure


def percentiles(latencies: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile of latencies in milliseconds."""
    if len(latencies) < 2:
        return {}
    parts = quantiles(latencies, n=100, method="inclusive")
    return {"p50_ms": parts[49], "p99_ms": parts[98]}
