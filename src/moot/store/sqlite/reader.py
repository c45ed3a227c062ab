"""A ledger file that is only read: nothing is written, migrated or repaired.

For checks, which must leave the evidence as it is and must work where nothing may be written
(`read_only_file.py`). `immutable` is for a private copy that nobody writes: then not even a lock
file appears beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from moot.core.errors import StoreFailed, Unavailable
from moot.store.sqlite.errors import translate_errors, translate_opening_errors
from moot.store.sqlite.pending_index import PendingIndex
from moot.store.sqlite.queries import SQL
from moot.store.sqlite.read_only_file import ReadOnlyFile
from moot.store.sqlite.schema import (
    VERSION,
    find_missing_tables,
    require_our_file,
    version_of,
)
from moot.store.sqlite.view import SqliteView

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
