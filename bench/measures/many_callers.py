"""A server's case: 64 coroutines wait on one writer thread, each on a stream of its own.

Everything production does is included: index rows, texts, snapshots, a checkpoint every 1,000
events. The raw limit is the rate at which libsodium alone can sign messages of that size.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from bench.figure import Figure, at_least, at_most, ratio, value
from bench.ground import STREAM, Errands, Ground, executor, opened, record_size
from bench.raw import RawSignatures
from bench.rounds import percentiles, rate, take_turns
from moot.engine.writer import Writer

CALLERS = 64


def measure(ground: Ground) -> Iterator[Figure]:
    agents = [f"caller-{number:02d}" for number in range(CALLERS)]
    place = ground.new("many-callers", agents)
    with opened(place) as space:
        sample = executor(space, Errands(STREAM, agents[0]))
        for _ in range(10):
            sample()
        raw = RawSignatures(record_size(place))
        with Writer(space.engine) as writer:
            crowd = Crowd(writer, [Errands(f"example/{agent}", agent) for agent in agents])
            crowd.run(0.5)
            crowd.latencies.clear()
            span = 1.0 if not ground.quick else 0.5
            rounds = take_turns(lambda: crowd.run(span), rate(raw.sign, 10_000), ground.pick(10, 4))
    known = percentiles(crowd.latencies)
    yield ratio(
        f"{CALLERS} callers on {CALLERS} streams",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="signatures",
        target=at_least(0.33),
        more=known,
    )
    yield value(f"{CALLERS} callers, p99 latency", "ms", known["p99_ms"], target=at_most(15))


class Crowd:
    """All callers at once, each with one command under way at any time."""

    def __init__(self, writer: Writer, errands: list[Errands]) -> None:
        self._writer = writer
        self._errands = errands
        self.latencies: list[float] = []

    def run(self, seconds: float) -> float:
        """Events a second while it lasts."""
        before = len(self.latencies)
        start = time.perf_counter()
        asyncio.run(self._all(start + seconds))
        return (len(self.latencies) - before) / (time.perf_counter() - start)

    async def _all(self, end: float) -> None:
        await asyncio.gather(*(self._caller(errands, end) for errands in self._errands))

    async def _caller(self, errands: Errands, end: float) -> None:
        while (start := time.perf_counter()) < end:
            errands.heard(await self._writer.execute(errands.job()))
            self.latencies.append((time.perf_counter() - start) * 1_000)
