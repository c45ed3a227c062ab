"""What the SQLite store does to be fast must not be noticed by anyone."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import Conflict, StoreFailed
from moot.core.ledger import Head, RecordToAppend, RowEdit
from moot.core.machine import Drop, Put, Words
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.pending_index import FILE_AT
from tests.store.contract import (
    Dropped,
    appending,
    changing,
    contents_of,
    entries,
    put,
    write_and_drop,
    write_entries,
)


def found(store: SqliteStore, query: str) -> list[str]:
    with store.read() as view:
        return view.search("texts", query, limit=10_000)


def texts(*keys: str) -> list[RecordToAppend]:
    """One entry each, on a stream of its own."""
    return [changing(f"example/{key}", 0, Words("texts", key, f"Café {key}")) for key in keys]


def unfiled(path: Path) -> int:
    """Commits whose index changes wait."""
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM unfiled").fetchone()[0])


def test_a_text_is_found_once_while_it_waits_and_afterwards(path: Path) -> None:
    keys = [f"t{number}" for number in range(20)]
    waiting = set()
    with closing(SqliteStore(path, create=True, file_at=8)) as store:
        for number, key in enumerate(keys, start=1):
            write_entries(store, *texts(key))
            assert sorted(found(store, "cafe")) == sorted(keys[:number])
            waiting.add(unfiled(path))
        with store.read() as view:
            assert sorted(key for _, key, _ in view.all_words()) == sorted(keys)
    assert waiting == set(range(8))


def test_whatever_waits_is_read_from_every_position(path: Path) -> None:
    """Commits of one and of several events, on two streams by turns, some of them filed."""
    sizes = [(1, 2), (3, 0), (0, 1), (2, 2), (1, 1), (0, 3), (1, 0)]
    length = {"example/a": 0, "example/b": 0}
    with (
        closing(SqliteStore(path, create=True, file_at=8)) as store,
        closing(SqliteStore(path)) as other,
    ):
        for counts in sizes:
            batch = []
            for stream, count in zip(length, counts, strict=True):
                batch += entries(stream, length[stream] + count)[length[stream] :]
                length[stream] += count
            write_entries(store, *batch)
            for reader in (store, other):
                with reader.read() as view:
                    for stream, end in length.items():
                        for after in range(-1, end + 1):
                            read = [record.seq for record in view.records(stream, after)]
                            assert read == list(range(after + 1, end))
    assert unfiled(path) not in (0, len(sizes))


def test_reading_the_newest_does_not_look_at_all_that_waits(path: Path) -> None:
    """Counted in SQLite's own steps."""

    def steps(store: SqliteStore) -> int:
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1
            return 0

        with store.read() as view:
            store._db.set_progress_handler(count, 1)
            newest = list(view.records("example/a", after=0))
            store._db.set_progress_handler(None, 0)
        assert [record.seq for record in newest] == [1]
        return taken

    with closing(SqliteStore(path, create=True, file_at=1_000)) as store:
        write_entries(store, *entries("example/a", 2)[:1])
        write_entries(store, *entries("example/b", 400))
        write_entries(store, *entries("example/a", 2)[1:])
        among_many = steps(store)
    with closing(SqliteStore(path.with_name("few.db"), create=True, file_at=1_000)) as store:
        write_entries(store, *entries("example/a", 2)[:1])
        write_entries(store, *entries("example/a", 2)[1:])
        assert among_many == steps(store)


def test_a_search_asks_both_places_for_the_best(path: Path) -> None:
    with closing(SqliteStore(path, create=True, file_at=20)) as store:
        write_entries(store, *texts(*(f"t{number}" for number in range(20))))
        write_entries(store, *texts("late"))
        assert unfiled(path) == 1
        assert "late" in found(store, "cafe")
        assert len(found(store, "cafe")) == 21
        with store.read() as view:
            assert len(view.search("texts", "cafe", limit=4)) == 4


def test_a_text_that_waits_is_found_in_its_own_space_only(store: SqliteStore, path: Path) -> None:
    here, there = Words("texts", "here", "fox"), Words("others", "there", "fox")
    write_entries(store, changing("example/a", 0, here, there))
    assert unfiled(path) == 1
    assert found(store, "fox") == ["here"]


