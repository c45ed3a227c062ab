"""What is measured while it runs: a sample every few seconds, from outside."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import NamedTuple

PAGE_KB = 4


class Sample(NamedTuple):
    """At `minutes` since the beginning: the largest worker's memory, the ledger's bytes for each
    event, and the median latency of what was acknowledged since the sample before."""

    minutes: float
    memory_mb: float
    bytes_per_event: float
    latency_ms: float


class Watch:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.began = time.monotonic()
        self.samples: list[Sample] = []

    def minutes(self) -> float:
        return (time.monotonic() - self.began) / 60

    def look(self, pids: list[int], latencies: list[float], events: int) -> None:
        size = sum(file.stat().st_size for file in self.home.glob("ledger.db*"))
        memory = max((read_memory_mb(pid) for pid in pids), default=0.0)
        latency = statistics.median(latencies) if latencies else 0.0
        sample = Sample(self.minutes(), memory, size / max(events, 1), latency)
        self.samples.append(sample)

    def tell_growth(self) -> dict[str, float]:
        """The last quarter beside the second one, as a factor; 1 is flat."""
        quarter = len(self.samples) // 4
        if quarter < 1:
            return {}
        early, late = self.samples[quarter : 2 * quarter], self.samples[-quarter:]
        return {
            name: _median(late, name) / max(_median(early, name), 0.001)
            for name in ("memory_mb", "bytes_per_event", "latency_ms")
        }


def _median(samples: list[Sample], name: str) -> float:
    return float(statistics.median(getattr(one, name) for one in samples))


def read_memory_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * PAGE_KB / 1024
