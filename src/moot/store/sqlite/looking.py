"""A database file that is only looked at, even where nothing may be written.

SQLite makes two files beside one that has a write-ahead log, if only to read it. Where it may not,
and no log lies there, the file itself says everything: it is read as it stands, without a lock.
So is one that may not be written itself: what SQLite made beside it could not be written either,
and would stand in the way of whoever may write it later.
Whoever may write there could do so meanwhile; so the file is compared before and after, and what
was read of a file that moved counts for nothing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import StoreFailed

BUSY_SECONDS = 30.0
TICK_SECONDS = 0.02  # longer than a file's clock stands still
CANNOT_GROW = sqlite3.SQLITE_IOERR_SHMSIZE  # on a full disk
MAY_NOT_WRITE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_LOGS = ("-wal", "-journal")


class Looking:
    """`private`: a copy that nobody else knows; then nothing is made beside it, nor compared."""

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self._file = Path(os.path.realpath(path))  # a link's log lies beside what it points to
        self._before: _State | None = None
        self.db = _connect(self._file, as_it_stands=True) if private else self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            if not _leaves_files(self._file):
                return _connect(self._file)
            self._before = _settled(self._file)
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if code != CANNOT_GROW and code & 0xFF not in MAY_NOT_WRITE:
                raise
            self._before = _settled(self._file)
        try:
            return _connect(self._file, as_it_stands=True)
        except sqlite3.Error:
            self._require_unmoved()
            raise

    @contextmanager
    def unmoved(self) -> Iterator[None]:
        """What is found inside counts only if nobody wrote meanwhile; so does what goes wrong."""
        try:
            yield
        finally:
            self._require_unmoved()

    def _require_unmoved(self) -> None:
        if self._before is not None and self._before != _state(self._file):
            raise _moved(self._file)

    def close(self) -> None:
        self.db.close()


def _connect(file: Path, *, as_it_stands: bool = False) -> sqlite3.Connection:
    uri = file.as_uri() + "?mode=ro" + ("&immutable=1" if as_it_stands else "")
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        db.execute("PRAGMA schema_version").fetchone()  # only now does SQLite look for a log
    except BaseException:
        db.close()
        raise
    return db


class _State(NamedTuple):
    """What moves when a file is written; a log means that the newest commits are not in it."""

    number: int
    size: int
    written_ns: int
    changed_ns: int
    log: str


def _state(file: Path) -> _State:
    try:
        found = file.stat()
    except OSError:  # it was there when it was opened
        raise _moved(file) from None
    log = next((end for end in _LOGS if _size(file.with_name(file.name + end))), "")
    return _State(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, log)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _leaves_files(file: Path) -> bool:
    """Would SQLite, if it read it with a lock, make files here that stay and nobody may write?"""
    if os.access(file, os.W_OK):
        return False
    return not any(_size(file.with_name(file.name + end)) for end in (*_LOGS, "-shm"))


def _settled(file: Path) -> _State:
    """The state without a log. A file written this very moment might be written again unnoticed."""
    while True:
        now = time.time_ns()
        state = _state(file)
        if state.log:
            raise _log_unreadable(file, state.log)
        if abs(now - state.written_ns) >= TICK_SECONDS * 1e9:
            return state
        time.sleep(TICK_SECONDS)


def _moved(file: Path) -> StoreFailed:
    return StoreFailed(
        "changed_meanwhile",
        f"somebody wrote {file} while it was being read",
        hint="try again; if they go on writing, ask them for an export or a backup",
    )


def _log_unreadable(file: Path, log: str) -> StoreFailed:
    return StoreFailed(
        "log_unreadable",
        f"the newest commits are in {file.name}{log}, which cannot be read without writing"
        f" in {file.parent}",
        hint="if somebody is at work there now, try again; else copy that folder, all of its "
        "files, to where you may write, and there run `moot status`, then `moot verify`",
    )
