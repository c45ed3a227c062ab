"""Checking an exported bundle: every signature, every hash, every field, the checkpoint.

The raw limit is libsodium verifying as many signatures on one core. Memory is the peak of a
process that checks one bundle, so that a longer bundle must not cost more.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, at_least, at_most, ratio
from bench.ground import Ground, fill, opened
from bench.measures.exporting import export
from bench.raw import RawSignatures
from bench.rounds import rate, take_turns
from moot.verify import load_trust, verify_bundle

STREAMS = [f"example/s{number}" for number in range(16)]


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("verifying")
    short, long = ground.folder / "short.moot", ground.folder / "long.moot"
    events = 20_000
    with opened(place) as space:
        fill(space, STREAMS, events)
        space.engine.checkpoint()
        export(space, short)
    trust = place / ".moot" / "trust.json"
    yield _against_raw(ground, short, trust, events)
    yield _two_jobs(ground, short, trust, events)
    place = ground.new("verifying-long")
    with opened(place) as space:
        fill(space, STREAMS, 3 * events)
        space.engine.checkpoint()
        export(space, long)
    yield _memory(short, trust, long, place / ".moot" / "trust.json", events)


def check(path: Path, trust: Path, jobs: int = 1) -> float:
    """Seconds; the verdict must be a good one, or the figure means nothing."""
    known = load_trust(trust)
    start = time.perf_counter()
    verdict = verify_bundle(path, known, jobs=jobs)
    spent = time.perf_counter() - start
    if not verdict:
        raise SystemExit(f"the bundle was not accepted: {verdict}")
    return spent


def _against_raw(ground: Ground, path: Path, trust: Path, events: int) -> Figure:
    size = path.stat().st_size // events * 3 // 4  # most of a line is base64
    raw = RawSignatures(size)
    rounds = take_turns(
        lambda: events / check(path, trust), rate(raw.verify, 3_000), ground.pick(7, 3)
    )
    return ratio(
        f"verification of {events:,} events",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="signatures checked",
        target=at_least(0.6),
    )


def _two_jobs(ground: Ground, path: Path, trust: Path, events: int) -> Figure:
    rounds = take_turns(
        lambda: events / check(path, trust, 2),
        lambda: events / check(path, trust),
        ground.pick(7, 3),
    )
    return ratio(
        "verification by two processes",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="by one",
        target=at_least(1.6),
    )


def _memory(short: Path, trust: Path, long: Path, other: Path, events: int) -> Figure:
    peaks = [_peak(long, other)], [_peak(short, trust)]
    return ratio(
        f"verification, peak memory at {3 * events:,} events",
        "MB",
        *peaks,
        against=f"at {events:,}",
        target=at_most(1.1),
    )


def _peak(path: Path, trust: Path) -> float:
    """Megabytes at most, in a process that does nothing else."""
    command = [sys.executable, "-m", "bench.checker", str(path), str(trust)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
