"""Signing two events at a time: libsodium lets go of Python's lock while it signs."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from moot.engine.signatures import Unsigned, one_by_one

FEWEST = 8  # for fewer, waking the second thread takes longer than it saves


class Pens:
    """The caller's thread, and a second one until they are closed; on one core there is none."""

    def __init__(self) -> None:
        self._second = ThreadPoolExecutor(1, "moot-pen") if _cores() > 1 else None

    def sign_all(self, asked: list[Unsigned]) -> list[bytes]:
        if self._second is None or len(asked) < FEWEST:
            return one_by_one(asked)
        sheet = _Sheet(asked)
        try:
            helped = self._second.submit(sheet.sign)
        except RuntimeError:  # no thread can be had any more; the caller has one
            return one_by_one(asked)
        try:
            sheet.sign()
        finally:
            helped.result()
        return sheet.signatures

    def close(self) -> None:
        if self._second is not None:
            self._second.shutdown()


class _Sheet:
    """What a group asks for; whoever is free takes the next one."""

    def __init__(self, asked: list[Unsigned]) -> None:
        self._asked = asked
        self._left = deque(range(len(asked)))
        self.signatures = [b""] * len(asked)

    def sign(self) -> None:
        while (place := self._next()) is not None:
            self.signatures[place] = self._asked[place].sign()

    def _next(self) -> int | None:
        try:
            return self._left.popleft()
        except IndexError:
            return None


def _cores() -> int:
    """Those this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
