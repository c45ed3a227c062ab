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

_UNBORN = Head(-1, -1, b"")  # before a stream's first event
_encode = msgspec.json.Encoder(order="sorted").encode


class SqliteChange(SqliteView):
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

    def _number(self, stream: str, head: Head) -> int:
        return head.number if head.number >= 0 else int(self._one("add_stream", stream)[0])

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
