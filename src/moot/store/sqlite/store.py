"""The connection: a write-ahead log, `synchronous=FULL`, one transaction at a time in a process.

`write()` takes the file's write lock before it reads anything (BEGIN IMMEDIATE): otherwise another
writer could be faster, and everything would have to be decided again. Writers wait up to 30 seconds
for each other, or less (`waiting_at_most`). With `synchronous=FULL` an acknowledged commit survives
a power failure; a run can sync many commits together (`batched_syncs.py`). A failed COMMIT is
rolled back and raises.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.store.files import sync_log_later, syncs_are_held
from moot.store.sqlite.errors import as_moot_error, translate_errors, translate_opening_errors
from moot.store.sqlite.lock_waiting import (
    READ,
    WRITE,
    WriterQueue,
    begin_queued_write,
    begin_when_free,
    retry_while_locked,
)
from moot.store.sqlite.pending_index import FILE_AT, PendingIndex
from moot.store.sqlite.schema import migrate, require_our_file
from moot.store.sqlite.transaction import SqliteTransaction
from moot.store.sqlite.view import SqliteView

if TYPE_CHECKING:
    from moot.core.debug import DebugLog


BUSY_SECONDS = 30.0
_MAGIC = b"SQLite format 3\0"
CACHE_KB = 16_000  # filing many streams uses the same pages again
# 16 MB: at this length SQLite moves the log into the file, and one caller waits for that, unless
# `work_ahead` did it before.
LOG_PAGES = 4_000

Connect = Callable[[str, float], sqlite3.Connection]


def connect_file(uri: str, busy_seconds: float) -> sqlite3.Connection:
    """Open a connection without implicit transactions."""
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False
    )


class SqliteStore:
    """One open ledger file. Threads of a process take turns; other processes have their own."""

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        busy_seconds: float = BUSY_SECONDS,
        connect: Connect = connect_file,
        file_at: int = FILE_AT,
        debug: DebugLog | None = None,
    ) -> None:
        """`connect` lets tests simulate a failing disk. `file_at`: how many events may be pending.
        `debug` logs opening, waiting, locking and committing."""
        _require_whole(path, create)
        self.path = path
        self._lock = threading.RLock()  # between threads; SQLite's lock is between connections
        self._busy_seconds = busy_seconds
        self._pending = PendingIndex(file_at)
        self._debug = debug
        self._syncs_commits = True
        self._log = path.with_name(f"{path.name}-wal").absolute()
        self._queue = WriterQueue(path)
        self._connect = connect
        self._log_mover: LogMover | None = None
        self._is_closed = False
        with translate_opening_errors(path):
            mode = "rwc" if create else "rw"
            self._db = connect(f"file:{uri_of(path)}?mode={mode}", busy_seconds)
            _prepare(self._db, busy_seconds)
        if debug is not None:
            debug("open", f"{path} to write")

    def relax_durability(self) -> None:
        """Sync less, for a copy of a ledger that is kept elsewhere: a power failure may cost its
        newest commits, which can be fetched again, but does not damage the file."""
        self._db.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """Return a view that other writers do not change."""
        with self._lock, translate_errors(self.path):
            shared = self._db.in_transaction  # inside a read or write of ours: share its view
            try:
                if not shared:
                    self._begin(READ)
                with closing(SqliteView(self._db, self._pending)) as view:
                    yield view
            finally:
                if not shared and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def write(self) -> AbstractContextManager[SqliteTransaction]:
        return _Writing(self)

    def begin_write(self) -> SqliteTransaction:
        """Wait for both locks: between threads, then of the file."""
        if self._debug is not None:
            self._debug("wait", self.path.name)
        self._lock.acquire()
        try:
            self._require_idle("a write")
            if syncs_are_held() is self._syncs_commits:
                self._set_commit_sync()
            # LDG-066: the lock comes before the first read.
            self._begin(WRITE)
        except BaseException as problem:
            self._lock.release()
            if isinstance(problem, sqlite3.Error):
                raise as_moot_error(problem, self.path) from problem
            raise
        if self._debug is not None:
            self._debug("lock", self.path.name)
        return SqliteTransaction(self._db, self._pending)

    def end_write(self, change: SqliteTransaction, error: BaseException | None) -> None:
        """Commit and release the locks; on any error, roll back first."""
        # LDG-069
        try:
            change.close()
            if error is not None:
                raise error
            change.require_whole()
            # LDG-065, LDG-076: nothing is acknowledged before this returns.
            self._db.execute("COMMIT")
            sync_log_later(self._log)
            if self._debug is not None:
                self._debug("commit", self.path.name)
        except BaseException as problem:
            self._abandon()
            if self._debug is not None:
                self._debug("rollback", self.path.name)
            if isinstance(problem, sqlite3.Error):
                raise as_moot_error(problem, self.path) from problem
            raise
        finally:
            change.is_whole = False  # a kept reference cannot write any more
            self._lock.release()

    def _set_commit_sync(self) -> None:
        """Sync each commit (LDG-074), unless this thread delays its syncs."""
        is_held = syncs_are_held()
        self._db.execute(f"PRAGMA synchronous = {'NORMAL' if is_held else 'FULL'}")
        self._syncs_commits = not is_held

    def _begin(self, how: str) -> None:
        """Begin a transaction, and read the pending events that other connections added."""
        try:
            if how is WRITE:
                version = begin_queued_write(self._db, self._busy_seconds, self._queue)
            else:
                version = begin_when_free(self._db, how, self._busy_seconds)
            if version != self._pending.version:
                self._pending.catch_up(self._db)
                self._pending.version = version
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Roll back, and forget what was read in the transaction. After a disk failure SQLite has
        already ended it."""
        self._pending.forget()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def version(self) -> int:
        """Return a number that changes with every commit: SQLite's data version counts other
        connections' commits, total_changes our own."""
        with self.read():
            return self._pending.version * 2**40 + self._db.total_changes

    def size(self) -> int:
        """Return the size of the file in bytes, without its log."""
        return self.path.stat().st_size

    def work_ahead(self) -> None:
        """Move the log into the file now, while others write; else a COMMIT would do it."""
        if not self._is_closed:
            with translate_errors(self.path):
                self._find_log_mover().move()

    def _find_log_mover(self) -> LogMover:
        """Return the log mover; only a server makes one."""
        if self._log_mover is None:
            self._log_mover = LogMover(
                lambda: self._connect(f"file:{uri_of(self.path)}?mode=rw", 0)
            )
        return self._log_mover

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others write; `target` must not exist."""
        with self._lock:
            self._require_idle("a backup")
            copy_to(self._db, target)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._queue.close()
            if self._log_mover is not None:
                self._log_mover.close()
            self._db.close()

    def _require_idle(self, what: str) -> None:
        if self._db.in_transaction:
            raise StoreFailed("nested_write", f"{what} began inside a read or another write")


class _Writing:
    """The context manager of `write()`. A class, since a generator costs more and every command
    enters one."""

    __slots__ = ("_change", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteTransaction:
        self._change = self._store.begin_write()
        return self._change

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        self._store.end_write(self._change, error)


def _prepare(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Set up the connection, waiting for other processes that open or create the same file.

    SQLite's own waiting does not cover this: while one process switches a new file to the log,
    another may get a locked error at once.
    """
    try:
        retry_while_locked(lambda: _set_up(db), busy_seconds)
        db.execute("PRAGMA busy_timeout = 0")  # from here on `lock_waiting.py` waits
    except BaseException:
        db.close()
        raise


