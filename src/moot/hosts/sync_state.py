"""Commits that the keeper acknowledged to this process and the machine's copy does not have yet.

A process that commits one command after another does not fetch other machines' records each time.
It continues from the events that it signed itself, and its copy is synchronised a moment later
(decision 0038). Until then these commits are an overlay on the copy. If the keeper's next delta
lacks one of them, the keeper has lost what it acknowledged.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from moot.core.ledger import Head, RecordToAppend, View
from moot.core.record import Record
from moot.engine.checkpoints import holds_event
from moot.engine.ledger_copy import another_history

_NUMBER_UNKNOWN = -1  # the number of a stream that the copy does not have


class CommitsAhead:
    """The unsynchronised commits of one process, by stream.

    Each change makes a new mapping, so that one thread can read while another commits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, tuple[RecordToAppend, ...]] = {}
        self._added_at: dict[str, float] = {}  # stream -> when its first commit was added
        self.oldest_at = math.inf  # the smallest of these

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def newest(self) -> list[Record]:
        """Return the newest record of each stream."""
        return [entries[-1].record for entries in self._entries.values()]

    @property
    def hashes(self) -> set[bytes]:
        return {entry.record.hash for entries in self._entries.values() for entry in entries}

    def add(self, entries: Iterable[RecordToAppend]) -> None:
        """Add records that the keeper has acknowledged."""
        with self._lock:
            known = dict(self._entries)
            for entry in entries:
                stream = entry.record.stream
                known[stream] = (*known.get(stream, ()), entry)
                if stream not in self._added_at:
                    self._added_at[stream] = time.monotonic()
                    self._update_oldest()
            self._entries = known

    def _update_oldest(self) -> None:
        self.oldest_at = min(self._added_at.values(), default=math.inf)

    def drop_synced(self, view: View) -> None:
        """Drop what another process of this machine has brought into the copy meanwhile.

        Tampered if the copy has another record at such a position.
        """
        self.require_synced(view, self._newest_in(view))

    def _newest_in(self, view: View) -> Iterator[Record]:
        for stream, entries in self._entries.items():
            head = view.head(stream)
            if head is not None:
                there = [entry.record for entry in entries if entry.record.seq <= head.seq]
                yield from there[-1:]

    def require_synced(self, view: View, required: Iterable[Record]) -> None:
        """Raise Tampered unless the copy has these records; drop everything that it has."""
        for record in required:
            if not holds_event(view, record.stream, record.seq, record.hash):
                raise another_history(
                    f"the keeper's ledger lacks event {record.seq} of {record.stream}, which it"
                    " acknowledged to this machine"
                )
        with self._lock:
            remaining: dict[str, tuple[RecordToAppend, ...]] = {}
            for stream, entries in self._entries.items():
                head = view.head(stream)
                missing = tuple(entry for entry in entries if _is_before(head, entry.record))
                if missing:
                    remaining[stream] = missing
                if len(missing) < len(entries):
                    # The remaining ones are newer; "now" is close enough.
                    self._added_at[stream] = time.monotonic()
                if not missing:
                    del self._added_at[stream]
            self._entries = remaining
            self._update_oldest()

    def overlay(self, view: View) -> View:
        """Return the copy with these commits on top of it; index rows come from the copy alone."""
        return cast("View", _ViewAhead(view, self._entries)) if self._entries else view


class _ViewAhead:
    def __init__(self, view: View, ahead: dict[str, tuple[RecordToAppend, ...]]) -> None:
        self._view = view
        self._ahead = ahead

    def head(self, stream: str) -> Head | None:
        head = self._view.head(stream)
        ahead = self._ahead.get(stream)
        if ahead is None or not _is_before(head, ahead[-1].record):
            return head
        number = _NUMBER_UNKNOWN if head is None else head.number
        return Head(number, ahead[-1].record.seq, ahead[-1].record.hash)

    def records(self, stream: str, after: int = -1) -> Iterator[Record]:
        last = after
        for record in self._view.records(stream, after):
            last = record.seq
            yield record
        for entry in self._ahead.get(stream, ()):
            if entry.record.seq > last:
                yield entry.record

    def keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        known = self._view.keys(stream, prefix)
        places = {seq for _, seq in known}
        for entry in self._ahead.get(stream, ()):
            key, seq = entry.key, entry.record.seq
            if key is not None and key.startswith(prefix) and seq not in places:
                known.append((key, seq))
        return known

    def version_of_others(self) -> int:
        return self._view.version_of_others()

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


def _is_before(head: Head | None, record: Record) -> bool:
    return head is None or head.seq < record.seq


class SyncLock:
    """A file lock: only one process of a machine at a time synchronises the copy in passing.

    A process that needs new records now ignores it, and so do all on a file system without flock.
    """

    def __init__(self, file: Path) -> None:
        self._path = file
        self._file: int | None = None

    def try_acquire(self) -> bool:
        """Return False if another process holds the lock; else call `release` afterwards."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            self.release()
            return False
        except (ImportError, OSError):  # Windows; a disk without such locks, or full
            self.release()
        return True

    def release(self) -> None:
        """Release the lock. A second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
