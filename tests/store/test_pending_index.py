"""What waits to be filed, when it is hurt, forged, interrupted or half written."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import MootError, StoreFailed, Tampered
from moot.core.ledger import Head, RowEdit, WriteTransaction
from moot.core.machine import Drop, Put, Words
from moot.engine.engine import Engine
from moot.protocols.example.model import Ask
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.pending_index import HEADS_KEPT, IndexDelta, PendingIndex
from moot.store.sqlite.transaction import SqliteTransaction
from tests.sampling import QUARTERS
from tests.store.contract import (
    ASTRAL_TEXTS,
    ODD_TEXTS,
    changing,
    contents_of,
    entries,
    entry,
    heartbeat,
    keeps_nothing_of,
    put,
    record,
    snapshot,
    write_and_swallow,
    write_entries,
    write_everything,
)
from tests.store.interrupts import Interrupt, Interrupted, disk_failed, interruptible
from tests.store.ledgers import CRANE, OTTER, check_ledger, found_ledger, history, join


def alter(path: Path, *statements: str) -> None:
    """By someone who is not Moot."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def ask(engine: Engine, stream: str) -> None:
    engine.execute(stream, Ask(title="errand", of=CRANE), OTTER)


# Forged and damaged -------------------------------------------------------------------------------

NEWEST = "(SELECT max(event) FROM unfiled)"
FORGERIES = {
    "the newest row is gone": [f"DELETE FROM unfiled WHERE event = {NEWEST}"],
    "a row in the middle is gone": [f"DELETE FROM unfiled WHERE event = {NEWEST} - 1"],
    "all rows are gone": ["DELETE FROM unfiled"],
    "a row belongs to another event": [
        f"UPDATE unfiled SET event = event + 10 WHERE event = {NEWEST}"
    ],
    "a row says what another said": [
        f"REPLACE INTO unfiled SELECT {NEWEST}, says FROM unfiled WHERE event = {NEWEST} - 1"
    ],
    "a row for no event": [
        "INSERT INTO unfiled SELECT event + 1, says FROM unfiled LIMIT 1 OFFSET 2"
    ],
    "more is said to be filed": ["UPDATE filed SET event = event + 1"],
    "more is said to be filed, and its row is gone": [
        "UPDATE filed SET event = event + 1",
        "DELETE FROM unfiled WHERE event <= (SELECT event FROM filed)",
    ],
    "everything is said to be filed": [f"UPDATE filed SET event = {NEWEST}"],
    "everything and more is said to be filed": [f"UPDATE filed SET event = {2**62}"],
    "less is said to be filed": ["UPDATE filed SET event = event - 1"],
    "nothing is said to be filed": ["UPDATE filed SET event = 0"],
    "less than nothing is said to be filed": ["UPDATE filed SET event = -5"],
    "nothing says what is filed": ["DELETE FROM filed"],
    "two rows say what is filed": ["INSERT INTO filed SELECT event FROM filed"],
    "the last filed event has no place": [
        "DELETE FROM places WHERE event = (SELECT event FROM filed)"
    ],
    "the last filed event has another place": [
        "UPDATE places SET seq = seq + 10 WHERE event = (SELECT event FROM filed)"
    ],
    "the last filed event's place is another's": [
        "UPDATE places SET event = 1 WHERE event = (SELECT event FROM filed)"
    ],
    "a stream is gone": ["DELETE FROM streams WHERE number = (SELECT max(number) FROM streams)"],
    "a stream has another name": [
        "UPDATE streams SET name = 'example/z' WHERE number = (SELECT max(number) FROM streams)"
    ],
}


@pytest.fixture
def ledger(path: Path) -> Path:
    """Some events filed; three commits, of two streams, that wait."""
    found_ledger(path)
    engine = join(SqliteStore(path))
    for stream in ("example/x", "example/y", "example/x"):
        ask(engine, stream)
    engine.store.close()
    return path


DAMAGE = {"store_damaged", "stream_missing", "tampered"}


@pytest.mark.requirement("LDG-079")
@pytest.mark.parametrize("how", FORGERIES)
@pytest.mark.parametrize("warm", [False, True])
def test_a_forged_tail_is_noticed_and_never_an_older_history_to_write_on(
    ledger: Path, how: str, warm: bool
) -> None:
    """A process that had read it before may continue with what was true."""
    before = {"example/x": 1, "example/y": 0, "example/new": -1}
    refused = set()
    with closing(SqliteStore(ledger)) as store:
        engine = join(store)
        for stream in ("registry", *before) if warm else ():
            engine.load(stream)
        alter(ledger, *FORGERIES[how])
        for stream, seq in before.items():
            try:
                assert engine.load(stream).seq == seq
                ask(engine, stream)
                assert engine.load(stream).seq == seq + 1
            except MootError as error:
                refused.add(error.code)
                with pytest.raises(MootError):
                    ask(engine, stream)
    assert refused <= DAMAGE
    assert refused or warm
    assert taken_twice(ledger) == []


