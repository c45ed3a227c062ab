"""What the keeper has acknowledged to this process and the machine's copy does not have yet.

A process that records one command after another need not be told each time what all others did. It
knows what it has signed, and so it goes on from there; its copy follows a moment later, with all
that came meanwhile at once (decision 0038). Until then what it knows lies over the copy, and it is
owed: a keeper whose new records lack it has lost what it acknowledged.
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

_NUMBER_UNKNOWN = -1  # of a stream that the copy does not have


class CommitsAhead:
    """The newest commits of one process, by stream. Each change makes a new mapping, so that one
    thread can look while another commits."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._entries: dict[str, tuple[RecordToAppend, ...]] = {}
        self._added_at: dict[str, float] = {}  # when the first of each stream came
        # When the first of what the copy lacks was acknowledged, as far as we know.
        self.oldest_at = math.inf

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def newest(self) -> list[Record]:
        """The newest of each stream."""
        return [entries[-1].record for entries in self._entries.values()]

    @property
    def hashes(self) -> set[bytes]:
        return {entry.record.hash for entries in self._entries.values() for entry in entries}

    def add(self, entries: Iterable[RecordToAppend]) -> None:
        """The keeper has acknowledged these."""
        with self._changing:
            known = dict(self._entries)
            for entry in entries:
                stream = entry.record.stream
                known[stream] = (*known.get(stream, ()), entry)
                if stream not in self._added_at:
                    self._added_at[stream] = time.monotonic()
                    self._find_oldest()
            self._entries = known

    def _find_oldest(self) -> None:
        self.oldest_at = min(self._added_at.values(), default=math.inf)

    def drop_what_is_in(self, view: View) -> None:
        """Another process of this machine may have brought some of it into the copy; Tampered if
        something else is there."""
        self.require_in(view, self._newest_in(view))

    def _newest_in(self, view: View) -> Iterator[Record]:
        for stream, entries in self._entries.items():
            head = view.head(stream)
            if head is not None:
                there = [entry.record for entry in entries if entry.record.seq <= head.seq]
                yield from there[-1:]

    def require_in(self, view: View, owed: Iterable[Record]) -> None:
        """Tampered unless the copy has these now; what it has is ahead of it no longer."""
        for record in owed:
            if not holds_event(view, record.stream, record.seq, record.hash):
                raise another_history(
                    f"the keeper's ledger lacks event {record.seq} of {record.stream}, which it"
                    " acknowledged to this machine"
                )
        with self._changing:
            left: dict[str, tuple[RecordToAppend, ...]] = {}
            for stream, entries in self._entries.items():
                head = view.head(stream)
                lacking = tuple(entry for entry in entries if _is_before(head, entry.record))
                if lacking:
                    left[stream] = lacking
                if len(lacking) < len(entries):
                    # Those that are left came later; by how much is not worth remembering.
                    self._added_at[stream] = time.monotonic()
                if not lacking:
                    del self._added_at[stream]
            self._entries = left
            self._find_oldest()

    def over(self, view: View) -> View:
        """The copy with what is ahead of it, stream by stream; the index rows are the copy's."""
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


# One process of a machine at a time fetches what is new, under a lock on a file. A process that
# needs new records now asks all the same, and so do all where there are no such locks.


class SyncLock:
    """One process's side of it."""

    def __init__(self, file: Path) -> None:
        self._place = file
        self._file: int | None = None

    def begin(self) -> bool:
        """True if nobody else is fetching; then `end` says that we have done so."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock

            self._file = os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            self.end()
            return False
        except (ImportError, OSError):  # Windows; a disk without such locks, or full
            self.end()
        return True

    def end(self) -> None:
        """A second call changes nothing."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
