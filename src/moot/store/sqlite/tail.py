"""The newest events: durable, but not filed yet.

To find events again takes four indexes, in each of which a busy ledger's streams lie far apart: to
file every event at once would write ten times as much as the event itself. So a commit only says,
in one row, what its events change there. Every connection keeps that in memory, over the indexes,
and reads both as one; from time to time a commit files all of it (`change.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

import msgspec

from moot.core.errors import StoreFailed
from moot.core.ledger import Head, StoredRow
from moot.store.sqlite.queries import SQL

HEADS_KEPT: Final = 4096
_UNREAD: Final = -1

NamedHead = tuple[str, Head]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # more has no place in the file
Row = tuple[str, str, bytes | None, str, Seq]  # space, key, value (None: dropped), stream, seq
Text = tuple[str, str, str]  # space, key, text
LateEvent = tuple[int, str, int, int]  # its number, stream, the stream's number, seq
Moved = dict[str, tuple[int, int]]  # streams: number, newest seq


class Said(NamedTuple):
    """What one commit changes in the indexes."""

    heads: list[NamedHead]
    rows: list[Row]
    words: list[Text]


encode_said = msgspec.msgpack.Encoder().encode
_decode_said = msgspec.msgpack.Decoder(Said).decode


class Tail:
    """What is not filed yet, as one connection knows it.

    `heads` may hold more: whatever this connection has met since others last wrote. `doubtful` are
    those of streams that were tampered with.
    """

    def __init__(self) -> None:
        self.version = -1  # SQLite's number for the commits of other connections
        self.forget()

    def forget(self) -> None:
        """Know nothing, until it is read again."""
        self._filed = _UNREAD
        self.last_event = _UNREAD
        self.heads: dict[str, Head] = {}
        self.doubtful: dict[str, Head] = {}
        self._empty()

    def _empty(self) -> None:
        self.moved: set[str] = set()
        self.numbers: set[int] = set()  # of the same streams
        self.rows: dict[str, dict[str, StoredRow | None]] = {}  # None: dropped
        self.words: list[Text] = []

    @property
    def is_read(self) -> bool:
        return self._filed != _UNREAD

    @property
    def size(self) -> int:
        """How many events are not filed."""
        return self.last_event - self._filed

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Read what others have written since; from the beginning if it was filed meanwhile.

        Held against the events themselves: a row lost here would show an older history.
        """
        filed, known = _filed(db), self.last_event
        if filed != self._filed or self.doubtful:
            self.forget()
            self._filed = self.last_event = filed
            known = _last_placed(db, filed)
        self.heads = {name: self.heads[name] for name in self.moved}
        late: list[LateEvent] = db.execute(SQL["late_events"], (known,)).fetchall()
        written = iter(late)
        for event, says in db.execute(SQL["unfiled"], (self.last_event,)).fetchall():
            said = _read(says, event)
            self._compare(_moved_by(said), _moved_until(event, written))
            self.add(event, said)
        self._compare({}, _moved_until(None, written))
        if late:
            self.last_event = max(self.last_event, late[-1][0])
        self.heads.update(self.doubtful)
        self.moved.update(self.doubtful)

    def _compare(self, said: Moved, written: Moved) -> None:
        """A stream of which other events stand there than is said gets a head that fits none."""
        if said != written:
            for name in said.keys() | written.keys():
                if said.get(name) != written.get(name):
                    self.doubtful[name] = Head(*(written.get(name) or said[name]), b"")

    def add(self, last_event: int, said: Said) -> None:
        """One more commit."""
        self.last_event = last_event
        for name, head in said.heads:
            self.heads[name] = head
            self.moved.add(name)
            self.numbers.add(head.number)
        for space, key, value, stream, seq in said.rows:
            there = self.rows.get(space)
            if there is None:
                there = self.rows[space] = {}
            there[key] = None if value is None else StoredRow(key, value, stream, seq)
        self.words += said.words

    def was_filed(self) -> None:
        """By this connection, in the change under way."""
        self._filed = self.last_event
        self._empty()
        if len(self.heads) > HEADS_KEPT:
            self.heads = {}


def damaged(why: str) -> StoreFailed:
    return StoreFailed(
        "store_damaged",
        f"the newest events are not as they were left: {why}",
        hint="keep the file; restore from a backup",
    )


def _filed(db: sqlite3.Connection) -> int:
    """The last event that is said to be filed."""
    match db.execute(SQL["filed"]).fetchall():
        case [(int(event),)]:
            return event
    raise damaged("what is filed, and what is not, cannot be told apart")


def _last_placed(db: sqlite3.Connection, filed: int) -> int:
    """The last event that really is."""
    newest: int = db.execute(SQL["newest_event"]).fetchone()[0]
    last = min(filed, newest)
    while last > 0 and not db.execute(SQL["is_placed"], (last,)).fetchone():
        last -= 1
    return last


def _read(says: bytes, event: int) -> Said:
    try:
        return _decode_said(says)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise damaged(f"what event {event} says cannot be read: {error}") from None


def _moved_by(said: Said) -> Moved:
    return {name: (head.number, head.seq) for name, head in said.heads}


def _moved_until(last: int | None, written: Iterator[LateEvent]) -> Moved:
    """The same by the events up to one of them, or by all that are left."""
    moved = {}
    for event, name, number, seq in written:
        moved[name] = number, seq
        if event == last:
            return moved
    return moved if last is None else {}