@pytest.mark.parametrize("how", FORGERIES)
def test_what_cannot_be_believed_is_not_filed(ledger: Path, how: str) -> None:
    alter(ledger, *FORGERIES[how])
    with closing(SqliteStore(ledger)) as store, closing(sqlite3.connect(ledger)) as db:
        before = list(db.iterdump())
        with pytest.raises(MootError) as caught:
            join(store).checkpoint()
        assert caught.value.code in DAMAGE | {"tree_damaged"}
        assert list(db.iterdump()) == before


def test_a_tampered_stream_stops_nobody_elses(ledger: Path) -> None:
    alter(ledger, f"DELETE FROM unfiled WHERE event = {NEWEST}")
    with closing(SqliteStore(ledger)) as store:
        engine = join(store)
        with pytest.raises(Tampered) as caught:
            ask(engine, "example/x")
        assert caught.value.stream == "example/x"
        for stream in ("example/y", "example/new", "example/new"):
            ask(engine, stream)
    with closing(SqliteStore(ledger)) as store:
        engine = join(store)
        assert [engine.load(name).seq for name in ("example/y", "example/new")] == [1, 1]
        with pytest.raises(Tampered):
            engine.load("example/x")


def test_what_was_tampered_with_can_be_read_as_it_stands_and_be_put_back(ledger: Path) -> None:
    with closing(SqliteStore(ledger)) as store, closing(SqliteStore(ledger)) as cold:
        before, engine = history(store), join(cold)
        alter(
            ledger,
            "CREATE TABLE aside AS SELECT * FROM unfiled",
            f"DELETE FROM unfiled WHERE event = {NEWEST} - 1",
        )
        assert history(cold) == before
        with pytest.raises(Tampered):
            ask(engine, "example/y")
        alter(ledger, "INSERT OR IGNORE INTO unfiled SELECT * FROM aside", "DROP TABLE aside")
        ask(engine, "example/y")
        assert len(check_ledger(cold)["example/y"]) == 2


def taken_twice(path: Path) -> list[Any]:
    """Positions at which two events stand."""
    with closing(sqlite3.connect(path)) as db:
        twice = "SELECT stream, seq FROM events GROUP BY stream, seq HAVING count(*) > 1"
        return db.execute(twice).fetchall()


def test_a_writer_whose_newest_event_another_has_hidden_does_not_write_over_it(path: Path) -> None:
    """It knows the stream's head from its own commit, and would ask for no record."""
    found_ledger(path)
    with closing(SqliteStore(path)) as mine, closing(SqliteStore(path)) as theirs:
        first, second = join(mine), join(theirs)
        ask(first, "example/x")
        ask(second, "example/x")
        ask(second, "example/y")
        alter(path, f"DELETE FROM unfiled WHERE event = {NEWEST} - 1")
        with pytest.raises(Tampered) as caught:
            ask(first, "example/x")
        assert caught.value.stream == "example/x"
    assert taken_twice(path) == []


def test_an_event_that_says_nothing_was_written_past_the_store(ledger: Path) -> None:
    newer = "SELECT max(id) + 1, 2, 1, kid, body, sig, NULL FROM events"
    alter(ledger, f"INSERT INTO events {newer}")
    with closing(SqliteStore(ledger)) as store:
        engine = join(store)
        with pytest.raises(Tampered) as caught:
            ask(engine, "example/y")
        assert caught.value.stream == "example/y"
        ask(engine, "example/x")


def test_a_number_too_large_for_the_file_is_damage(path: Path) -> None:
    with closing(SqliteStore(path, create=True)) as store:
        write_entries(store, changing("example/a", 0, Put("letters", "k", {})))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (says,) = db.execute("SELECT says FROM unfiled").fetchone()
        assert says.endswith(b"\xa9example/a\x00\x90")
        forged = says[:-2] + b"\xcf" + b"\xff" * 8 + b"\x90"
        db.execute("UPDATE unfiled SET says = ?", (forged,))
    with closing(SqliteStore(path)) as store, pytest.raises(StoreFailed) as caught:
        contents_of(store)
    assert caught.value.code == "store_damaged"


# Half written, and swallowed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda change: change.put_cursor("amber-otter", "inbox", 2**70),
        lambda change: change.put_cursor("amber-otter", "\ud800", 1),
        lambda change: change.put_heartbeat(heartbeat("amber-otter", 2**70)),
        lambda change: change.put_snapshot(snapshot("example/a", 2**70)),
        lambda change: change.put_note("note", {(0, 2**70): b""}, []),
        lambda change: change.keep_fork(record("example/a", 2**70)),
    ],
)
def test_what_sqlite_cannot_hold_is_not_kept_in_part_even_if_the_error_is_swallowed(
    store: SqliteStore, write: Callable[[WriteTransaction], object]
) -> None:
    keeps_nothing_of(store, write)


