"""Those who wait for the write lock stand in line, and so do those who want it again.

SQLite's lock has no line of its own and goes to whoever asks in the right moment: mostly to the
process that has just let go of it, while one of the others may be unlucky a hundred times. So they
stand in line at a file beside the ledger: each takes the next number, and waits for the one before
it. Who is first asks for the write lock, and leaves the line with it. A lock of the system stands
for each place, so that whoever dies in line holds up nobody.

This is about turns alone: what is written is protected by SQLite's lock as before. Where no line
can be kept (no such locks, a file that cannot be made, a first one that does not move) the caller
goes on without.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

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
