"""Notices changes, once for all who listen, and only while somebody does.

The store is asked ten times a second whether anybody has written. Liveness and time limits change
with time alone: the screens that show them are compared now and then, and said to have changed only
if they differ.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from moot.api.page.changes import ALL_SCREENS, TIMED_SCREENS, ScreenChanges
from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.surfaces.web.live import Listeners
    from moot.surfaces.web.readers import Readers

LOOK_SECONDS: Final = 0.1
# So many looks are made in one go: waking the server for each would cost more than the look.
LOOKS_IN_ONE_GO: Final = 10
TIME_SECONDS: Final = 5.0
# The operation behind each screen that time alone changes.
_TIMED: Final = {"sessions": "sessions", "status": "status"}


class Watcher:
    """Looks while `listeners` has any, and tells them."""

    def __init__(self, readers: Readers, listeners: Listeners) -> None:
        self._readers = readers
        self._listeners = listeners
        self._changes = ScreenChanges()
        self._etags: dict[str, str] = {}
        self._is_readable = True
        self._is_over = threading.Event()

    async def watch(self) -> None:
        """Until it is cancelled."""
        try:
            await self._watch()
        finally:
            self._is_over.set()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._readers.watching_thread, self._begin)
        while True:
            await self._listeners.arrived.wait()
            timed_at = time.monotonic()
            while len(self._listeners):
                self._listeners.tell(await self._look())
                if time.monotonic() - timed_at >= TIME_SECONDS:
                    timed_at = time.monotonic()
                    self._listeners.tell(await self._compare_by_time())

    def _begin(self) -> None:
        """Before anybody is shown anything: what changes from now on is told to the first who
        listens."""
        with suppress(MootError):  # the first look says so
            self._changes.look(self._readers.open_session())

    async def _look(self) -> tuple[str, ...]:
        """Which screens changed; all of them, once, if the record can no longer be read."""
        loop = asyncio.get_running_loop()
        try:
            changed = await loop.run_in_executor(self._readers.watching_thread, self._look_now)
        except MootError:
            was_readable, self._is_readable = self._is_readable, False
            return ALL_SCREENS if was_readable else ()
        was_readable, self._is_readable = self._is_readable, True
        return changed if was_readable else ALL_SCREENS

    def _look_now(self) -> tuple[str, ...]:
        """What changed, as soon as anything does; nothing after a while."""
        try:
            for _ in range(LOOKS_IN_ONE_GO):
                changed = self._changes.look(self._readers.open_session())
                if changed or self._is_over.wait(LOOK_SECONDS):
                    return changed
        except MootError:
            self._readers.drop_open()
            self._is_over.wait(LOOK_SECONDS)
            raise
        return ()

    async def _compare_by_time(self) -> tuple[str, ...]:
        before, self._etags = self._etags, {}
        for screen, operation in _TIMED.items():
            answer = await self._readers.read(operation, {}, f"/{screen}")
            self._etags[screen] = answer.etag
        return TIMED_SCREENS if before and before != self._etags else ()
