"""What was acknowledged and the copy lacks: it lies overlay the copy until that has it."""

from __future__ import annotations

import math

import pytest

from moot.core.errors import Tampered
from moot.hosts.sync_state import CommitsAhead
from moot.store.memory import MemoryStore
from tests.store.contract import entries, entry, write_entries

HERE, THERE = "example/here", "example/there"


@pytest.fixture
def store() -> MemoryStore:
    """A copy with two records of one stream, and none of the other."""
    made = MemoryStore()
    write_entries(made, *entries(HERE, 2))
    return made


@pytest.fixture
def ahead() -> CommitsAhead:
    made = CommitsAhead()
    made.add([entry(HERE, 2, "k-2"), entry(HERE, 3), entry(THERE, 0, "k-0")])
    return made


def test_the_copy_is_read_with_what_is_ahead_of_it(store: MemoryStore, ahead: CommitsAhead) -> None:
    write_entries(store, entry(HERE, 2, "k-2"))  # by another process
    with store.read() as view:
        overlay = ahead.overlay(view)
        assert [record.seq for record in overlay.records(HERE)] == [0, 1, 2, 3]
        assert [record.seq for record in overlay.records(HERE, after=2)] == [3]
        assert [record.seq for record in overlay.records(HERE, after=3)] == []
        assert overlay.keys(HERE, "k-") == [("k-2", 2)]
        assert overlay.keys(THERE, "k-") == [("k-0", 0)]
        assert overlay.keys(THERE, "other") == []
        head, new = overlay.head(HERE), overlay.head(THERE)
    assert head is not None
    assert new is not None
    assert (head.seq, head.hash) == (3, entry(HERE, 3).record.hash)
    assert new.seq == 0


def test_what_another_process_brought_into_the_copy_is_not_ahead_any_more(
    store: MemoryStore, ahead: CommitsAhead
) -> None:
    with store.read() as view:
        ahead.drop_synced(view)
        assert len(ahead.hashes) == 3, "the copy has none of it yet"
    write_entries(store, entry(HERE, 2, "k-2"), entry(THERE, 0, "k-0"))
    with store.read() as view:
        ahead.drop_synced(view)
    assert ahead.hashes == {entry(HERE, 3).record.hash}
    assert ahead.oldest_at < math.inf
    write_entries(store, entry(HERE, 3))
    with store.read() as view:
        ahead.drop_synced(view)
        assert ahead.overlay(view) is view
    assert not ahead
    assert ahead.oldest_at == math.inf


@pytest.mark.parametrize("seq", [2, 3])
def test_something_else_in_its_place_is_another_history(
    store: MemoryStore, ahead: CommitsAhead, seq: int
) -> None:
    write_entries(store, *(entry(HERE, each, raw=b"[]") for each in range(2, seq + 1)))
    with store.read() as view, pytest.raises(Tampered) as found:
        ahead.drop_synced(view)
    assert found.value.code == "another_history"
    assert len(ahead.hashes) == 3, "it is still owed"


def test_what_is_owed_must_be_there(store: MemoryStore, ahead: CommitsAhead) -> None:
    with store.read() as view, pytest.raises(Tampered, match=r"event 3 of example/here"):
        ahead.require_synced(view, ahead.newest)


def test_how_long_it_waits_is_counted_again_when_a_part_has_come(
    store: MemoryStore, ahead: CommitsAhead, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = ahead.oldest_at
    monkeypatch.setattr("time.monotonic", lambda: began + 100)
    write_entries(store, entry(HERE, 2, "k-2"))
    with store.read() as view:
        ahead.require_synced(view, ())
    assert began <= ahead.oldest_at < began + 1, "the other stream has waited all the time"
    write_entries(store, entry(THERE, 0, "k-0"))
    with store.read() as view:
        ahead.require_synced(view, ())
    assert ahead.oldest_at == began + 100
