"""Writes, inside one transaction that already holds the write lock.

Appending only adds to the ends of two tables: the events, and their changes to the indexes.
`file_pending` brings many such changes into the indexes at once (`pending_index.py` explains why).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.errors import Conflict
from moot.core.ledger import (
    Head,
    Heartbeat,
    RecordToAppend,
    RowEdit,
    Snapshot,
    StoredRow,
    all_or_nothing,
    write_failed_before,
)
from moot.core.machine import Put, Words
from moot.core.record import Record
from moot.store.sqlite.pending_index import (
    SQL,
    IndexDelta,
    NamedHead,
    Row,
    Text,
    encode_delta,
    pending_index_damaged,
)
from moot.store.sqlite.schema import create_table, find_missing_tables
from moot.store.sqlite.view import SqliteView

MAX_PENDING_BYTES = 4_000  # for each stream; a commit with more is filed at once
_EMPTY = Head(-1, -1, b"")  # the head of a stream without events
_encode = msgspec.json.Encoder(order="sorted").encode


class SqliteTransaction(SqliteView):
    is_whole = True

    def require_whole(self) -> None:
        """Raise StoreFailed if a write failed or the transaction has ended.

        A caller that swallowed the error would otherwise commit a part. When the disk fails, SQLite
        ends the transaction by itself, and each further statement would commit at once.
        """
        if not self.is_whole or not self._db.in_transaction:
            raise write_failed_before()

    def head(self, stream: str) -> Head | None:
        """Return a stream's head, and cache it for the next command."""
        heads = self._pending.heads
        head = heads.get(stream)
        if head is None:
            head = super().head(stream)
            if head is not None:
                heads[stream] = head
        return head

    def append(self, entries: Iterable[RecordToAppend]) -> None:
        """Check all positions, then write (TRC-019, TRC-051)."""
        batch = list(entries)
        heads: dict[str, Head] = {}
        for entry in batch:
            record = entry.record
            name = record.stream
            before = heads.get(name) or self.head(name) or _EMPTY
            if record.seq != before.seq + 1:  # LDG-068
                raise Conflict("position_taken", f"{name} has moved on", hint="try again")
            heads[name] = Head(before.number, record.seq, record.hash)
        self._append(batch, heads)

    @all_or_nothing
    def _append(self, batch: list[RecordToAppend], heads: dict[str, Head]) -> None:
        """Append events, and their index changes in one row to be filed later. Long changes are
        filed at once, since writing them twice would cost more than it saves."""
        if not batch:
            return
        for name, head in heads.items():
            if head.number == _EMPTY.number:
                heads[name] = head._replace(number=self._add_stream(name))
        last = self._add_events(batch, heads)
        delta = IndexDelta(list(heads.items()), *_index_changes(batch))
        is_full = self._pending.add(last, delta)
        encoded = encode_delta(delta)
        if is_full or len(encoded) > MAX_PENDING_BYTES * len(heads):
            self.file_pending()
        else:
            self._db.execute(SQL["add_unfiled"], (last, bytearray(encoded)))

    def _add_stream(self, name: str) -> int:
        """Give a new stream the next number; StoreFailed if a pending event has that number."""
        number = int(self._one("add_stream", name)[0])
        if number in self._pending.numbers:
            raise pending_index_damaged(f"the stream before {name} is missing")
        return number

    def _add_events(self, batch: list[RecordToAppend], heads: dict[str, Head]) -> int:
        """Append the events; return the number of the last one.

        Uses bytearrays, and 0 for no key: for `bytes` and None the module `sqlite3` first looks for
        an adapter, which takes a third of the time of the insert.
        """
        last = self._pending.last_event
        rows = []
        for entry in batch:
            last += 1
            record = entry.record
            rows.append(
                (
                    last,
                    heads[record.stream].number,
                    record.seq,
                    record.kid,
                    bytearray(record.raw),
                    bytearray(record.signature),
                    0 if entry.key is None else entry.key,
                )
            )
        self._db.executemany(SQL["add_event"], rows)
        return last

    @all_or_nothing
    def file_pending(self) -> None:
        """File everything pending into the indexes, sorted, so that each page is written once."""
        pending = self._pending
        if pending.doubtful:
            raise pending_index_damaged(f"{', '.join(sorted(pending.doubtful))} cannot be filed")
        if not pending.size:
            return
        heads = sorted(pending.heads[name] for name in pending.moved)
        self._db.execute(SQL["file_places"])
        self._db.executemany(SQL["move_head"], [(h.seq, h.hash, h.number) for h in heads])
        for space, rows in pending.rows.items():
            self._put_rows(space, rows)
        self._db.executemany(SQL["put_words"], pending.words)
        self._db.execute("DELETE FROM unfiled")
        self._db.execute(SQL["mark_filed"], (pending.last_event,))
        pending.mark_filed()

    def _put_rows(self, space: str, rows: dict[str, StoredRow | None]) -> None:
        puts = [(space, *row) for row in rows.values() if row is not None]
        drops = [(space, key) for key, row in rows.items() if row is None]
        self._db.executemany(SQL["put_row"], puts)
        self._db.executemany(SQL["drop_row"], drops)

    @all_or_nothing
    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        self.file_pending()
        spaces: dict[str, dict[str, StoredRow | None]] = {}
        words: list[Text] = []
        for edit in edits:
            change = edit.change
            if isinstance(change, Words):
                words.append((change.space, change.key, change.text))
                continue
            value = _encode(change.value) if isinstance(change, Put) else None
            place = (edit.stream, edit.seq)
            row = None if value is None else StoredRow(change.key, value, *place)
            spaces.setdefault(change.space, {})[change.key] = row
        for space, rows in spaces.items():
            self._put_rows(space, rows)
        self._db.executemany(SQL["put_words"], words)

    @all_or_nothing
    def clear_rows(self) -> None:
        self.file_pending()
        for table in ("index_rows", "index_words", "snapshots"):
            self._db.execute(f"DELETE FROM {table}")

    @all_or_nothing
    def create_missing_tables(self) -> list[str]:
        missing = find_missing_tables(self._db)
        for table in missing:
            create_table(self._db, table)
        return missing

    @all_or_nothing
    def put_snapshot(self, snapshot: Snapshot) -> None:
        self._db.execute(SQL["put_snapshot"], snapshot)

    @all_or_nothing
    def drop_snapshot(self, stream: str) -> None:
        self._db.execute(SQL["drop_snapshot"], (stream,))

    @all_or_nothing
    def put_heartbeat(self, heartbeat: Heartbeat) -> None:
        self._db.execute(SQL["put_heartbeat"], heartbeat)

    @all_or_nothing
    def put_cursor(self, agent: str, name: str, position: int) -> None:
        self._db.execute(SQL["put_cursor"], (agent, name, position))

    @all_or_nothing
    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[NamedHead]
    ) -> None:
        self.file_pending()
        self._db.execute(SQL["add_note"], (note,))
        self._put_nodes(nodes)
        self._db.executemany(SQL["pin_head"], [(h.seq, h.hash, h.seq, h.number) for _, h in heads])

    @all_or_nothing
    def set_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        self._db.execute("DELETE FROM nodes")
        self._put_nodes(nodes)

    def _put_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        rows = [(*place, node) for place, node in nodes.items()]
        self._db.executemany(SQL["put_node"], rows)

    @all_or_nothing
    def refuse_further(self) -> None:
        """Make every later write fail, also of processes that have the file open, since the ledger
        moves elsewhere with this commit."""
        for table in ("events", "heartbeats", "cursors", "notes"):
            self._db.execute(
                f"CREATE TRIGGER {table}_moved BEFORE INSERT ON {table}"
                " BEGIN SELECT RAISE(ABORT, 'this ledger has moved elsewhere'); END"
            )

    @all_or_nothing
    def keep_fork(self, record: Record) -> None:
        row = (record.stream, record.seq, record.kid, record.raw, record.signature)
        self._db.execute(SQL["keep_fork"], row)


def _index_changes(batch: list[RecordToAppend]) -> tuple[list[Row], list[Text]]:
    rows: list[Row] = []
    words: list[Text] = []
    for entry in batch:
        stream, seq = entry.record.stream, entry.record.seq
        for change in entry.changes:
            if type(change) is Words:
                words.append((change.space, change.key, change.text))
            else:
                value = _encode(change.value) if type(change) is Put else None
                rows.append((change.space, change.key, value, stream, seq))
    return rows, words
