"""Signing two events at a time: libsodium lets go of Python's lock while it signs."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque

from moot.engine.signatures import Unsigned, one_by_one

FEWEST = 8  # for fewer, waking the second thread takes longer than it saves


class Pens:
    """Two threads that sign: the caller's, and one of its own until it is closed."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[_Sheet | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        if _cores() > 1:
            self._thread = threading.Thread(target=self._help, name="moot-pen", daemon=True)
            self._thread.start()

    def sign_all(self, asked: list[Unsigned]) -> list[bytes]:
        if self._thread is None or len(asked) < FEWEST:
            return one_by_one(asked)
        sheet = _Sheet(asked)
        self._asked.put(sheet)
        sheet.sign()
        return sheet.wait()

    def close(self) -> None:
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()

    def _help(self) -> None:
        while (sheet := self._asked.get()) is not None:
            sheet.help()


class _Sheet:
    """What a group asks for; whoever is free takes the next one."""

    def __init__(self, asked: list[Unsigned]) -> None:
        self._asked = asked
        self._left = deque(range(len(asked)))
        self._signatures = [b""] * len(asked)
        self._helped: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def sign(self) -> None:
        try:
            while True:
                place = self._left.popleft()
                self._signatures[place] = self._asked[place].sign()
        except IndexError:
            return  # none is left

    def help(self) -> None:
        try:
            self.sign()
        except Exception as error:  # noqa: BLE001 - the other thread waits, and raises it
            self._helped.put(error)
        else:
            self._helped.put(None)

    def wait(self) -> list[bytes]:
        error = self._helped.get()
        if error is not None:
            raise error
        return self._signatures


def _cores() -> int:
    """Those this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
