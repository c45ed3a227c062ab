"""Every store keeps the contract, and SQLite does what the reference in memory does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from moot.core.errors import Conflict, Refused
from moot.core.ledger import RecordToAppend, RowEdit, Store, WriteTransaction
from moot.core.machine import Drop, Put, RowChange, Words
from moot.core.record import Record
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.pending_index import FILE_AT
from tests.sampling import examples
from tests.store.contract import (
    Dropped,
    OpenAgain,
    StoreContract,
    contents,
    contents_of,
    entry,
    heartbeat,
    snapshot,
    write_everything,
)


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()

    @pytest.fixture
    def another(self, store: Store) -> OpenAgain:
        return lambda: store

    def test_a_ledger_in_memory_has_no_backup(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(Refused) as caught:
            store.backup(tmp_path / "copy.db")
        assert caught.value.code == "not_durable"
        assert list(tmp_path.iterdir()) == []


class TestSqlite(StoreContract):
    file_at = FILE_AT

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore(tmp_path / "ledger.db", create=True, file_at=self.file_at)
        yield store
        store.close()

    @pytest.fixture
    def another(self, store: SqliteStore) -> Iterator[OpenAgain]:
        opened: list[Store] = []

        def open_again() -> Store:
            opened.append(SqliteStore(store.path, file_at=self.file_at))
            return opened[-1]

        yield open_again
        for each in opened:
            each.close()

    def test_reopening_gives_everything_back(self, store: Store, another: OpenAgain) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        store.close()
        again = another()
        assert contents_of(again) == before
        with again.read() as view:
            assert (view.node(0, 0), view.node(1, 0)) == (b"leaf", b"node")

    def test_a_view_does_not_move_when_another_connection_has_committed(
        self, store: Store, another: OpenAgain
    ) -> None:
        with store.write() as change:
            write_everything(change)
        other = another()
        with store.read() as view:
            before = contents(view)
            half_read = view.records("example/a")
            next(half_read)
            with other.write() as change:
                change.append([entry("example/a", 3), entry("example/n", 0)])
                change.clear_rows()
            assert contents(view) == before
            assert [found.seq for found in half_read] == [1, 2]
        assert contents_of(store)["counts"] == (3, 6)


class TestSqliteFilingEverything(TestSqlite):
    """As it is after each filing."""

    file_at = 1


class TestSqliteFilingNowAndThen(TestSqlite):
    """With some of it filed, and some not."""

    file_at = 4


STREAMS = st.sampled_from(["registry", "example/a", "example/b", "mail/ä"])
# Where encodings, prefixes and comparisons go wrong: around the surrogates and at both ends.
TEXTS = st.text(st.sampled_from("\0ab%_\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=3)
SPACES = st.sampled_from(["open", "letters"])
AGENTS = st.sampled_from(["amber-otter", "teal-crane"])
WORDS = st.lists(st.sampled_from(["word", "Wort", "mot", "слово", "語", '"', "*", "_"]), max_size=4)
BODIES = st.binary(max_size=40)
VALUES = st.dictionaries(st.text(max_size=2), st.integers(-9, 9) | st.text(max_size=3), max_size=2)
CHANGES = (
    st.builds(Put, SPACES, TEXTS, VALUES)
    | st.builds(Drop, SPACES, TEXTS)
    | st.builds(Words, st.just("texts"), TEXTS, WORDS.map(" ".join))
)


class SqliteFollowsMemory(RuleBasedStateMachine):
    """Whatever is done to both, both show the same."""

    @initialize(file_at=st.sampled_from([1, 3, 8, FILE_AT]))
    def begin(self, file_at: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="moot-contract-"))
        self.sqlite = SqliteStore(self.folder / "ledger.db", create=True, file_at=file_at)
        self.beside = SqliteStore(self.folder / "ledger.db", file_at=file_at)
        self.memory = MemoryStore()

    def teardown(self) -> None:
        if hasattr(self, "sqlite"):
            self.sqlite.close()
            self.beside.close()
            shutil.rmtree(self.folder)

    def both(self, *writes: Any, fail: bool = False) -> None:
        """Run the same writes in one change of each; leave both by an exception if `fail`."""
        results = []
        for store in (self.memory, self.sqlite):
            told: list[Any] = []
            with suppress(Dropped), store.write() as change:
                told.extend(self._told(write, change) for write in writes)
                if fail:
                    raise Dropped
            results.append(told)
        assert results[0] == results[1]

    @staticmethod
    def _told(write: Any, change: WriteTransaction) -> Any:
        try:
            return write(change)
        except Conflict as error:
            return error.code

    @rule(
        streams=st.lists(STREAMS, min_size=1, max_size=6),
        raw=BODIES,
        key=st.none() | TEXTS,
        changes=st.lists(CHANGES, max_size=4).map(tuple),
        skip=st.sampled_from([0, 0, 0, 0, 1, -1]),
        fail=st.booleans(),
    )
    def append(
        self,
        streams: list[str],
        raw: bytes,
        key: str | None,
        changes: tuple[RowChange, ...],
        skip: int,
        fail: bool,
    ) -> None:
        """Several records, the last one at times on a wrong position."""
        with self.memory.read() as view:
            heads = {name: head.seq for name, head in view.streams()}
        batch: list[RecordToAppend] = []
        for place, stream in enumerate(streams):
            wrong = skip if place == len(streams) - 1 else 0
            heads[stream] = heads.get(stream, -1) + 1 + wrong
            sealed = Record(stream, heads[stream], "0" * 32, raw, bytes(64))
            batch.append(RecordToAppend(sealed, key, changes))
        self.both(lambda change: change.append(batch), fail=fail)

    @rule(space=SPACES, key=TEXTS, value=VALUES, fail=st.booleans())
    def put(self, space: str, key: str, value: dict[str, Any], fail: bool) -> None:
        edit = RowEdit(Put(space, key, value), "example/a", 1)
        self.both(lambda change: change.edit_rows([edit]), fail=fail)

    @rule(space=SPACES, key=TEXTS)
    def drop(self, space: str, key: str) -> None:
        edit = RowEdit(Drop(space, key), "example/a", 1)
        self.both(lambda change: change.edit_rows([edit]))

    @rule(key=TEXTS, text=WORDS, fail=st.booleans())
    def words(self, key: str, text: list[str], fail: bool) -> None:
        edit = RowEdit(Words("texts", key, " ".join(text)), "example/a", 1)
        self.both(lambda change: change.edit_rows([edit]), fail=fail)

    @rule(stream=STREAMS, seq=st.integers(0, 99), state=BODIES, fail=st.booleans())
    def put_snapshot(self, stream: str, seq: int, state: bytes, fail: bool) -> None:
        self.both(lambda change: change.put_snapshot(snapshot(stream, seq, state)), fail=fail)

    @rule(stream=STREAMS, fail=st.booleans())
    def drop_snapshot(self, stream: str, fail: bool) -> None:
        self.both(lambda change: change.drop_snapshot(stream), fail=fail)

    @rule(agent=AGENTS, at=st.integers(0, 5), raw=BODIES, fail=st.booleans())
    def beat(self, agent: str, at: int, raw: bytes, fail: bool) -> None:
        self.both(lambda change: change.put_heartbeat(heartbeat(agent, at, raw)), fail=fail)

    @rule(agent=AGENTS, name=TEXTS, position=st.integers(0, 2**53), fail=st.booleans())
    def move_cursor(self, agent: str, name: str, position: int, fail: bool) -> None:
        self.both(lambda change: change.put_cursor(agent, name, position), fail=fail)
        with self.memory.read() as one, self.sqlite.read() as two:
            assert one.cursor(agent, name) == two.cursor(agent, name)

    @rule(text=st.text(max_size=5), place=st.integers(0, 3), node=BODIES, fail=st.booleans())
    def pin(self, text: str, place: int, node: bytes, fail: bool) -> None:
        self.both(
            lambda change: change.put_note(text, {(0, place): node}, change.moved_heads()),
            fail=fail,
        )

    @rule(places=st.sets(st.integers(0, 3)), node=BODIES, fail=st.booleans())
    def replace_tree(self, places: set[int], node: bytes, fail: bool) -> None:
        tree = {(0, place): node for place in places}
        self.both(lambda change: change.set_nodes(tree), fail=fail)

    @rule(stream=STREAMS, raw=BODIES, sig=st.binary(min_size=64, max_size=64), fail=st.booleans())
    def fork(self, stream: str, raw: bytes, sig: bytes, fail: bool) -> None:
        second = Record(stream, 0, "0" * 32, raw + sig, sig)
        self.both(
            lambda change: change.keep_fork(second),
            lambda change: change.keep_fork(second),
            fail=fail,
        )

    @rule(fail=st.booleans())
    def clear(self, fail: bool) -> None:
        self.both(lambda change: change.clear_rows(), fail=fail)

    @rule()
    def take_turns(self) -> None:
        """Go on with the other connection to the same file."""
        self.sqlite, self.beside = self.beside, self.sqlite

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()
        self.sqlite = SqliteStore(self.folder / "ledger.db")

    @rule(space=SPACES, prefix=TEXTS, after=TEXTS, limit=st.integers(0, 4))
    def list_rows(self, space: str, prefix: str, after: str, limit: int) -> None:
        with self.memory.read() as one, self.sqlite.read() as two:
            assert one.rows(space, prefix, after, limit) == two.rows(space, prefix, after, limit)
            assert one.row(space, prefix) == two.row(space, prefix)

    @rule(stream=STREAMS, prefix=TEXTS, after=st.integers(-1, 9))
    def look(self, stream: str, prefix: str, after: int) -> None:
        with self.memory.read() as one, self.sqlite.read() as two:
            assert one.keys(stream, prefix) == two.keys(stream, prefix)
            assert list(one.records(stream, after)) == list(two.records(stream, after))
            assert one.head(stream) == two.head(stream)

    @rule(query=WORDS)
    def search(self, query: list[str]) -> None:
        text = " ".join(query)
        with self.memory.read() as one, self.sqlite.read() as two:
            assert sorted(one.search("texts", text)) == sorted(two.search("texts", text))

    @rule(place=st.integers(0, 3))
    def read_node(self, place: int) -> None:
        found: list[bytes | None] = []
        for store in (self.memory, self.sqlite):
            with store.read() as view:
                try:
                    found.append(view.node(0, place))
                except KeyError:
                    found.append(None)
        assert found[0] == found[1]

    @invariant()
    def both_show_the_same(self) -> None:
        if hasattr(self, "sqlite"):
            known = contents_of(self.memory)
            assert contents_of(self.sqlite) == known
            assert contents_of(self.beside) == known


TestSqliteFollowsMemory = SqliteFollowsMemory.TestCase
TestSqliteFollowsMemory.settings = settings(
    max_examples=examples(60),
    stateful_step_count=30,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
