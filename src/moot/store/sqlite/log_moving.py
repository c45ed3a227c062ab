"""Moving the log into the file beside whoever writes, on a connection of its own.

SQLite moves the log by itself, within the COMMIT that makes it long enough, and all who share that
commit wait for thousands of pages. Done before, and by another connection, it holds up nobody:
PASSIVE waits for no lock and takes none that a writer needs. The COMMIT then finds little left to
move. Only a process that writes all the time has a use for it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable


class LogMover:
    """Connects when it is first told to move; a process that never does has one connection."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._turn = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._is_closed = False

    def move(self) -> None:
        """Move what no reader needs any more where it is; the log and the file are synced."""
        with self._turn:
            if self._is_closed:
                return
            if self._db is None:
                self._db = self._connect()
                # LDG-074: the file must not hold what its log could still lose.
                self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
            if self._db is not None:
                self._db.close()
