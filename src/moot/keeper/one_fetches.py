"""Of all processes of a machine one at a time fetches what is new.

Each of them could, and all would get the same; the others would throw it away. For a process that
is in the middle of something it is enough that another one is at it. A file beside the copy is
locked meanwhile; the lock ends with its process. Whoever needs news now asks for them all the same,
and where there are no such locks everybody fetches.
"""

from __future__ import annotations

import os
from pathlib import Path


class OneFetches:
    """One process's side of it."""

    def __init__(self, file: Path) -> None:
        self._place = file
        self._file: int | None = None

    def begin(self) -> bool:
        """True if nobody else is fetching; then `end` says that we have done so."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            self._file = os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            self.end()
            return False
        except (ImportError, OSError):  # Windows; a disk without such locks, or full
            self.end()
        return True

    def end(self) -> None:
        """A second call changes nothing."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
