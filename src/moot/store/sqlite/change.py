"""What can be written, inside one transaction that already holds the write lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from moot.core.errors import Conflict
from moot.core.ledger import Entry, Head, Heartbeat, RowEdit, Snapshot
from moot.core.machine import Drop, Put, Words
from moot.core.record import Record
from moot.store.sqlite.queries import SQL
from moot.store.sqlite.view import SqliteView

WORDS_TOGETHER = 128
_UNBORN = Head(-1, -1, b"")  # before a stream's first event
_encode = msgspec.json.Encoder(order="sorted").encode


class SqliteChange(SqliteView):
    def __init__(self, db: sqlite3.Connection, heads: dict[str, Head]) -> None:
        """`heads` are known to be current: under the write lock only we can move them."""
        super().__init__(db)
        self._heads = heads

    def head(self, stream: str) -> Head | None:
        known = self._heads.get(stream) or super().head(stream)
        if known is not None:
            self._heads[stream] = known
        return known

    def append(self, entries: Iterable[Entry]) -> None:
        """All positions are checked before anything is written.

        Then all rows go in one `executemany`, and one head a stream: that makes groups fast.
        """
        batch = list(entries)
        heads: dict[str, Head] = {}
        for record, _ in batch:
            head = heads.get(record.stream) or self.head(record.stream) or _UNBORN
            if record.seq != head.seq + 1:
                raise Conflict("position_taken", f"{record.stream} has moved on", hint="try again")
            heads[record.stream] = Head(head.number, record.seq, record.hash)
        numbers = {name: self._number(name, head) for name, head in heads.items()}
        rows = [(numbers[r.stream], r.seq, r.kid, r.raw, r.signature, key) for r, key in batch]
        self._db.executemany(SQL["add_event"], rows)
        moved = [(head.seq, head.hash, numbers[name]) for name, head in heads.items()]
        self._db.executemany(SQL["move_head"], moved)
        self._db.executemany(SQL["mark_moved"], [(number,) for number in numbers.values()])
        self._heads.update({name: Head(numbers[name], *head[1:]) for name, head in heads.items()})

    def _number(self, stream: str, head: Head) -> int:
        return head.number if head.number >= 0 else int(self._one("add_stream", stream)[0])

    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        """Only the last change of a row counts, so the kinds can be written one after another."""
        rows: dict[tuple[str, str], RowEdit] = {}
        texts: list[tuple[str, str, str]] = []
        for edit in edits:
            change = edit.change
            if isinstance(change, Words):
                texts.append((change.space, change.key, change.text))
            else:
                rows[change.space, change.key] = edit
        self._put_rows(rows.values())
        self._put_words(texts)

    def _put_rows(self, edits: Iterable[RowEdit]) -> None:
        puts: list[tuple[str, str, bytes, str, int]] = []
        drops: list[tuple[str, str]] = []
        for change, stream, seq in edits:
            match change:
                case Put(space, key, value):
                    puts.append((space, key, _encode(value), stream, seq))
                case Drop(space, key):
                    drops.append((space, key))
        self._db.executemany(SQL["put_row"], puts)
        self._db.executemany(SQL["drop_row"], drops)

    def _put_words(self, texts: list[tuple[str, str, str]]) -> None:
        """The full-text index is written rarely and then much at once; a search reads both."""
        if not texts:
            return
        self._db.executemany(SQL["put_words"], texts)
        if self._one("count_waiting")[0] >= WORDS_TOGETHER:
            self._db.execute(SQL["take_words"])
            self._db.execute("DELETE FROM waiting_words")

    def clear_rows(self) -> None:
        for table in ("index_rows", "index_words", "waiting_words", "snapshots"):
            self._db.execute(f"DELETE FROM {table}")

    def put_snapshot(self, snapshot: Snapshot) -> None:
        self._db.execute(SQL["put_snapshot"], snapshot)

    def put_heartbeat(self, heartbeat: Heartbeat) -> bool:
        return self._db.execute(SQL["put_heartbeat"], heartbeat).rowcount > 0

    def put_cursor(self, agent: str, name: str, position: int) -> None:
        self._db.execute(SQL["put_cursor"], (agent, name, position))

    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[tuple[str, Head]]
    ) -> None:
        self._db.execute(SQL["add_note"], (note,))
        self._db.executemany(
            SQL["put_node"], [(level, place, node) for (level, place), node in nodes.items()]
        )
        self._db.executemany(SQL["pin_head"], [(h.seq, h.hash, h.number) for _, h in heads])

    def keep_fork(self, record: Record) -> None:
        row = (record.stream, record.seq, record.kid, record.raw, record.signature)
        self._db.execute(SQL["keep_fork"], row)
