"""The interface that every store implements. `tests/store/contract.py` tests each of them.

A store holds records and data derived from them. `read()` gives one consistent view. `write()`
takes the write lock before anything is read, so that decide-then-append needs no retry. After
`write()` ends without an exception, the change is durable. Two side tables cannot be derived from
the records, so a rebuild keeps them: the latest signed heartbeats and the delivery cursors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, runtime_checkable

import msgspec

from moot.core.clock import Millis
from moot.core.errors import StoreFailed
from moot.core.machine import RowChange
from moot.core.record import Record


class Head(NamedTuple):
    """A stream's newest event. `number` counts the streams in order of creation, from 0."""

    number: int
    seq: int
    hash: bytes


class RecordToAppend(msgspec.Struct, frozen=True, gc=False):
    """A record to append, with its idempotency key and its changes to the index."""

    record: Record
    key: str | None = None
    changes: tuple[RowChange, ...] = ()


class Snapshot(NamedTuple):
    """A stream's state after event `seq`, signed by the checkpoint key.

    `machine` is name and version of the protocol that made it. The engine ignores a snapshot that
    does not match the stream, the machine or its signature.
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
    """An index row as stored, with the event that caused it."""

    key: str
    value: bytes
    stream: str
    seq: int


class RowEdit(msgspec.Struct, frozen=True):
    """A change of the index, with the event that caused it."""

    change: RowChange
    stream: str
    seq: int


class View(Protocol):
    """A consistent view of the ledger: it does not change while it is open."""

    def newest_position(self) -> int:
        """Return the position of the newest event, from 1: the number of events in all streams."""
        ...

    def records_after(self, position: int, limit: int = 1000) -> list[Record]:
        """Return at most `limit` records after `position`, of all streams, in commit order.

        For copying a ledger to another host.
        """
        ...

    def head(self, stream: str) -> Head | None: ...
    def streams(self) -> Iterator[tuple[str, Head]]:
        """Return all streams with their heads, in order of creation."""
        ...

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        """Records of a stream with seq > after, in order, loaded lazily."""
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
        """Return the values of all rows of `space`, by key; faster than `rows` for many rows."""
        ...

    def search(self, space: str, words: str, limit: int = 100) -> list[str]:
        """Keys whose text contains every word, best match first."""
        ...

    def all_rows(self) -> Iterator[tuple[str, StoredRow]]:
        """Return every index row with its space; for `rebuild`, which compares them."""
        ...

    def all_words(self) -> Iterator[tuple[str, str, str]]:
        """Return every text of the full-text index as (space, key, text)."""
        ...

    def all_snapshots(self) -> Iterator[Snapshot]: ...
    def heartbeat(self, agent: str) -> Heartbeat | None: ...
    def heartbeats(self, since: Millis = 0) -> list[Heartbeat]:
        """Return the latest heartbeat of each agent, ordered by agent; only those since `since`."""
        ...

    def heartbeat_times(self) -> dict[str, int]:
        """Return the time of each agent's latest heartbeat, without its proof."""
        ...

    def cursor(self, agent: str, name: str) -> int: ...
    def all_cursors(self) -> Iterator[tuple[str, str, int]]:
        """Return every delivery cursor: agent, name, position; for a copy of the ledger."""
        ...

    def all_notes(self) -> Iterator[str]:
        """Return every stored checkpoint, oldest first."""
        ...

    def newest_note(self) -> str | None:
        """Return the newest checkpoint."""
        ...

    def pinned_head(self, stream: str) -> Head | None:
        """Return the head of `stream` in the newest checkpoint."""
        ...

    def pinned_heads(self) -> Iterator[tuple[str, Head]]:
        """Return all heads in the newest checkpoint, in order of creation."""
        ...

    def moved_heads(self) -> list[tuple[str, Head]]:
        """Heads that have moved since the newest checkpoint."""
        ...

    def node(self, level: int, index: int) -> bytes:
        """Return a node of the head tree as of the newest checkpoint; KeyError if absent."""
        ...

    def all_nodes(self) -> Iterator[tuple[tuple[int, int], bytes]]:
        """Return every node of the head tree; for `rebuild`, which compares them."""
        ...

    def count_streams_and_events(self) -> tuple[int, int]:
        """Return how many streams there are, and how many events."""
        ...

    def forks(self) -> Iterator[Record]: ...
    def version_of_others(self) -> int:
        """Return a number that changes when another store object has written, in any process."""
        ...


class WriteTransaction(View, Protocol):
    """A view under the write lock, with the methods that write.

    After one write has failed, every later write and the commit raise StoreFailed: a caller that
    swallows the error cannot store half of a change. Writes after the end of the transaction raise
    StoreFailed too.
    """

    def append(self, entries: Iterable[RecordToAppend]) -> None:
        """Append records in order, each at the end of its stream.

        Conflict if a position is taken or there is a gap; then nothing is written.
        """
        ...

    def edit_rows(self, edits: Iterable[RowEdit]) -> None:
        """Change the index without appending; for `rebuild`. `append` takes changes by itself."""
        ...

    def clear_rows(self) -> None:
        """Delete every index row and snapshot; `rebuild` makes them again."""
        ...

    def create_missing_tables(self) -> list[str]:
        """Create missing tables of index rows, words, snapshots or nodes; `rebuild` fills them.

        Returns the names of the tables that were missing.
        """
        ...

    def put_snapshot(self, snapshot: Snapshot) -> None: ...
    def drop_snapshot(self, stream: str) -> None:
        """Remove a stream's snapshot after a person has accepted the loss of its events."""
        ...

    def put_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Replace the agent's stored heartbeat. The engine has checked that this one is newer."""
        ...

    def put_cursor(self, agent: str, name: str, position: int) -> None: ...
    def put_note(
        self, note: str, nodes: dict[tuple[int, int], bytes], heads: Iterable[tuple[str, Head]]
    ) -> None: ...
    def set_nodes(self, nodes: dict[tuple[int, int], bytes]) -> None:
        """Replace the head tree; for `rebuild`, and for a checkpoint that begins a new tree."""
        ...

    def keep_fork(self, record: Record) -> None:
        """Keep a second signed record for a position that is already taken, as evidence."""
        ...


class Store(Protocol):
    """One ledger's storage, shared by threads and processes."""

    def read(self) -> AbstractContextManager[View]: ...
    def write(self) -> AbstractContextManager[WriteTransaction]:
        """Take the write lock. StoreFailed `nested_write` inside a read or write of this store."""
        ...

    def version(self) -> int:
        """Return a number that changes after every write, in any process."""
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy to a new file; Refused `file_exists` if it exists."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class WorksAhead(Protocol):
    """A store that collects work and does it during some later commit, unless `work_ahead` runs."""

    def work_ahead(self) -> None:
        """Do the collected work now. Any thread may call this while others read and write."""
        ...


class Writing(Protocol):
    """A transaction. `is_whole`: it is open and none of its writes has failed."""

    is_whole: bool

    def require_whole(self) -> None: ...


P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=Writing)


def all_or_nothing(write: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Decorate a method that writes: after it has failed, the transaction cannot be committed
    (LDG-069), even if the caller swallows the error."""

    @wraps(write)
    def guarded(change: C, /, *args: P.args, **kwargs: P.kwargs) -> T:
        change.require_whole()
        try:
            return write(change, *args, **kwargs)
        except BaseException:
            change.is_whole = False
            raise

    return guarded


def write_failed_before() -> StoreFailed:
    return StoreFailed("store_failed", "a write failed before; nothing of this change is stored")
