"""`moot serve`: from a commit to all who listen, its weight, and lists in a long record."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from tests.web.served import Listener, Visitor

from bench.figure import Figure, at_most, value
from bench.ground import Errands, Ground, executor, fill, opened
from bench.rounds import millis, percentiles

LISTENERS, SECONDS = 100, 30


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("page")
    begun = time.perf_counter()
    with served(place) as (process, visitor):
        visitor.enter()
        yield value(
            "start of the page's server",
            "ms",
            (time.perf_counter() - begun) * 1000,
            target=at_most(500),
        )
        visitor.get("/api/sessions")
        heard = _hear(place, visitor, ground.pick(20, 6))
        yield value(
            f"from a commit to each of {LISTENERS} listeners, p95",
            "ms",
            quantiles(heard, n=20, method="inclusive")[18],
            target=at_most(300),
            more=percentiles(heard),
        )
        idle = _processor_seconds(process.pid)
        rest = ground.pick(10, 3)
        time.sleep(rest)
        share = (_processor_seconds(process.pid) - idle) / rest * 100
        yield value("idle with nobody listening", "% of a core", share, target=at_most(1))
        yield value("memory of the server", "MB", _memory(process.pid), target=at_most(70))
    yield from _lists(ground)


def _hear(place: Path, visitor: Visitor, rounds: int) -> list[float]:
    """Milliseconds from the end of each commit to each listener's next frame."""
    arrivals: list[float] = []
    ready, told = threading.Semaphore(0), threading.Semaphore(0)

    def listen() -> None:
        with visitor.listen() as listener:
            _listen_to(listener, ready, told, arrivals, rounds)

    threads = [threading.Thread(target=listen, daemon=True) for _ in range(LISTENERS)]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire(timeout=SECONDS)
    waits: list[float] = []
    with opened(place) as space:
        append = executor(space, Errands())
        for _ in range(rounds):
            time.sleep(0.5)  # each is told at most four times a second
            arrivals.clear()
            append()
            committed = time.perf_counter()
            for _ in threads:
                told.acquire(timeout=SECONDS)
            waits += [(at - committed) * 1000 for at in arrivals]
    return waits


def _listen_to(
    listener: Listener,
    ready: threading.Semaphore,
    told: threading.Semaphore,
    arrivals: list[float],
    rounds: int,
) -> None:
    listener.frame()
    ready.release()
    for _ in range(rounds):
        listener.changed()
        arrivals.append(time.perf_counter())
        told.release()


def _lists(ground: Ground) -> Iterator[Figure]:
    """The same list in a short and in a long record."""
    times = {}
    sizes = (1_000, ground.pick(100_000, 10_000))
    for events in sizes:
        place = ground.new(f"page-{events}")
        with opened(place) as space:
            fill(space, [f"example/s{number}" for number in range(20)], events)
        with served(place) as (_, visitor):
            visitor.enter()
            visitor.get("/api/sessions")
            times[events] = _time_of_list(visitor)
    short, long = (times[events] for events in sizes)
    yield value(
        f"/api/sessions at {sizes[1]:,} events against {sizes[0]:,}",
        "times",
        long / short,
        target=at_most(1.3),
        more={"short_ms": short, "long_ms": long},
    )


def _time_of_list(visitor: Visitor) -> float:
    ask = millis(lambda: visitor.get("/api/sessions"))
    return median(ask() for _ in range(30))


@contextmanager
def served(place: Path) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", "serve"],
        cwd=place,
        env={**os.environ, "MOOT_KEYS": str(place / "keys")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, Visitor(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)


def _memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
