"""Commands that came signed from several machines, written to the disk together.

While one group is written, the next commands arrive, and are then committed at once. A disk that
takes a millisecond for each write would else be what a keeper waits for. Commands on the same
stream go into different groups, and one on the registry goes alone: whatever is decided in a group
rests on states that are committed.
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


MOST_TOGETHER: Final = 64

T = TypeVar("T")


class SignedCommit(Generic[T]):
    """One machine's command: `decide` decides it again, with the signatures that `keys` have
    brought along, at the time `now`; `read` says what is to be told once it is committed. Then
    `told` is that, or `error` is why nothing of it was recorded."""

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
        self.told: T | None = None
        self.error: Exception | None = None


def split_into_groups(commits: Iterable[SignedCommit[T]]) -> Iterator[list[SignedCommit[T]]]:
    """Groups in which no two share a stream, those that came first in the first."""
    waiting = list(commits)
    while waiting:
        group: list[SignedCommit[T]] = []
        left: list[SignedCommit[T]] = []
        streams: set[str] = set()
        for one in waiting:
            is_alone = REGISTRY in one.streams or REGISTRY in streams
            is_free = streams.isdisjoint(one.streams) and len(group) < MOST_TOGETHER
            if not group or (is_free and not is_alone):
                group.append(one)
            else:
                left.append(one)
            streams |= one.streams
        waiting = left
        yield group


# A thread that does the store's collected work next to the writer, which would else do it within a
# later commit while every caller of its group waits.

AFTER_JOBS = 2_000  # a fifth of a second of a busy writer


class WorkingAhead:
    """Waits until `close`; there is no thread if the store has nothing to do ahead."""

    def __init__(self, store: Store) -> None:
        self._store = store if isinstance(store, WorksAhead) else None
        self._thread = ThreadPoolExecutor(1, "moot-ahead") if self._store is not None else None
        self._under_way: Future[None] | None = None
        self._jobs = 0

    def note_written(self, jobs: int) -> None:
        """So many jobs more were committed. Returns at once. If the store fails meanwhile, nothing
        is lost: the next commit meets the same and says so."""
        self._jobs += jobs
        if self._store is None or self._thread is None or self._jobs < AFTER_JOBS:
            return
        if self._under_way is None or self._under_way.done():
            self._jobs = 0
            with suppress(RuntimeError):  # the interpreter is ending and starts no more threads
                self._under_way = self._thread.submit(self._store.work_ahead)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
