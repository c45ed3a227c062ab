"""Waiting for a locked file, so that nobody waits for ever.

SQLite gives the lock to whoever asks in the right moment; there is no queue. Its own waiting asks
again after 1, 2, 5 and at last 100 ms: who has waited longest asks most rarely, and can lose again
and again to those who have just come. Here writers stand in line (`waiting_line.py`), and the first
one asks until it gets it. Where there is no line everyone asks equally often, at random moments, so
that each has the same chance. SQLite's own waiting is switched off in an open store (`busy_timeout
= 0`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from moot.store.sqlite.waiting_line import WaitingLine

T = TypeVar("T")

WRITE = "BEGIN IMMEDIATE"
READ = "BEGIN"  # takes no lock yet: the first query, which asks for the version, does
NAP_SECONDS = 0.004  # at most; with many waiting, one of them asks far sooner
NAP_IN_FRONT_SECONDS = 0.000_3  # at most, for the first one in line, who alone is asking
_of_this_thread = threading.local()


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """In here this thread waits so long to write, and not as long as the store would.

    Whoever waits keeps the other threads of the process from the store. So a server that has others
    to answer waits a moment, lets them have their turn, and tries again.
    """
    _of_this_thread.seconds = seconds
    try:
        yield
    finally:
        del _of_this_thread.seconds


def begin_write_in_turn(db: sqlite3.Connection, seconds: float, line: WaitingLine) -> int:
    """As `begin_when_free`, for a transaction that writes: in line with all who do."""
    if line.may_be_passed():
        try:
            return _begin(db, WRITE)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
    seconds = min(seconds, getattr(_of_this_thread, "seconds", seconds))
    end = time.monotonic() + seconds
    line.enter(seconds)
    try:
        nap = NAP_IN_FRONT_SECONDS if line.is_first else NAP_SECONDS
        return begin_when_free(db, WRITE, end - time.monotonic(), nap)
    finally:
        line.leave()


def begin_when_free(
    db: sqlite3.Connection, begin: str, seconds: float, longest_nap: float = NAP_SECONDS
) -> int:
    """Begin a transaction, waiting up to `seconds` while another has the file locked.

    Returns SQLite's data version, a number that changes with every commit of another connection, in
    this process or another: if it is the same as before, what is in memory is still up to date.
    """
    try:
        return _begin(db, begin)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
    return retry_while_locked(lambda: _begin(db, begin), seconds, longest_nap)


def _begin(db: sqlite3.Connection, begin: str) -> int:
    try:
        db.execute(begin)
        (version,) = db.execute("PRAGMA data_version").fetchone()
    except sqlite3.OperationalError:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return int(version)


def retry_while_locked(act: Callable[[], T], seconds: float, longest_nap: float = NAP_SECONDS) -> T:
    """Try `act` again and again, for up to `seconds`, while another has the file locked."""
    # LDG-067
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end  # asked before the attempt: one is made even at time zero
        try:
            return act()
        except sqlite3.OperationalError as error:
            if last or not _is_busy(error):
                raise
        time.sleep(longest_nap * os.urandom(1)[0] / 255)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
