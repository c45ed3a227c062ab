"""MOOT_DEBUG=1: a line on standard error for each thing opened, locked, decided or committed.

    moot[4711]     31.2 ms     +0.1  lock     ledger.db
    moot[4711]     33.0 ms     +1.8  load     presence#41

The first time counts from the moment this module is loaded, which a surface does first of all;
the second is what the step took that ended with this line. The number in brackets is the process:
several may write to one terminal. Loaded only if the variable is set.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import Final

_START: Final = time.perf_counter()


class DebugLines:
    """Prints each step of a command. Never fails: the command must continue even if the reader of
    the pipe has exited."""

    def __init__(self) -> None:
        self._last = _START

    def __call__(self, verb: str, detail: str) -> None:
        now = time.perf_counter()
        since_start, since_last = (now - _START) * 1_000, (now - self._last) * 1_000
        self._last = now
        times = f"{since_start:8.1f} ms {since_last:+8.1f}"
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"moot[{os.getpid()}] {times}  {verb:<8} {detail}\n")
                sys.stderr.flush()
