"""A store that follows the ledger after `moot ledger move`, for processes that run for long.

`moot ledger move` holds the ledger's write lock until the workspace names the new location. So a
check under the write lock shows reliably whether the ledger is still here.
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

Location = tuple[str, int, int]
# How often a reader checks, in seconds; it may read the old location that much longer.
CHECK_INTERVAL: Final = 0.05
# A folder whose last change is older than this, in nanoseconds, gets another time at its next
# change: some file systems count time in steps of two seconds.
SETTLED: Final = 3_000_000_000


class RelocatableStore:
    """A store that opens the ledger again where it was moved to. Threads may share it."""

    def __init__(
        self, path: Path, store: Store, place: Location, reopen: Callable[[], Store]
    ) -> None:
        """`place` is where the ledger was found when `store` was opened; `path` is `.moot`."""
        self._database, self._ledger = str(path / DATABASE), str(path / LEDGER)
        self._store = store
        self._location = place
        self._next_check = 0.0
        self._folder = _Folder(str(path))
        # the store that was last found current under its lock, and the folder's last change then
        self._verified_at: tuple[Store, int] | None = None
        self._reopen = reopen
        self._former: list[Store] = []  # a thread may still read there
        self._lock = threading.Lock()
        self._inside = threading.local()  # the store of the read or write that this thread is in

    def read(self) -> AbstractContextManager[View]:
        return _Reading(self)

    def write(self) -> AbstractContextManager[WriteTransaction]:
        return _Writing(self)

    def work_ahead(self) -> None:
        """Do the store's deferred work; a database does that by itself."""
        work = getattr(self._store, "work_ahead", None)
        if work is not None:
            work()

    def close(self) -> None:
        self._folder.close()
        for store in (*self._former, self._store):
            store.close()

    def is_current(self, store: Store) -> bool:
        """Return whether the ledger is still in `store`; called under its write lock.

        Moving the file changes the folder, whose time of change is quicker to read.
        """
        changed_at = self._folder.changed_at() if self._location[0] == LEDGER else None
        if changed_at is not None and (store, changed_at) == self._verified_at:
            return True
        is_right = store is self._store and not self._has_moved()
        if not is_right:
            self._next_check = 0.0
        elif changed_at is not None and time.time_ns() - changed_at > SETTLED:
            self._verified_at = store, changed_at
        return is_right

    def _has_moved(self) -> bool:
        return _find_location(self._database, self._ledger) not in (self._location, None)

    def enter(self) -> tuple[Store | None, Store]:
        """Return the store that this thread already uses, if any, and the one to use now."""
        outer: Store | None = getattr(self._inside, "store", None)
        self._inside.store = store = outer or self._find()
        return outer, store

    def leave(self, outer: Store | None) -> None:
        self._inside.store = outer

    def _find(self) -> Store:
        now = time.monotonic()
        if now < self._next_check:
            return self._store
        self._next_check = now + CHECK_INTERVAL
        if not self._has_moved():
            return self._store
        with self._lock:
            place = _find_location(self._database, self._ledger)
            if place is not None and place != self._location:
                store = self._reopen()
                self._former.append(self._store)
                self._store, self._location = store, place
            return self._store

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)


class _Reading:
    """One read. A class, since a generator would double the cost of a read."""

    __slots__ = ("_outer", "_owner", "_reading")

    def __init__(self, owner: RelocatableStore) -> None:
        self._owner = owner

    def __enter__(self) -> View:
        self._outer, store = self._owner.enter()
        try:
            self._reading = store.read()
            return self._reading.__enter__()
        except BaseException:
            self._owner.leave(self._outer)
            raise

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._reading.__exit__(*error)
        finally:
            self._owner.leave(self._outer)


class _Writing:
    """One write. A class for the same reason."""

    __slots__ = ("_outer", "_owner", "_writing")

    def __init__(self, owner: RelocatableStore) -> None:
        self._owner = owner

    def __enter__(self) -> WriteTransaction:
        owner = self._owner
        while True:
            self._outer, store = owner.enter()
            try:
                self._writing = store.write()
                change = self._writing.__enter__()
            except BaseException:
                owner.leave(self._outer)
                raise
            try:
                if self._outer is not None or owner.is_current(store):
                    return change
            except BaseException as error:
                self.__exit__(type(error), error, error.__traceback__)
                raise
            # It was moved since the last check, or while we waited: nothing was written here.
            self.__exit__(None, None, None)

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._writing.__exit__(*error)
        finally:
            self._owner.leave(self._outer)


class _Folder:
    """Tells when a folder's entries last changed.

    Reads the time from a descriptor: looking up two files by their paths takes twenty times as
    long, a fifteenth of a whole command.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._is_asked_again = False

    def changed_at(self) -> int | None:
        """Return the time of the last change in nanoseconds; None if it is unknown, or at the first
        call: most processes write once and need no descriptor."""
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


def find_location(path: Path) -> Location | None:
    """Return what identifies the ledger's location; None without a ledger."""
    return _find_location(str(path / DATABASE), str(path / LEDGER))


def _find_location(database: str, ledger: str) -> Location | None:
    if os.path.exists(database):
        with suppress(OSError):
            found = os.stat(database)
            return DATABASE, found.st_ino, found.st_mtime_ns
    try:
        return LEDGER, os.stat(ledger).st_ino, 0
    except OSError:
        return None
