"""Signed commands of several machines, committed in groups.

While one group is written, the next commands arrive and form the next group. Otherwise the keeper
would wait for the disk at each command. Commands on the same stream go into different groups, and a
command on the registry is a group by itself, so that every decision uses committed states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from moot.core.ledger import Store, WorksAhead
from moot.core.names import REGISTRY

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.core.ledger import View
    from moot.engine.batch import Batch
    from moot.engine.signers import Keys


MAX_GROUP: Final = 64

T = TypeVar("T")


class SignedCommit(Generic[T]):
    """One machine's command. `decide` decides it again, with the signatures in `keys`, at the time
    `now`; `read` then reads the answer for the machine. Afterwards either `answer` is set, or
    `error` is why nothing of it was recorded."""

    def __init__(
        self,
        streams: Iterable[str],
        decide: Callable[[Batch], object],
        keys: Keys,
        now: Millis,
        read: Callable[[View], T],
    ) -> None:
        self.streams = frozenset(streams)
        self.decide = decide
        self.keys = keys
        self.now = now
        self.read = read
        self.answer: T | None = None
        self.error: Exception | None = None


def split_into_groups(commits: Iterable[SignedCommit[T]]) -> Iterator[list[SignedCommit[T]]]:
    """Yield groups in which no two commits share a stream, in order of arrival."""
    waiting = list(commits)
    while waiting:
        group: list[SignedCommit[T]] = []
        remaining: list[SignedCommit[T]] = []
        streams: set[str] = set()
        for commit in waiting:
            is_alone = REGISTRY in commit.streams or REGISTRY in streams
            is_free = streams.isdisjoint(commit.streams) and len(group) < MAX_GROUP
            if not group or (is_free and not is_alone):
                group.append(commit)
            else:
                remaining.append(commit)
            streams |= commit.streams
        waiting = remaining
        yield group


AFTER_JOBS = 2_000  # a fifth of a second of a busy writer


class WorkingAhead:
    """A thread that does the store's deferred work, so that no later commit has to wait for it.

    There is no thread if the store defers nothing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store if isinstance(store, WorksAhead) else None
        self._thread = ThreadPoolExecutor(1, "moot-ahead") if self._store is not None else None
        self._running: Future[None] | None = None
        self._jobs = 0

    def note_written(self, jobs: int) -> None:
        """Count committed jobs and start the work if it is due; returns at once.

        If the store fails meanwhile, nothing is lost: the next commit raises the same error.
        """
        self._jobs += jobs
        if self._store is None or self._thread is None or self._jobs < AFTER_JOBS:
            return
        if self._running is None or self._running.done():
            self._jobs = 0
            with suppress(RuntimeError):  # the interpreter is ending and starts no more threads
                self._running = self._thread.submit(self._store.work_ahead)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
