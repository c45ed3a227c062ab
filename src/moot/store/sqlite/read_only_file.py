"""A database file that is only read, even where nothing may be written.

Even to read a database with a write-ahead log, SQLite makes two files beside it. Where it may not,
and there is no log, the file itself holds everything and is read as it stands, without a lock. The
same is done if the file itself is write-protected: the files that SQLite would make beside it would
be too, and would stand in the way of whoever may write it later.
Without a lock somebody could write meanwhile. So the file's state is compared before and after, and
what was read of a file that changed is thrown away with an error.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from moot.core.errors import StoreFailed

BUSY_SECONDS = 30.0
TICK_SECONDS = 0.02  # longer than the steps in which a file system counts time
CANNOT_GROW = sqlite3.SQLITE_IOERR_SHMSIZE  # how SQLite says that the disk is full when reading
MAY_NOT_WRITE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_LOGS = ("-wal", "-journal")


class ReadOnlyFile:
    """One file opened for reading. `private` is for a copy that nobody else knows of: it is read as
    it stands, and not compared."""

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self._file = Path(os.path.realpath(path))  # a link's log lies beside what it points to
        self._before: _State | None = None
        self.db = _connect(self._file, as_it_stands=True) if private else self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            if not _leaves_files(self._file):
                return _connect(self._file)
            self._before = _wait_until_settled(self._file)
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if code != CANNOT_GROW and code & 0xFF not in MAY_NOT_WRITE:
                raise
            self._before = _wait_until_settled(self._file)
        try:
            return _connect(self._file, as_it_stands=True)
        except sqlite3.Error:
            self._require_unmoved()
            raise

    @contextmanager
    def require_unchanged(self) -> Iterator[None]:
        """StoreFailed at the end of the block if somebody wrote meanwhile, even after another
        error: what was wrong may only have been half written."""
        try:
            yield
        finally:
            self._require_unmoved()

    def _require_unmoved(self) -> None:
        if self._before is not None and self._before != _read_state(self._file):
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


class _State(msgspec.Struct, frozen=True):
    """What changes when a file is written. With a `log` its newest commits are not in the file."""

    number: int
    size: int
    written_ns: int
    changed_ns: int
    log: str


def _read_state(file: Path) -> _State:
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
    """Would SQLite, reading with a lock, leave files here that nobody may write?"""
    if os.access(file, os.W_OK):
        return False
    return not any(_size(file.with_name(file.name + end)) for end in (*_LOGS, "-shm"))


def _wait_until_settled(file: Path) -> _State:
    """The state of a file without a log. One written in this very moment is waited for: a second
    write within the same tick of its clock would go unnoticed."""
    while True:
        now = time.time_ns()
        state = _read_state(file)
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
