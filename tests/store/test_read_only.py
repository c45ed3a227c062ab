"""A ledger that may not be written here, as a store: all of it is read, every write refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.protocols.example.model import Ask
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.read_only import ReadOnlyStore, SqliteReader
from tests.store.contract import contents_of
from tests.store.ledgers import CRANE, OTTER, found_ledger, join

WHY = StoreFailed("store_read_only", "not here", hint="elsewhere")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found_ledger(tmp_path / "ledger.db")
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[ReadOnlyStore]:
    with closing(ReadOnlyStore(path, WHY)) as store:
        yield store


def ask(path: Path, title: str) -> None:
    """By another process, as far as the store can tell."""
    engine = join(SqliteStore(path))
    engine.execute("example/a", Ask(title=title, of=CRANE), OTTER)
    engine.store.close()  # without a checkpoint: what is newest is not filed


def test_it_reads_what_any_store_reads(path: Path, store: ReadOnlyStore) -> None:
    ask(path, "not filed yet")
    with closing(SqliteStore(path)) as other:
        assert contents_of(store) == contents_of(other)


def test_what_others_write_is_seen_by_the_next_read(path: Path, store: ReadOnlyStore) -> None:
    counts = []
    for number in range(3):
        with store.read() as view:
            counts.append(view.count_streams_and_events()[1])
        ask(path, f"errand {number}")
    assert counts == [counts[0], counts[0] + 1, counts[0] + 2]


def test_a_read_within_a_read_is_of_the_same_moment(path: Path, store: ReadOnlyStore) -> None:
    with store.read() as outer:
        before = outer.count_streams_and_events()
        ask(path, "meanwhile")
        with store.read() as inner:
            assert inner is outer
        assert outer.count_streams_and_events() == before
    with store.read() as view:
        assert view.count_streams_and_events()[1] == before[1] + 1


def test_the_number_of_changes_moves_with_what_others_write(
    path: Path, store: ReadOnlyStore
) -> None:
    before = store.version()
    assert store.version() == before
    ask(path, "meanwhile")
    assert store.version() != before


@pytest.mark.requirement("LDG-078")
def test_anyone_who_tries_to_write_is_told_why_not(path: Path, store: ReadOnlyStore) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreFailed) as caught, store.write():
        pass
    assert caught.value is WHY
    assert path.read_bytes() == before


def test_its_backup_holds_everything(path: Path, tmp_path: Path, store: ReadOnlyStore) -> None:
    ask(path, "not filed yet")
    store.backup(tmp_path / "copy.db")
    with closing(SqliteStore(tmp_path / "copy.db")) as copy:
        assert contents_of(copy) == contents_of(store)


def test_a_read_that_fails_leaves_nothing_half_known(path: Path) -> None:
    """What was caught up with until then is read again."""
    ask(path, "not filed yet")
    with closing(SqliteReader(path)) as reader:
        with pytest.raises(ZeroDivisionError), reader.read():
            1 / 0  # noqa: B018
        with reader.read() as view, closing(SqliteStore(path)) as store, store.read() as other:
            assert list(view.streams()) == list(other.streams())
