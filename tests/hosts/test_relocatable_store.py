"""A store that finds its ledger wherever it was moved to holds the contract of every store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.core.ledger import Store
from moot.store.sqlite import SqliteStore
from moot.workspace.relocatable_store import RelocatableStore, find_location
from tests.store.contract import OpenAgain, StoreContract


def open_there(folder: Path) -> Store:
    place = find_location(folder)
    assert place is not None

    def reopen() -> Store:
        return SqliteStore(folder / "ledger.db")

    store: Store = RelocatableStore(folder, reopen(), place, reopen)  # type: ignore[assignment]
    return store


class TestWherever(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        SqliteStore(tmp_path / "ledger.db", create=True).close()
        store = open_there(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def another(self, store: Store, tmp_path: Path) -> Iterator[OpenAgain]:
        opened: list[Store] = []

        def open_again() -> Store:
            opened.append(open_there(tmp_path))
            return opened[-1]

        yield open_again
        assert store is not None
        for each in opened:
            each.close()


# Whether a ledger has moved is asked under every write lock, of a folder that did not change.

LEDGER = "ledger.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".moot"
    folder.mkdir()
    SqliteStore(folder / LEDGER, create=True).close()
    return folder


@pytest.fixture
def _trusted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is believed as soon as it was looked at, not after three seconds without change."""
    monkeypatch.setattr("moot.workspace.relocatable_store.SETTLED", -1)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that were looked for."""
    seen: list[str] = []
    look = os.path.exists

    def note(path: str) -> bool:
        seen.append(path)
        return look(path)

    monkeypatch.setattr("moot.workspace.relocatable_store.os.path.exists", note)
    return seen


def write_cursor(store: Store, position: int) -> None:
    with store.write() as change:
        change.put_cursor("amber-otter", "inbox", position)


def read_cursor(file: Path) -> int:
    store = SqliteStore(file)
    try:
        with store.read() as view:
            return view.cursor("amber-otter", "inbox")
    finally:
        store.close()


def swap_ledgers(folder: Path) -> None:
    """Another file takes the ledger's place, as when it comes back from a database."""
    fresh = folder / "ledger.db.new"
    SqliteStore(fresh, create=True).close()
    for rest in ("", "-wal", "-shm"):
        os.rename(folder / f"{LEDGER}{rest}", folder / f"ledger.db.before{rest}")
    os.rename(fresh, folder / LEDGER)


@pytest.mark.usefixtures("_trusted_at_once")
def test_a_folder_that_did_not_change_is_not_searched_again(folder: Path, looks: list[str]) -> None:
    store = open_there(folder)
    for position in range(3):
        write_cursor(store, position)
    looks.clear()
    for position in range(3, 8):
        write_cursor(store, position)
    store.close()
    # `read` and `write` look every 50 ms as well, whatever the folder says.
    assert len(looks) < 5
    assert read_cursor(folder / LEDGER) == 7


def test_a_folder_that_changed_just_now_is_searched_each_time(
    folder: Path, looks: list[str]
) -> None:
    """Its clock may not have ticked since: another change would carry the same time."""
    store = open_there(folder)
    write_cursor(store, 0)
    looks.clear()
    for position in range(5):
        write_cursor(store, position)
    store.close()
    assert len(looks) >= 5


@pytest.mark.usefixtures("_trusted_at_once")
def test_a_write_goes_to_the_file_that_has_taken_the_ledgers_place(folder: Path) -> None:
    store = open_there(folder)
    for position in range(3):
        write_cursor(store, position)
    swap_ledgers(folder)
    write_cursor(store, 9)
    store.close()
    assert read_cursor(folder / LEDGER) == 9
    assert read_cursor(folder / "ledger.db.before") == 2


@pytest.mark.usefixtures("_trusted_at_once")
def test_a_folder_that_was_itself_put_aside_is_noticed(folder: Path) -> None:
    store = open_there(folder)
    for position in range(3):
        write_cursor(store, position)
    aside = folder.with_name("aside")
    os.rename(folder, aside)
    folder.mkdir()
    SqliteStore(folder / LEDGER, create=True).close()
    write_cursor(store, 9)
    store.close()
    assert read_cursor(folder / LEDGER) == 9
    assert read_cursor(aside / LEDGER) == 2


@pytest.mark.usefixtures("_trusted_at_once")
def test_a_store_that_is_closed_has_no_descriptor_left(folder: Path) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    store = open_there(folder)
    for position in range(3):
        write_cursor(store, position)
    store.close()
    after = os.listdir("/proc/self/fd") if before else []
    # One of the ledger's first bytes stays open by design: closing it would end SQLite's locks.
    assert len(after) <= len(before) + 1


def test_a_write_inside_another_is_refused_and_the_outer_one_goes_on(folder: Path) -> None:
    store = open_there(folder)
    with store.write() as change:
        change.put_cursor("amber-otter", "inbox", 4)
        with pytest.raises(StoreFailed, match="inside"), store.write():
            pass
        change.put_cursor("amber-otter", "outbox", 5)
    write_cursor(store, 6)
    store.close()
    assert read_cursor(folder / LEDGER) == 6


def _write_and_fail(store: Store) -> None:
    with store.write() as change:
        change.put_cursor("amber-otter", "inbox", 2)
        raise KeyError


def test_a_write_that_fails_leaves_nothing_and_the_next_one_works(folder: Path) -> None:
    store = open_there(folder)
    write_cursor(store, 1)
    with pytest.raises(KeyError):
        _write_and_fail(store)
    assert read_cursor(folder / LEDGER) == 1
    write_cursor(store, 3)
    store.close()
    assert read_cursor(folder / LEDGER) == 3
