"""Open a ledger file for reading only: nothing is written, migrated or repaired.

Checks use it: they must not change the evidence, and must work on read-only disks. `immutable` is
for a private copy that no process writes: then SQLite does not even make a lock file next to it.
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


# Even to read a database with a write-ahead log, SQLite makes two files next to it. If it may not,
# and there is no log, or the file itself is write-protected, the file is read without a lock. Its
# state is compared before and after; if it changed, the read fails.

BUSY_SECONDS = 30.0
TICK_SECONDS = 0.02  # longer than the resolution of file times
CANNOT_GROW = sqlite3.SQLITE_IOERR_SHMSIZE  # SQLite's code for a full disk when reading
NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_LOGS = ("-wal", "-journal")


class ReadOnlyFile:
    """A file opened for reading. `private`: a copy that no other process knows, so it is read
    without locks and not compared."""

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self._file = Path(os.path.realpath(path))  # the log is next to a link's target
        self._state_before: _State | None = None
        self.db = _connect(self._file, immutable=True) if private else self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            if not _would_leave_files(self._file):
                return _connect(self._file)
            self._state_before = _wait_until_settled(self._file)
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if code != CANNOT_GROW and code & 0xFF not in NOT_WRITABLE:
                raise
            self._state_before = _wait_until_settled(self._file)
        try:
            return _connect(self._file, immutable=True)
        except sqlite3.Error:
            self._require_same_state()
            raise

    @contextmanager
    def require_unchanged(self) -> Iterator[None]:
        """Raise StoreFailed at the end of the block if the file changed, even after another error,
        which may come from a half-written file."""
        try:
            yield
        finally:
            self._require_same_state()

    def _require_same_state(self) -> None:
        if self._state_before is not None and self._state_before != _read_state(self._file):
            raise _changed_meanwhile(self._file)

    def close(self) -> None:
        self.db.close()


def _connect(file: Path, *, immutable: bool = False) -> sqlite3.Connection:
    uri = file.as_uri() + "?mode=ro" + ("&immutable=1" if immutable else "")
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        db.execute("PRAGMA schema_version").fetchone()  # SQLite looks for a log only now
    except BaseException:
        db.close()
        raise
    return db


class _State(msgspec.Struct, frozen=True):
    """What changes when a file is written. If there is a `log`, it has the newest commits."""

    number: int
    size: int
    written_ns: int
    changed_ns: int
    log: str


def _read_state(file: Path) -> _State:
    try:
        found = file.stat()
    except OSError:  # it existed when it was opened
        raise _changed_meanwhile(file) from None
    log = next((end for end in _LOGS if _size(file.with_name(file.name + end))), "")
    return _State(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, log)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _would_leave_files(file: Path) -> bool:
    """Return whether SQLite, reading with a lock, would leave write-protected files here."""
    if os.access(file, os.W_OK):
        return False
    return not any(_size(file.with_name(file.name + end)) for end in (*_LOGS, "-shm"))


def _wait_until_settled(file: Path) -> _State:
    """Return the state of a file without a log, once its last write is old enough.

    A second write within the same tick of the file system's clock would go unnoticed.
    """
    while True:
        now = time.time_ns()
        state = _read_state(file)
        if state.log:
            raise _log_unreadable(file, state.log)
        if abs(now - state.written_ns) >= TICK_SECONDS * 1e9:
            return state
        time.sleep(TICK_SECONDS)


def _changed_meanwhile(file: Path) -> StoreFailed:
    return StoreFailed(
        "changed_meanwhile",
        f"{file} changed while Moot read it",
        hint="try again; if another process keeps writing, check an export or a backup instead",
    )


def _log_unreadable(file: Path, log: str) -> StoreFailed:
    return StoreFailed(
        "log_unreadable",
        f"{file.name}{log} has the newest commits, and reading it needs write access to"
        f" {file.parent}",
        hint="if another process is writing there, try again; else copy the whole folder to where "
        "you may write, and run `moot status` there, then `moot verify`",
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
        """Return the missing index tables; their content follows from the events."""
        with translate_errors(self.path), self._file.require_unchanged():
            return find_missing_tables(self._db)

    def integrity(self) -> list[str]:
        """Return what SQLite's own check finds, and whether every event is filed or pending."""
        with translate_errors(self.path), self._file.require_unchanged():
            rows = self._db.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})").fetchall()
            problems = [str(text) for (text,) in rows if text != "ok"]
            if not problems:
                (nowhere,) = self._db.execute(SQL["nowhere"]).fetchone()
                problems = [f"{nowhere} events are in no index"] if nowhere else []
        return problems

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """Return a view that other writers do not change.

        If the file is read without a lock: StoreFailed at the end if another process wrote.
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
            f"{path} cannot be read: {error.strerror or error}",
            hint=f"check the permissions of {path.parent}",
        ) from None
    if not found:
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    if is_empty:  # SQLite would treat it as a new database
        raise StoreFailed(
            "store_damaged",
            f"the ledger file {path} is empty",
            hint="keep the folder as it is, and restore from a backup",
        )


def _require_readable(db: sqlite3.Connection) -> None:
    require_our_file(db)
    if version_of(db) < VERSION:
        raise StoreFailed(
            "older_store",
            "the ledger was written by an older moot",
            hint="`moot ledger checkpoint`, or any writing command, updates it; on a read-only "
            "disk, do so in a copy of the folder",
        )


# Errors of opening a store for writing after which it may still be readable.
_STILL_READABLE = frozenset({"store_read_only", "store_unreachable", "disk_full"})


class ReadOnlyStore(SqliteReader):
    """The store of a ledger that may not be written here. `why` is the error of opening it for
    writing; `write()` raises it."""

    def __init__(self, path: Path, why: StoreFailed) -> None:
        super().__init__(path)
        self.why = why
        self._view: SqliteView | None = None

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        if self._view is not None:  # inside a read of ours: share its view
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
        """Return the size of the file in bytes, without its log."""
        return self.path.stat().st_size

    def version(self) -> int:
        """Return SQLite's data version; StoreFailed if a file read without a lock changed."""
        with translate_errors(self.path), self._file.require_unchanged():
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
        return int(version)

    def backup(self, target: Path) -> None:
        """Write a consistent copy to a new file; remove it if another process wrote meanwhile."""
        copy_to(self._db, target)
        try:
            with self._file.require_unchanged():
                return
        except StoreFailed:
            target.unlink()
            raise


def open_for_writing(path: Path, debug: DebugLog | None = None) -> SqliteStore:
    """Open the store for writing; StoreFailed if the file is write-protected.

    SQLite itself would open such a file, make a write-protected log next to it, and fail only at
    the first write.
    """
    if path.exists() and not os.access(path, os.W_OK):
        raise read_only_error(path)
    return SqliteStore(path, debug=debug)


def open_for_reading(path: Path, debug: DebugLog | None = None) -> SqliteStore | ReadOnlyStore:
    """Open the store for writing if possible, else for reading only."""
    try:
        return open_for_writing(path, debug)
    except StoreFailed as error:
        if error.code not in _STILL_READABLE:
            raise
        store = ReadOnlyStore(path, error)
    if debug is not None:
        debug("open", f"{path} to read only: {store.why.code}")
    return store
