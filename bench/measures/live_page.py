"""`moot serve`: from a commit to all who listen, its weight, and lists in a long record."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles

from tests.web.server import Listener, Visitor

from bench.figure import Figure, at_most, value
from bench.ground import Errands, Ground, executor, fill, keys_of, opened
from bench.measures.page_in_browser import see_in_browser
from bench.rounds import millis, percentiles

LISTENERS, SECONDS, OK = 100, 30, 200


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("page")
    starts = [_time_a_start(place) for _ in range(ground.pick(5, 3))]
    best = min(starts)
    yield value("start of the page's server", "ms", best, target=at_most(500))
    with served(place) as (process, visitor):
        visitor.enter()
        visitor.get("/api/sessions")
        heard = _hear(place, visitor, ground.pick(20, 6))
        yield value(
            f"from a commit to each of {LISTENERS} listeners, p95",
            "ms",
            quantiles(heard, n=20, method="inclusive")[18],
            target=at_most(300),
            more=percentiles(heard),
        )
        yield from see_in_browser(place, visitor, ground.pick(20, 6))
        rest = ground.pick(20, 5)
        share = _idle_share(process.pid, rest)
        yield value("idle with nobody listening", "% of a core", share, target=at_most(1))
        with _idle_listeners(visitor):
            share = _idle_share(process.pid, rest)
        yield value(f"idle with {LISTENERS} listeners", "% of a core", share, target=at_most(1))
        yield value("memory of the server", "MB", _memory(process.pid), target=at_most(70))
    yield from _lists(ground)


def _time_a_start(place: Path) -> float:
    """Milliseconds from the command to the first answer."""
    begun = time.perf_counter()
    with served(place) as (_, visitor):
        visitor.enter()
        return (time.perf_counter() - begun) * 1000


def _idle_share(pid: int, rest: float) -> float:
    before, begun = _processor_seconds(pid), time.perf_counter()
    time.sleep(rest)
    return (_processor_seconds(pid) - before) / (time.perf_counter() - begun) * 100


@contextmanager
def _idle_listeners(visitor: Visitor) -> Iterator[None]:
    """A hundred who listen while nothing happens."""
    with ExitStack() as stack:
        for _ in range(LISTENERS):
            stack.enter_context(visitor.listen()).frame()
        yield


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


LISTS = (
    *("/api/sessions", "/api/v1/status", "/api/v1/agenda", "/api/v1/agents", "/api/v1/scopes"),
    *("/api/v1/mail?limit=50", "/api/v1/decisions", "/api/v1/log", "/api/v1/search?q=nothing"),
    "/api/v1/log?stream=example/s1&limit=50",
)


def _lists(ground: Ground) -> Iterator[Figure]:
    """Each list in a short and in a long record, asked for in turns, so that both see the same
    machine."""
    sizes = (1_000, ground.pick(100_000, 10_000))
    with ExitStack() as stack:
        visitors = []
        for events in sizes:
            place = ground.new(f"page-{events}")
            with opened(place) as space:
                fill(space, [f"example/s{number}" for number in range(20)], events)
            visitors.append(stack.enter_context(served(place))[1])
        for visitor in visitors:
            visitor.enter()
        for path in LISTS:
            short, long = _times_of_list(visitors, path, ground.pick(60, 15))
            yield value(
                f"{path.partition('?')[0]}{' of one' if 'stream' in path else ''} "
                f"at {sizes[1]:,} events against {sizes[0]:,}",
                "times",
                long / short,
                target=at_most(1.3),
                more={"short_ms": short, "long_ms": long},
            )


def _times_of_list(visitors: list[Visitor], path: str, rounds: int) -> list[float]:
    """The best for each: what others on this machine take is not ours.

    An answer is remembered for a second under its address, so each address is used once: `&` more
    says the same.
    """
    times: list[list[float]] = [[] for _ in visitors]
    mark = "" if "?" in path else "?"
    for number in range(rounds):
        for visitor, own in zip(visitors, times, strict=True):
            ask = partial(_get, visitor, f"{path}{mark}{'&' * number}")
            own.append(millis(ask)())
    return [min(own) for own in times]


def _get(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == OK, path


@contextmanager
def served(place: Path) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", "serve"],
        cwd=place,
        env={**os.environ, "MOOT_KEYS": str(keys_of(place))},
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
