"""The connection: a write-ahead log, `synchronous=FULL`, one transaction at a time in a process.

`write()` takes the file's write lock before it reads anything (BEGIN IMMEDIATE). A transaction that
first read and then wanted to write could find that another was faster, and would have to decide
again; so none does. Writers wait up to 30 seconds for each other, or less (`waiting_at_most`).
`synchronous=FULL` means that an acknowledged commit survives a power failure; a run may have many
made durable together (`batched_syncs.py`). A COMMIT that fails is rolled back and raises.
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
from moot.store.files import are_held, sync_log_later
from moot.store.sqlite.errors import as_moot_error, translate_errors, translate_opening_errors
from moot.store.sqlite.lock_waiting import (
    READ,
    WRITE,
    WaitingLine,
    begin_when_free,
    begin_write_in_turn,
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
CACHE_KB = 16_000  # at most: filing many streams comes back to the same pages
# 16 MB: when the log is this long SQLite moves it into the file, and one caller waits for that,
# unless it was moved ahead (`work_ahead`).
LOG_PAGES = 4_000

Connect = Callable[[str, float], sqlite3.Connection]


def connect_file(uri: str, busy_seconds: float) -> sqlite3.Connection:
    """A plain connection, on which every transaction is begun by us."""
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
        """`connect` lets tests put a failing disk underneath. `file_at`: events that may wait to be
        filed. `debug` is told of opening, waiting, locking and committing."""
        _require_whole(path, create)
        self.path = path
        self._turn = threading.RLock()  # SQLite's lock is between connections; this one, threads
        self._busy_seconds = busy_seconds
        self._pending = PendingIndex(file_at)
        self._debug = debug
        self._syncs_commits = True
        self._log = path.with_name(f"{path.name}-wal").absolute()
        self._line = WaitingLine(path)
        self._connect = connect
        self._log_mover: LogMover | None = None
        self._is_closed = False
        with translate_opening_errors(path):
            mode = "rwc" if create else "rw"
            self._db = connect(f"file:{uri_of(path)}?mode={mode}", busy_seconds)
            _prepare(self._db, busy_seconds)
        if debug is not None:
            debug("open", f"{path} to write")

    def let_be_copy(self) -> None:
        """The file is a copy of a ledger that is kept elsewhere: the newest commits may be lost
        with the machine's power, since they can be fetched again. What is there stays whole."""
        self._db.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One unchanging view of the file, however much other processes write meanwhile."""
        with self._turn, translate_errors(self.path):
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
        """Wait for both locks: the one between threads, then the one of the file."""
        if self._debug is not None:
            self._debug("wait", self.path.name)
        self._turn.acquire()
        try:
            self._require_idle("a write")
            if are_held() is self._syncs_commits:
                self._sync_commits_unless_held()
            # LDG-066: the lock comes before the first read.
            self._begin(WRITE)
        except BaseException as problem:
            self._turn.release()
            if isinstance(problem, sqlite3.Error):
                raise as_moot_error(problem, self.path) from problem
            raise
        if self._debug is not None:
            self._debug("lock", self.path.name)
        return SqliteTransaction(self._db, self._pending)

    def end_write(self, change: SqliteTransaction, error: BaseException | None) -> None:
        """Commit and release the locks; if anything went wrong, undo the whole change first."""
        # LDG-069
        try:
            change.close()
            if error is not None:
                raise error
            change.require_whole()
            # LDG-065, LDG-076: nobody is answered before this has returned.
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
            change.is_whole = False  # whoever kept a reference cannot write any more
            self._turn.release()

    def _sync_commits_unless_held(self) -> None:
        """LDG-074: each commit is synced, or all that this thread holds back are, together."""
        is_held = are_held()
        self._db.execute(f"PRAGMA synchronous = {'NORMAL' if is_held else 'FULL'}")
        self._syncs_commits = not is_held

    def _begin(self, how: str) -> None:
        """Begin a transaction, and read what others have added since to the events not filed
        yet."""
        try:
            if how is WRITE:
                version = begin_write_in_turn(self._db, self._busy_seconds, self._line)
            else:
                version = begin_when_free(self._db, how, self._busy_seconds)
            if version != self._pending.version:
                self._pending.catch_up(self._db)
                self._pending.version = version
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Undo the transaction and forget what was read in it. If the disk failed, SQLite has ended
        the transaction already."""
        self._pending.forget()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def version(self) -> int:
        """SQLite's data version counts other connections' commits, total_changes our own."""
        with self.read():
            return self._pending.version * 2**40 + self._db.total_changes

    def size(self) -> int:
        """How many bytes the file has, without what still stands in its log."""
        return self.path.stat().st_size

    def work_ahead(self) -> None:
        """Move the log into the file now, while others write: else a COMMIT does it."""
        if not self._is_closed:
            with translate_errors(self.path):
                self._find_log_mover().move()

    def _find_log_mover(self) -> LogMover:
        """Only a server has one: whoever writes once loads nothing for it."""
        if self._log_mover is None:
            self._log_mover = LogMover(
                lambda: self._connect(f"file:{uri_of(self.path)}?mode=rw", 0)
            )
        return self._log_mover

    def backup(self, target: Path) -> None:
        """A consistent copy while others write; `target` must not exist."""
        with self._turn:
            self._require_idle("a backup")
            copy_to(self._db, target)

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
            self._line.close()
            if self._log_mover is not None:
                self._log_mover.close()
            self._db.close()

    def _require_idle(self, what: str) -> None:
        if self._db.in_transaction:
            raise StoreFailed("nested_write", f"{what} began inside a read or another write")


