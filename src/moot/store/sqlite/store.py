"""The connection: WAL, `synchronous=FULL`, one transaction at a time a process.

`write()` begins IMMEDIATE, so the lock is held before the head is read and no retry is needed;
waiting writers get 30 seconds. A failed COMMIT rolls back and raises: nothing was acknowledged.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core.errors import Unavailable
from moot.store.sqlite.change import SqliteChange
from moot.store.sqlite.schema import migrate
from moot.store.sqlite.trouble import translated
from moot.store.sqlite.view import SqliteView

BUSY_SECONDS = 30.0


class SqliteStore:
    def __init__(
        self, path: Path, *, create: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        if not create and not path.is_file():
            raise Unavailable(
                "no_ledger", f"there is no ledger at {path}", hint="run `moot init` first"
            )
        self.path = path
        self._turn = threading.RLock()
        with translated(path):
            self._db = _connect(path, create, busy_seconds)

    @contextmanager
    def read(self) -> Iterator[SqliteView]:
        """One snapshot of the file, however long other processes write meanwhile."""
        with self._turn, translated(self.path):
            if self._db.in_transaction:  # inside write(): the same view, plus what it wrote
                yield SqliteView(self._db)
                return
            self._db.execute("BEGIN")
            try:
                yield SqliteView(self._db)
            finally:
                self._db.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[SqliteChange]:
        with self._turn, translated(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteChange(self._db)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def changes(self) -> int:
        """SQLite's data_version moves with other connections' commits, total_changes with ours."""
        with self._turn, translated(self.path):
            version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
            return version * 2**40 + self._db.total_changes

    def backup(self, target: Path) -> None:
        """A consistent copy while others write; `target` must not exist."""
        with self._turn, translated(target):
            copy = sqlite3.connect(f"file:{_uri(target)}?mode=rwc", uri=True)
            try:
                self._db.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        with self._turn:
            self._db.close()


def _connect(path: Path, create: bool, busy_seconds: float) -> sqlite3.Connection:
    mode = "rwc" if create else "rw"
    db = sqlite3.connect(
        f"file:{_uri(path)}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=busy_seconds,
        check_same_thread=False,
    )
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _uri(path: Path) -> str:
    """A path as the path of a URI: `?`, `#` and `%` in folder names stay names."""
    text = path.absolute().as_posix()
    for mark, code in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(mark, code)
    return text
