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


class Known:
    """What a connection knows from its own writes, true as long as no other has written since."""

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}
        self.moved: set[int] = set()  # numbers of streams that are marked so in the file

    def forget(self) -> None:
        self.heads.clear()
        self.moved.clear()


class SqliteChange(SqliteView):
    def __init__(self, db: sqlite3.Connection, known: Known) -> None:
        super().__init__(db)
        self._heads = known.heads
        self._moved = known.moved

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
        for record in [entry.record for entry in batch]:
            name = record.stream
            before = heads.get(name) or self.head(name) or _UNBORN
            if record.seq != before.seq + 1:
                raise Conflict("position_taken", f"{name} has moved on", hint="try again")
            heads[name] = Head(before.number, record.seq, record.hash)
        heads = {name: self._numbered(name, head) for name, head in heads.items()}
        self._db.executemany(SQL["add_event"], [_row(heads, entry) for entry in batch])
        self._db.executemany(SQL["move_head"], heads.values())
        self._heads.update(heads)
        still = {head.number for head in heads.values()} - self._moved
        if still:
            self._db.executemany(SQL["mark_moved"], [(number,) for number in still])
            self._moved |= still

    def _numbered(self, stream: str, head: Head) -> Head:
        """A stream gets its number with its first event."""
        if head.number != _UNBORN.number:
            return head
        return head._replace(number=int(self._one("add_stream", stream)[0]))

    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        """Of several changes of one row only the last counts, so they are written kind by kind."""
        rows: dict[tuple[str, str], RowEdit] = {}
        texts: list[tuple[str, str, str]] = []
        for edit in edits:
            change = edit.change
            if isinstance(change, Words):
                texts.append((change.space, change.key, change.text))
            else:
                rows[change.space, change.key] = edit
        self._put_rows(rows)
        self._put_words(texts)

    def _put_rows(self, rows: dict[tuple[str, str], RowEdit]) -> None:
        puts = [
            (*place, _encode(edit.change.value), edit.stream, edit.seq)
            for place, edit in rows.items()
            if isinstance(edit.change, Put)
        ]
        drops = [place for place, edit in rows.items() if isinstance(edit.change, Drop)]
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
        self._moved.clear()

    def keep_fork(self, record: Record) -> None:
        row = (record.stream, record.seq, record.kid, record.raw, record.signature)
        self._db.execute(SQL["keep_fork"], row)


def _row(heads: dict[str, Head], entry: Entry) -> tuple[int, int, str, bytes, bytes, str | None]:
    record = entry.record
    number = heads[record.stream].number
    return number, record.seq, record.kid, record.raw, record.signature, entry.key
