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
from typing import NamedTuple

from bench.figure import Figure, at_least, at_most, ratio
from bench.ground import Ground, fill, opened
from bench.measures.exporting import export
from bench.raw import RawSignatures
from bench.rounds import rate, take_turns
from moot.verify import load_trust, verify_bundle

EVENTS = 20_000
STREAMS = [f"example/s{number}" for number in range(16)]


def measure(ground: Ground) -> Iterator[Figure]:
    short = _exported(ground, "verifying", EVENTS)
    long = _exported(ground, "verifying-long", 3 * EVENTS)
    yield _against_raw(ground, short)
    yield _two_jobs(ground, long)
    yield _memory(short, long)


class Exported(NamedTuple):
    bundle: Path
    trust: Path
    events: int


def _exported(ground: Ground, name: str, events: int) -> Exported:
    place, target = ground.new(name), ground.folder / f"{name}.moot"
    with opened(place) as space:
        fill(space, STREAMS, events)
        space.engine.checkpoint()
        export(space, target)
    return Exported(target, place / ".moot" / "trust.json", events)


def check(bundle: Path, trust: Path, jobs: int = 1) -> float:
    """Seconds; the verdict must be a good one, or the figure means nothing."""
    known = load_trust(trust)
    start = time.perf_counter()
    verdict = verify_bundle(bundle, known, jobs=jobs)
    spent = time.perf_counter() - start
    if not verdict:
        raise SystemExit(f"the bundle was not accepted: {verdict}")
    return spent


def _rate(made: Exported, jobs: int = 1) -> float:
    return made.events / check(made.bundle, made.trust, jobs)


def _against_raw(ground: Ground, made: Exported) -> Figure:
    size = made.bundle.stat().st_size // made.events * 3 // 4  # most of a line is base64
    raw = RawSignatures(size)
    rounds = take_turns(lambda: _rate(made), rate(raw.verify, 3_000), ground.pick(9, 3))
    return ratio(
        f"verification of {made.events:,} events",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="signatures checked",
        target=at_least(0.6),
    )


def _two_jobs(ground: Ground, made: Exported) -> Figure:
    rounds = take_turns(lambda: _rate(made, 2), lambda: _rate(made), ground.pick(7, 3))
    return ratio(
        f"verification of {made.events:,} by two processes",
        "events/s",
        rounds.ours,
        rounds.raw,
        against="by one",
        target=at_least(1.6),
    )


def _memory(short: Exported, long: Exported) -> Figure:
    return ratio(
        f"verification, peak memory at {long.events:,}",
        "MB",
        [_peak(long)],
        [_peak(short)],
        against=f"at {short.events:,}",
        target=at_most(1.1),
    )


def _peak(made: Exported) -> float:
    """Megabytes at most, in a process that does nothing else."""
    command = [sys.executable, "-m", "bench.checker", str(made.bundle), str(made.trust)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
