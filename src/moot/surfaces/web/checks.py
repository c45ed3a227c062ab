"""The record is checked in a process of its own, one at a time; the last verdict is kept.

A check reads everything and takes as long as that takes: the server answers meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.core.clock import system_clock, to_text

LONGEST_SECONDS: Final = 600.0
COMMAND: Final = (sys.executable, "-P", "-m", "moot", "--json", "verify")


class RecordCheck(msgspec.Struct, frozen=True):
    """`verdict` is what `moot verify` said last, as its own data, or None; `at` when that was.

    `failed` says why the last check said nothing. `running` since when one runs now.
    """

    verdict: Any = None
    at: str | None = None
    failed: str = ""
    running: str | None = None


class RecordChecks:
    """Starts checks and remembers what the last one said."""

    def __init__(self, folder: Path, env: Mapping[str, str], ended: Callable[[], None]) -> None:
        self._folder = folder
        self._env = dict(env)
        self._ended = ended
        self._task: asyncio.Task[None] | None = None
        self.last = RecordCheck()

    def start(self) -> None:
        """Start a check, unless one runs."""
        if self._task is None or self._task.done():
            self.last = msgspec.structs.replace(self.last, running=_now())
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, cwd=self._folder, env=self._env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(), LONGEST_SECONDS)
            self.last = _read_verdict(out)
        except TimeoutError:
            self.last = RecordCheck(at=_now(), failed="it took longer than ten minutes")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            self._ended()


def _read_verdict(out: bytes) -> RecordCheck:
    try:
        envelope = msgspec.json.decode(out)
        if envelope["ok"]:
            return RecordCheck(envelope["data"], _now())
        return RecordCheck(at=_now(), failed=envelope["error"]["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return RecordCheck(at=_now(), failed="the check ended without an answer")


def _now() -> str:
    return to_text(system_clock())