def _set_up(db: sqlite3.Connection) -> None:
    """Check and configure the file. May be repeated after a failure."""
    require_our_file(db)
    _use_log(db)
    db.execute("PRAGMA synchronous = FULL")  # LDG-074
    db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    migrate(db)


def _use_log(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. Fetches all rows: SQLite reports a disk failure only at the
    end of them."""
    if db.execute("PRAGMA journal_mode = WAL").fetchall() != [("wal",)]:
        raise StoreFailed(
            "store_failed",
            "the disk does not support a write-ahead log, without which a commit may be lost",
            hint="keep the ledger on a local disk",
        )


def _require_whole(path: Path, create: bool) -> None:
    """Raise StoreFailed if the file is shorter than a page. SQLite would treat it as a new database
    and delete its log, which may have the only copy of the newest events (LDG-079)."""
    if not path.is_file():
        if create:
            return
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    try:
        start, size = _read_start(path, len(_MAGIC) + 2), path.stat().st_size
    except OSError:
        return  # SQLite reports why
    page = int.from_bytes(start[len(_MAGIC) :], "big")
    if not ((start.startswith(_MAGIC) and size >= page) or (create and not start)):
        raise StoreFailed(
            "store_damaged",
            f"the ledger file {path} is empty, cut short or not a database",
            hint="keep the file, and restore from a backup",
        )


# Ledgers whose first bytes were read: (device, number of the file) -> descriptor.
_read_from: dict[tuple[int, int], int] = {}


def _read_start(path: Path, count: int) -> bytes:
    """Return the first bytes of a file that this process may have open as a database.

    On POSIX systems the file stays open: closing any descriptor of a file releases every lock that
    the process has on it, and another process could then remove the log that we write to.
    """
    if sys.platform == "win32":
        with path.open("rb") as file:
            return file.read(count)
    there = path.stat()
    descriptor = _read_from.get((there.st_dev, there.st_ino))
    if descriptor is None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        opened = os.fstat(descriptor)
        _read_from[opened.st_dev, opened.st_ino] = descriptor
    return os.pread(descriptor, count, 0)


def copy_to(db: sqlite3.Connection, target: Path) -> None:
    """Copy everything in `db` to a new file (LDG-073)."""
    with translate_errors(target):
        _create_empty(target)
        try:
            with closing(sqlite3.connect(f"file:{uri_of(target)}?mode=rw", uri=True)) as copy:
                db.backup(copy)
        except BaseException:
            target.unlink()
            raise


def _create_empty(target: Path) -> None:
    try:
        target.touch(exist_ok=False)
    except FileExistsError:
        raise Refused(
            "file_exists", f"{target} already exists", hint="choose another name"
        ) from None
    except OSError as error:
        raise StoreFailed(
            "store_unreachable", f"{target} cannot be written: {error.strerror or error}"
        ) from error


def uri_of(path: Path) -> str:
    """Return the path with `?`, `#` and `%` escaped for a URI."""
    text = path.absolute().as_posix()
    for mark, code in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(mark, code)
    return text


class LogMover:
    """Moves the log into the file on a separate connection, opened at the first use.

    Otherwise SQLite does it within the COMMIT that makes the log long enough, and all who share
    that commit wait. PASSIVE waits for no lock and takes none that a writer needs. Only a process
    that writes all the time needs it.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._is_closed = False

    def move(self) -> None:
        """Move what no reader needs in the log any more; sync the log and the file."""
        with self._lock:
            if self._is_closed:
                return
            if self._db is None:
                self._db = self._connect()
                # LDG-074: the file must not have what its log could still lose.
                self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._db is not None:
                self._db.close()