def test_nothing_is_written_once_sqlite_has_ended_the_transaction_itself(path: Path) -> None:
    """As it may when the disk is full; each further statement would be a commit of its own."""
    opened: list[sqlite3.Connection] = []

    def connect(uri: str, _seconds: float) -> sqlite3.Connection:
        opened.append(sqlite3.connect(uri, uri=True, isolation_level=None))
        return opened[-1]

    with closing(SqliteStore(path, create=True, connect=connect)) as store:
        write_entries(store, entry("example/a", 0))
        before = contents_of(store)
        with pytest.raises(StoreFailed):
            write_and_swallow(store, lambda _: opened[0].execute("ROLLBACK"))
        assert contents_of(store) == before
        write_entries(store, entry("example/a", 1))


# Interrupted --------------------------------------------------------------------------------------


def say_something(seq: int) -> Callable[[WriteTransaction], None]:
    rows = (Put("letters", f"k{seq % 3}", {"n": seq}), Drop("letters", f"k{(seq + 1) % 3}"))
    said = changing("example/a", seq, *rows, Words("texts", f"t{seq}", "word"))
    return lambda change: change.append([said, entry(f"example/{seq}", 0, "a/k")])


def note(change: WriteTransaction) -> None:
    change.put_note("note", {(0, 0): b"leaf"}, change.moved_heads())


LIFE: list[Callable[[WriteTransaction], None]] = [
    *(say_something(seq) for seq in range(3)),
    note,
    *(say_something(seq) for seq in range(3, 5)),
    lambda change: change.clear_rows(),
]


def live(store: SqliteStore, beside: SqliteStore, known: MemoryStore) -> None:
    """Each write tried again if it failed and was not kept; all three show the same throughout."""
    for write in LIFE:
        while not was_kept(store, beside, known, write):
            pass
        with suppress(Interrupt, MootError), store.read() as view:
            assert view.count_streams_and_events() == contents_of(known)["counts"]
        assert contents_of(beside) == contents_of(known)


def was_kept(
    store: SqliteStore,
    beside: SqliteStore,
    known: MemoryStore,
    write: Callable[[WriteTransaction], None],
) -> bool:
    before = contents_of(known)
    with suppress(Interrupt, MootError), store.write() as change:
        write(change)
    if contents_of(beside) == before:
        return False
    with known.write() as change:
        write(change)
    return True


@pytest.mark.parametrize("shard", QUARTERS)
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_at_any_statement_leaves_all_of_a_write_or_nothing(
    quick_folder: Path, after: bool, shard: int
) -> None:
    survive_every_statement(quick_folder, Interrupt(), after, shard)


@pytest.mark.parametrize("shard", QUARTERS)
def test_a_statement_that_fails_leaves_nothing_of_its_write(quick_folder: Path, shard: int) -> None:
    survive_every_statement(quick_folder, disk_failed(), False, shard)


def survive_every_statement(folder: Path, error: BaseException, after: bool, shard: int) -> None:
    """Lives, each struck four statements later, until one is not struck any more."""
    for number in range(shard, 1_000, 4):
        opened: list[Interrupted] = []
        path = folder / f"{number}.db"
        with (
            closing(
                SqliteStore(path, create=True, file_at=5, connect=interruptible(opened))
            ) as store,
            closing(SqliteStore(path)) as beside,
        ):
            (db,) = opened
            db.left, db.after, db.error = number, after, error
            known = MemoryStore()
            live(store, beside, known)
            missed, db.left = db.left is not None, None
            assert contents_of(store) == contents_of(known)
        path.unlink()
        if missed:
            break
    assert number > 50


# Iterators ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("what", ["all_rows", "all_words", "streams", "all_snapshots", "forks"])
def test_an_iterator_kept_beyond_its_view_neither_holds_it_back_nor_goes_on(
    store: SqliteStore, another: SqliteStore, what: str, begun: bool
) -> None:
    with store.write() as change:
        write_everything(change)
        change.edit_rows([put("many", f"{number:05}") for number in range(3_000)])
    with store.read() as view:
        kept = getattr(view, what)()
        if begun:
            next(kept)
    with suppress(sqlite3.ProgrammingError):
        next(kept)
    write_entries(another, entry("example/z", 0))
    with store.read() as view:
        assert view.head("example/z") is not None


def test_what_was_half_read_and_dropped_is_let_go_while_the_view_lasts(store: SqliteStore) -> None:
    """A decision may look at one event each of many agents; so may a rebuild."""
    write_entries(store, *entries("example/a", 50))
    with store.read() as view:
        before = cursors()
        for after in range(40):
            assert next(view.records("example/a", after)).seq == after + 1
        assert cursors() <= before + 1


