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
from moot.store.sqlite.change import SqliteChange
from moot.store.sqlite.schema import check_ours, migrate
from moot.store.sqlite.trouble import translated
from moot.store.sqlite.view import SqliteView

BUSY_SECONDS = 30.0

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
        if not create:
            _require_file(path)
        self.path = path
        self._turn = threading.RLock()
        with translated(path):
            mode = "rwc" if create else "rw"
            self._db = connect(f"file:{_uri(path)}?mode={mode}", busy_seconds)
            _prepare(self._db)

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One snapshot of the file, however long other processes write meanwhile."""
        with self._turn, translated(self.path):
            outside = self._db.in_transaction  # a read or a write of ours: the same view
            if not outside:
                self._db.execute("BEGIN")
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
            self._db.execute("BEGIN IMMEDIATE")
            try:
                with closing(SqliteChange(self._db)) as change:
                    yield change
                self._db.execute("COMMIT")
            except BaseException:
                _roll_back(self._db)
                raise

    def changes(self) -> int:
        """SQLite's data_version moves with other connections' commits, total_changes with ours."""
        with self._turn, translated(self.path):
            version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
            return version * 2**40 + self._db.total_changes

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


def _prepare(db: sqlite3.Connection) -> None:
    try:
        check_ours(db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        migrate(db)
    except BaseException:
        db.close()
        raise


def _roll_back(db: sqlite3.Connection) -> None:
    """Unless SQLite did so itself, as it does when the disk fails."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise Unavailable(
            "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
        )
    if path.stat().st_size == 0:  # SQLite would take it for a new one and discard what is beside it
        raise StoreFailed(
            "store_damaged", f"the ledger file {path} is empty", hint="restore from a backup"
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
