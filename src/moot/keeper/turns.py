"""Whose turn it is on a stream: lines that were overtaken, or write a file as well, line up.

For fairness alone: what is recorded is safe without it. Among those who wait the next is of the
machine that had its turn longest ago, so that one with many lines, or one that asks again and
again, keeps nobody out. A turn is short and cannot be made longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

TURN_SECONDS: Final = 0.5
WAIT_SECONDS: Final = 10.0


class _Waiting:
    """Somebody who waits for streams; `number` is the order in which they came."""

    def __init__(self, number: int, who: object, machine: int, streams: Sequence[str]) -> None:
        self.number = number
        self.who = who
        self.machine = machine
        self.streams = frozenset(streams)


class Turns:
    """Threads may share it. `who` is a line, `machine` the number of whose line it is."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[str, tuple[object, float]] = {}  # stream -> who, until when
        self._waiting: list[_Waiting] = []
        self._number = 0
        self._served: dict[int, int] = {}  # machine -> when it had its last turn, by number

    def take(self, who: object, machine: int, streams: Sequence[str]) -> None:
        """Wait for one's turn; then nobody else moves these streams for a moment."""
        with self._lined_up(who, machine, streams):
            until = time.monotonic() + TURN_SECONDS
            for stream in streams:
                self._held.setdefault(stream, (who, until))

    def wait(self, who: object, machine: int, streams: Sequence[str]) -> None:
        """Wait until nobody else has them, and nobody who waits comes before."""
        with self._changed:
            if not self._held:
                return
        with self._lined_up(who, machine, streams):
            pass

    def release(self, who: object) -> None:
        with self._changed:
            if any(holder is who for holder, _ in self._held.values()):
                self._held = {name: held for name, held in self._held.items() if held[0] is not who}
                self._changed.notify_all()

    @contextmanager
    def _lined_up(self, who: object, machine: int, streams: Sequence[str]) -> Iterator[None]:
        with self._changed:
            self._number += 1
            mine = _Waiting(self._number, who, machine, streams)
            self._waiting.append(mine)
            try:
                end = time.monotonic() + WAIT_SECONDS
                while (left := self._seconds_left(mine)) > 0 and time.monotonic() < end:
                    self._changed.wait(left)
                self._number += 1
                self._served[machine] = self._number
                yield
            finally:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def _seconds_left(self, mine: _Waiting) -> float:
        """How long to wait before looking again; 0 if it is this one's turn."""
        now = time.monotonic()
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        theirs = [self._held[name] for name in mine.streams if name in self._held]
        if any(holder is mine.who for holder, _ in theirs):
            return 0.0  # it has its turn
        if theirs:
            return max(until for _, until in theirs) - now
        rank = self._rank(mine)
        is_behind = any(
            self._rank(other) < rank and not other.streams.isdisjoint(mine.streams)
            for other in self._waiting
            if other is not mine
        )
        return TURN_SECONDS if is_behind else 0.0

    def _rank(self, waiting: _Waiting) -> tuple[int, int]:
        return self._served.get(waiting.machine, 0), waiting.number
