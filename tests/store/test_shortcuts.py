"""What the SQLite store does to be fast must not be noticed by anyone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import Conflict
from moot.core.ledger import Head, RowEdit
from moot.core.machine import Drop
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.change import WORDS_TOGETHER
from tests.store.contract import (
    Dropped,
    appending,
    entries,
    put,
    words,
    write_and_drop,
    write_entries,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, create=True)) as opened:
        yield opened


@pytest.fixture
def another(store: SqliteStore, path: Path) -> Iterator[SqliteStore]:
    del store  # made first
    with closing(SqliteStore(path)) as opened:
        yield opened


def found(store: SqliteStore, query: str) -> list[str]:
    with store.read() as view:
        return view.search("texts", query, limit=10_000)


def test_a_text_is_found_once_while_it_waits_for_the_index_and_afterwards(
    store: SqliteStore,
) -> None:
    keys = [f"t{number}" for number in range(WORDS_TOGETHER + 3)]
    for number, key in enumerate(keys, start=1):
        with store.write() as change:
            change.edit_rows([words(key, f"Café number {number}")])
        assert sorted(found(store, "cafe")) == sorted(keys[:number])
    with store.read() as view:
        assert sorted(key for _, key, _ in view.all_words()) == sorted(keys)


def test_a_search_asks_both_places_for_the_best(store: SqliteStore) -> None:
    with store.write() as change:
        change.edit_rows([words(f"t{number}", "fox") for number in range(WORDS_TOGETHER)])
    with store.write() as change:
        change.edit_rows([words("late", "fox")])
    assert "late" in found(store, "fox")
    assert len(found(store, "fox")) == WORDS_TOGETHER + 1


def test_searching_is_not_writing(store: SqliteStore) -> None:
    with store.write() as change:
        change.edit_rows([words("t", "fox")])
    before = store.changes()
    assert found(store, "fox") == ["t"]
    assert store.changes() == before


def test_a_head_moved_by_another_connection_is_seen(
    store: SqliteStore, another: SqliteStore
) -> None:
    write_entries(store, *entries("example/a", 2))
    write_entries(another, *entries("example/a", 3, start=2))
    with store.write() as change:
        head = change.head("example/a")
        assert head is not None
        assert head.seq == 4
    with pytest.raises(Conflict):
        write_entries(store, *entries("example/a", 1, start=2))
    write_entries(store, *entries("example/a", 1, start=5))


def test_a_head_that_was_rolled_back_is_forgotten(store: SqliteStore) -> None:
    write_entries(store, *entries("example/a", 1))
    with pytest.raises(Dropped):
        write_and_drop(store, appending(entries("example/a", 1, start=1)), Dropped())
    with store.write() as change:
        head = change.head("example/a")
        assert head is not None
        assert head.seq == 0
        change.append(entries("example/a", 1, start=1))


def test_a_stream_counts_as_moved_until_its_newest_head_is_pinned(store: SqliteStore) -> None:
    write_entries(store, *entries("example/a", 1), *entries("example/b", 1))
    with store.write() as change:
        moved = change.stale_heads()
        change.put_note("one", {}, moved)
        assert change.stale_heads() == []
    write_entries(store, *entries("example/b", 2, start=1))
    with store.write() as change:
        assert [name for name, _ in change.stale_heads()] == ["example/b"]
        change.put_note("two", {}, [("example/b", Head(1, 1, b"older"))])
        assert [name for name, _ in change.stale_heads()] == ["example/b"]


def test_the_last_change_of_a_row_counts(store: SqliteStore) -> None:
    gone = RowEdit(Drop("letters", "b"), "example/a", 1)
    with store.write() as change:
        change.edit_rows([put("letters", "a", n=1), put("letters", "b"), gone])
        again = RowEdit(Drop("letters", "a"), "example/a", 1)
        change.edit_rows([again, put("letters", "a", n=2), gone])
    with store.read() as view:
        assert [(row.key, row.value) for row in view.rows("letters")] == [("a", b'{"n":2}')]


def test_a_writer_waits_for_its_turn(store: SqliteStore, another: SqliteStore) -> None:
    began, done = threading.Event(), threading.Event()

    def second() -> None:
        began.wait()
        write_entries(another, *entries("example/b", 1))
        done.set()

    waiting = threading.Thread(target=second)
    waiting.start()
    with store.write() as change:
        began.set()
        assert not done.wait(0.05)
        change.append(entries("example/a", 1))
    waiting.join()
    with store.read() as view:
        assert [name for name, _ in view.streams()] == ["example/a", "example/b"]
