"""Reads, inside one transaction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import psycopg

from moot.core.clock import Millis
from moot.core.ledger import Head, Heartbeat, Snapshot, StoredRow
from moot.core.record import Record

_PAGE: Final = 500  # rows fetched at a time: a long stream must not fill the memory

NamedHead = tuple[str, Head]


def to_bytes(text: str) -> bytes:
    """Encode as UTF-8 that keeps lone surrogates, so that every text can be read back."""
    return text.encode("utf-8", "surrogatepass")


def to_str(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")


def split_words(text: str) -> list[bytes]:
    """Return the words of a text (letters and digits), without case and accents."""
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text))
    return sorted({to_bytes(word) for word in re.findall(r"[^\W_]+", plain.lower())})


def after_prefix(prefix: bytes) -> bytes | None:
    """Return the smallest bytes above all that begin with `prefix`; None if there are none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else None


class PostgresView:
    def __init__(self, db: psycopg.Connection[Any], writes_of_others: int) -> None:
        self._db = db
        self._writes_of_others = writes_of_others
        self._is_over = False

    def close(self) -> None:
        """End the view: iterators that the caller kept yield nothing more."""
        self._is_over = True

    def _one(self, query: str, *values: Any) -> Any:
        return self._db.execute(query, values, binary=True).fetchone()

    def _all(self, query: str, *values: Any) -> list[Any]:
        return self._db.execute(query, values, binary=True).fetchall()

    def _pages(self, query: str, start: Sequence[Any], key: int, *values: Any) -> Iterator[Any]:
        """Yield the rows of a query page by page; each page starts after the last row's key."""
        last: Any = start
        while not self._is_over:
            rows = self._all(f"{query} LIMIT {_PAGE}", *values, *last)
            yield from rows
            if len(rows) < _PAGE:
                return
            last = (rows[-1][key],)

    def count_bytes(self) -> int:
        row = self._one(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema())"
        )
        return int(row[0])

    def newest_position(self) -> int:
        return int(self._one("SELECT coalesce(max(id), 0) FROM events")[0])

    def records_after(self, position: int, limit: int = 1000) -> list[Record]:
        rows = self._all(
            "SELECT s.name, e.seq, e.kid, e.body, e.sig FROM events e"
            " JOIN streams s ON s.number = e.stream WHERE e.id > %s ORDER BY e.id LIMIT %s",
            position,
            limit,
        )
        return [_record(to_str(name), *rest) for name, *rest in rows]

    def head(self, stream: str) -> Head | None:
        row = self._one("SELECT number, seq, hash FROM streams WHERE name = %s", to_bytes(stream))
        return Head(*row) if row else None

    def streams(self) -> Iterator[NamedHead]:
        rows = self._pages(
            "SELECT name, number, seq, hash FROM streams WHERE number > %s ORDER BY number",
            (-1,),
            1,
        )
        return ((to_str(name), Head(*head)) for name, *head in rows)

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        head = self.head(stream)
        if head is None:
            return iter(())
        rows = self._pages(
            "SELECT seq, kid, body, sig FROM events WHERE stream = %s AND seq > %s ORDER BY seq",
            (after,),
            0,
            head.number,
        )
        return (_record(stream, *row) for row in rows)

    def keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        rows = self._all(
            "SELECT e.key, e.seq FROM events e JOIN streams s ON s.number = e.stream"
            " WHERE s.name = %s AND e.key >= %s AND (%s::bytea IS NULL OR e.key < %s)"
            " ORDER BY e.key, e.seq",
            to_bytes(stream),
            to_bytes(prefix),
            after_prefix(to_bytes(prefix)),
            after_prefix(to_bytes(prefix)),
        )
        return [(to_str(key), seq) for key, seq in rows]

    def snapshot(self, stream: str) -> Snapshot | None:
        row = self._one(
            "SELECT stream, seq, hash, machine, state, sig FROM snapshots WHERE stream = %s",
            to_bytes(stream),
        )
        return _snapshot(row) if row else None

    def row(self, space: str, key: str) -> StoredRow | None:
        found = self._one(
            "SELECT key, value, stream, seq FROM index_rows WHERE space = %s AND key = %s",
            to_bytes(space),
            to_bytes(key),
        )
        return _row(found) if found else None

    def rows(
        self, space: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> list[StoredRow]:
        end = after_prefix(to_bytes(prefix))
        found = self._all(
            "SELECT key, value, stream, seq FROM index_rows WHERE space = %s AND key >= %s"
            " AND (%s::bytea IS NULL OR key < %s) AND key > %s ORDER BY key LIMIT %s",
            *(to_bytes(space), to_bytes(prefix), end, end, to_bytes(after), limit),
        )
        return [_row(row) for row in found]

    def values(self, space: str) -> dict[str, bytes]:
        rows = self._all("SELECT key, value FROM index_rows WHERE space = %s", to_bytes(space))
        return {to_str(key): bytes(value) for key, value in rows}

    def search(self, space: str, words: str, limit: int = 100) -> list[str]:
        wanted = split_words(words)
        if not wanted:
            return []
        rows = self._all(
            "SELECT key FROM index_words WHERE space = %s AND words @> %s ORDER BY id LIMIT %s",
            to_bytes(space),
            wanted,
            limit,
        )
        return [to_str(key) for (key,) in rows]

    def all_rows(self) -> Iterator[tuple[str, StoredRow]]:
        rows = self._all("SELECT space, key, value, stream, seq FROM index_rows")
        return ((to_str(space), _row(rest)) for space, *rest in rows)

    def all_words(self) -> Iterator[tuple[str, str, str]]:
        rows = self._pages(
            "SELECT space, key, text, id FROM index_words WHERE id > %s ORDER BY id", (0,), 3
        )
        return ((to_str(space), to_str(key), to_str(text)) for space, key, text, _ in rows)

    def all_snapshots(self) -> Iterator[Snapshot]:
        rows = self._all("SELECT stream, seq, hash, machine, state, sig FROM snapshots")
        return (_snapshot(row) for row in rows)

    def heartbeat(self, agent: str) -> Heartbeat | None:
        row = self._one(
            "SELECT agent, at, kid, body, sig FROM heartbeats WHERE agent = %s", to_bytes(agent)
        )
        return _heartbeat(row) if row else None

    def heartbeats(self, since: Millis = 0) -> list[Heartbeat]:
        everyone = "SELECT agent, at, kid, body, sig FROM heartbeats"
        if since:
            rows = self._all(f"{everyone} WHERE at >= %s ORDER BY agent", since)
        else:
            rows = self._all(f"{everyone} ORDER BY agent")
        return [_heartbeat(row) for row in rows]

    def heartbeat_times(self) -> dict[str, int]:
        rows = self._all("SELECT agent, at FROM heartbeats")
        return {to_str(agent): at for agent, at in rows}

    def cursor(self, agent: str, name: str) -> int:
        row = self._one(
            "SELECT position FROM cursors WHERE agent = %s AND name = %s",
            to_bytes(agent),
            to_bytes(name),
        )
        return int(row[0]) if row else 0

    def all_cursors(self) -> Iterator[tuple[str, str, int]]:
        rows = self._all("SELECT agent, name, position FROM cursors ORDER BY agent, name")
        return ((to_str(agent), to_str(name), at) for agent, name, at in rows)

    def all_notes(self) -> Iterator[str]:
        rows = self._pages(
            "SELECT number, note FROM notes WHERE number > %s ORDER BY number", (-1,), 0
        )
        return (to_str(note) for _, note in rows)

    def newest_note(self) -> str | None:
        row = self._one("SELECT note FROM notes ORDER BY number DESC LIMIT 1")
        return to_str(row[0]) if row else None

    def pinned_head(self, stream: str) -> Head | None:
        row = self._one(
            "SELECT number, noted_seq, noted_hash FROM streams WHERE name = %s AND noted_seq >= 0",
            to_bytes(stream),
        )
        return Head(*row) if row else None

    def pinned_heads(self) -> Iterator[NamedHead]:
        rows = self._pages(
            "SELECT name, number, noted_seq, noted_hash FROM streams"
            " WHERE noted_seq >= 0 AND number > %s ORDER BY number",
            (-1,),
            1,
        )
        return ((to_str(name), Head(*head)) for name, *head in rows)

    def moved_heads(self) -> list[NamedHead]:
        rows = self._all(
            "SELECT name, number, seq, hash FROM streams"
            " WHERE seq != noted_seq OR hash != noted_hash ORDER BY number"
        )
        return [(to_str(name), Head(*head)) for name, *head in rows]

    def node(self, level: int, index: int) -> bytes:
        row = self._one("SELECT hash FROM nodes WHERE level = %s AND place = %s", level, index)
        if row is None:
            raise KeyError((level, index))
        return bytes(row[0])

    def all_nodes(self) -> Iterator[tuple[tuple[int, int], bytes]]:
        rows = self._all("SELECT level, place, hash FROM nodes")
        return (((level, place), bytes(node)) for level, place, node in rows)

    def count_streams_and_events(self) -> tuple[int, int]:
        streams, events = self._one(
            "SELECT count(*), coalesce(sum(seq + 1), 0)::bigint FROM streams"
        )
        return int(streams), int(events)

    def forks(self) -> Iterator[Record]:
        rows = self._all("SELECT stream, seq, kid, body, sig FROM forks ORDER BY id")
        return (_record(to_str(stream), *rest) for stream, *rest in rows)

    def version_of_others(self) -> int:
        return self._writes_of_others


def _record(stream: str, seq: int, kid: bytes, body: bytes, signature: bytes) -> Record:
    return Record(stream, seq, to_str(kid), bytes(body), bytes(signature))


def _row(row: Sequence[Any]) -> StoredRow:
    key, value, stream, seq = row
    return StoredRow(to_str(key), bytes(value), to_str(stream), seq)


def _snapshot(row: Sequence[Any]) -> Snapshot:
    stream, seq, record_hash, machine, state, signature = row
    return Snapshot(
        to_str(stream), seq, bytes(record_hash), to_str(machine), bytes(state), bytes(signature)
    )


def _heartbeat(row: Sequence[Any]) -> Heartbeat:
    agent, at, kid, body, signature = row
    return Heartbeat(to_str(agent), at, to_str(kid), bytes(body), bytes(signature))


# A write reads these together with the lock, which saves a round trip for each.

_PREPARE = (
    "PREPARE write_start AS SELECT writes,"
    " (SELECT coalesce(max(number) + 1, 0) FROM streams),"
    " (SELECT coalesce(max(id), 0) FROM events) FROM ledger;"
    "PREPARE stream_head (bytea) AS SELECT number, seq, hash FROM streams WHERE name = $1"
)


class WriteStart(NamedTuple):
    """The ledger when the lock was taken. `heads`: stream -> head, None without events."""

    writes: int
    next_number: int
    newest_position: int
    heads: dict[str, Head | None]


def ensure_prepared(db: psycopg.Connection[Any]) -> None:
    """Prepare the statements if the server does not have them: planning costs more than running."""
    known = db.execute(
        "SELECT FROM pg_prepared_statements WHERE name = 'write_start'", prepare=False
    )
    if not known.rowcount:
        db.execute(_PREPARE, prepare=False)


def write_start_query(streams: Sequence[str]) -> str:
    """Build the statements without parameters, so that they can be sent together with others.

    Stream names are written in hexadecimal, so that no name can end the literal.
    """
    heads = (f"EXECUTE stream_head('\\x{to_bytes(stream).hex()}')" for stream in streams)
    return ";".join(("EXECUTE write_start", *heads))


def read_write_start(found: psycopg.Cursor[Any], streams: Sequence[str]) -> WriteStart:
    """Read the results of `write_start_query`; `found` is at the first of them."""
    row = found.fetchone()
    assert row is not None, "made with the schema"
    heads: dict[str, Head | None] = {}
    for stream in streams:
        found.nextset()
        head = found.fetchone()
        heads[stream] = Head(*head) if head is not None else None
    writes, next_number, newest_position = row
    return WriteStart(writes, next_number, newest_position, heads)
