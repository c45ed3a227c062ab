"""One caller, one command after the other: each is signed, indexed and durable when it returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bench.figure import Figure, at_least, ratio
from bench.ground import Errands, Ground, executor, opened, record_size
from bench.raw import RawCommits
from bench.rounds import percentiles, rate, take_turns

COMMITS_A_ROUND = 50
# Until its log has reached full length and is written over, SQLite is slower: that is not measured.
WARM_UP = 1_200


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("one-caller")
    with opened(place) as space:
        append, latencies = _timed(executor(space, Errands()))
        append(WARM_UP)
        raw = RawCommits(ground.folder / "raw-commits.db", record_size(place))
        raw.many(WARM_UP)
        latencies.clear()
        ours = rate(append, COMMITS_A_ROUND)
        rounds = take_turns(ours, rate(raw.many, COMMITS_A_ROUND), ground.pick(120, 20))
        raw.close()
    yield ratio(
        "one caller, signed and durable",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="SQLite commits",
        target=at_least(0.5),
        more=percentiles(latencies),
    )


def _timed(one: Callable[[], None]) -> tuple[Callable[[int], None], list[float]]:
    latencies: list[float] = []

    def many(count: int) -> None:
        for _ in range(count):
            start = time.perf_counter()
            one()
            latencies.append((time.perf_counter() - start) * 1_000)

    return many, latencies
