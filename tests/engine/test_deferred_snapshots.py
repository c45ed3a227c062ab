"""Streams that grow in step are due a snapshot in the same commit; it takes only a few of them."""

from __future__ import annotations

import pytest

from moot.core.errors import StoreFailed
from moot.engine.batch import MAX_SNAPSHOTS
from moot.engine.job import Job
from moot.engine.replay import SNAPSHOT_EVERY
from moot.protocols.example.model import Ask
from moot.store.memory import MemoryStore, MemoryTransaction
from moot.testing import World
from tests.engine.test_states import CRANE, OTTER, full, snapshot_of

STREAMS = [f"example/number-{number}" for number in range(MAX_SNAPSHOTS + 3)]
MARK = SNAPSHOT_EVERY - 1


def grow(world: World, events: int) -> None:
    """Each stream by so many events, all in one commit."""
    ask = Ask(title="x", of=CRANE)
    world.engine.execute_all([Job(name, ask, OTTER) for name in STREAMS for _ in range(events)])


def positions(world: World) -> list[int | None]:
    """Where the snapshot of each stream stands."""
    found = [snapshot_of(world, name) for name in STREAMS]
    return [snapshot.seq if snapshot is not None else None for snapshot in found]


@pytest.mark.requirement("LDG-062")
def test_a_commit_makes_a_few_snapshots_and_the_next_one_those_put_off() -> None:
    world = full(0)
    grow(world, SNAPSHOT_EVERY)
    assert positions(world) == [MARK] * MAX_SNAPSHOTS + [None] * 3
    grow(world, 1)
    assert positions(world) == [MARK] * MAX_SNAPSHOTS + [MARK + 1] * 3
    grow(world, 1)
    assert positions(world) == [MARK] * MAX_SNAPSHOTS + [MARK + 1] * 3


@pytest.mark.requirement("LDG-062")
def test_what_is_put_off_waits_for_a_commit_that_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    world = full(0)
    grow(world, SNAPSHOT_EVERY)
    real = MemoryTransaction.put_snapshot

    def fail(_change: MemoryTransaction, _snapshot: object) -> None:
        raise StoreFailed("store_failed", "the disk is full")

    assert isinstance(world.store, MemoryStore)
    monkeypatch.setattr(MemoryTransaction, "put_snapshot", fail)
    with pytest.raises(StoreFailed):
        grow(world, 1)
    monkeypatch.setattr(MemoryTransaction, "put_snapshot", real)
    grow(world, 1)
    assert positions(world)[MAX_SNAPSHOTS:] == [MARK + 1] * 3
