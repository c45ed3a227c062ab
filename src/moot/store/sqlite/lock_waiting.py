"""Wait for a locked file, fairly and with a time limit.

SQLite gives the lock to the process that asks at the right moment; it has no queue. Its own waiting
asks again after 1, 2, 5 and finally 100 ms: a process that has waited long asks rarely, and can
lose again and again to newcomers. Here writers queue (`WriterQueue`), and the first one asks until
it gets the lock. Without a queue all ask equally often, at random moments. An open store switches
SQLite's own waiting off (`busy_timeout = 0`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

# The queue is only for fairness: SQLite's lock mostly goes to the process that has just released
# it. Each process draws the next number from a file next to the ledger and waits for the number
# before it. A file lock represents each number, so that a process that dies does not block others.
# Without file locks the caller continues without a queue.

# A process that is stopped while it is first must not block the others for long, nor often.
MAX_QUEUE_SECONDS = 1.0
AVOIDED_SECONDS = 30.0
# The first process may write again for this long without queueing: switching to another process
# takes longer than several short commits.
TURN_SECONDS = 0.002
# How often to check for the queue's file, which exists after the first process had to wait.
LOOK_EVERY_SECONDS = 0.01
_SIZE = 4
_NUMBERS = 1_000_000_000  # 1 to this, then from 1 again


class WriterQueue:
    """One process's place in the queue for this ledger's write lock."""

    def __init__(self, ledger: Path) -> None:
        self.is_first = False
        self._look_again_at = 0.0
        self._path = ledger.with_name(f"{ledger.name}-line")
        self._ticket: _Ticket | None = None
        self._avoided_until = 0.0
        self._turn_ends_at = 0.0

    def can_skip(self) -> bool:
        """Return whether to ask for the lock directly: our turn lasts, or the queue looks empty, or
        this is our first write, since most processes write once."""
        now = time.monotonic()
        if self._ticket is not None:
            return now < self._turn_ends_at or not self._ticket.has_predecessor()
        if now < self._look_again_at:
            return True
        is_first_time, self._look_again_at = not self._look_again_at, now + LOOK_EVERY_SECONDS
        return is_first_time or not os.path.exists(self._path)

    def enter(self, seconds: float) -> None:
        """Wait until `is_first`, at most for `seconds`. A queue that does not move in time is
        ignored for a while."""
        if time.monotonic() < self._avoided_until:
            return
        with suppress(ImportError, OSError):  # Windows; a disk that is read-only or has no locks
            ticket, self._ticket = self._ticket or _Ticket(self._path), None
            try:
                self.is_first = ticket.wait(min(seconds, MAX_QUEUE_SECONDS))
            finally:
                if self.is_first:
                    self._ticket = ticket
                else:
                    ticket.give_up()
        if not self.is_first:
            self._avoided_until = time.monotonic() + AVOIDED_SECONDS

    def leave(self) -> None:
        """Let the next one be first."""
        if self.is_first and self._ticket is not None:
            self.is_first = False
            self._turn_ends_at = time.monotonic() + TURN_SECONDS
            self._ticket.leave()

    def close(self) -> None:
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            ticket.give_up()


class _Ticket:
    """A drawn number: a lock on the byte at that position.

    The file has the number that was drawn last; any content can be read as one. The locks belong to
    the process: two stores in one process do not wait for each other here.
    """

    def __init__(self, path: Path) -> None:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, lockf

        self._lock = lockf
        self._exclusive, self._shared, self._unlock, self._no_wait = (
            LOCK_EX,
            LOCK_SH,
            LOCK_UN,
            LOCK_NB,
        )
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._number: int | None = None
        self._state_lock = threading.Lock()
        self._is_waiting = False
        self._is_given_up = False

    def has_predecessor(self) -> bool:
        try:
            self._lock(self._file, self._shared | self._no_wait)  # every place at once
        except OSError:
            return True
        self._lock(self._file, self._unlock)
        return False

    def wait(self, seconds: float) -> bool:
        """Wait for our turn; False if it has not come in time.

        The system's lock call has no time limit, so a thread waits for us.
        """
        try:
            self._advance(self._no_wait)
        except (BlockingIOError, PermissionError):
            self._is_waiting = True
            thread = threading.Thread(target=self._wait_for_turn, daemon=True)
            thread.start()
            thread.join(seconds)
        return not self._is_waiting

    def leave(self) -> None:
        if self._number is not None:
            self._lock(self._file, self._unlock, 1, self._number)
            self._number = None

    def give_up(self) -> None:
        with self._state_lock:
            self._is_given_up = True
            if not self._is_waiting:
                os.close(self._file)  # releases all its locks

    def _wait_for_turn(self) -> None:
        with suppress(OSError):
            self._advance(0)
        with self._state_lock:
            self._is_waiting = False
            if self._is_given_up:
                os.close(self._file)

    def _advance(self, at_once: int) -> None:
        """Draw a number if we have none, and wait for the one before it."""
        if self._number is None:
            self._lock(self._file, self._exclusive | at_once, 1, 0)
            try:
                self._number = self._draw()
            finally:
                self._lock(self._file, self._unlock, 1, 0)
        before = self._number - 1 or _NUMBERS
        self._lock(self._file, self._shared | at_once, 1, before)
        self._lock(self._file, self._unlock, 1, before)

    def _draw(self) -> int:
        drawn = int.from_bytes(os.pread(self._file, _SIZE, 0), "big") % _NUMBERS + 1
        os.pwrite(self._file, drawn.to_bytes(_SIZE, "big"), 0)
        self._lock(self._file, self._exclusive, 1, drawn)
        return drawn


T = TypeVar("T")

WRITE = "BEGIN IMMEDIATE"
READ = "BEGIN"  # takes no lock yet: the first query, which asks for the version, does
MAX_PAUSE_SECONDS = 0.004  # with many waiting, one of them asks far sooner
MAX_PAUSE_IN_FRONT_SECONDS = 0.000_3  # for the first one in the queue
_thread_limit = threading.local()


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Limit how long this thread waits for the write lock in the block.

    A waiting thread keeps the process's other threads from the store. So a server waits briefly,
    lets the other threads work, and tries again.
    """
    _thread_limit.seconds = seconds
    try:
        yield
    finally:
        del _thread_limit.seconds


