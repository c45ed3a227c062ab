"""The connection: WAL, `synchronous=FULL`, one transaction at a time a process.

`write()` begins IMMEDIATE, so the lock is held before the head is read and no retry is needed;
waiting writers get 30 seconds. A failed COMMIT rolls back and raises: nothing was acknowledged.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.store.sqlite.change import Known, SqliteChange
from moot.store.sqlite.schema import check_ours, migrate
from moot.store.sqlite.trouble import translated, translated_opening
from moot.store.sqlite.turn import READ, WRITE, take_turn, wait_for
from moot.store.sqlite.view import SqliteView

BUSY_SECONDS = 30.0
_MAGIC = b"SQLite format 3\0"
HEADS_KEPT = 4096
LOG_PAGES = 4_000  # 16 MB: SQLite moves the log into the file this often, which is work for nobody

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
    ) -> None:
        """`connect` may put something between us and the disk; the fault tests do."""
        _require_whole(path, create)
        self.path = path
        self._turn = threading.RLock()
        self._busy_seconds = busy_seconds
        self._known = Known()
        self._known_at = -1
        with translated_opening(path):
            mode = "rwc" if create else "rw"
            self._db = connect(f"file:{_uri(path)}?mode={mode}", busy_seconds)
            _prepare(self._db, busy_seconds)

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One snapshot of the file, however long other processes write meanwhile."""
        with self._turn, translated(self.path):
            outside = self._db.in_transaction  # a read or a write of ours: the same view
            if not outside:
                take_turn(self._db, READ, self._busy_seconds)
            try:
                with closing(SqliteView(self._db)) as view:
                    yield view
            finally:
                if not outside:
                    _roll_back(self._db)

    @contextmanager
    def write(self) -> Iterator[SqliteChange]:
        with self._turn, translated(self.path):
            self._require_idle("a write")
            take_turn(self._db, WRITE, self._busy_seconds)
            try:
                with closing(SqliteChange(self._db, self._still_known())) as change:
                    yield change
                self._db.execute("COMMIT")
            except BaseException:
                self._known.forget()
                _roll_back(self._db)
                raise

    def _still_known(self) -> Known:
        version = self._data_version()
        if version != self._known_at or len(self._known.heads) > HEADS_KEPT:
            self._known.forget()
        self._known_at = version
        return self._known

    def changes(self) -> int:
        """SQLite's data_version moves with other connections' commits, total_changes with ours."""
        with self.read():
            return self._data_version() * 2**40 + self._db.total_changes

    def _data_version(self) -> int:
        """Moves with the commits of other connections, in this process or another."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def backup(self, target: Path) -> None:
        """A consistent copy while others write; `target` must not exist."""
        with self._turn, translated(target):
            self._require_idle("a backup")
            _create_empty(target)
            try:
                with closing(sqlite3.connect(f"file:{_uri(target)}?mode=rw", uri=True)) as copy:
                    self._db.backup(copy)
            except BaseException:
                target.unlink()
                raise

    def close(self) -> None:
        with self._turn:
            self._db.close()

    def _require_idle(self, what: str) -> None:
        if self._db.in_transaction:
            raise StoreFailed("nested_write", f"{what} began inside a read or another write")


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
    migrate(db)


def _use_log(db: sqlite3.Connection) -> None:
    """Fetched to the end: only there would SQLite say that the disk failed meanwhile."""
    if db.execute("PRAGMA journal_mode = WAL").fetchall() != [("wal",)]:
        raise StoreFailed(
            "store_failed",
            "the disk offers no write-ahead log, without which a commit may be lost",
            hint="keep the ledger on a local disk",
        )


def _roll_back(db: sqlite3.Connection) -> None:
    """Unless SQLite did so itself, as it does when the disk fails."""
    if db.in_transaction:
        db.execute("ROLLBACK")


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