def cursors() -> int:
    return sum(isinstance(each, sqlite3.Cursor) for each in gc.get_objects())


def test_a_list_of_rows_begun_before_an_append_ends_as_it_began(store: SqliteStore) -> None:
    write_entries(store, changing("example/a", 0, Put("letters", "a", {}), Words("t", "a", "x")))
    with store.write() as change:
        rows, words = change.all_rows(), change.all_words()
        change.append(
            [
                changing(
                    "example/a", 1, Put("letters", "b", {}), Put("c", "c", {}), Words("t", "b", "x")
                )
            ]
        )
        assert [row.key for _, row in rows] == ["a"]
        assert [key for _, key, _ in words] == ["a"]


# Both read as one ---------------------------------------------------------------------------------


def test_rows_filed_and_waiting_are_listed_in_one_order_whatever_their_keys(path: Path) -> None:
    keys = sorted({*ODD_TEXTS, *ASTRAL_TEXTS, "%", "_", "é", "A"})
    with closing(SqliteStore(path, create=True)) as store:
        filed = [Put("letters", key, {"n": 1}) for key in keys[::2]]
        write_entries(store, changing("example/a", 0, *filed))
        with store.write() as change:
            change.file_pending()
        late = [Put("letters", key, {"n": 2}) for key in keys[1::3]]
        gone = [Drop("letters", key) for key in keys[::4]]
        write_entries(store, changing("example/a", 1, *late, *gone))
        left = sorted(({*keys[::2]} | {*keys[1::3]}) - {*keys[::4]})
        with store.read() as view:
            for prefix in ["", *keys]:
                for after in ["", *keys]:
                    due = [key for key in left if key.startswith(prefix) and key > after]
                    assert [row.key for row in view.rows("letters", prefix, after)] == due
                    for limit in (0, 1, 2):
                        listed = view.rows("letters", prefix, after, limit)
                        assert [row.key for row in listed] == due[:limit]


def test_records_filed_and_waiting_come_as_one(path: Path) -> None:
    with closing(SqliteStore(path, create=True)) as store:
        write_entries(store, *entries("example/a", 5), *entries("example/b", 2))
        with store.write() as change:
            change.file_pending()
        write_entries(store, *entries("example/a", 4, start=5))
        with closing(SqliteStore(path)) as cold:
            for known in (store, cold):
                with known.read() as view:
                    for after in range(-1, 10):
                        seqs = [found.seq for found in view.records("example/a", after)]
                        assert seqs == list(range(after + 1, 9))
                    assert [found.seq for found in view.records("example/b")] == [0, 1]


def test_a_write_after_a_filing_by_another_goes_on_from_there(
    store: SqliteStore, another: SqliteStore
) -> None:
    write_entries(store, *entries("example/a", 2))
    write_entries(another, *entries("example/a", 2, start=2))
    with another.write() as change:
        assert isinstance(change, SqliteTransaction)
        change.file_pending()
    write_entries(store, *entries("example/a", 2, start=4))
    write_entries(another, *entries("example/b", 2))
    assert contents_of(store) == contents_of(another)
    assert contents_of(store)["counts"] == (2, 8)


def test_an_edit_of_the_index_counts_over_what_waits(store: SqliteStore) -> None:
    late = [Put("letters", key, {"n": 1}) for key in ("a", "b", "c")]
    write_entries(store, changing("example/a", 0, *late))
    with store.write() as change:
        gone = RowEdit(Drop("letters", "b"), "example/a", 0)
        change.edit_rows([put("letters", "a", n=2), gone])
    with store.read() as view:
        rows = [(row.key, row.value) for row in view.rows("letters")]
    assert rows == [("a", b'{"n":2}'), ("c", b'{"n":1}')]


def test_filing_nothing_writes_nothing(store: SqliteStore) -> None:
    write_entries(store, *entries("example/a", 2))
    with store.write() as change:
        change.file_pending()
    before = store.version()
    with store.write() as change:
        change.file_pending()
    assert store.version() == before


def test_heads_are_not_remembered_without_end() -> None:
    tail = PendingIndex()
    heads = [(f"example/{number}", Head(number, 0, b"")) for number in range(HEADS_KEPT + 1)]
    tail.add(len(heads), IndexDelta(heads, [], []))
    assert len(tail.heads) == len(heads)
    tail.mark_filed()
    assert tail.heads == {}


def test_a_ledger_of_which_much_waits_is_whole_to_a_newcomer(path: Path) -> None:
    found_ledger(path)
    engine = join(SqliteStore(path))
    for number in range(40):
        ask(engine, f"example/{number % 7}")
    with closing(SqliteStore(path)) as cold:
        assert check_ledger(cold) == check_ledger(engine.store)
    engine.store.close()
