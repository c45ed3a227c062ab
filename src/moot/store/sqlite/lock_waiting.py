"""Waiting for a locked file, so that nobody waits for ever.

SQLite gives the lock to whoever asks in the right moment; there is no queue. Its own waiting asks
again after 1, 2, 5 and at last 100 ms: who has waited longest asks most rarely, and can lose again
and again to those who have just come. Here writers stand in line (`lock_waiting.py`), and the first
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

# Processes queue for the write lock, for fairness alone. SQLite's lock mostly goes to the process
# that has just released it, while another may be unlucky a hundred times. So each takes the next
# number in a file next to the ledger and waits for the one before it. A lock of the system stands
# for each place, so that a process that dies holds up nobody. Where no queue can be kept the caller
# goes on without.

# A process that was stopped while it was first must not hold up the others for long, nor often.
PATIENCE_SECONDS = 1.0
AVOIDED_SECONDS = 30.0
# Who has come first may write again for so long, if nobody is quicker: letting another process run
# takes longer than several short commits.
TURN_SECONDS = 0.002
# There is no file as long as nobody ever had to wait.
LOOK_EVERY_SECONDS = 0.01
_SIZE = 4
_NUMBERS = 1_000_000_000  # from 1 on; then they begin again


class WaitingLine:
    """One process's place in the line of those who want to write to this ledger."""

    def __init__(self, ledger: Path) -> None:
        self.is_first = False
        self._look_again_at = 0.0
        self._path = ledger.with_name(f"{ledger.name}-line")
        self._place: _Place | None = None
        self._avoided_until = 0.0
        self._turn_ends_at = 0.0

    def may_be_passed(self) -> bool:
        """Whether we may ask for the lock directly: it is still our turn; or nobody stands in line,
        as far as we have seen; or it is our first time, since most processes write once."""
        now = time.monotonic()
        if self._place is not None:
            return now < self._turn_ends_at or not self._place.is_anybody_before()
        if now < self._look_again_at:
            return True
        is_first_time, self._look_again_at = not self._look_again_at, now + LOOK_EVERY_SECONDS
        return is_first_time or not os.path.exists(self._path)

    def enter(self, seconds: float) -> None:
        """Wait until `is_first`, at most for `seconds`. A line that does not move in time is left
        alone for a while."""
        if time.monotonic() < self._avoided_until:
            return
        with suppress(ImportError, OSError):  # Windows; a disk without such locks, or read-only
            place, self._place = self._place or _Place(self._path), None
            try:
                self.is_first = place.wait(min(seconds, PATIENCE_SECONDS))
            finally:
                if self.is_first:
                    self._place = place
                else:
                    place.give_up()
        if not self.is_first:
            self._avoided_until = time.monotonic() + AVOIDED_SECONDS

    def leave(self) -> None:
        """Let the next one be first."""
        if self.is_first and self._place is not None:
            self.is_first = False
            self._turn_ends_at = time.monotonic() + TURN_SECONDS
            self._place.leave()

    def close(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            place.give_up()


class _Place:
    """A place in the line: the lock of one byte, whose position is the number that was drawn.

    The file holds the number that was drawn last; whatever it holds can be read as one. The locks
    are a process's: two stores in one process do not wait for each other here.
    """

    def __init__(self, path: Path) -> None:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, lockf

        self._lock = lockf
        self._own, self._see, self._let_go, self._at_once = LOCK_EX, LOCK_SH, LOCK_UN, LOCK_NB
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._number: int | None = None
        self._deciding = threading.Lock()
        self._is_waiting = False
        self._is_given_up = False

    def is_anybody_before(self) -> bool:
        try:
            self._lock(self._file, self._see | self._at_once)  # every place at once
        except OSError:
            return True
        self._lock(self._file, self._let_go)
        return False

    def wait(self, seconds: float) -> bool:
        """The system's waiting has no time limit, so a thread waits for us."""
        try:
            self._advance(self._at_once)
        except (BlockingIOError, PermissionError):
            self._is_waiting = True
            thread = threading.Thread(target=self._wait_for_turn, daemon=True)
            thread.start()
            thread.join(seconds)
        return not self._is_waiting

    def leave(self) -> None:
        if self._number is not None:
            self._lock(self._file, self._let_go, 1, self._number)
            self._number = None

    def give_up(self) -> None:
        with self._deciding:
            self._is_given_up = True
            if not self._is_waiting:
                os.close(self._file)  # which ends all its locks

    def _wait_for_turn(self) -> None:
        with suppress(OSError):
            self._advance(0)
        with self._deciding:
            self._is_waiting = False
            if self._is_given_up:
                os.close(self._file)

    def _advance(self, at_once: int) -> None:
        """Draw a number, if we have none yet, and wait for the one before it."""
        if self._number is None:
            self._lock(self._file, self._own | at_once, 1, 0)
            try:
                self._number = self._draw()
            finally:
                self._lock(self._file, self._let_go, 1, 0)
        before = self._number - 1 or _NUMBERS
        self._lock(self._file, self._see | at_once, 1, before)
        self._lock(self._file, self._let_go, 1, before)

    def _draw(self) -> int:
        drawn = int.from_bytes(os.pread(self._file, _SIZE, 0), "big") % _NUMBERS + 1
        os.pwrite(self._file, drawn.to_bytes(_SIZE, "big"), 0)
        self._lock(self._file, self._own, 1, drawn)
        return drawn


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
