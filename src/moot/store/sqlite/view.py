"""Reads, inside one transaction: the indexes, with pending events on top."""

from __future__ import annotations

import re
import sqlite3
import weakref
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from moot.core.clock import Millis
from moot.core.ledger import Head, Heartbeat, Snapshot, StoredRow
from moot.core.record import Record
from moot.store.sqlite.pending_index import SQL, NamedHead, PendingIndex, Text, search_texts

_NONE: Mapping[str, StoredRow | None] = {}
_LATEST: Millis = 2**63 - 1  # the largest number that SQLite holds


class SqliteView:
    def __init__(self, db: sqlite3.Connection, pending: PendingIndex) -> None:
        self._db = db
        self._pending = pending
        # Cursors that may be half read. Weak references: thousands of finished ones would slow
        # down each new one.
        self._cursors: weakref.WeakSet[sqlite3.Cursor] | None = None

    def close(self) -> None:
        """Close half-read cursors: SQLite cannot end the transaction while one is open."""
        for cursor in self._cursors or ():
            cursor.close()

    def _one(self, name: str, *values: Any) -> Any:
        return self._db.execute(SQL[name], values).fetchone()

    def _each(self, name: str, *values: Any) -> sqlite3.Cursor:
        """Return the rows of a query one by one, for as long as the view is open."""
        cursor = self._db.execute(SQL[name], values)
        if self._cursors is None:
            self._cursors = weakref.WeakSet()
        self._cursors.add(cursor)
        return cursor

    def head(self, stream: str) -> Head | None:
        head = self._pending.heads.get(stream)
        if head is None:
            row = self._one("head", stream)
            return Head(*row) if row else None
        return head

    def streams(self) -> Iterator[NamedHead]:
        newer = self._pending.heads
        return ((name, newer.get(name, head)) for name, head in _named(self._each("streams")))

    def newest_position(self) -> int:
        return int(self._one("newest_event")[0])

    def records_after(self, position: int, limit: int = 1000) -> list[Record]:
        rows = self._db.execute(SQL["records_after"], (position, limit)).fetchall()
        return [Record(*row) for row in rows]

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        if stream in self._pending.moved:
            before = self._pending.event_before(stream, after)
            rows = self._each("records", stream, after, before, stream, after)
        else:
            rows = self._each("filed_records", stream, after)
        return (Record(stream, *row) for row in rows)

    def keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        return self._db.execute(SQL["keys"], (stream, prefix, after_prefix(prefix))).fetchall()

    def snapshot(self, stream: str) -> Snapshot | None:
        row = self._one("snapshot", stream)
        return Snapshot(*row) if row else None

    def row(self, space: str, key: str) -> StoredRow | None:
        unfiled = self._pending.rows.get(space, _NONE)
        if key in unfiled:
            return unfiled[key]
        row = self._one("row", space, key)
        return StoredRow(*row) if row else None

    def rows(
        self, space: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> list[StoredRow]:
        unfiled = {
            key: row
            for key, row in self._pending.rows.get(space, _NONE).items()
            if key.startswith(prefix) and key > after
        }
        values = (space, prefix, after_prefix(prefix), after, limit + len(unfiled))
        rows = [StoredRow(*row) for row in self._db.execute(SQL["rows"], values)]
        if not unfiled:
            return rows
        rows = [row for row in rows if row.key not in unfiled]
        rows += filter(None, unfiled.values())
        return sorted(rows)[:limit]  # texts compare as in SQLite: by code point

    def values(self, space: str) -> dict[str, bytes]:
        values: dict[str, bytes] = dict(self._db.execute(SQL["values"], (space,)).fetchall())
        for key, row in self._pending.rows.get(space, _NONE).items():
            if row is None:
                values.pop(key, None)
            else:
                values[key] = row.value
        return values

    def search(self, space: str, words: str, limit: int = 100) -> list[str]:
        query = match_all(words)
        if not query:
            return []
        unfiled_texts = [(key, text) for where, key, text in self._pending.words if where == space]
        hits = self._db.execute(SQL["search"], (query, space, limit)).fetchall()
        hits += search_texts(unfiled_texts, space, query, limit)
        return [key for _, key in sorted(hits, key=itemgetter(0))[:limit]]

    def all_rows(self) -> Iterator[tuple[str, StoredRow]]:
        unfiled = {space: dict(rows) for space, rows in self._pending.rows.items()}
        filed = ((space, StoredRow(*row)) for space, *row in self._each("all_rows"))
        return chain(
            (hits for hits in filed if hits[1].key not in unfiled.get(hits[0], _NONE)),
            [(space, row) for space, rows in unfiled.items() for row in rows.values() if row],
        )

    def all_words(self) -> Iterator[Text]:
        return chain(self._each("all_words"), list(self._pending.words))

    def all_snapshots(self) -> Iterator[Snapshot]:
        return (Snapshot(*row) for row in self._each("all_snapshots"))

    def heartbeat(self, agent: str) -> Heartbeat | None:
        row = self._one("heartbeat", agent)
        return Heartbeat(*row) if row else None

    def heartbeats(self, since: Millis = 0) -> list[Heartbeat]:
        if not since:
            return [Heartbeat(*row) for row in self._db.execute(SQL["heartbeats"])]
        since = min(since, _LATEST)  # another machine may ask for any number
        return [Heartbeat(*row) for row in self._db.execute(SQL["heartbeats_since"], (since,))]

    def heartbeat_times(self) -> dict[str, int]:
        return dict(self._db.execute(SQL["heartbeat_times"]).fetchall())

    def cursor(self, agent: str, name: str) -> int:
        row = self._one("cursor", agent, name)
        return int(row[0]) if row else 0

    def all_cursors(self) -> Iterator[tuple[str, str, int]]:
        return iter(self._each("all_cursors"))

    def all_notes(self) -> Iterator[str]:
        return (str(note) for (note,) in self._each("all_notes"))

    def newest_note(self) -> str | None:
        row = self._one("note")
        return str(row[0]) if row else None

    def pinned_head(self, stream: str) -> Head | None:
        row = self._one("note_head", stream)
        return Head(*row) if row else None

    def pinned_heads(self) -> Iterator[NamedHead]:
        return _named(self._each("note_heads"))

    def moved_heads(self) -> list[NamedHead]:
        stale = dict(_named(self._each("stale_heads")))
        stale.update((name, self._pending.heads[name]) for name in self._pending.moved)
        return sorted(stale.items(), key=itemgetter(1))

    def node(self, level: int, index: int) -> bytes:
        row = self._one("node", level, index)
        if row is None:
            raise KeyError((level, index))
        return bytes(row[0])

    def all_nodes(self) -> Iterator[tuple[tuple[int, int], bytes]]:
        return (((level, place), node) for level, place, node in self._each("all_nodes"))

    def count_streams_and_events(self) -> tuple[int, int]:
        streams, events = self._one("counts")
        return int(streams), int(events)

    def forks(self) -> Iterator[Record]:
        return (Record(*row) for row in self._each("forks"))

    def version_of_others(self) -> int:
        return self._pending.version


def _named(rows: sqlite3.Cursor) -> Iterator[NamedHead]:
    return ((name, Head(number, seq, head)) for name, number, seq, head in rows)


def after_prefix(prefix: str) -> str | bytes:
    """Return the smallest value above every text that begins with `prefix`.

    SQLite orders text by its UTF-8 bytes, that is by code point, and any blob after any text.
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return b""


def match_all(words: str) -> str:
    """Return a full-text query for all words of a text, without any query syntax.

    The text is composed first, so that a letter and its accent are one character.
    """
    import unicodedata  # only for searching

    composed = unicodedata.normalize("NFC", words)
    return " ".join(f'"{word}"' for word in re.findall(r"[^\W_]+", composed))
