"""The one contract of all stores: `core/ledger.py` as tests.

A store joins by subclassing `StoreContract` and giving two fixtures: `store`, an empty store, and
`another`, which opens the same ledger a second time (a store that lives in one object returns
itself). The records here are not sealed: a store keeps bytes and does not judge them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from moot.core.errors import Conflict, StoreFailed
from moot.core.ledger import (
    Head,
    Heartbeat,
    RecordToAppend,
    RowEdit,
    Snapshot,
    Store,
    View,
    WriteTransaction,
)
from moot.core.machine import Drop, Put, RowChange, Words
from moot.core.record import Record

OpenAgain = Callable[[], Store]
T = TypeVar("T")

# Every byte, and a text that no decoder accepts: what was signed comes back as it was.
ALL_BYTES = bytes(range(256)) + b"\xff\xfe\x00\xc3\x28"
ODD_TEXTS = ("\0", "\x01", "a", "a\0", "a\0b", "ab", "z", "\ud7ff", "\ud7ffx", "\ue000", "\uffff")
ASTRAL_TEXTS = ("\U00010000", "\U0010ffff", "\U0010ffffa", "\U0010ffff\U0010ffff")


class Dropped(Exception):
    """Raised inside a write to leave it."""


def record(stream: str, seq: int, raw: bytes = b"{}") -> Record:
    return Record(stream, seq, "0123456789abcdef" * 2, b"%d:%b" % (seq, raw), bytes(64))


def entry(stream: str, seq: int, key: str | None = None, raw: bytes = b"{}") -> RecordToAppend:
    return RecordToAppend(record(stream, seq, raw), key)


def changing(stream: str, seq: int, *changes: RowChange) -> RecordToAppend:
    """An entry that says something to the index."""
    return RecordToAppend(record(stream, seq), None, changes)


def entries(stream: str, count: int, start: int = 0) -> list[RecordToAppend]:
    return [entry(stream, seq) for seq in range(start, start + count)]


def write_entries(store: Store, *batch: RecordToAppend) -> None:
    with store.write() as change:
        change.append(batch)


def write_and_drop(
    store: Store, write: Callable[[WriteTransaction], object], error: BaseException
) -> None:
    """Write, and then leave by an exception."""
    with store.write() as change:
        write(change)
        raise error


def write_and_swallow(store: Store, write: Callable[[WriteTransaction], object]) -> None:
    """A caller that takes no notice, and goes on."""
    with store.write() as change:
        with suppress(Dropped, TypeError, OverflowError, UnicodeEncodeError):
            write(change)
        with pytest.raises(StoreFailed):
            change.append([entry("example/b", 0)])


def keeps_nothing_of(store: Store, write: Callable[[WriteTransaction], object]) -> None:
    """A write whose error was swallowed leaves nothing, and stands in nobody's way."""
    write_entries(store, entry("example/a", 0))
    before = contents_of(store)
    with pytest.raises(StoreFailed, match="failed"):
        write_and_swallow(store, write)
    assert contents_of(store) == before
    write_entries(store, entry("example/a", 1))
    assert contents_of(store)["counts"] == (1, 2)


def failing(*found: T) -> Iterator[T]:
    """As many as there are, and then an error."""
    yield from found
    raise Dropped


def appending(batch: list[RecordToAppend]) -> Callable[[WriteTransaction], object]:
    return lambda change: change.append(batch)


def editing(edits: list[RowEdit]) -> Callable[[WriteTransaction], object]:
    return lambda change: change.edit_rows(edits)


def put(space: str, key: str, **value: Any) -> RowEdit:
    return RowEdit(Put(space, key, value), "example/a", 0)


def words(key: str, text: str, space: str = "texts") -> RowEdit:
    return RowEdit(Words(space, key, text), "example/a", 0)


# After `example/a` 0: each writes something, and fails before it has written all.
HALF_WAY: dict[str, Callable[[WriteTransaction], object]] = {
    "an append": lambda change: change.append(
        [
            changing("example/a", 1, Put("letters", "j", {}), Words("texts", "t", "word")),
            changing("example/a", 2, Put("letters", "k", {"n": object()})),
        ]
    ),
    "index rows": lambda change: change.edit_rows(
        [put("letters", "j"), words("t", "word"), put("letters", "k", n=object())]
    ),
    "rows that cannot be had": lambda change: change.edit_rows(failing(put("letters", "j"))),
    "a note": lambda change: change.put_note(
        "note\n", {(0, 0): b"leaf"}, failing(("example/a", Head(0, 0, b"h")))
    ),
}


def snapshot(stream: str, seq: int = 3, state: bytes = b"state") -> Snapshot:
    return Snapshot(stream, seq, b"h" * 32, "example/1", state, b"s" * 64)


def heartbeat(agent: str, at: int, raw: bytes = b"alive") -> Heartbeat:
    return Heartbeat(agent, at, "f" * 32, raw, b"s" * 64)


