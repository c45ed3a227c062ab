"""A keeper lets the store work ahead in a thread of its own, and depends on it for nothing."""

from __future__ import annotations

import threading

from moot.core.errors import StoreFailed
from moot.engine.signed_commits import AFTER_JOBS, WorkingAhead
from moot.store.memory import MemoryStore
from tests.engine.toy_protocol import STREAM, jot, toy_world

LONG = 20  # seconds after which a test gives up on a thread that should have answered


class Busy(MemoryStore):
    """A store that works ahead until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.let_go = threading.Event()
        self.times = 0
        self.trouble: Exception | None = None

    def work_ahead(self) -> None:
        self.times += 1
        self.begun.release()
        assert self.let_go.wait(LONG)
        if self.trouble is not None:
            raise self.trouble


def test_it_begins_after_many_jobs_and_once_at_a_time() -> None:
    store = Busy()
    ahead = WorkingAhead(store)
    ahead.note_written(AFTER_JOBS - 1)
    assert store.times == 0
    ahead.note_written(1)
    assert store.begun.acquire(timeout=LONG)
    ahead.note_written(AFTER_JOBS)  # still at it: it is not begun again, and not waited for
    assert store.times == 1
    store.let_go.set()
    ahead.close()
    assert store.times == 1


def test_a_store_that_fails_meanwhile_disturbs_no_caller() -> None:
    store = Busy()
    store.trouble = StoreFailed("store_failed", "the disk is full")
    store.let_go.set()
    world, ahead = toy_world(store=store), WorkingAhead(store)
    ahead.note_written(AFTER_JOBS)
    assert store.begun.acquire(timeout=LONG)
    world.engine.execute(STREAM, jot("after"), "amber-otter")
    ahead.close()
    ahead.note_written(AFTER_JOBS)


def test_a_store_that_has_nothing_to_do_ahead_gets_no_thread() -> None:
    before = threading.active_count()
    ahead = WorkingAhead(MemoryStore())
    ahead.note_written(AFTER_JOBS)
    assert threading.active_count() == before
    ahead.close()
