"""A ledger file that is only read: nothing is written, migrated or repaired.

For checks, which must leave the evidence as it is and must work where nothing may be written
(`read_only.py`). `immutable` is for a private copy that nobody writes: then not even a lock
file appears beside it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.core.errors import StoreFailed, Unavailable
from moot.store.sqlite.errors import read_only_error, translate_errors, translate_opening_errors
from moot.store.sqlite.pending_index import SQL, PendingIndex
from moot.store.sqlite.schema import VERSION, find_missing_tables, require_our_file, version_of
from moot.store.sqlite.store import SqliteStore, copy_to
from moot.store.sqlite.transaction import SqliteTransaction
from moot.store.sqlite.view import SqliteView

if TYPE_CHECKING:
    from moot.core.debug import DebugLog


# Even to read a database with a write-ahead log, SQLite makes two files next to it. Where it may
# not, and there is no log, or the file itself is write-protected, the file is read as it is,
# without a lock. Its state is compared before and after: what was read of a file that changed is
# thrown away with an error.

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


MAX_PROBLEMS = 100


class SqliteReader:
    def __init__(self, path: Path, *, immutable: bool = False) -> None:
        _require_file(path)
        self.path = path
        self._pending = PendingIndex()
        with translate_opening_errors(path):
            self._file = ReadOnlyFile(path, private=immutable)
            self._db = self._file.db
            try:
                with self._file.require_unchanged():
                    _require_readable(self._db)
            except BaseException:
                self.close()
                raise

    def missing_index_tables(self) -> list[str]:
        """Tables of the index that are not there; everything in them follows from the events."""
        with translate_errors(self.path), self._file.require_unchanged():
            return find_missing_tables(self._db)

    def integrity(self) -> list[str]:
        """What SQLite's own check finds, and whether every event is either filed or waiting to
        be."""
        with translate_errors(self.path), self._file.require_unchanged():
            rows = self._db.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})").fetchall()
            problems = [str(text) for (text,) in rows if text != "ok"]
            if not problems:
                (nowhere,) = self._db.execute(SQL["nowhere"]).fetchone()
                problems = [f"{nowhere} events stand nowhere"] if nowhere else []
        return problems

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One unchanging view of the file, however much other processes write meanwhile.

        Where the file is read without a lock: StoreFailed at the end if one of them wrote.
        """
        with translate_errors(self.path), self._file.require_unchanged():
            self._db.execute("BEGIN")
            try:
                self._catch_up()
                with closing(SqliteView(self._db, self._pending)) as view:
                    yield view
            finally:
                self._db.execute("ROLLBACK")

    def _catch_up(self) -> None:
        try:
            self._pending.catch_up(self._db)
        except BaseException:
            self._pending.forget()
            raise

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> SqliteReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _require_file(path: Path) -> None:
    try:
        found = path.is_file()
        is_empty = found and path.stat().st_size == 0
    except OSError as error:
        raise StoreFailed(
            "store_unreachable",
            f"the ledger cannot be looked at: {error.strerror or error}",
            hint=f"check the permissions of {path.parent}",
        ) from None
    if not found:
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    if is_empty:  # SQLite takes it for a new database, and its version for an old one
        raise StoreFailed(
            "store_damaged",
            f"the ledger file {path} is empty: nothing of the record is left in it",
            hint="keep the folder as it is; restore from a backup",
        )


def _require_readable(db: sqlite3.Connection) -> None:
    require_our_file(db)
    if version_of(db) < VERSION:
        raise StoreFailed(
            "older_store",
            "the ledger was written by an older moot",
            hint="any writing command brings it up to date; `moot ledger checkpoint` will do; "
            "where nothing may be written, do so in a copy of the folder",
        )


# The store of a ledger that may not be written here. The newest commits are read too, or there is
# an error.

# Reasons why a store cannot be opened for writing that may still let it be read.
_MAY_BE_LOOKED_AT = frozenset({"store_read_only", "store_unreachable", "disk_full"})


class ReadOnlyStore(SqliteReader):
    """`why` is the error that kept it from being opened for writing; `write()` raises it."""

    def __init__(self, path: Path, why: StoreFailed) -> None:
        super().__init__(path)
        self.why = why
        self._view: SqliteView | None = None

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        if self._view is not None:  # a read of ours is under way: the same view
            yield self._view
            return
        with super().read() as view:
            self._view = view
            try:
                yield view
            finally:
                self._view = None

    def write(self) -> AbstractContextManager[SqliteTransaction]:
        raise self.why

    def size(self) -> int:
        """How many bytes the file has, without what still stands in its log."""
        return self.path.stat().st_size

    def version(self) -> int:
        """SQLite's data version; where the file is read as it stands, a change is an error."""
        with translate_errors(self.path), self._file.require_unchanged():
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
        return int(version)

    def backup(self, target: Path) -> None:
        """A consistent copy in a new file; removed again if somebody wrote meanwhile."""
        copy_to(self._db, target)
        try:
            with self._file.require_unchanged():
                return
        except StoreFailed:
            target.unlink()
            raise


def open_to_write(path: Path, debug: DebugLog | None = None) -> SqliteStore:
    """Open the store for writing; StoreFailed if the file is write-protected.

    SQLite itself would open such a file, make a log beside it that nobody may write either, and
    notice only at the first write.
    """
    if path.exists() and not os.access(path, os.W_OK):
        raise read_only_error(path)
    return SqliteStore(path, debug=debug)


def open_to_read(path: Path, debug: DebugLog | None = None) -> SqliteStore | ReadOnlyStore:
    """Open the store for writing where that is possible, else for reading only."""
    try:
        return open_to_write(path, debug)
    except StoreFailed as error:
        if error.code not in _MAY_BE_LOOKED_AT:
            raise
        store = ReadOnlyStore(path, error)
    if debug is not None:
        debug("open", f"{path} to read only: {store.why.code}")
    return store
