"""The reference store: plain dictionaries, everything but durability.

Users get it through `moot.testing`. `write()` works on a copy, so a failed write changes nothing.
"""

from __future__ import annotations

import copy
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from moot.core.clock import Millis
from moot.core.errors import Conflict, Refused, StoreFailed
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
from moot.core.machine import Drop, Put, Words
from moot.core.record import Record

_encode = msgspec.json.Encoder(order="sorted").encode


class _Tables:
    """All tables. Copies share the records, which never change."""

    def __init__(self) -> None:
        self.chains: dict[str, list[Record]] = {}  # stream -> its records, in order of creation
        self.order: list[Record] = []  # of all streams, in the order of their commits
        self.key_of: dict[str, list[str | None]] = {}  # stream -> idempotency key of each record
        self.noted: dict[str, Head] = {}  # stream -> what the newest checkpoint pins of it
        self.notes: list[str] = []
        self.nodes: dict[tuple[int, int], bytes] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.rows: dict[str, dict[str, StoredRow]] = {}  # index space -> key -> row
        self.words: dict[str, list[tuple[str, str]]] = {}  # index space -> (key, text)
        self.beats: dict[str, Heartbeat] = {}
        self.cursors: dict[tuple[str, str], int] = {}
        self.forks: list[Record] = []

    def duplicate(self) -> _Tables:
        tables_copy = _Tables()
        for name, value in vars(self).items():
            setattr(tables_copy, name, copy.copy(value))
        for name in ("chains", "key_of", "rows", "words"):
            inner = getattr(tables_copy, name)
            for key in inner:
                inner[key] = copy.copy(inner[key])
        return tables_copy


class MemoryView:
    def __init__(self, tables: _Tables, writes: int) -> None:
        self._tables = tables
        self._writes = writes

    def head(self, stream: str) -> Head | None:
        chain = self._tables.chains.get(stream)
        if not chain:
            return None
        number = list(self._tables.chains).index(stream)
        return Head(number, chain[-1].seq, chain[-1].hash)

    def streams(self) -> Iterator[tuple[str, Head]]:
        for number, (name, chain) in enumerate(self._tables.chains.items()):
            yield name, Head(number, chain[-1].seq, chain[-1].hash)

    def newest_position(self) -> int:
        return len(self._tables.order)

    def records_after(self, position: int, limit: int = 1000) -> list[Record]:
        return self._tables.order[position : position + limit]

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        yield from self._tables.chains.get(stream, [])[after + 1 :]

    def keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        keys = enumerate(self._tables.key_of.get(stream, []))
        return sorted((key, seq) for seq, key in keys if key is not None and key.startswith(prefix))

    def snapshot(self, stream: str) -> Snapshot | None:
        return self._tables.snapshots.get(stream)

    def row(self, space: str, key: str) -> StoredRow | None:
        return self._tables.rows.get(space, {}).get(key)

    def rows(
        self, space: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> list[StoredRow]:
        rows = self._tables.rows.get(space, {})
        keys = sorted(key for key in rows if key.startswith(prefix) and key > after)
        return [rows[key] for key in keys[:limit]]

    def values(self, space: str) -> dict[str, bytes]:
        return {key: row.value for key, row in self._tables.rows.get(space, {}).items()}

    def search(self, space: str, words: str, limit: int = 100) -> list[str]:
        wanted = _words(words)
        texts = self._tables.words.get(space, []) if wanted else []
        return [key for key, text in texts if wanted <= _words(text)][:limit]

    def all_rows(self) -> Iterator[tuple[str, StoredRow]]:
        for space, rows in self._tables.rows.items():
            yield from ((space, row) for row in rows.values())

    def all_words(self) -> Iterator[tuple[str, str, str]]:
        for space, texts in self._tables.words.items():
            yield from ((space, key, text) for key, text in texts)

    def all_snapshots(self) -> Iterator[Snapshot]:
        yield from self._tables.snapshots.values()

    def heartbeat(self, agent: str) -> Heartbeat | None:
        return self._tables.beats.get(agent)

    def heartbeats(self, since: Millis = 0) -> list[Heartbeat]:
        heartbeats = self._tables.beats.values()
        return sorted(beat for beat in heartbeats if not since or beat.at >= since)

    def heartbeat_times(self) -> dict[str, int]:
        return {beat.agent: beat.at for beat in self._tables.beats.values()}

    def cursor(self, agent: str, name: str) -> int:
        return self._tables.cursors.get((agent, name), 0)

    def all_cursors(self) -> Iterator[tuple[str, str, int]]:
        return ((agent, name, at) for (agent, name), at in self._tables.cursors.items())

    def all_notes(self) -> Iterator[str]:
        yield from self._tables.notes

    def newest_note(self) -> str | None:
        return self._tables.notes[-1] if self._tables.notes else None

    def pinned_head(self, stream: str) -> Head | None:
        return self._tables.noted.get(stream)

    def pinned_heads(self) -> Iterator[tuple[str, Head]]:
        yield from sorted(self._tables.noted.items(), key=lambda item: item[1].number)

    def moved_heads(self) -> list[tuple[str, Head]]:
        return [
            (name, head) for name, head in self.streams() if self._tables.noted.get(name) != head
        ]

    def node(self, level: int, index: int) -> bytes:
        return self._tables.nodes[level, index]

    def all_nodes(self) -> Iterator[tuple[tuple[int, int], bytes]]:
        yield from self._tables.nodes.items()

    def count_streams_and_events(self) -> tuple[int, int]:
        return len(self._tables.chains), sum(len(chain) for chain in self._tables.chains.values())

    def forks(self) -> Iterator[Record]:
        yield from self._tables.forks

    def version_of_others(self) -> int:
        """Return the count of all writes: everyone shares this object."""
        return self._writes


def _words(text: str) -> set[str]:
    """Return the words of a text (letters and digits), without case and accents."""
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text))
    return set(re.findall(r"[^\W_]+", plain.lower()))