def contents(view: View) -> dict[str, Any]:
    """Everything the interface shows of the streams, spaces and agents these tests use."""
    streams = list(view.streams())
    return {
        "streams": streams,
        "heads": [view.head(name) for name, _ in streams],
        "records": {name: list(map(_exact, view.records(name))) for name, _ in streams},
        "keys": {name: view.keys(name, "") for name, _ in streams},
        "snapshots": [view.snapshot(name) for name, _ in streams],
        "rows": {space: view.rows(space) for space in ("open", "letters")},
        "values": sorted(view.values("letters").items()),
        "all_rows": sorted(view.all_rows()),
        "all_words": sorted(view.all_words()),
        "all_snapshots": sorted(view.all_snapshots()),
        "found": sorted(view.search("texts", "word")),
        "beats": view.heartbeats(),
        "cursors": [view.cursor(agent, "inbox") for agent in ("amber-otter", "teal-crane")],
        "note": view.newest_note(),
        "nodes": sorted(view.all_nodes()),
        "pinned": list(view.pinned_heads()),
        "stale": view.moved_heads(),
        "counts": view.count_streams_and_events(),
        "committed": list(map(_exact, view.records_after(0))),
        "newest": view.newest_position(),
        "all_cursors": sorted(view.all_cursors()),
        "all_notes": list(view.all_notes()),
        "forks": list(map(_exact, view.forks())),
    }


def _exact(found: Record) -> tuple[str, int, str, bytes, bytes]:
    return found.stream, found.seq, found.kid, found.raw, found.signature


def contents_of(store: Store) -> dict[str, Any]:
    with store.read() as view:
        return contents(view)


def write_everything(change: WriteTransaction) -> None:
    """At least one of everything a change can write."""
    change.append([*entries("example/a", 2), entry("example/b", 0, "amber-otter/k/1")])
    change.append(
        [changing("example/a", 2, Put("letters", "zero", {}), Words("texts", "t0", "word"))]
    )
    change.edit_rows([put("open", "example/a"), put("letters", "one"), words("t1", "a word")])
    change.put_snapshot(snapshot("example/a", 2))
    change.put_heartbeat(heartbeat("amber-otter", 1_000))
    change.put_cursor("amber-otter", "inbox", 7)
    change.set_nodes({(0, 0): b"early"})
    change.put_note("note one\n", {(0, 0): b"leaf", (1, 0): b"node"}, change.moved_heads())
    change.keep_fork(record("example/a", 1, b"second"))


def move_everything(change: WriteTransaction) -> None:
    """After `write_everything`: replace, extend or remove each of them."""
    change.append(entries("example/a", 2, start=3))
    change.append([changing("example/c", 0, Drop("letters", "zero"), Words("texts", "t3", "word"))])
    change.edit_rows([RowEdit(Drop("open", "example/a"), "example/a", 3)])
    change.edit_rows([put("letters", "one", changed=1), put("letters", "two")])
    change.edit_rows([words("t2", "another word")])
    change.put_snapshot(snapshot("example/a", 4, b"other"))
    change.put_heartbeat(heartbeat("amber-otter", 2_000))
    change.put_cursor("amber-otter", "inbox", 9)
    change.put_note("note two\n", {(0, 0): b"moved"}, change.moved_heads())
    change.set_nodes({(0, 1): b"again"})
    change.drop_snapshot("example/a")
    change.keep_fork(record("example/a", 2, b"second"))


