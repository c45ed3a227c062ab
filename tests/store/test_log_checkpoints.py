"""The log is moved into the file while others write, without blocking them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.ledger import RecordToAppend, WorksAhead
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.store import connect_file
from tests.store.contract import entry, write_entries

LONG = 20  # seconds after which a thread that should have ended hangs


Holds = Callable[[RecordToAppend], bool]


@pytest.fixture
def file_holds(store: SqliteStore, path: Path) -> Iterator[Holds]:
    """Whether the file holds an event, without its log. It stays open: closing it would end the
    locks that the store has on it."""
    del store  # made first
    file = os.open(path, os.O_RDONLY)
    yield lambda entry: entry.record.raw in os.pread(file, 2**20, 0)
    os.close(file)


def in_thread(store: SqliteStore) -> None:
    """Let another thread work ahead; it must end although this one is in the middle of a write."""
    thread = threading.Thread(target=store.work_ahead, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive()


def test_what_was_committed_stands_in_the_file_itself(
    store: SqliteStore, file_holds: Holds
) -> None:
    first = entry("example/a", 0, raw=b"first of all")
    write_entries(store, first)
    assert not file_holds(first)
    store.work_ahead()
    assert file_holds(first)


def test_it_waits_for_no_writer_and_moves_nothing_that_is_not_committed(
    store: SqliteStore, file_holds: Holds
) -> None:
    first = entry("example/a", 0, raw=b"first of all")
    second = entry("example/b", 0, raw=b"then another")
    write_entries(store, first)
    with store.write() as change:
        change.append([second])
        in_thread(store)
        assert file_holds(first)
        assert not file_holds(second)
    store.work_ahead()
    assert file_holds(second)


def test_it_is_no_change_of_the_ledger(store: SqliteStore) -> None:
    write_entries(store, entry("example/a", 0))
    before = store.version()
    store.work_ahead()
    assert store.version() == before


def test_a_store_that_is_told_nothing_has_one_connection(path: Path) -> None:
    opened: list[str] = []

    def connect(uri: str, busy_seconds: float) -> sqlite3.Connection:
        opened.append(uri)
        return connect_file(uri, busy_seconds)

    with closing(SqliteStore(path, create=True, connect=connect)) as store:
        write_entries(store, entry("example/a", 0))
        assert len(opened) == 1
        store.work_ahead()
        store.work_ahead()
        assert len(opened) == 2


@pytest.mark.parametrize("times", [0, 1])
def test_the_last_one_to_close_leaves_no_log(path: Path, times: int) -> None:
    store = SqliteStore(path, create=True)
    write_entries(store, entry("example/a", 0))
    for _ in range(times):
        store.work_ahead()
    store.close()
    store.work_ahead()  # too late: nothing is opened again
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


def test_only_a_store_with_a_log_works_ahead(store: SqliteStore) -> None:
    assert isinstance(store, WorksAhead)
    assert not isinstance(MemoryStore(), WorksAhead)
