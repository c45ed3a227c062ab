"""What can be written, inside one transaction that already holds the write lock."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.errors import Conflict
from moot.core.ledger import Entry, Head, Heartbeat, RowEdit, Snapshot
from moot.core.machine import Drop, Put, Words
from moot.core.record import Record
from moot.store.sqlite.queries import SQL
from moot.store.sqlite.view import SqliteView

_encode = msgspec.json.Encoder(order="sorted").encode


class SqliteChange(SqliteView):
    def append(self, entries: Iterable[Entry]) -> None:
        """All rows in one `executemany`, then one head a stream: that is what makes groups fast."""
        heads: dict[str, list[int | bytes]] = {}
        rows = []
        for record, key in entries:
            head = heads.get(record.stream) or self._open(record.stream)
            heads[record.stream] = head
            if record.seq != int(head[1]) + 1:
                raise Conflict("position_taken", f"{record.stream} has moved on", hint="try again")
            head[1], head[2] = record.seq, record.hash
            rows.append((head[0], record.seq, record.kid, record.raw, record.signature, key))
        self._db.executemany(SQL["add_event"], rows)
        moved = [(seq, head, number) for number, seq, head in heads.values()]
        self._db.executemany(SQL["move_head"], moved)

    def _open(self, stream: str) -> list[int | bytes]:
        found = self.head(stream)
        return list(found or (int(self._one("add_stream", stream)[0]), -1, b""))

    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        for change, stream, seq in edits:
            match change:
                case Put(space, key, value):
                    row = (space, key, _encode(value), stream, seq)
                    self._db.execute(SQL["put_row"], row)
                case Drop(space, key):
                    self._db.execute(SQL["drop_row"], (space, key))
                case Words(space, key, text):
                    self._db.execute(SQL["put_words"], (space, key, text))

    def clear_rows(self) -> None:
        for table in ("index_rows", "index_words", "snapshots"):
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