def begin_queued_write(db: sqlite3.Connection, seconds: float, queue: WriterQueue) -> int:
    """Begin a transaction that writes, queueing with the other writers."""
    if queue.can_skip():
        try:
            return _begin(db, WRITE)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
    seconds = min(seconds, getattr(_thread_limit, "seconds", seconds))
    end = time.monotonic() + seconds
    queue.enter(seconds)
    try:
        max_pause = MAX_PAUSE_IN_FRONT_SECONDS if queue.is_first else MAX_PAUSE_SECONDS
        return begin_when_free(db, WRITE, end - time.monotonic(), max_pause)
    finally:
        queue.leave()


def begin_when_free(
    db: sqlite3.Connection, begin: str, seconds: float, max_pause: float = MAX_PAUSE_SECONDS
) -> int:
    """Begin a transaction, waiting up to `seconds` while the file is locked.

    Returns SQLite's data version, which changes with every commit of another connection, in this
    process or another: if it is the same as before, cached data is still current.
    """
    try:
        return _begin(db, begin)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
    return retry_while_locked(lambda: _begin(db, begin), seconds, max_pause)


def _begin(db: sqlite3.Connection, begin: str) -> int:
    try:
        db.execute(begin)
        (version,) = db.execute("PRAGMA data_version").fetchone()
    except sqlite3.OperationalError:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return int(version)


def retry_while_locked(
    act: Callable[[], T], seconds: float, max_pause: float = MAX_PAUSE_SECONDS
) -> T:
    """Try `act` again and again, for up to `seconds`, while the file is locked."""
    # LDG-067
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end  # checked first: there is at least one attempt
        try:
            return act()
        except sqlite3.OperationalError as error:
            if last or not _is_busy(error):
                raise
        time.sleep(max_pause * os.urandom(1)[0] / 255)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
