"""The ledger of a workspace wherever it lies now: a process that lives long goes on in the new
place once `moot ledger move` has moved it.

Whoever moves a ledger holds its write lock until the workspace names the new place. So a look after
the lock was taken says for certain whether this is still the right place to write to.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.workspace.find import DATABASE, LEDGER

if TYPE_CHECKING:
    from moot.core.ledger import Store, View, WriteTransaction

Place = tuple[str, int, int]


class StoreWherever:
    """A store that opens the ledger anew where it was moved to. Threads may share it."""

    def __init__(self, path: Path, store: Store, place: Place, reopen: Callable[[], Store]) -> None:
        """`place` is where the ledger was found when `store` was opened; `path` is `.moot`."""
        self._path = path
        self._store = store
        self._place = place
        self._reopen = reopen
        self._former: list[Store] = []  # somebody may still read there
        self._turn = threading.Lock()
        self._inside = threading.local()  # the store of the read or write that this thread is in

    @contextmanager
    def read(self) -> Iterator[View]:
        outer = getattr(self._inside, "store", None)
        store = outer or self._find()
        self._inside.store = store
        try:
            with store.read() as view:
                yield view
        finally:
            self._inside.store = outer

    @contextmanager
    def write(self) -> Iterator[WriteTransaction]:
        outer = getattr(self._inside, "store", None)
        while True:
            store = outer or self._find()
            with store.write() as change:
                if outer is None and self._has_moved():
                    continue  # while we waited for the lock
                self._inside.store = store
                try:
                    yield change
                finally:
                    self._inside.store = outer
            return

    def work_ahead(self) -> None:
        """A database does that by itself."""
        work = getattr(self._store, "work_ahead", None)
        if work is not None:
            work()

    def close(self) -> None:
        for store in (*self._former, self._store):
            store.close()

    def _has_moved(self) -> bool:
        return find_place(self._path) not in (self._place, None)

    def _find(self) -> Store:
        if not self._has_moved():
            return self._store
        with self._turn:
            place = find_place(self._path)
            if place is not None and place != self._place:
                store = self._reopen()
                self._former.append(self._store)
                self._store, self._place = store, place
            return self._store

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)


def find_place(path: Path) -> Place | None:
    """What tells where the ledger of a workspace lies; None if it is nowhere."""
    for name in (DATABASE, LEDGER):
        try:
            found = os.stat(path / name)
        except OSError:
            continue
        return name, found.st_ino, found.st_mtime_ns if name == DATABASE else 0
    return None
