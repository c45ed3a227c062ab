"""The ledger of a workspace wherever it lies now: a process that lives long goes on in the new
place once `moot ledger move` has moved it.

Whoever moves a ledger holds its write lock until the workspace names the new place. So a look after
the lock was taken says for certain whether this is still the right place to write to.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.workspace.find import DATABASE, LEDGER

if TYPE_CHECKING:
    from moot.core.ledger import Store, View, WriteTransaction

Place = tuple[str, int, int]
# Whoever reads looks this often, in seconds: it is a moment late at most, as any reader may be.
LOOK_EVERY: Final = 0.05
# A folder whose last change is older than this, in nanoseconds, gets another time at its next one:
# clocks of file systems tick slowly, some once in two seconds.
SETTLED: Final = 3_000_000_000


class StoreWherever:
    """A store that opens the ledger anew where it was moved to. Threads may share it."""

    def __init__(self, path: Path, store: Store, place: Place, reopen: Callable[[], Store]) -> None:
        """`place` is where the ledger was found when `store` was opened; `path` is `.moot`."""
        self._database, self._ledger = str(path / DATABASE), str(path / LEDGER)
        self._store = store
        self._place = place
        self._look_at = 0.0
        self._folder = _Folder(str(path))
        # where we last looked under the lock and were right, and the folder's last change then
        self._right_place_at: tuple[Store, int] | None = None
        self._reopen = reopen
        self._former: list[Store] = []  # somebody may still read there
        self._turn = threading.Lock()
        self._inside = threading.local()  # the store of the read or write that this thread is in

    def read(self) -> AbstractContextManager[View]:
        return _Reading(self)

    def write(self) -> AbstractContextManager[WriteTransaction]:
        return _Writing(self)

    def work_ahead(self) -> None:
        """A database does that by itself."""
        work = getattr(self._store, "work_ahead", None)
        if work is not None:
            work()

    def close(self) -> None:
        self._folder.close()
        for store in (*self._former, self._store):
            store.close()

    def is_right_place(self, store: Store) -> bool:
        """Asked under the write lock of `store`: is the ledger still there?

        When its file moves, something is made, renamed or removed in the folder, which tells when
        that last was.
        """
        changed_at = self._folder.changed_at() if self._place[0] == LEDGER else None
        if changed_at is not None and (store, changed_at) == self._right_place_at:
            return True
        is_right = store is self._store and not self._has_moved()
        if not is_right:
            self._look_at = 0.0
        elif changed_at is not None and time.time_ns() - changed_at > SETTLED:
            self._right_place_at = store, changed_at
        return is_right

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


class _Writing:
    """One write; a class for the same reason."""

    __slots__ = ("_outer", "_wherever", "_writing")

    def __init__(self, wherever: StoreWherever) -> None:
        self._wherever = wherever

    def __enter__(self) -> WriteTransaction:
        wherever = self._wherever
        while True:
            self._outer, store = wherever.enter()
            try:
                self._writing = store.write()
                change = self._writing.__enter__()
            except BaseException:
                wherever.leave(self._outer)
                raise
            try:
                if self._outer is not None or wherever.is_right_place(store):
                    return change
            except BaseException as error:
                self.__exit__(type(error), error, error.__traceback__)
                raise
            # It was moved since we looked, or while we waited: nothing was written here.
            self.__exit__(None, None, None)

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._writing.__exit__(*error)
        finally:
            self._wherever.leave(self._outer)


class _Folder:
    """When something was last made, renamed or removed in a folder, or it was itself.

    Asked of a descriptor: to look for two files by their paths takes twenty times as long, a
    fifteenth of a whole command.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._is_asked_again = False

    def changed_at(self) -> int | None:
        """In nanoseconds; None if that cannot be told, or is asked for the first time: most
        processes write once, and need no descriptor."""
        if self._descriptor is None:
            is_first, self._is_asked_again = not self._is_asked_again, True
            if is_first or sys.platform == "win32":
                return None
            try:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None
        folder = os.fstat(self._descriptor)
        return folder.st_ctime_ns if folder.st_nlink else None

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


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
