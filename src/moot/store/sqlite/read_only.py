"""The store of a ledger that may not be written here: all of it can be read, nothing written.

It is read as a check reads it (`read_only_file.py`): the newest commits are read too, or there is
an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import StoreFailed
from moot.store.sqlite.errors import read_only_error, translate_errors
from moot.store.sqlite.reader import SqliteReader
from moot.store.sqlite.store import SqliteStore, copy_to
from moot.store.sqlite.transaction import SqliteTransaction
from moot.store.sqlite.view import SqliteView

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

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
