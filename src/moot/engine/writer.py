"""Group commit: one thread writes for all callers of a server process.

Making a commit durable costs nearly the same for one event as for many. So one thread takes all
jobs that wait (at most CAP, without waiting for more), decides them in order and commits once; each
caller is answered only after that commit. If the commit fails, every caller of the group fails.
Threads wait on a future, coroutines await one; a group wakes each event loop once.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from moot.core.errors import MootError, StoreFailed
from moot.engine.batch import Result
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.signing_pool import SigningPool
from moot.engine.working_ahead import WorkingAhead

CAP = 1_000  # jobs in one commit; more would make the first of them wait too long

_Answer = Callable[[Result], None]
_Waiting = tuple[Job, "Future[JobOutcome] | asyncio.Future[JobOutcome]"]


class Writer:
    """Takes jobs from any number of threads and coroutines of one process until `close`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closed = False
        self._door = threading.Lock()  # held while a job is queued: none comes after the end mark
        self._signing_pool = SigningPool()
        self._working_ahead = WorkingAhead(engine.store)
        self._thread = threading.Thread(target=self._run, name="moot-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[JobOutcome]:
        """Queue a job from any thread; the future ends after its commit."""
        future: Future[JobOutcome] = Future()
        self._put(job, future)
        return future

    async def execute(self, job: Job) -> JobOutcome:
        """Queue a job from a coroutine and await its commit."""
        future: asyncio.Future[JobOutcome] = asyncio.get_running_loop().create_future()
        self._put(job, future)
        return await future

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._door:
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._signing_pool.close()
        self._working_ahead.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, job: Job, future: Future[JobOutcome] | asyncio.Future[JobOutcome]) -> None:
        with self._door:
            if self._closed:
                raise StoreFailed("writer_closed", "the writer has stopped", hint="open it again")
            self._queue.put((job, future))

    def _run(self) -> None:
        while True:
            group, more = self._drain()
            if group:
                self._commit(group)
                self._working_ahead.note_written(len(group))
            if not more:
                return

    def _drain(self) -> tuple[list[_Waiting], bool]:
        """Wait for the first job, take all that have come meanwhile; False if it was the end."""
        group: list[_Waiting] = []
        item = self._queue.get()
        while item is not None:
            group.append(item)
            if len(group) == CAP:
                return group, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Waiting]) -> None:
        """Answer everyone as soon as the group is durable, or has failed as a whole; whoever waits
        need not wait for a checkpoint too."""
        is_answered = False

        def answer(results: list[Result]) -> None:
            nonlocal is_answered
            is_answered = True
            _answer(group, results)

        try:
            self._engine.execute_all(
                [job for job, _ in group],
                sign_all=self._signing_pool.sign_all,
                after_commit=answer,
            )
        except BaseException as error:  # noqa: BLE001 - the thread must answer whoever waits
            if not is_answered:
                answer([_as_result(error)] * len(group))  # LDG-064


def _as_result(error: BaseException) -> MootError:
    if isinstance(error, MootError):
        return error
    return StoreFailed("store_failed", f"the group could not be written: {error!r}")


def _answer(group: Iterable[_Waiting], results: Iterable[Result]) -> None:
    """Give each caller its result. One that gave up is passed over: its command is done anyway."""
    # LDG-063
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[JobOutcome], Result]]]
    loops = defaultdict(list)
    for (_, future), result in zip(group, results, strict=True):
        if isinstance(future, asyncio.Future):
            loops[future.get_loop()].append((future, result))
        elif future.set_running_or_notify_cancel():
            _settle(future, result)
    for loop, answered in loops.items():
        try:
            loop.call_soon_threadsafe(_settle_all, answered)
        except RuntimeError:
            continue  # that loop has ended; nobody waits there any more


def _settle_all(answered: list[tuple[asyncio.Future[JobOutcome], Result]]) -> None:
    for future, result in answered:
        if not future.done():
            _settle(future, result)


def _settle(future: Future[JobOutcome] | asyncio.Future[JobOutcome], result: Result) -> None:
    if isinstance(result, MootError):
        future.set_exception(result)
    else:
        future.set_result(result)
