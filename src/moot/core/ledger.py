"""What the engine asks of a store. Each store is native; one contract suite tests them all.

A store holds records and what can be derived from them. `read()` gives one consistent view,
`write()` takes the write lock before anything is read, so that decide-then-append needs no retry.
Leaving `write()` without an exception means: durable. Two side tables are not derivable and
survive a rebuild: the latest signed heartbeats and the delivery cursors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec

from moot.core.clock import Millis
from moot.core.machine import RowChange
from moot.core.record import Record


class Head(NamedTuple):
    """A stream's newest event. `number` is its place in the order of creation, from 0."""

    number: int
    seq: int
    hash: bytes


class RecordToAppend(msgspec.Struct, frozen=True, gc=False):
    """A record to append, the idempotency key under which it can be found again, and what it
    changes in the index."""

    record: Record
    key: str | None = None
    changes: tuple[RowChange, ...] = ()


class Snapshot(NamedTuple):
    """A stream's state after event `seq`, signed by the checkpoint key; ignored on any mismatch.

    `machine` is name and version of the protocol that made it.
    """

    stream: str
    seq: int
    hash: bytes
    machine: str
    state: bytes
    signature: bytes


class Heartbeat(NamedTuple):
    """The latest sign of life of one agent, signed by its key."""

    agent: str
    at: int
    kid: str
    raw: bytes
    signature: bytes


class StoredRow(NamedTuple):
    """An index row as it is stored, with the event that it comes from."""

    key: str
    value: bytes
    stream: str
    seq: int


class RowEdit(msgspec.Struct, frozen=True):
    """An index change together with the event it comes from."""

    change: RowChange
    stream: str
    seq: int


class View(Protocol):
    """A consistent view of the ledger."""

    def newest_position(self) -> int:
        """How many events there are, in all streams: the position of the newest, from 1."""
        ...

    def records_after(self, position: int, limit: int = 1000) -> list[Record]:
        """Records of all streams in the order in which they were committed, for a copy elsewhere:
        at most `limit`, from the one after `position`."""
        ...

    def head(self, stream: str) -> Head | None: ...
    def streams(self) -> Iterator[tuple[str, Head]]:
        """In order of creation."""
        ...

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        """Those with seq > after, in order, without loading them all."""
        ...

    def keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        """Idempotency keys that begin with `prefix`, with the seq of each event."""
        ...

    def snapshot(self, stream: str) -> Snapshot | None: ...
    def row(self, space: str, key: str) -> StoredRow | None: ...
    def rows(
        self, space: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> list[StoredRow]:
        """Rows of `space` whose key begins with `prefix` and is greater than `after`, by key."""
        ...

    def values(self, space: str) -> dict[str, bytes]:
        """What every row of `space` says, by key; for whoever looks at all of many."""
        ...

    def search(self, space: str, words: str, limit: int = 100) -> list[str]:
        """Keys whose text holds every word, best first."""
        ...

    def all_rows(self) -> Iterator[tuple[str, StoredRow]]:
        """Every index row with its space; for `rebuild`, which compares them."""
        ...

    def all_words(self) -> Iterator[tuple[str, str, str]]:
        """Every findable text as (space, key, text)."""
        ...

    def all_snapshots(self) -> Iterator[Snapshot]: ...
    def heartbeat(self, agent: str) -> Heartbeat | None: ...
    def heartbeats(self, since: Millis = 0) -> list[Heartbeat]:
        """Everyone's, by agent; with `since` only those of that time or later."""
        ...

    def heartbeat_times(self) -> dict[str, int]:
        """Of which time everyone's heartbeat says it is, without its proof."""
        ...

    def cursor(self, agent: str, name: str) -> int: ...
    def all_cursors(self) -> Iterator[tuple[str, str, int]]:
        """Every delivery cursor: agent, name, position; for a copy of the ledger."""
        ...

    def all_notes(self) -> Iterator[str]:
        """Every checkpoint that is stored, the oldest first."""
        ...

    def newest_note(self) -> str | None:
        """The newest checkpoint."""
        ...

    def pinned_head(self, stream: str) -> Head | None:
        """The head of `stream` that the newest checkpoint signed for."""
        ...

    def pinned_heads(self) -> Iterator[tuple[str, Head]]:
        """All heads that the newest checkpoint signed for, in order of creation."""
        ...

    def moved_heads(self) -> list[tuple[str, Head]]:
        """Heads that have moved since the newest checkpoint."""
        ...

    def node(self, level: int, index: int) -> bytes:
        """A node of the head tree as of the newest checkpoint; KeyError if absent."""
        ...

    def all_nodes(self) -> Iterator[tuple[tuple[int, int], bytes]]:
        """Every node of the head tree; for `rebuild`, which compares them."""
        ...

    def count_streams_and_events(self) -> tuple[int, int]:
        """How many streams there are, and how many events."""
        ...

    def forks(self) -> Iterator[Record]: ...
    def version_of_others(self) -> int:
        """A number that changes when another store object, in any process, has written."""
        ...


class WriteTransaction(View, Protocol):
    """A view under the write lock, with what may be written.

    If one write fails half-way, each further one and the end of the change raise StoreFailed, so
    that nothing is stored in part even if a caller swallowed the error. So does a change that is
    over.
    """

    def append(self, entries: Iterable[RecordToAppend]) -> None:
        """Records in order, each continuing its stream.

        Conflict if a position is taken or there is a gap; then nothing was written.
        """
        ...

    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        """Change the index alone; for `rebuild`. What events change comes with their entries."""
        ...

    def clear_rows(self) -> None:
        """Forget every index row and snapshot; `rebuild` makes them anew."""
        ...

    def create_missing_tables(self) -> list[str]:
        """Make what holds index rows, words, snapshots or nodes if it is gone; `rebuild` fills it.

        Returns the names of what was gone.
        """
        ...

    def put_snapshot(self, snapshot: Snapshot) -> None: ...
    def drop_snapshot(self, stream: str) -> None:
        """Remove a stream's snapshot: its events are lost, and a person has accepted that."""
        ...

    def put_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Replace the agent's stored heartbeat; which of the two is newer the engine has
        decided."""
        ...

    def put_cursor(self, agent: str, name: str, position: int) -> None: ...
    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[tuple[str, Head]]
    ) -> None: ...
    def set_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        """Replace the head tree; for `rebuild`, and for a checkpoint that begins a new tree."""
        ...

    def keep_fork(self, record: Record) -> None:
        """Keep a second record signed for a position that is taken, as proof."""
        ...


class Store(Protocol):
    """One ledger's storage, shared by threads and processes."""

    def read(self) -> AbstractContextManager[View]: ...
    def write(self) -> AbstractContextManager[WriteTransaction]:
        """StoreFailed `nested_write` inside a read or another write of this store."""
        ...

    def version(self) -> int:
        """A number that changes when anyone, in any process, has written."""
        ...

    def backup(self, target: Path) -> None:
        """A consistent copy in a new file; Refused `file_exists` if there is one."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class WorksAhead(Protocol):
    """A store that collects work, and does it within some later commit unless it is told before."""

    def work_ahead(self) -> None:
        """Do it now, in any thread, beside whoever reads and writes."""
        ...
