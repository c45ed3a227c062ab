"""Who listens, and what they are told: which screens changed, never what happened (OPR-096).

A listener that reads slowly holds nothing but a set of names, however much changes meanwhile. Each
is told at most four times a second. `id` counts within this process; whoever comes back with an id
that is not the last one is told that everything changed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Iterable
from typing import Final

import msgspec

from moot.api.page.changes import ALL_SCREENS

MOST_LISTENERS: Final = 200
LEAST_SECONDS_APART: Final = 0.25
COMMENT_SECONDS: Final = 15.0
RETRY_MILLIS: Final = 1000


class _Changed(msgspec.Struct, frozen=True):
    changed: tuple[str, ...]


class Listeners:
    """Everybody who listens now."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._count = 0
        self._waiting: dict[int, tuple[set[str], asyncio.Event]] = {}
        self._numbers = 0
        self.arrived = asyncio.Event()  # set while anybody listens
        self._is_over = False

    def __len__(self) -> int:
        return len(self._waiting)

    def is_full(self) -> bool:
        return len(self._waiting) >= MOST_LISTENERS

    def tell(self, screens: Iterable[str]) -> None:
        """Say to everyone that these screens changed."""
        names = tuple(screens)
        if not names:
            return
        self._count += 1
        for pending, woken in self._waiting.values():
            pending.update(names)
            woken.set()

    def end(self) -> None:
        """The server stops: let everyone go."""
        self._is_over = True
        for _, woken in self._waiting.values():
            woken.set()

    async def frames(self, last_id: str) -> AsyncGenerator[bytes, None]:
        """What one listener is sent, until it goes or the server ends."""
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
        said = msgspec.json.encode(_Changed(names)).decode()
        return f"id: {self._id()}\ndata: {said}\n\n".encode()

    def _id(self) -> str:
        return f"{self._start}-{self._count}"
