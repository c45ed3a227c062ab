"""Threads that read the workspace, and checks of the record.

Each thread keeps its own workspace open. It caches its last answers until something is written or
the second ends: after one change, a hundred pages ask for the same.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.opening import OpenWorkspaces
from moot.api.operation import OPERATIONS, all_operations
from moot.api.page.changes import change_number
from moot.core.clock import system_clock, to_text
from moot.core.errors import MootError
from moot.surfaces.web import answers as refusals
from moot.surfaces.web.answers import HttpAnswer, answer_error, answer_with

if TYPE_CHECKING:
    from moot.api.session import Session


THREADS: Final = 4
MOST_REMEMBERED: Final = 64
MOST_WAITING: Final = 256
UNREADABLE: Final = 503


class _ThreadState:
    """The open workspaces of one thread, and its cached answers."""

    def __init__(self) -> None:
        self.open_workspaces = OpenWorkspaces()
        self.answers: dict[str, tuple[tuple[int, int, int], HttpAnswer]] = {}


class Readers:
    """Reads for the server; `session` only says where the workspace is."""

    def __init__(self, session: Session, threads: int = THREADS) -> None:
        self._session = session
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="moot-read")
        # Looking for changes never waits behind a long read.
        self.watching_thread = ThreadPoolExecutor(1, thread_name_prefix="moot-watch")
        self._local = threading.local()
        self._all: list[_ThreadState] = []
        self._waiting = 0

    async def read(self, name: str, arguments: dict[str, Any], address: str) -> HttpAnswer:
        """Return the answer of an operation; `address` is the key of the cache."""
        return await self.run(lambda: self._answer(name, arguments, address))

    async def run(self, work: Callable[[], HttpAnswer]) -> HttpAnswer:
        if self._waiting >= MOST_WAITING:
            return answer_error("", refusals.too_busy())
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, lambda: self._do(work))
        finally:
            self._waiting -= 1

    def open_session(self) -> Session:
        """Return a read-only session of this thread, without an acting agent."""
        return self._session.only_reading(self._own().open_workspaces)

    def drop_open(self) -> None:
        """Close what this thread has open, so that a file that was repaired is read again."""
        own = self._own()
        own.open_workspaces.drop()
        own.answers.clear()

    def close(self) -> None:
        for pool in (self._pool, self.watching_thread):
            pool.shutdown(wait=True, cancel_futures=True)
        for own in self._all:
            own.open_workspaces.close()

    def _do(self, work: Callable[[], HttpAnswer]) -> HttpAnswer:
        answer = work()
        if answer.status == UNREADABLE:
            self.drop_open()
        return answer

    def _own(self) -> _ThreadState:
        own: _ThreadState | None = getattr(self._local, "own", None)
        if own is None:
            own = self._local.own = _ThreadState()
            self._all.append(own)
        return own

    def _answer(self, name: str, arguments: dict[str, Any], address: str) -> HttpAnswer:
        try:
            session = self.open_session()
            moment = (change_number(session), id(session.workspace), int(time.monotonic()))
            known = self._own().answers.get(address)
            if known is not None and known[0] == moment:
                return known[1]
            if name not in OPERATIONS:  # loaded with the first request, so that the start is fast
                all_operations()
            answer = answer_with(name, OPERATIONS[name].function(session, **arguments))
            self._remember(address, moment, answer)
        except MootError as error:
            return answer_error(name, error)
        return answer

    def _remember(self, address: str, moment: tuple[int, int, int], answer: HttpAnswer) -> None:
        answers = self._own().answers
        while len(answers) >= MOST_REMEMBERED:
            del answers[next(iter(answers))]
        answers[address] = (moment, answer)


# The record is checked in another process, one check at a time; the last verdict is kept. A check
# reads everything and may take long: the server answers meanwhile.

LONGEST_SECONDS: Final = 600.0
COMMAND: Final = (sys.executable, "-P", "-m", "moot", "--json", "verify")


class RecordCheck(msgspec.Struct, frozen=True):
    """`verdict` is the data of the last `moot verify`, or None; `at` is its time.

    `failed` is why the last check gave no verdict, `running` when the current one started.
    """

    verdict: Any = None
    at: str | None = None
    failed: str = ""
    running: str | None = None


class RecordChecks:
    """Starts checks and keeps the result of the last one."""

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
