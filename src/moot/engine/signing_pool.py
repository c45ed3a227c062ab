"""Signing two events at a time: libsodium lets go of Python's lock while it signs.

A signature is a third of what an event costs; on an idle second core half of that time is won. More
than two threads were not tried: each signature needs Python's lock before and after (decision
0015).
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from moot.engine.signatures import UnsignedEvent, sign_one_by_one

FEWEST_EVENTS = 8  # events; for fewer, waking the second thread takes longer than it saves


class SigningPool:
    """The caller's thread, and a second one that waits until `close`; on one core there is none."""

    def __init__(self) -> None:
        self._second = ThreadPoolExecutor(1, "moot-pen") if _count_cores() > 1 else None

    def sign_all(self, unsigned: list[UnsignedEvent]) -> list[bytes]:
        if self._second is None or len(unsigned) < FEWEST_EVENTS:
            return sign_one_by_one(unsigned)
        work = _SharedWork(unsigned)
        try:
            second_half = self._second.submit(work.sign)
        except RuntimeError:  # the interpreter is ending and starts no more threads
            return sign_one_by_one(unsigned)
        try:
            work.sign()
        finally:
            second_half.result()
        return work.signatures

    def close(self) -> None:
        if self._second is not None:
            self._second.shutdown()


class _SharedWork:
    """The events of one group. Both threads take the next one when they are free: halves made
    beforehand would leave one thread waiting whenever the other is interrupted."""

    def __init__(self, unsigned: list[UnsignedEvent]) -> None:
        self._unsigned = unsigned
        # Taken from by both threads; a deque's popleft is atomic, so no lock is needed.
        self._places_left = deque(range(len(unsigned)))
        self.signatures = [b""] * len(unsigned)

    def sign(self) -> None:
        while (place := self._take_next()) is not None:
            self.signatures[place] = self._unsigned[place].sign()

    def _take_next(self) -> int | None:
        try:
            return self._places_left.popleft()
        except IndexError:
            return None


def _count_cores() -> int:
    """How many cores this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
