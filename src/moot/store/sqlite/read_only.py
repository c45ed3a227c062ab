"""The store of a ledger that may not be written here: all of it can be read, nothing written.

It is looked at as a check looks at it (`looking.py`), so the newest commits are never passed over:
they are read too, or there is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import StoreFailed
from moot.store.sqlite.change import SqliteChange
from moot.store.sqlite.reader import SqliteReader
from moot.store.sqlite.store import SqliteStore, copy_to
from moot.store.sqlite.trouble import read_only, translated
from moot.store.sqlite.view import SqliteView

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

# Why a store could not be opened, where looking at it may still be possible.
_MAY_BE_LOOKED_AT = frozenset({"store_read_only", "store_unreachable", "disk_full"})


class ReadOnlyStore(SqliteReader):
    """`why` it could not be opened for writing; whoever tries to write is told the same."""

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

    def write(self) -> AbstractContextManager[SqliteChange]:
        raise self.why

    def changes(self) -> int:
        """SQLite's data version; where the file is read as it stands, a change is an error."""
        with translated(self.path), self._looking.unmoved():
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
        return int(version)

    def backup(self, target: Path) -> None:
        """A consistent copy; `target` must not exist. One of a file that moved is none."""
        copy_to(self._db, target)
        try:
            with self._looking.unmoved():
                return
        except StoreFailed:
            target.unlink()
            raise


def open_to_write(path: Path, debug: DebugLog | None = None) -> SqliteStore:
    """SQLite would open also a file that may not be written, make its log beside it, which nobody
    may write then either, and notice only when it comes to writing."""
    if path.exists() and not os.access(path, os.W_OK):
        raise read_only(path)
    return SqliteStore(path, debug=debug)


def open_to_read(path: Path, debug: DebugLog | None = None) -> SqliteStore | ReadOnlyStore:
    """As ever where it may be written; else it is looked at."""
    try:
        return open_to_write(path, debug)
    except StoreFailed as error:
        if error.code not in _MAY_BE_LOOKED_AT:
            raise
        store = ReadOnlyStore(path, error)
    if debug is not None:
        debug("open", f"{path} to read only: {store.why.code}")
    return store
