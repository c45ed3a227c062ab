"""Reading events in several processes: batches of raw lines out, small tuples back, in order.

Every worker has one pipe and at most one batch, so neither side can block the other, and what is
in flight is bounded. A worker holds nothing but its end of the pipe: it ends when the parent
closes the other end or dies. Ctrl-C is the parent's to handle; workers ignore it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final

from moot.verify.check import NumberedLines
from moot.verify.failure import Bad
from moot.verify.records import Event, Table, read_event

BATCH_LINES: Final = 256
BATCH_BYTES: Final = 1 << 20
# How many batches may wait for an earlier one before no more are handed out.
_AHEAD_PER_WORKER: Final = 3

_Batch = tuple[int, list[bytes]]
_Reply = tuple[list[tuple[Any, ...]], tuple[int, str, str, str] | None]


class Workers:
    """Worker processes that can serve one check after another; started when first needed."""

    def __init__(self, jobs: int, batch_lines: int = BATCH_LINES) -> None:
        self._jobs = jobs
        self._batch_lines = batch_lines
        self._pipes: list[Connection[Any, Any]] = []
        self._asleep: list[Connection[Any, Any]] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closing the pipes ends the workers, after the batch each may have in hand."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()
        self._pipes, self._asleep, self._processes = [], [], []

    def wake(self) -> None:
        """Start the workers and wait until all are up, for whom the first check should be fast."""
        self._start()
        while not self._awake():
            wait(self._asleep)

    def read(self, lines: NumberedLines, table: Table) -> Iterator[tuple[int, Event]]:
        """Steps 1 to 3 for each line; raises the `Bad` of the first line that fails."""
        batches = _Batches(lines, self._batch_lines)
        # Starting a process takes longer than a short bundle, so this one goes ahead alone.
        while not self._awake() and (batch := next(batches, None)) is not None:
            yield from _opened(batch[0], read_batch(batch[1], table))
            self._start()
        yield from self._spread(batches, table)
        if batches.bad is not None:
            raise batches.bad

    def _spread(self, batches: _Batches, table: Table) -> Iterator[tuple[int, Event]]:
        """Hand out batches as workers become free, and give their replies in order."""
        busy: dict[Connection[Any, Any], tuple[int, int]] = {}
        replies: dict[int, tuple[int, _Reply]] = {}
        handed_out = given = 0
        following = next(batches, None)
        if following is None:
            return
        free = list(self._pipes)
        for pipe in free:
            pipe.send(table)
        try:
            while busy or replies or following is not None:
                while following is not None and free and handed_out - given < self._ahead:
                    pipe = free.pop()
                    pipe.send(following[1])
                    busy[pipe] = (handed_out, following[0])
                    handed_out += 1
                    following = next(batches, None)
                for pipe in _ready(busy, block=given not in replies):
                    number, first_line = busy.pop(pipe)
                    replies[number] = (first_line, pipe.recv())
                    free.append(pipe)
                if given in replies:
                    first_line, reply = replies.pop(given)
                    given += 1
                    yield from _opened(first_line, reply)
        finally:
            # A check may stop early; what is still under way must not reach the next one.
            for pipe in busy:
                pipe.recv()

    @property
    def _ahead(self) -> int:
        return self._jobs * _AHEAD_PER_WORKER

    def _start(self) -> None:
        if self._pipes:
            return
        context = multiprocessing.get_context("spawn")
        with _interrupts_ignored():
            for _ in range(self._jobs):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                self._pipes.append(ours)
                self._processes.append(process)
        self._asleep = list(self._pipes)

    def _awake(self) -> bool:
        """Whether all workers are up: each says so once."""
        for pipe in [pipe for pipe in self._asleep if pipe.poll()]:
            pipe.recv()
            self._asleep.remove(pipe)
        return bool(self._pipes) and not self._asleep


class _Batches:
    """Lines in batches; a line that cannot be read ends them and is kept for its turn."""

    def __init__(self, lines: NumberedLines, batch_lines: int) -> None:
        self._lines = lines
        self._batch_lines = batch_lines
        self.bad: Bad | None = None

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> _Batch:
        first, batch, size = 0, [], 0
        while len(batch) < self._batch_lines and size < BATCH_BYTES and self.bad is None:
            try:
                number, line = next(self._lines)
            except StopIteration:
                break
            except Bad as bad:
                self.bad = bad
                break
            first = first or number
            batch.append(line)
            size += len(line)
        if not batch:
            raise StopIteration
        return first, batch


def read_batch(batch: list[bytes], table: Table) -> _Reply:
    """Steps 1 to 3 for a batch; events up to the first failure, and the failure."""
    events: list[tuple[Any, ...]] = []
    for line in batch:
        try:
            events.append(tuple(read_event(line, table)))
        except Bad as bad:
            return events, (bad.step, bad.code, bad.message, bad.where)
    return events, None


def _opened(first_line: int, reply: _Reply) -> Iterator[tuple[int, Event]]:
    events, bad = reply
    yield from enumerate(map(Event._make, events), first_line)
    if bad is not None:
        raise Bad(*bad).at(first_line + len(events))


def _ready(busy: dict[Connection[Any, Any], Any], block: bool) -> list[Connection[Any, Any]]:
    found = wait(list(busy), None if block else 0) if busy else []
    return [pipe for pipe in busy if pipe in found]


def _work(pipe: Connection[Any, Any]) -> None:
    """A worker: says that it is up, then takes a table and batches; a new table, a new check."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    table = Table("", {}, False)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            message = pipe.recv()
            if isinstance(message, Table):
                table = message
            else:
                pipe.send(read_batch(message, table))


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """A child inherits this, so that Ctrl-C cannot reach it before it ignores it itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
