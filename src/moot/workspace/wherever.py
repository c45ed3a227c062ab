"""The ledger of a workspace wherever it lies now: a process that lives long goes on in the new
place once `moot ledger move` has moved it.

Whoever moves a ledger holds its write lock until the workspace names the new place. So a look after
the lock was taken says for certain whether this is still the right place to write to.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.workspace.find import DATABASE, LEDGER

if TYPE_CHECKING:
    from moot.core.ledger import Store, View, WriteTransaction

Place = tuple[str, int, int]
# Whoever reads looks this often, in seconds: it is a moment late at most, as any reader may be.
LOOK_EVERY: Final = 0.05


class StoreWherever:
    """A store that opens the ledger anew where it was moved to. Threads may share it."""

    def __init__(self, path: Path, store: Store, place: Place, reopen: Callable[[], Store]) -> None:
        """`place` is where the ledger was found when `store` was opened; `path` is `.moot`."""
        self._database, self._ledger = str(path / DATABASE), str(path / LEDGER)
        self._store = store
        self._place = place
        self._look_at = 0.0
        self._reopen = reopen
        self._former: list[Store] = []  # somebody may still read there
        self._turn = threading.Lock()
        self._inside = threading.local()  # the store of the read or write that this thread is in

    def read(self) -> AbstractContextManager[View]:
        return _Reading(self)

    @contextmanager
    def write(self) -> Iterator[WriteTransaction]:
        outer = getattr(self._inside, "store", None)
        while True:
            store = outer or self._find()
            with store.write() as change:
                if outer is None and (store is not self._store or self._has_moved()):
                    self._look_at = 0.0  # it was moved since we looked, or while we waited
                    continue
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
        return _find_place(self._database, self._ledger) not in (self._place, None)

    def enter(self) -> tuple[Store | None, Store]:
        """The store that this thread is in already, and the one to go on in."""
        outer: Store | None = getattr(self._inside, "store", None)
        self._inside.store = store = outer or self._find()
        return outer, store

    def leave(self, outer: Store | None) -> None:
        self._inside.store = outer

    def _find(self) -> Store:
        now = time.monotonic()
        if now < self._look_at:
            return self._store
        self._look_at = now + LOOK_EVERY
        if not self._has_moved():
            return self._store
        with self._turn:
            place = _find_place(self._database, self._ledger)
            if place is not None and place != self._place:
                store = self._reopen()
                self._former.append(self._store)
                self._store, self._place = store, place
            return self._store

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)


class _Reading:
    """One read; as a generator it would cost as much again as the read itself."""

    __slots__ = ("_outer", "_reading", "_wherever")

    def __init__(self, wherever: StoreWherever) -> None:
        self._wherever = wherever

    def __enter__(self) -> View:
        self._outer, store = self._wherever.enter()
        try:
            self._reading = store.read()
            return self._reading.__enter__()
        except BaseException:
            self._wherever.leave(self._outer)
            raise

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._reading.__exit__(*error)
        finally:
            self._wherever.leave(self._outer)


def find_place(path: Path) -> Place | None:
    """What tells where the ledger of a workspace lies; None if it is nowhere."""
    return _find_place(str(path / DATABASE), str(path / LEDGER))


def _find_place(database: str, ledger: str) -> Place | None:
    if os.path.exists(database):
        with suppress(OSError):
            found = os.stat(database)
            return DATABASE, found.st_ino, found.st_mtime_ns
    try:
        return LEDGER, os.stat(ledger).st_ino, 0
    except OSError:
        return None