def test_filing_makes_no_difference(path: Path) -> None:
    """The same history, filed at every turn, now and then, or never."""
    known = []
    for number, file_at in enumerate((1, 2, 5, FILE_AT)):
        place = path.with_name(f"{number}.db")
        with closing(SqliteStore(place, create=True, file_at=file_at)) as store:
            for seq in range(6):
                row = Put("letters", f"k{seq % 4}", {"n": seq})
                write_entries(store, changing("example/a", seq, row), *texts(f"b{seq}"))
                write_entries(store, changing(f"example/c{seq}", 0, Drop("letters", "k1")))
            known.append(contents_of(store))
    assert known[1:] == known[:1] * 3
    assert [row.key for row in known[0]["rows"]["letters"]] == ["k0", "k2", "k3"]


def test_what_is_long_is_filed_at_once_and_not_written_twice(
    store: SqliteStore, path: Path
) -> None:
    write_entries(store, *texts("short"))
    assert unfiled(path) == 1
    write_entries(store, changing("example/a", 0, Words("texts", "long", "word " * 1_000)))
    assert unfiled(path) == 0
    assert found(store, "word") == ["long"]
    assert found(store, "cafe") == ["short"]


def test_an_empty_append_files_nothing(store: SqliteStore, path: Path) -> None:
    write_entries(store, *texts("a"))
    before = store.version()
    write_entries(store)
    assert store.version() == before
    assert unfiled(path) == 1


def test_a_note_files_everything(store: SqliteStore, path: Path) -> None:
    write_entries(store, *texts("a"), *entries("example/b", 3))
    before = contents_of(store)
    with store.write() as change:
        change.put_note("one", {}, change.moved_heads())
    assert unfiled(path) == 0
    after = contents_of(store)
    assert after["stale"] == []
    assert {k: after[k] for k in ("streams", "records", "all_words", "counts")} == {
        k: before[k] for k in ("streams", "records", "all_words", "counts")
    }


def test_a_connection_that_was_away_while_it_was_filed_sees_the_same(
    store: SqliteStore, another: SqliteStore
) -> None:
    write_entries(store, *texts("a"))
    assert contents_of(another) == contents_of(store)
    write_entries(store, *texts("b"))
    with store.write() as change:
        change.put_note("one", {}, change.moved_heads())
    write_entries(store, changing("example/a", 1, Put("letters", "a", {})))
    assert contents_of(another) == contents_of(store)
    write_entries(another, changing("example/a", 2, Drop("letters", "a")))
    assert contents_of(another) == contents_of(store)


@pytest.mark.parametrize(
    "said", [b"", b"\xc1", b"\x93\x90\x90", b"\x93\x91\xa1a\x90\x90"], ids=repr
)
def test_what_waits_and_cannot_be_read_is_damage_and_stays_as_it_is(
    path: Path, said: bytes
) -> None:
    with closing(SqliteStore(path, create=True)) as store:
        write_entries(store, *texts("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (known,) = db.execute("SELECT says FROM unfiled").fetchone()
        db.execute("UPDATE unfiled SET says = ?", (said,))
        with closing(SqliteStore(path)) as store:
            for attempt in (contents_of, write_entries):
                with pytest.raises(StoreFailed) as caught:
                    attempt(store)
                assert caught.value.code == "store_damaged"
            assert db.execute("SELECT says FROM unfiled").fetchall() == [(said,)]
            db.execute("UPDATE unfiled SET says = ?", (known,))
            assert found(store, "cafe") == ["a"]


def test_searching_is_not_writing(store: SqliteStore) -> None:
    write_entries(store, changing("example/a", 0, Words("texts", "t", "fox")))
    before = store.version()
    assert found(store, "fox") == ["t"]
    assert store.version() == before


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
        moved = change.moved_heads()
        change.put_note("one", {}, moved)
        assert change.moved_heads() == []
    write_entries(store, *entries("example/b", 2, start=1))
    with store.write() as change:
        assert [name for name, _ in change.moved_heads()] == ["example/b"]
        change.put_note("two", {}, [("example/b", Head(1, 1, b"older"))])
        assert [name for name, _ in change.moved_heads()] == ["example/b"]


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
