"""A thread that lets the store do beside the writer what a commit would else have to do.

Every caller of a group waits for its commit. Work that the store collects, and would do within some
later commit, is done meanwhile by this thread, as often as the writer has written enough.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from moot.core.ledger import Store, WorksAhead

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
