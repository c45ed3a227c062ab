"""Reading events in several processes: batches of raw lines out, small tuples back, in order.

A batch is sent only to a worker that waits for one, so neither side can block the other. While all
workers are busy or still starting, this process reads a few lines itself. What was taken and not
yet given back is bounded. A worker holds nothing but its end of a pipe: it ends when the other end
is closed or its parent dies. Ctrl-C is the parent's to handle; workers ignore it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final, NamedTuple

from moot.verify.check import NumberedLines
from moot.verify.event_reader import LedgerKeys, ReadEvent, read_event
from moot.verify.verdict import StepFailure

BATCH_LINES: Final = 256
_BATCH_BYTES: Final = 1 << 20
# Few enough that a worker that becomes free need not wait long for its next batch.
_LINES_HERE: Final = 16
_BYTES_AHEAD_PER_JOB: Final = 4 << 20

_Pipe = Connection
_Reply = tuple[list[tuple[Any, ...]], tuple[int, str, str, str] | None]


class Workers:
    """So many processes, this one included; the others are started when a check is long enough."""

    def __init__(self, jobs: int, batch_lines: int = BATCH_LINES) -> None:
        self._jobs = jobs
        self._batch_lines = batch_lines
        self._pipes: list[_Pipe] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._starting: list[_Pipe] = []
        self._busy: dict[_Pipe, _Batch] = {}

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
        self._pipes, self._processes, self._starting, self._busy = [], [], [], {}

    def start(self) -> None:
        """Start the workers and wait until all are up."""
        self._launch()
        while self._starting:
            wait(self._starting)
            self._note_started_workers()

    def read(self, lines: NumberedLines, table: LedgerKeys) -> Iterator[tuple[int, ReadEvent]]:
        """Steps 1 to 3 for each line; raises the `StepFailure` of the first line that fails."""
        self._discard_old_replies()
        under_way = _LinesUnderWay(lines, self._jobs * _BYTES_AHEAD_PER_JOB)
        pipes_with_table: set[_Pipe] = set()
        here = min(_LINES_HERE, self._batch_lines)
        while True:
            batch = under_way.take(here)
            if batch is not None:
                under_way.put(batch, read_batch(batch.lines, table))
            elif not self._busy:
                break
            self._collect(under_way, block=batch is None)
            self._hand_out(under_way, table, pipes_with_table)
            # While the workers read their new batches, the caller uses what came back.
            yield from under_way.ready()
            if under_way.taken >= self._batch_lines:
                self._launch()
        if under_way.bad is not None:
            raise under_way.bad

    def _hand_out(
        self, under_way: _LinesUnderWay, table: LedgerKeys, pipes_with_table: set[_Pipe]
    ) -> None:
        """A batch for every worker that is up and free; the table before its first one."""
        self._note_started_workers()
        for pipe in self._pipes:
            if pipe in self._busy or pipe in self._starting:
                continue
            batch = under_way.take(self._batch_lines)
            if batch is None:
                return
            if pipe not in pipes_with_table:
                pipe.send(table)
                pipes_with_table.add(pipe)
            pipe.send(batch.lines)
            self._busy[pipe] = batch

    def _collect(self, under_way: _LinesUnderWay, block: bool) -> None:
        if not self._busy:
            return
        done = wait(list(self._busy), None if block else 0)
        for pipe in [pipe for pipe in self._busy if pipe in done]:
            under_way.put(self._busy.pop(pipe), _receive(pipe))

    def _discard_old_replies(self) -> None:
        """A check may have stopped early; what was under way then must not reach this one."""
        for pipe in self._busy:
            _receive(pipe)
        self._busy = {}

    def _launch(self) -> None:
        if self._pipes:
            return
        context = multiprocessing.get_context("spawn")
        with _interrupts_ignored():
            for _ in range(self._jobs - 1):
                ours, theirs = context.Pipe()
                process = context.Process(target=_run_worker, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                self._pipes.append(ours)
                self._processes.append(process)
        self._starting = list(self._pipes)

    def _note_started_workers(self) -> None:
        """Every worker says once that it is up."""
        for pipe in [pipe for pipe in self._starting if pipe.poll()]:
            _receive(pipe)
            self._starting.remove(pipe)


class _Batch(NamedTuple):
    number: int
    first_line: int
    lines: list[bytes]
    size: int


class _LinesUnderWay:
    """The lines of one check: taken in batches, given back as events in the order of the lines."""

    def __init__(self, lines: NumberedLines, bytes_ahead: int) -> None:
        self._lines = lines
        self._bytes_ahead = bytes_ahead
        self._bytes_under_way = 0
        self._batches = 0
        self._next_batch_to_yield = 0
        self._replies: dict[int, tuple[_Batch, _Reply]] = {}  # by number of the batch
        self.taken = 0
        # A line that could not be read; those before it have their turn first.
        self.bad: StepFailure | None = None

    def take(self, most: int) -> _Batch | None:
        """The next lines, or `None` if there are none or too many are under way."""
        first, batch, size = 0, list[bytes](), 0
        has_room = self._bytes_under_way <= self._bytes_ahead
        while has_room and len(batch) < most and size < _BATCH_BYTES:
            numbered = self._next()
            if numbered is None:
                break
            first = first or numbered[0]
            batch.append(numbered[1])
            size += len(numbered[1])
        if not batch:
            return None
        self._bytes_under_way += size
        self._batches += 1
        self.taken += len(batch)
        return _Batch(self._batches - 1, first, batch, size)

    def put(self, batch: _Batch, reply: _Reply) -> None:
        """What became of a batch."""
        self._replies[batch.number] = (batch, reply)

    def ready(self) -> Iterator[tuple[int, ReadEvent]]:
        """The events whose turn it is; raises the failure whose turn it is."""
        while self._next_batch_to_yield in self._replies:
            batch, (events, bad) = self._replies.pop(self._next_batch_to_yield)
            self._next_batch_to_yield += 1
            self._bytes_under_way -= batch.size
            yield from enumerate(map(ReadEvent._make, events), batch.first_line)
            if bad is not None:
                raise StepFailure(*bad).at(batch.first_line + len(events))

    def _next(self) -> tuple[int, bytes] | None:
        if self.bad is not None:
            return None
        try:
            return next(self._lines, None)
        except StepFailure as bad:
            self.bad = bad
            return None


def read_batch(lines: list[bytes], table: LedgerKeys) -> _Reply:
    """Steps 1 to 3 for a batch: events up to the first failure, and the failure."""
    events: list[tuple[Any, ...]] = []
    for line in lines:
        try:
            events.append(tuple(read_event(line, table)))
        except StepFailure as bad:
            return events, (bad.step, bad.code, bad.message, bad.where)
    return events, None


def _receive(pipe: _Pipe) -> Any:
    try:
        return pipe.recv()
    except EOFError as error:
        raise RuntimeError("a worker process ended; check again with one job") from error


def _run_worker(pipe: _Pipe) -> None:
    """A worker: says that it is up, then takes a table and batches; a new table, a new check."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    table = LedgerKeys("", {}, False)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            message = pipe.recv()
            if isinstance(message, LedgerKeys):
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
