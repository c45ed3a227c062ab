"""The newest events: durable, but not filed yet.

To find events again takes four indexes, in each of which a busy ledger's streams lie far apart: to
file every event at once would write ten times as much as the event itself. So a commit only says,
in one row, what its events change there. Every connection keeps that in memory, over the indexes,
and reads both as one; from time to time a commit files all of it (`change.py`).
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

import msgspec

from moot.core.errors import StoreFailed
from moot.core.ledger import Head, StoredRow
from moot.store.sqlite.queries import SQL

HEADS_KEPT: Final = 4096
_UNREAD: Final = -1

NamedHead = tuple[str, Head]
Row = tuple[str, str, bytes | None, str, int]  # space, key, value (None: dropped), stream, seq
Text = tuple[str, str, str]  # space, key, text


class Said(NamedTuple):
    """What one commit changes in the indexes."""

    heads: list[NamedHead]
    rows: list[Row]
    words: list[Text]


encode_said = msgspec.msgpack.Encoder().encode
_decode_said = msgspec.msgpack.Decoder(Said).decode


class Tail:
    """What is not filed yet, as one connection knows it.

    `heads` may hold more: whatever this connection has met since others last wrote.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Know nothing, until it is read again."""
        self._filed = _UNREAD
        self.last_event = _UNREAD
        self.heads: dict[str, Head] = {}
        self._empty()

    def _empty(self) -> None:
        self.moved: set[str] = set()
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
        """Read what others have written since; from the beginning if it was filed meanwhile."""
        (filed,) = db.execute(SQL["filed"]).fetchone()
        if filed != self._filed:
            self.forget()
        self.heads = {name: self.heads[name] for name in self.moved}
        for event, says in db.execute(SQL["unfiled"], (self.last_event,)):
            self.add(event, _read(says, event))
        self._filed, self.last_event = filed, max(filed, self.last_event)

    def add(self, last_event: int, said: Said) -> None:
        """One more commit."""
        self.last_event = last_event
        for name, head in said.heads:
            self.heads[name] = head
            self.moved.add(name)
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


def _read(says: bytes, event: int) -> Said:
    try:
        return _decode_said(says)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreFailed(
            "store_damaged",
            f"what event {event} says to the indexes cannot be read: {error}",
            hint="keep the file; restore from a backup",
        ) from None