class MemoryTransaction(MemoryView):
    def __init__(self, tables: _Tables, writes: int) -> None:
        super().__init__(tables, writes)
        self.is_whole = True

    def require_whole(self) -> None:
        """Raise StoreFailed if a write failed or the transaction has ended: a caller that swallowed
        the error would otherwise commit a part."""
        if not self.is_whole:
            raise write_failed_before()

    def append(self, entries: Iterable[RecordToAppend]) -> None:
        """Check all positions, then write (TRC-019, TRC-051)."""
        batch = list(entries)
        ends: dict[str, int] = {}
        for record in (entry.record for entry in batch):
            end = ends.get(record.stream, len(self._tables.chains.get(record.stream, ())))
            if record.seq != end:
                raise Conflict("position_taken", f"{record.stream} has moved on", hint="try again")
            ends[record.stream] = end + 1
        self._append(batch)

    @all_or_nothing
    def _append(self, batch: list[RecordToAppend]) -> None:
        for entry in batch:
            self._tables.chains.setdefault(entry.record.stream, []).append(entry.record)
            self._tables.order.append(entry.record)
            self._tables.key_of.setdefault(entry.record.stream, []).append(entry.key)
            place = entry.record.stream, entry.record.seq
            self.edit_rows([RowEdit(change, *place) for change in entry.changes])

    @all_or_nothing
    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        for edit in edits:
            match edit.change:
                case Put(space, key, value):
                    row = StoredRow(key, _encode(value), edit.stream, edit.seq)
                    self._tables.rows.setdefault(space, {})[key] = row
                case Drop(space, key):
                    self._tables.rows.get(space, {}).pop(key, None)
                case Words(space, key, text):
                    self._tables.words.setdefault(space, []).append((key, text))

    @all_or_nothing
    def clear_rows(self) -> None:
        self._tables.rows, self._tables.words, self._tables.snapshots = {}, {}, {}

    def create_missing_tables(self) -> list[str]:
        return []  # tables in memory cannot be lost

    @all_or_nothing
    def put_snapshot(self, snapshot: Snapshot) -> None:
        self._tables.snapshots[snapshot.stream] = snapshot

    @all_or_nothing
    def drop_snapshot(self, stream: str) -> None:
        self._tables.snapshots.pop(stream, None)

    @all_or_nothing
    def put_heartbeat(self, heartbeat: Heartbeat) -> None:
        self._tables.beats[heartbeat.agent] = heartbeat

    @all_or_nothing
    def put_cursor(self, agent: str, name: str, position: int) -> None:
        self._tables.cursors[agent, name] = position

    @all_or_nothing
    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[tuple[str, Head]]
    ) -> None:
        self._tables.notes.append(note)
        self._tables.nodes.update(nodes)
        self._tables.noted.update(heads)

    @all_or_nothing
    def set_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        self._tables.nodes = dict(nodes)

    @all_or_nothing
    def keep_fork(self, record: Record) -> None:
        kept = {(fork.stream, fork.seq, fork.signature) for fork in self._tables.forks}
        if (record.stream, record.seq, record.signature) not in kept:
            self._tables.forks.append(record)


class MemoryStore:
    def __init__(self) -> None:
        self._tables = _Tables()
        self._writes = 0
        self._lock = threading.RLock()
        self._open_view: MemoryView | None = None

    @contextmanager
    def read(self) -> Iterator[MemoryView]:
        """Return a view; inside another read or write the same one."""
        with (
            self._lock,
            self._share(self._open_view or MemoryView(self._tables, self._writes)) as view,
        ):
            yield view

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        with self._lock:
            if self._open_view is not None:
                raise StoreFailed("nested_write", "a write began inside a read or another write")
            draft = self._tables.duplicate()
            change = MemoryTransaction(draft, self._writes)
            try:
                with self._share(change):
                    yield change
                change.require_whole()
            finally:
                change.is_whole = False  # a kept reference cannot write any more
            self._tables = draft
            self._writes += 1

    @contextmanager
    def _share(self, view: MemoryView) -> Iterator[MemoryView]:
        previous, self._open_view = self._open_view, view
        try:
            yield view
        finally:
            self._open_view = previous

    def version(self) -> int:
        return self._writes

    def backup(self, target: Path) -> None:
        raise Refused("not_durable", f"a ledger in memory cannot be copied to {target}")

    def close(self) -> None:
        """Do nothing: the records are only in memory."""
