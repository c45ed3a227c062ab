"""Live events: which screens changed, never what happened (OPR-096).

A slow listener costs only a set of names, however much changes meanwhile. Each gets at most four
messages a second. `id` counts within this process; a listener that reconnects with an older id is
told that everything changed.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.page.changes import ALL_SCREENS, TIMED_SCREENS, ScreenChanges
from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.surfaces.web.readers import Readers


MOST_LISTENERS: Final = 200
LEAST_SECONDS_APART: Final = 0.25
COMMENT_SECONDS: Final = 15.0
RETRY_MILLIS: Final = 1000


class _Changed(msgspec.Struct, frozen=True):
    changed: tuple[str, ...]


class Listeners:
    """All pages that listen now."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._count = 0
        self._waiting: dict[int, tuple[set[str], asyncio.Event]] = {}
        self._numbers = 0
        self.arrived = asyncio.Event()  # set while there are listeners
        self._is_over = False

    def __len__(self) -> int:
        return len(self._waiting)

    def is_full(self) -> bool:
        return len(self._waiting) >= MOST_LISTENERS

    def tell(self, screens: Iterable[str]) -> None:
        """Tell all listeners that these screens changed."""
        names = tuple(screens)
        if not names:
            return
        self._count += 1
        for pending, woken in self._waiting.values():
            pending.update(names)
            woken.set()

    def end(self) -> None:
        """End all connections, because the server stops."""
        self._is_over = True
        for _, woken in self._waiting.values():
            woken.set()

    async def frames(self, last_id: str) -> AsyncGenerator[bytes, None]:
        """Yield the messages for one listener, until it disconnects or the server ends."""
        pending: set[str] = set()
        woken = asyncio.Event()
        number = self._numbers = self._numbers + 1
        self._waiting[number] = (pending, woken)
        self.arrived.set()
        try:
            if last_id and last_id != self._id():
                pending.update(ALL_SCREENS)
            yield f"retry: {RETRY_MILLIS}\nid: {self._id()}\n: welcome\n\n".encode()
            while not self._is_over:
                frame = await self._next_frame(pending, woken)
                yield frame
                if frame.startswith(b"id:"):
                    await asyncio.sleep(LEAST_SECONDS_APART)
        finally:
            del self._waiting[number]
            if not self._waiting:
                self.arrived.clear()

    async def _next_frame(self, pending: set[str], woken: asyncio.Event) -> bytes:
        if not pending:
            try:
                await asyncio.wait_for(woken.wait(), COMMENT_SECONDS)
            except TimeoutError:
                return b": still here\n\n"
        woken.clear()
        names = tuple(name for name in ALL_SCREENS if name in pending)
        pending.clear()
        if not names:
            return b": still here\n\n"
        data = msgspec.json.encode(_Changed(names)).decode()
        return f"id: {self._id()}\ndata: {data}\n\n".encode()

    def _id(self) -> str:
        return f"{self._start}-{self._count}"


# The watcher looks for changes once for all listeners, and only while there are any.
#
# It asks the store ten times a second whether something was written. Liveness and limits change
# with time alone: the screens that show them are compared every few seconds, and reported only if
# they differ.

LOOK_SECONDS: Final = 0.1
# Looks made in one go: waking the event loop for each would cost more than the look.
LOOKS_IN_ONE_GO: Final = 10
TIME_SECONDS: Final = 5.0
# The operation behind each screen that time alone changes.
_TIMED: Final = {"sessions": "sessions", "status": "status"}


class Watcher:
    """Looks for changes while there are listeners, and tells them."""

    def __init__(self, readers: Readers, listeners: Listeners) -> None:
        self._readers = readers
        self._listeners = listeners
        self._changes = ScreenChanges()
        self._etags: dict[str, str] = {}
        self._is_readable = True
        self._is_over = threading.Event()

    async def watch(self) -> None:
        """Watch until cancelled."""
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
        """Note the current state first, so that the first listener hears of every later change."""
        with suppress(MootError):  # the first look reports it
            self._changes.look(self._readers.open_session())

    async def _look(self) -> tuple[str, ...]:
        """Return the screens that changed; all of them, once, if the record becomes unreadable."""
        loop = asyncio.get_running_loop()
        try:
            changed = await loop.run_in_executor(self._readers.watching_thread, self._look_now)
        except MootError:
            was_readable, self._is_readable = self._is_readable, False
            return ALL_SCREENS if was_readable else ()
        was_readable, self._is_readable = self._is_readable, True
        return changed if was_readable else ALL_SCREENS

    def _look_now(self) -> tuple[str, ...]:
        """Return what changed, as soon as something does; nothing after a while."""
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
