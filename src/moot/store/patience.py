"""How long this thread waits for a ledger that another process holds.

Whoever waits keeps the other threads of the process from it. So a server that has others to answer
waits a moment, lets them have their turn, and tries again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_of_this_thread = threading.local()


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """In here this thread waits so long for the write lock; then StoreFailed `store_busy`."""
    _of_this_thread.seconds = seconds
    try:
        yield
    finally:
        del _of_this_thread.seconds


def find_patience(usual: float) -> float:
    seconds: float = getattr(_of_this_thread, "seconds", usual)
    return min(seconds, usual)
