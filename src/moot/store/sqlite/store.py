"""The connection: WAL, `synchronous=FULL`, one transaction at a time a process.

`write()` begins IMMEDIATE, so the lock is held before the head is read and no retry is needed;
waiting writers get 30 seconds. A failed COMMIT rolls back and raises: nothing was acknowledged.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.store.sqlite.change import SqliteChange
from moot.store.sqlite.schema import check_ours, migrate
from moot.store.sqlite.tail import Tail
from moot.store.sqlite.trouble import translated, translated_opening
from moot.store.sqlite.turn import READ, WRITE, take_turn, wait_for
from moot.store.sqlite.view import SqliteView

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

BUSY_SECONDS = 30.0
_MAGIC = b"SQLite format 3\0"
FILE_AT = 1_000  # events; whoever opens the file reads what they say in a few milliseconds
CACHE_KB = 16_000  # at most: the pages that a filing of many streams comes back to
LOG_PAGES = 4_000  # 16 MB: SQLite moves the log into the file this often, and somebody waits for it

Connect = Callable[[str, float], sqlite3.Connection]


def connect_file(uri: str, busy_seconds: float) -> sqlite3.Connection:
    """A plain connection, on which every transaction is begun by us."""
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False
    )


class SqliteStore:
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
        """`connect` may put something between us and the disk; the fault tests do."""
        _require_whole(path, create)
        self.path = path
        self._turn = threading.RLock()
        self._busy_seconds = busy_seconds
        self._file_at = file_at
        self._tail = Tail()
        self._debug = debug
        with translated_opening(path):
            mode = "rwc" if create else "rw"
            self._db = connect(f"file:{_uri(path)}?mode={mode}", busy_seconds)
            _prepare(self._db, busy_seconds)
        if debug is not None:
            debug("open", f"{path} to write")

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One snapshot of the file, however long other processes write meanwhile."""
        with self._turn, translated(self.path):
            outside = self._db.in_transaction  # a read or a write of ours: the same view
            try:
                if not outside:
                    self._begin(READ)
                with closing(SqliteView(self._db, self._tail)) as view:
                    yield view
            finally:
                if not outside and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def write(self) -> AbstractContextManager[SqliteChange]:
        return _Writing(self)

    def begin_write(self) -> SqliteChange:
        """Wait for both locks, this process's and the file's."""
        if self._debug is not None:
            self._debug("wait", self.path.name)
        self._turn.acquire()
        try:
            with translated(self.path):
                self._require_idle("a write")
                self._begin(WRITE)
        except BaseException:
            self._turn.release()
            raise
        if self._debug is not None:
            self._debug("lock", self.path.name)
        return SqliteChange(self._db, self._tail, self._file_at)

    def end_write(self, change: SqliteChange, error: BaseException | None) -> None:
        """Commit and let go; or, if anything went wrong, leave nothing of the change."""
        try:
            with translated(self.path):
                change.close()
                if error is not None:
                    raise error
                change.require_whole()
                self._db.execute("COMMIT")
            if self._debug is not None:
                self._debug("commit", self.path.name)
        except BaseException:
            self._abandon()
            if self._debug is not None:
                self._debug("rollback", self.path.name)
            raise
        finally:
            change.is_whole = False  # and over
            self._turn.release()

    def _begin(self, how: str) -> None:
        try:
            version = take_turn(self._db, how, self._busy_seconds)
            if version != self._tail.version or not self._tail.is_read:
                self._tail.catch_up(self._db)
                self._tail.version = version
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """End what is under way; SQLite has done so itself if the disk failed."""
        self._tail.forget()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def changes(self) -> int:
        """SQLite's data version moves with other connections' commits, total_changes with ours."""
        with self.read():
            return self._tail.version * 2**40 + self._db.total_changes

    def backup(self, target: Path) -> None:
        """A consistent copy while others write; `target` must not exist."""
        with self._turn:
            self._require_idle("a backup")
            copy_to(self._db, target)

    def close(self) -> None:
        with self._turn:
            self._db.close()

    def _require_idle(self, what: str) -> None:
        if self._db.in_transaction:
            raise StoreFailed("nested_write", f"{what} began inside a read or another write")


class _Writing:
    """One change of a store; entered with every command, and so no generator."""

    __slots__ = ("_change", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteChange:
        self._change = self._store.begin_write()
        return self._change

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        self._store.end_write(self._change, error)


def _prepare(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Several may open, or even make, one file at once; SQLite's own waiting ends too soon there.

    While one process switches a new file to the log, another may be told at once that it is locked.
    """
    try:
        wait_for(lambda: _set_up(db), busy_seconds)
        db.execute("PRAGMA busy_timeout = 0")  # from here on `turn.py` waits
    except BaseException:
        db.close()
        raise


def _set_up(db: sqlite3.Connection) -> None:
    """May be done again after any failure half-way."""
    check_ours(db)
    _use_log(db)
    db.execute("PRAGMA synchronous = FULL")
    db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    migrate(db)


def _use_log(db: sqlite3.Connection) -> None:
    """Fetched to the end: only there would SQLite say that the disk failed meanwhile."""
    if db.execute("PRAGMA journal_mode = WAL").fetchall() != [("wal",)]:
        raise StoreFailed(
            "store_failed",
            "the disk offers no write-ahead log, without which a commit may be lost",
            hint="keep the ledger on a local disk",
        )


def _require_whole(path: Path, create: bool) -> None:
    """SQLite takes a file of less than a page for a new one, and deletes the log beside it."""
    if not path.is_file():
        if create:
            return
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    try:
        with path.open("rb") as file:
            start, size = file.read(len(_MAGIC) + 2), path.stat().st_size
    except OSError:
        return  # SQLite will say why
    page = int.from_bytes(start[len(_MAGIC) :], "big")
    if not ((start.startswith(_MAGIC) and size >= page) or (create and not start)):
        raise StoreFailed(
            "store_damaged",
            f"the ledger file {path} is empty, cut short or not a database",
            hint="keep the file; restore from a backup",
        )


def copy_to(db: sqlite3.Connection, target: Path) -> None:
    """Everything that `db` holds, in a new file."""
    with translated(target):
        _create_empty(target)
        try:
            with closing(sqlite3.connect(f"file:{_uri(target)}?mode=rw", uri=True)) as copy:
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


def _uri(path: Path) -> str:
    """A path as the path of a URI: `?`, `#` and `%` in folder names stay names."""
    text = path.absolute().as_posix()
    for mark, code in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(mark, code)
    return text
