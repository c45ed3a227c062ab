"""Writes, inside one transaction that already holds the ledger's lock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from moot.core.errors import Conflict
from moot.core.ledger import (
    Head,
    Heartbeat,
    RecordToAppend,
    RowEdit,
    Snapshot,
    all_or_nothing,
    write_failed_before,
)
from moot.core.machine import Drop, Put, RowChange, Words
from moot.core.record import Record
from moot.hosts.postgres.view import NamedHead, PostgresView, WriteStart, split_words, to_bytes

_encode = msgspec.json.Encoder(order="sorted").encode
MOVED = ("events", "heartbeats", "cursors", "notes")
_EMPTY = Head(-1, -1, b"")  # the head of a stream without events


class PostgresTransaction(PostgresView):
    def __init__(self, db: Any, writes_of_others: int, start: WriteStart) -> None:
        super().__init__(db, writes_of_others)
        self.is_whole = True
        # Under the lock no other process changes these.
        self._next_number = start.next_number
        self._position = start.newest_position
        self._heads = start.heads
        self._asked: dict[str, None] = {}  # streams whose head was read, in that order
        self.newest: Record | None = None  # the last record appended here

    @property
    def asked_streams(self) -> list[str]:
        """Return the streams whose head was read, in that order."""
        return list(self._asked)

    def newest_position(self) -> int:
        return self._position

    def head(self, stream: str) -> Head | None:
        self._asked[stream] = None
        if stream not in self._heads:
            self._heads[stream] = super().head(stream)
        return self._heads[stream]

    def require_whole(self) -> None:
        """Raise StoreFailed if a write failed or the transaction has ended: a caller that swallowed
        the error would otherwise commit a part."""
        if not self.is_whole:
            raise write_failed_before()

    def _many(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        values = list(rows)
        if len(values) == 1:  # most commits; executemany costs more to set up
            self._db.execute(query, values[0])
        elif values:
            with self._db.cursor() as cursor:
                cursor.executemany(query, values)

    def append(self, entries: Iterable[RecordToAppend]) -> None:
        """Check all positions, then write (TRC-019, TRC-051)."""
        batch = list(entries)
        heads: dict[str, Head] = {}
        for entry in batch:
            record = entry.record
            before = heads.get(record.stream) or self.head(record.stream) or _EMPTY
            if record.seq != before.seq + 1:  # LDG-068
                raise Conflict("position_taken", f"{record.stream} has moved on", hint="try again")
            heads[record.stream] = Head(before.number, record.seq, record.hash)
        if batch:
            self._append(batch, heads)

    @all_or_nothing
    def _append(self, batch: list[RecordToAppend], heads: dict[str, Head]) -> None:
        number, position = self._next_number, self._position
        for name, head in heads.items():
            if head.number == _EMPTY.number:
                heads[name] = head._replace(number=number)
                number += 1
        with self._db.pipeline():
            self._many(
                "INSERT INTO streams (number, name, seq, hash) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (number) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash",
                [(h.number, to_bytes(name), h.seq, h.hash) for name, h in heads.items()],
            )
            self._many(
                "INSERT INTO events (id, stream, seq, kid, body, sig, key)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                [
                    _event_row(position + place, heads[entry.record.stream].number, entry)
                    for place, entry in enumerate(batch, 1)
                ],
            )
            for entry in batch:
                record = entry.record
                for change in entry.changes:
                    self._edit(change, record.stream, record.seq)
        self._next_number, self._position = number, position + len(batch)
        self._heads |= heads
        self.newest = batch[-1].record

    @all_or_nothing
    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        with self._db.pipeline():
            for edit in edits:
                self._edit(edit.change, edit.stream, edit.seq)

    def _edit(self, change: RowChange, stream: str, seq: int) -> None:
        match change:
            case Put(space, key, value):
                self._db.execute(
                    "INSERT INTO index_rows (space, key, value, stream, seq)"
                    " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (space, key) DO UPDATE"
                    " SET value = EXCLUDED.value, stream = EXCLUDED.stream, seq = EXCLUDED.seq",
                    (to_bytes(space), to_bytes(key), _encode(value), to_bytes(stream), seq),
                )
            case Drop(space, key):
                self._db.execute(
                    "DELETE FROM index_rows WHERE space = %s AND key = %s",
                    (to_bytes(space), to_bytes(key)),
                )
            case Words(space, key, text):
                self._db.execute(
                    "INSERT INTO index_words (space, key, text, words) VALUES (%s, %s, %s, %s)",
                    (to_bytes(space), to_bytes(key), to_bytes(text), split_words(text)),
                )

    @all_or_nothing
    def clear_rows(self) -> None:
        for table in ("index_rows", "index_words", "snapshots"):
            self._db.execute(f"DELETE FROM {table}")

    def create_missing_tables(self) -> list[str]:
        """Create none: if the database's operator dropped a table, a backup restores it."""
        return []

    @all_or_nothing
    def put_snapshot(self, snapshot: Snapshot) -> None:
        self._db.execute(
            "INSERT INTO snapshots (stream, seq, hash, machine, state, sig)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (stream) DO UPDATE SET"
            " seq = EXCLUDED.seq, hash = EXCLUDED.hash, machine = EXCLUDED.machine,"
            " state = EXCLUDED.state, sig = EXCLUDED.sig",
            (
                *(to_bytes(snapshot.stream), snapshot.seq, snapshot.hash),
                *(to_bytes(snapshot.machine), snapshot.state, snapshot.signature),
            ),
        )

    @all_or_nothing
    def drop_snapshot(self, stream: str) -> None:
        self._db.execute("DELETE FROM snapshots WHERE stream = %s", (to_bytes(stream),))

    @all_or_nothing
    def put_heartbeat(self, heartbeat: Heartbeat) -> None:
        self._db.execute(
            "INSERT INTO heartbeats (agent, at, kid, body, sig) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (agent) DO UPDATE SET at = EXCLUDED.at, kid = EXCLUDED.kid,"
            " body = EXCLUDED.body, sig = EXCLUDED.sig",
            (
                *(to_bytes(heartbeat.agent), heartbeat.at, to_bytes(heartbeat.kid)),
                *(heartbeat.raw, heartbeat.signature),
            ),
        )

    @all_or_nothing
    def put_cursor(self, agent: str, name: str, position: int) -> None:
        self._db.execute(
            "INSERT INTO cursors (agent, name, position) VALUES (%s, %s, %s)"
            " ON CONFLICT (agent, name) DO UPDATE SET position = EXCLUDED.position",
            (to_bytes(agent), to_bytes(name), position),
        )

    @all_or_nothing
    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[NamedHead]
    ) -> None:
        with self._db.pipeline():
            self._db.execute(
                "INSERT INTO notes (number, note)"
                " VALUES ((SELECT coalesce(max(number) + 1, 0) FROM notes), %s)",
                (to_bytes(note),),
            )
            self._put_nodes(nodes)
            self._many(
                "UPDATE streams SET noted_seq = %s, noted_hash = %s WHERE number = %s",
                [(head.seq, head.hash, head.number) for _, head in heads],
            )

    @all_or_nothing
    def set_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        self._db.execute("DELETE FROM nodes")
        self._put_nodes(nodes)

    def _put_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        self._many(
            "INSERT INTO nodes (level, place, hash) VALUES (%s, %s, %s)"
            " ON CONFLICT (level, place) DO UPDATE SET hash = EXCLUDED.hash",
            [(*place, node) for place, node in nodes.items()],
        )

    @all_or_nothing
    def refuse_further(self) -> None:
        """Make every later write fail, since the ledger moves elsewhere with this commit."""
        for table in MOVED:
            self._db.execute(
                f"CREATE TRIGGER moved BEFORE INSERT OR UPDATE ON {table}"
                " FOR EACH STATEMENT EXECUTE FUNCTION ledger_has_moved()"
            )

    @all_or_nothing
    def keep_fork(self, record: Record) -> None:
        self._db.execute(
            "INSERT INTO forks (stream, seq, kid, body, sig) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (stream, seq, sig) DO NOTHING",
            (
                *(to_bytes(record.stream), record.seq, to_bytes(record.kid)),
                *(record.raw, record.signature),
            ),
        )


def _event_row(position: int, number: int, entry: RecordToAppend) -> tuple[Any, ...]:
    record = entry.record
    key = None if entry.key is None else to_bytes(entry.key)
    kid = to_bytes(record.kid)
    return position, number, record.seq, kid, record.raw, record.signature, key
