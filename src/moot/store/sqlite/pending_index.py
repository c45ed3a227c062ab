"""The newest events: durable, but not yet filed into the indexes.

There are four indexes, in which the streams of a busy ledger are far apart: filing every event in
its own commit would write ten times as much as the event itself (decision 0014). So a commit
appends its events and, in one row of the table `unfiled`, what they change in the indexes. Every
connection keeps these rows in memory and reads them on top of the indexes. After a thousand events,
and with every checkpoint, a commit files all of them (`transaction.py`). Reading never files
anything, and neither does recovery after a crash.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Final

import msgspec

from moot.core.errors import StoreFailed
from moot.core.ledger import Head, StoredRow


def _load() -> dict[str, str]:
    """Read the named queries; each begins with two comment lines: its name and its purpose."""
    _, *parts = Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")
    queries = (part.split("\n", 2) for part in parts)
    return {name: sql.strip() for name, _purpose, sql in queries}


SQL = _load()


# How many events may be pending; a process that opens the file reads them in a few milliseconds.
FILE_AT: Final = 1_000
HEADS_KEPT: Final = 4096  # heads of other streams that stay in memory after filing
_UNREAD: Final = -1

NamedHead = tuple[str, Head]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # SQLite stores no larger number
Row = tuple[str, str, bytes | None, str, Seq]  # space, key, value (None: dropped), stream, seq
Text = tuple[str, str, str]  # space, key, text
UnfiledEvent = tuple[int, str, int, int]  # its number, stream, the stream's number, seq
Moved = dict[str, tuple[int, int]]  # streams: number, newest seq
AddedTo = tuple[int, int]  # a commit's newest seq on a stream, the number of the last event before
_seq_of: Final = itemgetter(0)


class IndexDelta(msgspec.Struct, frozen=True, array_like=True):
    """What one commit changes in the indexes; one row of the table `unfiled`."""

    heads: list[NamedHead]  # the streams it added to, each with its newest event
    rows: list[Row]
    words: list[Text]  # for the full-text index


encode_delta = msgspec.msgpack.Encoder().encode
_decode_delta = msgspec.msgpack.Decoder(IndexDelta).decode


class PendingIndex:
    """Everything that is not filed yet, as one connection knows it.

    The rows are unsigned, so each is compared with the events when it is read: otherwise a changed
    or removed row could hide the newest events.
    """

    def __init__(self, most: int = FILE_AT) -> None:
        """`most`: how many events may be pending before a commit files them."""
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Drop everything until the next `catch_up`."""
        self.version = _UNREAD  # SQLite's data version at the last `catch_up`
        self._filed = _UNREAD  # number of the last event in the indexes
        self.last_event = _UNREAD  # number of the last event
        # stream -> its newest event: of every stream that is not filed, and of those that this
        # connection has looked up since others last wrote
        self.heads: dict[str, Head] = {}
        # stream -> a head that matches no record, because its events and rows disagree
        self.doubtful: dict[str, Head] = {}
        self._empty()

    def _empty(self) -> None:
        # streams with events that are not filed, and for each the commits that added to it
        self.moved: dict[str, list[AddedTo]] = {}
        self.numbers: set[int] = set()  # the numbers of the same streams
        self.rows: dict[str, dict[str, StoredRow | None]] = {}  # space -> key -> row; None: dropped
        self.words: list[Text] = []

    @property
    def size(self) -> int:
        """Return the number of pending events."""
        return self.last_event - self._filed

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Read what other connections have added; everything again if one of them filed.

        Each row is compared with its events: if a row is missing, the stream would otherwise show
        an older history.
        """
        filed, known = _last_claimed(db), self.last_event
        if filed != self._filed or self.doubtful:
            self.forget()
            self._filed = self.last_event = filed
            known = _last_placed(db, filed)
        self.heads = {name: self.heads[name] for name in self.moved}
        late: list[UnfiledEvent] = db.execute(SQL["late_events"], (known,)).fetchall()
        written = iter(late)
        for event, encoded in db.execute(SQL["unfiled"], (self.last_event,)).fetchall():
            delta = _decode(encoded, event)
            self._compare(_moved_by(delta), _moved_until(event, written))
            self.add(event, delta)
        self._compare({}, _moved_until(None, written))
        if late:
            self.last_event = max(self.last_event, late[-1][0])
        for name, head in self.doubtful.items():
            self.heads[name] = head
            self.moved[name] = [(head.seq, self._filed)]

    def _compare(self, delta: Moved, written: Moved) -> None:
        """Give a stream whose events and rows disagree a head that matches no event, so that every
        use of it fails as tampered."""
        if delta != written:
            for name in delta.keys() | written.keys():
                if delta.get(name) != written.get(name):
                    self.doubtful[name] = Head(*(written.get(name) or delta[name]), b"")

    def add(self, last_event: int, delta: IndexDelta) -> bool:
        """Add the changes of one commit; True if it is time to file everything."""
        before, self.last_event = self.last_event, last_event
        for name, head in delta.heads:
            self.heads[name] = head
            added = self.moved.get(name)
            if added is None:
                added = self.moved[name] = []
            added.append((head.seq, before))
            self.numbers.add(head.number)
        for space, key, value, stream, seq in delta.rows:
            there = self.rows.get(space)
            if there is None:
                there = self.rows[space] = {}
            there[key] = None if value is None else StoredRow(key, value, stream, seq)
        self.words += delta.words
        return last_event - self._filed >= self._most

    def event_before(self, stream: str, after: int) -> int:
        """Return the number of an event before all pending events of a stream after a position,
        so that a reader of the newest ones does not scan all of them."""
        commits = self.moved[stream]
        first = bisect_right(commits, after, key=_seq_of)
        return commits[first][1] if first < len(commits) else self.last_event

    def mark_filed(self) -> None:
        """Note that this connection has filed everything, in its current transaction."""
        self._filed = self.last_event
        self._empty()
        if len(self.heads) > HEADS_KEPT:
            self.heads = {}


def pending_index_damaged(why: str) -> StoreFailed:
    return StoreFailed(
        "store_damaged",
        f"the newest events are damaged: {why}",
        hint="keep the file, and restore from a backup",
    )


def _last_claimed(db: sqlite3.Connection) -> int:
    """Return the newest event that the file claims to be filed."""
    match db.execute(SQL["filed"]).fetchall():
        case [(int(event),)]:
            return event
    raise pending_index_damaged("the table `filed` does not have exactly one number")


def _last_placed(db: sqlite3.Connection, filed: int) -> int:
    """Return the newest event that really is in the index `places`.

    If the file claims more, the events after it would be neither filed nor pending, and could not
    be found at all.
    """
    newest: int = db.execute(SQL["newest_event"]).fetchone()[0]
    last = min(filed, newest)
    while last > 0 and not db.execute(SQL["is_placed"], (last,)).fetchone():
        last -= 1
    return last


def _decode(encoded: bytes, event: int) -> IndexDelta:
    try:
        return _decode_delta(encoded)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = f"the index changes of event {event} cannot be read: {error}"
        raise pending_index_damaged(problem) from None


def _moved_by(delta: IndexDelta) -> Moved:
    return {name: (head.number, head.seq) for name, head in delta.heads}


def _moved_until(last: int | None, written: Iterator[UnfiledEvent]) -> Moved:
    """Return the streams that the events up to `last` moved, or that all remaining events moved."""
    moved = {}
    for event, name, number, seq in written:
        moved[name] = number, seq
        if event == last:
            return moved
    return moved if last is None else {}


# Pending texts get a full-text index in memory, so that the same tokenizer splits the words and
# reading writes nothing.

_INDEX = "CREATE VIRTUAL TABLE index_words USING fts5 (space UNINDEXED, key UNINDEXED, text)"


def search_texts(
    texts: list[tuple[str, str]], space: str, query: str, limit: int
) -> list[tuple[float, str]]:
    """Return rank and key of the matching (key, text) pairs, like SQL["search"]."""
    if not texts:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(_INDEX)
        rows = [(space, key, text) for key, text in texts]
        db.executemany("INSERT INTO index_words VALUES (?, ?, ?)", rows)
        return db.execute(SQL["search"], (query, space, limit)).fetchall()