class StoreContract:
    """What every store promises. `store` is empty."""

    # Records --------------------------------------------------------------------------------------

    def test_an_empty_store_shows_nothing(self, store: Store) -> None:
        with store.read() as view:
            seen = contents(view)
            assert view.head("example/a") is None
            assert list(view.records("example/a")) == []
            assert view.keys("example/a", "") == []
            assert view.snapshot("example/a") is None
            assert view.row("open", "example/a") is None
            assert view.heartbeat("amber-otter") is None
            with pytest.raises(KeyError):
                view.node(0, 0)
        assert seen["counts"] == (0, 0)
        assert seen["note"] is None
        assert not any(seen[name] for name in ("streams", "beats", "found", "stale", "forks"))

    def test_records_come_back_in_order_and_from_any_position(self, store: Store) -> None:
        write_entries(store, *entries("example/a", 5))
        with store.read() as view:
            for after in range(-1, 7):
                seqs = [found.seq for found in view.records("example/a", after)]
                assert seqs == list(range(after + 1, 5))

    def test_reading_may_stop_early_and_begin_again(self, store: Store) -> None:
        write_entries(store, *entries("example/a", 50))
        with store.read() as view:
            first = view.records("example/a")
            assert [next(first).seq for _ in range(3)] == [0, 1, 2]
            assert [found.seq for found in view.records("example/a", 47)] == [48, 49]
            assert next(first).seq == 3

    def test_a_half_read_iterator_that_is_kept_does_not_hold_back_later_transactions(
        self, store: Store, another: OpenAgain
    ) -> None:
        write_entries(store, *entries("example/a", 500))
        with store.read() as view:
            kept = view.records("example/a")
            next(kept)
        write_entries(another(), entry("example/b", 0))
        with store.read() as view:
            assert view.head("example/b") is not None
        write_entries(store, entry("example/b", 1))
        assert contents_of(another())["counts"] == (2, 502)
        kept.close()  # type: ignore[attr-defined]

    def test_interleaved_streams_keep_their_own_order_and_number(self, store: Store) -> None:
        names = [f"example/{letter}" for letter in "dacb"]
        for seq in range(3):
            write_entries(store, *(entry(name, seq) for name in names))
        with store.read() as view:
            assert [(name, head.number) for name, head in view.streams()] == [
                (name, number) for number, name in enumerate(names)
            ]
            for number, name in enumerate(names):
                assert view.head(name) == Head(number, 2, record(name, 2).hash)
                assert [found.seq for found in view.records(name)] == [0, 1, 2]
            assert view.count_streams_and_events() == (4, 12)

    def test_a_stream_created_late_gets_the_next_number_whatever_its_name(
        self, store: Store
    ) -> None:
        write_entries(store, entry("example/z", 0))
        write_entries(store, entry("example/z", 1), entry("example/a", 0))
        write_entries(store, entry("registry", 0), entry("example/z", 2))
        with store.read() as view:
            numbers = {name: head.number for name, head in view.streams()}
        assert numbers == {"example/z": 0, "example/a": 1, "registry": 2}

    def test_one_append_may_hold_several_records_of_several_streams(self, store: Store) -> None:
        mixed = [entry("example/a", 0), entry("example/b", 0), entry("example/a", 1)]
        write_entries(store, *mixed)
        with store.read() as view:
            assert list(view.records("example/a")) == [mixed[0].record, mixed[2].record]
            assert list(view.records("example/b")) == [mixed[1].record]

    def test_an_append_may_be_given_as_a_generator_and_may_be_empty(self, store: Store) -> None:
        with store.write() as change:
            change.append(iter(entries("example/a", 2)))
            change.append(iter(()))
        assert contents_of(store)["counts"] == (1, 2)

    def test_bodies_and_signatures_come_back_byte_for_byte(self, store: Store) -> None:
        bodies = (ALL_BYTES, b"", b"\0", "\U0010ffff é é".encode(), b"x" * 65_536)
        sealed = [
            Record("example/a", seq, "0" * 32, raw, ALL_BYTES[seq : seq + 64])
            for seq, raw in enumerate(bodies)
        ]
        write_entries(store, *(RecordToAppend(each, None) for each in sealed))
        with store.read() as view:
            found = list(view.records("example/a"))
        assert [each.raw for each in found] == list(bodies)
        assert [each.signature for each in found] == [each.signature for each in sealed]
        assert all(type(each.raw) is bytes and type(each.signature) is bytes for each in found)

    @pytest.mark.requirement("LDG-068")
    @pytest.mark.parametrize("seq", [0, 1, 3, 4, -1])
    def test_a_taken_position_or_a_gap_is_a_conflict_and_writes_nothing(
        self, store: Store, seq: int
    ) -> None:
        write_entries(store, *entries("example/a", 2))
        before = contents_of(store)
        with pytest.raises(Conflict) as caught:
            write_entries(store, entry("example/b", 0), entry("example/a", seq))
        assert caught.value.code == "position_taken"
        assert contents_of(store) == before

    @pytest.mark.parametrize(
        "batch",
        [
            [entry("example/b", 1)],
            [entry("example/b", 0), entry("example/b", 0)],
            [entry("example/b", 0), entry("example/a", 2), entry("example/a", 4)],
            [entry("example/a", 2), entry("example/a", 3), entry("example/c", 7)],
        ],
    )
    def test_a_conflict_caught_inside_the_write_has_still_written_nothing(
        self, store: Store, batch: list[RecordToAppend]
    ) -> None:
        write_entries(store, *entries("example/a", 2))
        before = contents_of(store)
        with store.write() as change, pytest.raises(Conflict):
            change.append(batch)
        assert contents_of(store) == before
        write_entries(store, entry("example/a", 2), entry("example/b", 0))
        assert contents_of(store)["counts"] == (2, 4)

    # Idempotency keys -----------------------------------------------------------------------------

    def test_keys_are_found_by_prefix_in_their_own_stream(self, store: Store) -> None:
        keys = ["a/1/x", "a/10/x", "a/1/x", None, "b/1/x", "a/1/y!"]
        write_entries(store, *(entry("example/a", seq, key) for seq, key in enumerate(keys)))
        write_entries(store, entry("example/b", 0, "a/1/x"))
        with store.read() as view:
            assert view.keys("example/a", "a/1/") == [("a/1/x", 0), ("a/1/x", 2), ("a/1/y!", 5)]
            assert view.keys("example/a", "a/1/x") == [("a/1/x", 0), ("a/1/x", 2)]
            assert view.keys("example/b", "") == [("a/1/x", 0)]
            assert view.keys("example/a", "c") == []
            assert len(view.keys("example/a", "")) == 5

    def test_keys_are_found_whatever_characters_they_hold(self, store: Store) -> None:
        keys = sorted({*ODD_TEXTS, *ASTRAL_TEXTS, "", "%", "_", "a%"})
        write_entries(store, *(entry("example/a", seq, key) for seq, key in enumerate(keys)))
        numbered = list(zip(keys, range(len(keys)), strict=True))
        with store.read() as view:
            for prefix in keys:
                expected = [(key, seq) for key, seq in numbered if key.startswith(prefix)]
                assert view.keys("example/a", prefix) == expected

    def test_keys_written_in_this_change_are_seen_by_it(self, store: Store) -> None:
        with store.write() as change:
            change.append([entry("example/a", 0, "a/1/x")])
            assert change.keys("example/a", "a/") == [("a/1/x", 0)]

    # Transactions ---------------------------------------------------------------------------------

    @pytest.mark.requirement("LDG-069")
    @pytest.mark.parametrize("error", [Dropped, KeyboardInterrupt, StoreFailed])
    def test_leaving_a_write_by_an_exception_leaves_nothing_of_it(
        self, store: Store, error: type[BaseException]
    ) -> None:
        raised = error("x", "y") if error is StoreFailed else error()
        before = contents_of(store)
        with pytest.raises(error) as caught:
            write_and_drop(store, write_everything, raised)
        assert caught.value is raised
        assert contents_of(store) == before
        with store.read() as view, pytest.raises(KeyError):
            view.node(0, 0)

    def test_leaving_a_later_write_by_an_exception_restores_the_state_before_it(
        self, store: Store
    ) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        with pytest.raises(Dropped):
            write_and_drop(store, move_everything, Dropped())
        assert contents_of(store) == before
        with store.read() as view:
            assert view.node(0, 0) == b"leaf"

    @pytest.mark.requirement("LDG-069")
    @pytest.mark.parametrize("write", HALF_WAY.values(), ids=HALF_WAY.keys())
    def test_a_write_that_failed_half_way_is_not_kept_even_if_the_error_is_swallowed(
        self, store: Store, write: Callable[[WriteTransaction], object]
    ) -> None:
        keeps_nothing_of(store, write)

    def test_entries_that_cannot_be_had_leave_a_change_that_is_whole(self, store: Store) -> None:
        with store.write() as change:
            with pytest.raises(Dropped):
                change.append(failing(entry("example/a", 0)))
            change.append([entry("example/b", 0)])
        assert contents_of(store)["counts"] == (1, 1)

    def test_a_change_that_is_kept_writes_nothing_more(self, store: Store) -> None:
        left: list[WriteTransaction] = []
        with store.write() as kept:
            kept.append([entry("example/a", 0)])
        with pytest.raises(Dropped):
            write_and_drop(store, left.append, Dropped())
        before = contents_of(store)
        for change in (kept, left.pop()):
            with pytest.raises(StoreFailed):
                change.append([entry("example/a", 1)])
            with store.write(), pytest.raises(StoreFailed):
                change.put_cursor("amber-otter", "inbox", 1)
        assert contents_of(store) == before

    def test_clearing_is_undone_too(self, store: Store) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        with pytest.raises(Dropped):
            write_and_drop(store, lambda change: change.clear_rows(), Dropped())
        assert contents_of(store) == before

    def test_after_a_failed_write_the_next_one_works(self, store: Store) -> None:
        with pytest.raises(Dropped):
            write_and_drop(store, write_everything, Dropped())
        write_entries(store, entry("example/a", 0))
        assert contents_of(store)["counts"] == (1, 1)

    def test_a_change_sees_what_it_has_written(self, store: Store) -> None:
        with store.write() as change:
            write_everything(change)
            inside = contents(change)
            with store.read() as view:
                assert contents(view) == inside
        assert contents_of(store) == inside

    def test_a_second_store_object_sees_a_write_once_it_is_left(
        self, store: Store, another: OpenAgain
    ) -> None:
        other = another()
        with store.write() as change:
            write_everything(change)
        assert contents_of(other) == contents_of(store)

    def test_a_view_stays_as_it_was_while_others_write(
        self, store: Store, another: OpenAgain
    ) -> None:
        with store.write() as change:
            write_everything(change)
        other = another()
        begun = threading.Event()

        def append() -> None:
            begun.set()
            write_entries(other, entry("example/a", 3), entry("example/n", 0))

        writer = threading.Thread(target=append)
        with store.read() as view:
            before = contents(view)
            writer.start()
            assert begun.wait(30)
            assert contents(view) == before
        writer.join(30)
        assert contents_of(store)["counts"] == (3, 6)

    def test_store_objects_that_take_turns_never_mistake_the_head(
        self, store: Store, another: OpenAgain
    ) -> None:
        """Also after writes that were left: whatever a store remembers must not outlive them."""
        other = another()
        for seq in range(12):
            mine, theirs = (store, other) if seq % 3 else (other, store)
            batch = entries("example/a", 2, start=seq)
            with pytest.raises(Dropped):
                write_and_drop(mine, appending(batch), Dropped())
            with mine.write() as change:
                head = change.head("example/a")
                assert (head.seq if head else -1) == seq - 1
                change.append([entry("example/a", seq)])
                assert change.head("example/a") == Head(0, seq, record("example/a", seq).hash)
            with theirs.read() as view:
                assert view.head("example/a") == Head(0, seq, record("example/a", seq).hash)
            with pytest.raises(Conflict):
                write_entries(theirs, entry("example/a", seq))

    def test_threads_of_one_store_take_turns(self, store: Store) -> None:
        failures: list[BaseException] = []

        def append(times: int) -> None:
            try:
                for _ in range(times):
                    with store.write() as change:
                        head = change.head("example/a")
                        change.append([entry("example/a", head.seq + 1 if head else 0)])
            except BaseException as error:  # noqa: BLE001 - shown by the assertion below
                failures.append(error)

        threads = [threading.Thread(target=append, args=(25,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        with store.read() as view:
            assert [found.seq for found in view.records("example/a")] == list(range(100))

    def test_reads_may_be_nested_and_show_the_same(self, store: Store) -> None:
        write_entries(store, *entries("example/a", 2))
        with store.read() as outer, store.read() as inner:
            assert contents(outer) == contents(inner)
        write_entries(store, entry("example/a", 2))
        assert contents_of(store)["counts"] == (1, 3)

    @pytest.mark.parametrize("outside", ["read", "write"])
    def test_a_write_inside_a_read_or_a_write_is_refused_and_disturbs_nothing(
        self, store: Store, outside: str
    ) -> None:
        write_entries(store, *entries("example/a", 2))
        with getattr(store, outside)() as outer:
            before = contents(outer)
            with pytest.raises(StoreFailed) as caught, store.write() as change:
                change.append(entries("example/b", 1))
            assert caught.value.code == "nested_write"
            assert contents(outer) == before
        assert contents_of(store) == before
        write_entries(store, entry("example/a", 2))
        assert contents_of(store)["counts"] == (1, 3)

    def test_changes_differs_after_every_write_by_this_or_another_store_object(
        self, store: Store, another: OpenAgain
    ) -> None:
        other = another()
        seen = [(store.version(), other.version())]
        for writer in (store, other, store, store, other, other):
            count = contents_of(store)["counts"][1]
            write_entries(writer, entry("example/a", count))
            seen.append((store.version(), other.version()))
        for mine in zip(*seen, strict=True):
            assert len(set(mine)) == len(mine)

    def test_changes_moves_with_each_kind_of_write(self, store: Store, another: OpenAgain) -> None:
        other = another()
        writes: list[Callable[[WriteTransaction], object]] = [
            lambda change: change.append([entry("example/a", 0)]),
            lambda change: change.edit_rows([put("open", "x")]),
            lambda change: change.edit_rows([RowEdit(Drop("open", "x"), "example/a", 0)]),
            lambda change: change.edit_rows([words("t", "word")]),
            lambda change: change.put_snapshot(snapshot("example/a")),
            lambda change: change.put_heartbeat(heartbeat("amber-otter", 1)),
            lambda change: change.put_cursor("amber-otter", "inbox", 1),
            lambda change: change.put_note("n", {}, []),
            lambda change: change.keep_fork(record("example/a", 0, b"second")),
            lambda change: change.clear_rows(),
        ]
        for write in writes:
            before = store.version(), other.version()
            with store.write() as change:
                write(change)
            assert store.version() != before[0]
            assert other.version() != before[1]

    def test_the_view_says_whether_others_have_written(
        self, store: Store, another: OpenAgain
    ) -> None:
        other = another()
        with store.read() as view:
            before = view.version_of_others()
        write_entries(other, *entries("example/a", 1))
        with store.write() as change:
            after = change.version_of_others()
        assert after != before
        with store.read() as view:
            assert view.version_of_others() == after or store is other

    def test_reading_does_not_count_as_a_change(self, store: Store, another: OpenAgain) -> None:
        write_entries(store, entry("example/a", 0))
        other = another()
        before = store.version(), other.version()
        contents_of(store)
        contents_of(other)
        assert (store.version(), other.version()) == before

    # Index rows -----------------------------------------------------------------------------------

    def test_rows_are_set_replaced_and_dropped(self, store: Store) -> None:
        with store.write() as change:
            change.edit_rows([put("open", "k", b=1, a="é"), put("open", "l"), put("other", "k")])
            change.edit_rows([RowEdit(Put("open", "k", {"a": [1, None]}), "example/b", 9)])
            change.edit_rows([RowEdit(Drop("open", "l"), "example/a", 0)])
            change.edit_rows([RowEdit(Drop("open", "never"), "example/a", 0)])
        with store.read() as view:
            assert view.row("open", "k") == ("k", b'{"a":[1,null]}', "example/b", 9)
            assert view.row("open", "l") is None
            assert [row.key for row in view.rows("open")] == ["k"]
            assert [row.key for row in view.rows("other")] == ["k"]

    def test_a_rows_value_is_json_with_sorted_keys(self, store: Store) -> None:
        with store.write() as change:
            change.edit_rows([put("open", "k", b="\0", a="é\U0001f389")])
        with store.read() as view:
            row = view.row("open", "k")
        assert row is not None
        assert row.value == '{"a":"é\U0001f389","b":"\\u0000"}'.encode()

    def test_rows_are_listed_by_key_prefix_position_and_limit(self, store: Store) -> None:
        keys = sorted({*ODD_TEXTS, *ASTRAL_TEXTS, "%", "_", "a%", "A", "é", "e\u0301"})
        with store.write() as change:
            change.edit_rows([put("letters", key) for key in reversed(keys)])
            change.edit_rows([put("lettersx", "a"), put("letter", "a")])
        with store.read() as view:
            assert [row.key for row in view.rows("letters")] == keys
            for prefix in ["", *keys, "b", "\U0010fffe"]:
                for after in ["", *keys]:
                    expected = [key for key in keys if key.startswith(prefix) and key > after]
                    found = [row.key for row in view.rows("letters", prefix, after)]
                    assert found == expected
                    found = [row.key for row in view.rows("letters", prefix, after, limit=2)]
                    assert found == expected[:2]

    def test_rows_can_be_walked_page_by_page(self, store: Store) -> None:
        keys = [f"k{number:03}" for number in range(57)]
        with store.write() as change:
            change.edit_rows([put("letters", key) for key in keys])
        seen: list[str] = []
        with store.read() as view:
            while page := view.rows("letters", "k", after=seen[-1] if seen else "", limit=10):
                seen += [row.key for row in page]
        assert seen == keys

    def test_a_row_with_an_empty_key_is_read_by_name_only(self, store: Store) -> None:
        with store.write() as change:
            change.edit_rows([put("letters", "")])
        with store.read() as view:
            assert view.row("letters", "") is not None
            assert view.rows("letters") == []

    # Search ---------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("quick fox", {"fox"}),
            ("fox quick", {"fox"}),
            ("QUICK", {"fox", "dog"}),
            ("quic", set()),
            ("quick missing", set()),
            ('"quick" fox*', {"fox"}),
            ('quick" OR "dog', set()),
            ("quick AND fox", set()),
            ("fox NOT dog", set()),
            ("text:quick", set()),
            ("NEAR(quick fox)", set()),
            ("^quick -fox", {"fox"}),
            ("(quick)", {"fox", "dog"}),
            ("quick'; --", {"fox", "dog"}),
            ("{}+|&\\", set()),
            ("", set()),
            ("   ", set()),
            ("\0", set()),
            ("quick\0fox", {"fox"}),
            ("résumé", {"cv"}),
            ("re\u0301sume\u0301", {"cv"}),
            ("RESUME", {"cv"}),
            ("東京", {"tokyo"}),
            ("ПРИВЕТ", {"hello"}),
            ("snake case", {"code"}),
            ("snake_case", {"code"}),
            ("src auth", {"code"}),
            ("42", {"code"}),
            ("\U0001f389", set()),
            ("key fox", set()),
            ("texts fox", set()),
        ],
    )
    def test_search_finds_texts_that_hold_every_word(
        self, store: Store, query: str, found: set[str]
    ) -> None:
        with store.write() as change:
            change.edit_rows(
                [
                    words("fox", 'the quick "brown" fox'),
                    words("dog", "a quick dog"),
                    words("cv", "my Résumé"),
                    words("tokyo", "東京 is large"),
                    words("hello", "привет, мир \U0001f389"),
                    words("code", "src/auth.py: snake_case = 42"),
                    words("elsewhere", "quick fox", space="other"),
                ]
            )
        with store.read() as view:
            assert set(view.search("texts", query)) == found

    def test_search_finds_every_text_however_many_there_are(self, store: Store) -> None:
        count = 0
        for size in (1, 100, 26, 1, 1, 200, 3):  # a store may gather texts before it indexes them
            with store.write() as change:
                change.edit_rows([words(f"t{count + n}", f"w{count + n} all") for n in range(size)])
            count += size
            with store.read() as view:
                found = view.search("texts", "all", limit=1_000)
                assert sorted(found) == sorted(f"t{number}" for number in range(count))
                assert view.search("texts", f"w{count - 1} all") == [f"t{count - 1}"]
                assert len(view.search("texts", "all", limit=7)) == min(count, 7)
                assert len(list(view.all_words())) == count

    def test_texts_of_a_write_that_was_left_are_not_found(self, store: Store) -> None:
        for size in (100, 200):
            edits = [words(f"t{number}", "word") for number in range(size)]
            with pytest.raises(Dropped):
                write_and_drop(store, editing(edits), Dropped())
            assert contents_of(store)["found"] == []

    def test_of_several_changes_to_one_row_the_last_one_counts(self, store: Store) -> None:
        drop = RowEdit(Drop("open", "k"), "example/a", 0)
        with store.write() as change:
            change.edit_rows([put("open", "k", n=1), drop, put("open", "k", n=2)])
            change.edit_rows([put("open", "l", n=1), RowEdit(Drop("open", "l"), "example/a", 0)])
            assert [row.value for row in change.rows("open")] == [b'{"n":2}']
            change.edit_rows([drop])
        with store.read() as view:
            assert view.rows("open") == []

    def test_every_row_text_and_snapshot_can_be_listed(self, store: Store) -> None:
        with store.write() as change:
            write_everything(change)
            change.edit_rows([put("odd", "\U0010ffff\0"), words("t1", "more", space="odd")])
        with store.read() as view:
            spaces = sorted((space, row.key) for space, row in view.all_rows())
            assert spaces == [
                ("letters", "one"),
                ("letters", "zero"),
                ("odd", "\U0010ffff\0"),
                ("open", "example/a"),
            ]
            assert sorted(view.all_words()) == [
                ("odd", "t1", "more"),
                ("texts", "t0", "word"),
                ("texts", "t1", "a word"),
            ]
            assert list(view.all_snapshots()) == [snapshot("example/a", 2)]

    def test_what_an_entry_changes_counts_from_its_event_on(
        self, store: Store, another: OpenAgain
    ) -> None:
        first = changing("example/a", 0, Put("letters", "b", {"n": 1}), Words("texts", "t", "Fox"))
        with store.write() as change:
            change.append([first])
            assert change.row("letters", "b") == ("b", b'{"n":1}', "example/a", 0)
            assert change.search("texts", "fox") == ["t"]
        write_entries(store, changing("example/b", 0, Put("letters", "b", {"n": 2})))
        write_entries(store, entry("example/a", 1))
        for known in (store, another()):
            with known.read() as view:
                assert view.row("letters", "b") == ("b", b'{"n":2}', "example/b", 0)
                assert view.search("texts", "fox") == ["t"]
                assert view.row("letters", "a") is None
        write_entries(store, changing("example/a", 2, Drop("letters", "b"), Drop("letters", "x")))
        for known in (store, another()):
            with known.read() as view:
                assert view.row("letters", "b") is None
                assert view.rows("letters") == []
                assert list(view.all_rows()) == []
                assert list(view.all_words()) == [("texts", "t", "Fox")]

    def test_of_several_changes_in_one_append_the_last_one_counts(self, store: Store) -> None:
        one, two = Put("letters", "k", {"n": 1}), Put("letters", "k", {"n": 2})
        write_entries(
            store,
            changing("example/a", 0, one, Drop("letters", "k"), two),
            changing("example/b", 0, Put("letters", "l", {}), Put("letters", "m", {})),
            changing("example/a", 1, Drop("letters", "l")),
        )
        with store.read() as view:
            assert view.rows("letters") == [
                ("k", b'{"n":2}', "example/a", 0),
                ("m", b"{}", "example/b", 0),
            ]

    def test_rows_of_many_commits_are_listed_as_one(self, store: Store) -> None:
        """Put in an order of their own, replaced, and every third dropped again."""
        keys = [f"{number * 7 % 30:02d}" for number in range(30)]
        for seq, key in enumerate(keys):
            write_entries(store, changing("example/a", seq, Put("letters", key, {"n": seq})))
        dropped = [Drop("letters", key) for key in sorted(keys)[::3]]
        write_entries(store, changing("example/a", 30, *dropped, Put("letters", "04", {"n": 99})))
        left = [key for place, key in enumerate(sorted(keys)) if place % 3]
        with store.read() as view:
            assert [row.key for row in view.rows("letters")] == left
            assert [row.key for row in view.rows("letters", limit=7)] == left[:7]
            assert [row.key for row in view.rows("letters", after="07", limit=3)] == left[5:8]
            assert [row.key for row in view.rows("letters", prefix="1")] == left[6:13]
            assert view.rows("letters", prefix="04")[0].value == b'{"n":99}'
            assert sorted(row.key for _, row in view.all_rows()) == left

    def test_what_a_left_write_said_to_the_index_is_forgotten(self, store: Store) -> None:
        write_entries(store, changing("example/a", 0, Put("letters", "a", {})))
        before = contents_of(store)
        said = changing("example/a", 1, Drop("letters", "a"), Words("texts", "t", "word"))
        with pytest.raises(Dropped):
            write_and_drop(store, appending([said]), Dropped())
        assert contents_of(store) == before
        write_entries(store, changing("example/a", 1, Put("letters", "b", {})))
        with store.read() as view:
            assert [row.key for row in view.rows("letters")] == ["a", "b"]

    def test_search_keeps_to_its_limit_and_takes_long_questions(self, store: Store) -> None:
        text = " ".join(f"w{number}" for number in range(2_000))
        with store.write() as change:
            change.edit_rows([words(f"t{number}", text) for number in range(3)])
        with store.read() as view:
            assert len(view.search("texts", text, limit=2)) == 2
            assert sorted(view.search("texts", text)) == ["t0", "t1", "t2"]
            assert view.search("texts", text + " w2000") == []

    # Snapshots, notes, forks ----------------------------------------------------------------------

    def test_the_newest_snapshot_of_a_stream_is_kept_exactly(self, store: Store) -> None:
        with store.write() as change:
            change.put_snapshot(snapshot("example/a", 64, b"old"))
            change.put_snapshot(snapshot("example/b", 64, b""))
            change.put_snapshot(snapshot("example/a", 128, ALL_BYTES))
        with store.read() as view:
            assert view.snapshot("example/a") == snapshot("example/a", 128, ALL_BYTES)
            assert view.snapshot("example/b") == snapshot("example/b", 64, b"")
            assert view.snapshot("example/c") is None

    def test_one_snapshot_is_dropped_and_the_others_stay(self, store: Store) -> None:
        with store.write() as change:
            change.put_snapshot(snapshot("example/a"))
            change.put_snapshot(snapshot("example/b"))
        with store.write() as change:
            change.drop_snapshot("example/a")
            change.drop_snapshot("example/none")
            assert change.snapshot("example/a") is None
        assert contents_of(store)["all_snapshots"] == [snapshot("example/b")]

    def test_a_note_pins_heads_and_what_moves_afterwards_is_stale(self, store: Store) -> None:
        write_entries(store, entry("example/b", 0), entry("example/a", 0))
        with store.read() as view:
            stale = view.moved_heads()
            assert [name for name, _ in stale] == ["example/b", "example/a"]
            assert list(view.pinned_heads()) == []
            assert [view.pinned_head(name) for name, _ in stale] == [None] * len(stale)
        with store.write() as change:
            change.put_note("one — é\n", {(0, 0): b"\0l0", (0, 1): b"l1", (1, 0): b"n"}, stale)
        with store.read() as view:
            assert view.newest_note() == "one — é\n"
            assert list(view.pinned_heads()) == stale
            assert [view.pinned_head(name) for name, _ in stale] == [head for _, head in stale]
            assert view.moved_heads() == []
        write_entries(store, entry("example/a", 1), entry("example/c", 0))
        with store.read() as view:
            moved = view.moved_heads()
            assert [(name, head.seq) for name, head in moved] == [
                ("example/a", 1),
                ("example/c", 0),
            ]
            assert list(view.pinned_heads()) == stale
        with store.write() as change:
            change.put_note("two\n", {(0, 1): b"moved"}, moved[:1])
        with store.read() as view:
            assert view.newest_note() == "two\n"
            assert [view.node(0, 0), view.node(0, 1), view.node(1, 0)] == [b"\0l0", b"moved", b"n"]
            assert list(view.pinned_heads()) == [stale[0], moved[0]]
            assert view.moved_heads() == moved[1:]
            with pytest.raises(KeyError):
                view.node(1, 1)

    def test_the_whole_tree_can_be_listed_and_replaced(self, store: Store) -> None:
        write_entries(store, entry("example/a", 0))
        with store.read() as view:
            assert list(view.all_nodes()) == []
            stale = view.moved_heads()
        with store.write() as change:
            change.put_note("one\n", {(0, 1): b"l1", (0, 0): b"l0", (1, 0): b"n"}, stale)
        with store.read() as view:
            found = [((0, 0), b"l0"), ((0, 1), b"l1"), ((1, 0), b"n")]
            assert sorted(view.all_nodes()) == found
        with store.write() as change:
            change.set_nodes({(0, 0): ALL_BYTES, (2, 5): b"far"})
            assert change.node(2, 5) == b"far"
        with store.read() as view:
            assert sorted(view.all_nodes()) == [((0, 0), ALL_BYTES), ((2, 5), b"far")]
            assert (view.newest_note(), list(view.pinned_heads())) == ("one\n", stale)
            with pytest.raises(KeyError):
                view.node(1, 0)

    @pytest.mark.requirement("LDG-087")
    def test_a_fork_is_kept_once_and_exactly(self, store: Store) -> None:
        first = Record("example/a", 0, "0" * 32, ALL_BYTES, b"1" * 64)
        second = Record("example/a", 0, "0" * 32, b"other", b"2" * 64)
        same = Record("example/a", 0, "0" * 32, b"a text that it cannot fit", b"1" * 64)
        for each in (first, second, first, second, same):
            with store.write() as change:
                change.keep_fork(each)
        with store.read() as view:
            assert list(map(_exact, view.forks())) == [_exact(first), _exact(second)]
            assert view.count_streams_and_events() == (0, 0)

    def test_clearing_forgets_index_and_snapshots_and_keeps_everything_else(
        self, store: Store
    ) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        with store.write() as change:
            change.clear_rows()
        after = contents_of(store)
        assert after.pop("rows") == {"open": [], "letters": []}
        assert after.pop("snapshots") == [None, None]
        for name in ("values", "all_rows", "all_words", "all_snapshots", "found"):
            assert after.pop(name) == []
        assert after == {name: before[name] for name in after}
        with store.read() as view:
            assert view.node(1, 0) == b"node"

    # The two side tables --------------------------------------------------------------------------

    def test_the_last_heartbeat_put_is_the_one_kept(self, store: Store) -> None:
        for at, raw in ((1_000, b"first"), (1_001, b"newer"), (999, b"older")):
            with store.write() as change:
                change.put_heartbeat(heartbeat("amber-otter", at, raw))
            with store.read() as view:
                assert view.heartbeat("amber-otter") == heartbeat("amber-otter", at, raw)
                assert len(view.heartbeats()) == 1

    def test_heartbeats_are_listed_by_agent(self, store: Store) -> None:
        beats = [heartbeat(name, at) for at, name in enumerate(("teal", "amber", "zinc", "blue"))]
        with store.write() as change:
            for beat in beats:
                change.put_heartbeat(beat)
        with store.read() as view:
            assert view.heartbeats() == sorted(beats)
            assert view.heartbeat_times() == {beat.agent: beat.at for beat in beats}

    def test_heartbeats_since_a_time_are_those_of_then_or_later(self, store: Store) -> None:
        beats = [heartbeat(name, at) for at, name in enumerate(("teal", "amber", "zinc", "blue"))]
        with store.write() as change:
            for beat in beats:
                change.put_heartbeat(beat)
            assert change.heartbeats(since=3) == beats[3:]
        with store.read() as view:
            assert view.heartbeats(since=2) == sorted(beats[2:])
            assert view.heartbeats(since=4) == view.heartbeats(since=2**64) == []
            assert view.heartbeats(since=0) == sorted(beats)

    def test_a_cursor_begins_at_nought_and_stands_where_it_was_put(self, store: Store) -> None:
        with store.write() as change:
            change.put_cursor("amber-otter", "inbox", 5)
            change.put_cursor("amber-otter", "web", 2**53)
            change.put_cursor("teal-crane", "inbox", 7)
            change.put_cursor("amber-otter", "inbox", 3)
        with store.read() as view:
            assert view.cursor("amber-otter", "inbox") == 3
            assert view.cursor("amber-otter", "web") == 2**53
            assert view.cursor("teal-crane", "inbox") == 7
            assert view.cursor("teal-crane", "web") == 0

    # For a copy elsewhere -------------------------------------------------------------------------

    def test_records_come_in_the_order_in_which_they_were_committed(self, store: Store) -> None:
        with store.read() as view:
            assert (view.newest_position(), view.records_after(0)) == (0, [])
        batches = (
            [entry("example/b", 0), entry("example/a", 0)],
            [entry("example/a", 1)],
            [entry("example/b", 1), entry("example/c", 0), entry("example/b", 2)],
        )
        for batch in batches:
            write_entries(store, *batch)
        expected = [(one.record.stream, one.record.seq) for batch in batches for one in batch]
        with store.read() as view:
            assert view.newest_position() == len(expected)
            for position in range(len(expected) + 2):
                for limit in (1, 2, 100):
                    found = view.records_after(position, limit)
                    assert [(each.stream, each.seq) for each in found] == (
                        expected[position : position + limit]
                    )
            assert list(map(_exact, view.records_after(0))) == [
                _exact(one.record) for batch in batches for one in batch
            ]

    def test_a_write_that_was_dropped_leaves_no_position(self, store: Store) -> None:
        write_entries(store, entry("example/a", 0))
        with pytest.raises(Dropped):
            write_and_drop(store, lambda change: change.append([entry("example/a", 1)]), Dropped())
        write_entries(store, entry("example/b", 0))
        with store.read() as view:
            assert view.newest_position() == 2
            assert [each.stream for each in view.records_after(1)] == ["example/b"]

    def test_a_write_sees_the_positions_that_it_has_given(self, store: Store) -> None:
        with store.write() as change:
            change.append([entry("example/a", 0)])
            assert change.newest_position() == 1
            change.append([entry("example/b", 0)])
            assert [each.stream for each in change.records_after(1)] == ["example/b"]

    def test_all_checkpoints_and_cursors_can_be_copied(self, store: Store) -> None:
        with store.read() as view:
            assert (list(view.all_notes()), list(view.all_cursors())) == ([], [])
        for number in range(3):
            with store.write() as change:
                change.append([entry("example/a", number)])
                change.put_note(f"note {number}\n", {(0, 0): b"%d" % number}, change.moved_heads())
                change.put_cursor("amber-otter", f"box-{number}", number)
        with store.write() as change:
            change.put_cursor("amber-otter", "box-0", 7)
        with store.read() as view:
            assert list(view.all_notes()) == ["note 0\n", "note 1\n", "note 2\n"]
            assert sorted(view.all_cursors()) == [
                *(("amber-otter", "box-0", 7), ("amber-otter", "box-1", 1)),
                ("amber-otter", "box-2", 2),
            ]
