"""A store as one process sees it: any call may fail, and the process may die at any of them.

The store underneath is a real one and is shared by all processes. A fault is set for the n-th step
from now; a step is the beginning or the end of any call to the store, every record read, and both
sides of a commit. `Crash` ends the process; `StoreFailed` it must survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.core.errors import StoreFailed
from moot.core.ledger import Store, View, WriteTransaction


class Crash(BaseException):
    """The process is gone; nobody catches this but the simulator."""


class Fate:
    """When the next fault strikes a process, and what it is."""

    def __init__(self) -> None:
        self._steps = 0
        self._make: Callable[[], BaseException] | None = None
        self.instead: Fate | None = None  # whose steps ours are, if we serve somebody

    def strike_after(self, steps: int, crash: bool) -> None:
        self._steps = steps
        self._make = Crash if crash else _disk_failed

    def spare(self) -> None:
        self._make = None

    def step(self) -> None:
        if self.instead is not None:
            self.instead.step()
        if self._make is None:
            return
        self._steps -= 1
        if self._steps <= 0:
            fault, self._make = self._make(), None
            raise fault


def _disk_failed() -> StoreFailed:
    return StoreFailed("disk_failed", "the disk failed")


class _Seen:
    """A view or a change whose every call is a step of fate before and after."""

    def __init__(self, real: View | WriteTransaction, fate: Fate) -> None:
        self._real = real
        self._fate = fate

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._real, name)

        def call(*args: Any, **more: Any) -> Any:
            self._fate.step()
            result = method(*args, **more)
            self._fate.step()
            return self._one_by_one(result) if isinstance(result, Iterator) else result

        return call

    def _one_by_one(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self._fate.step()
            yield item


class FaultyStore:
    """The store of one process. `meanwhile` is what others do just before it gets the lock."""

    def __init__(self, real: Store, fate: Fate, meanwhile: Callable[[], None]) -> None:
        self._real = real
        self._fate = fate
        self._meanwhile = meanwhile

    @contextmanager
    def read(self) -> Iterator[Any]:
        self._fate.step()
        with self._real.read() as view:
            yield _Seen(view, self._fate)
        self._fate.step()

    @contextmanager
    def write(self) -> Iterator[Any]:
        self._fate.step()
        self._meanwhile()
        with self._real.write() as change:
            yield _Seen(change, self._fate)
            self._fate.step()  # decided and written, not yet durable
        self._fate.step()  # durable, not yet acknowledged

    def version(self) -> int:
        return self._real.version()

    def backup(self, target: Path) -> None:
        self._real.backup(target)

    def close(self) -> None:
        """The real store is the simulator's to close: it is asked questions after the end."""