class _Writing:
    """The context manager of `write()`. A class, since every command enters one and a generator
    would cost more."""

    __slots__ = ("_change", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteTransaction:
        self._change = self._store.begin_write()
        return self._change

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        self._store.end_write(self._change, error)


def _prepare(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Set the connection up, waiting for others that open or make the same file at this moment.

    SQLite's own waiting does not cover this: while one process switches a new file to the log,
    another may be told at once that it is locked.
    """
    try:
        retry_while_locked(lambda: _set_up(db), busy_seconds)
        db.execute("PRAGMA busy_timeout = 0")  # from here on `lock_waiting.py` waits
    except BaseException:
        db.close()
        raise


def _set_up(db: sqlite3.Connection) -> None:
    """Check and configure the file. It may be repeated after it failed half-way."""
    require_our_file(db)
    _use_log(db)
    db.execute("PRAGMA synchronous = FULL")  # LDG-074
    db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    migrate(db)


def _use_log(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. All rows are fetched: SQLite reports a failing disk only at
    the end of them."""
    if db.execute("PRAGMA journal_mode = WAL").fetchall() != [("wal",)]:
        raise StoreFailed(
            "store_failed",
            "the disk offers no write-ahead log, without which a commit may be lost",
            hint="keep the ledger on a local disk",
        )


def _require_whole(path: Path, create: bool) -> None:
    """StoreFailed if the file is shorter than a page. SQLite would take it for a new database and
    delete the log beside it, which may hold the only copy of the newest events (LDG-079)."""
    if not path.is_file():
        if create:
            return
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    try:
        start, size = _read_start(path, len(_MAGIC) + 2), path.stat().st_size
    except OSError:
        return  # SQLite will say why
    page = int.from_bytes(start[len(_MAGIC) :], "big")
    if not ((start.startswith(_MAGIC) and size >= page) or (create and not start)):
        raise StoreFailed(
            "store_damaged",
            f"the ledger file {path} is empty, cut short or not a database",
            hint="keep the file; restore from a backup",
        )


# Ledgers whose first bytes were read: (device, number of the file) -> descriptor.
_read_from: dict[tuple[int, int], int] = {}


def _read_start(path: Path, count: int) -> bytes:
    """The first bytes of a file that this process may have open as a database.

    On POSIX systems the file stays open: closing any descriptor of a file ends every lock that the
    process has on it, and another process could then remove the log that we are writing to.
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
    """Everything that `db` holds, in a new file (LDG-073)."""
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
            "file_exists", f"{target} exists already", hint="choose another name"
        ) from None
    except OSError as error:
        raise StoreFailed(
            "store_unreachable", f"{target} cannot be written: {error.strerror or error}"
        ) from error


def uri_of(path: Path) -> str:
    """The path written so that `?`, `#` and `%` in a folder's name do not become part of the
    URI."""
    text = path.absolute().as_posix()
    for mark, code in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(mark, code)
    return text


# Moves the log into the file on a connection of its own. SQLite would do it within the COMMIT that
# makes the log long enough, and all who share that commit would wait. PASSIVE waits for no lock and
# takes none that a writer needs. Only a process that writes all the time has a use for it.


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
