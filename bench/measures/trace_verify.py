"""Checking an exported trace: every byte of it, then every step of it by its own rules.

The raw limit is libsodium verifying as many signatures on one core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.figure import Figure, at_least, ratio
from bench.ground import Ground, opened
from bench.measures.exporting import export
from bench.raw import RawSignatures
from bench.rounds import rate, take_turns
from bench.traces import STREAM, begun
from moot.api.traces.inspection import choose_jobs, inspect_file
from moot.keys.folder import KeyFolder
from moot.protocols.trace.model import AuditVerdict
from moot.workspace.integrity_check import CheckOptions


def measure(ground: Ground) -> Iterator[Figure]:
    length = ground.pick(20_000, 10_000)
    place, target = begun(ground, "verified-trace", length), ground.folder / "trace.moot"
    with opened(place) as space:
        space.engine.checkpoint()
        export(space, target)
        with space.store.read() as view:
            head = view.head(STREAM)
    assert head is not None
    events = head.seq + 1
    raw = RawSignatures(target.stat().st_size // events * 3 // 4)
    for jobs, how_many, target_ratio in (
        (1, "by one process", 0.5),
        (choose_jobs(target), "by as many as the command takes", 0.6),
    ):
        how = CheckOptions(KeyFolder(place / "nobody"), place / ".moot" / "trust.json", jobs)
        rounds = take_turns(
            partial(_events_a_second, events, target, how),
            rate(raw.verify, 3_000),
            ground.pick(9, 3),
        )
        yield ratio(
            f"verification of a trace of {events:,}, steps and audit included, {how_many}",
            "events/s",
            rounds.ours,
            rounds.raw,
            against="signatures checked by one",
            target=at_least(target_ratio),
        )


def _events_a_second(events: int, target: Path, how: CheckOptions) -> float:
    return events / _seconds(target, how)


def _seconds(target: Path, how: CheckOptions) -> float:
    """The trace must be in order, or the figure means nothing."""
    start = time.perf_counter()
    found = inspect_file(target, how)
    spent = time.perf_counter() - start
    failed = [report for report in found.reports if report.verdict is AuditVerdict.FAIL]
    if found.verdict.verdict != "valid" or failed or not found.reports:
        raise SystemExit(f"the trace was not accepted: {found.verdict} {failed}")
    return spent
