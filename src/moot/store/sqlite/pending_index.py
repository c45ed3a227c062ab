"""The newest events: durable, but not yet filed into the indexes.

Finding events again takes four indexes, in each of which the streams of a busy ledger lie far
apart: filing every event in its own commit would write ten times as much as the event itself
(decision 0014). So a commit appends its events and, in one row of the table `unfiled`, what they
change in the indexes. Every connection keeps these rows in memory, over the indexes, and reads both
as one. After a thousand events, and with every checkpoint, a commit files all of them
(`transaction.py`). Neither reading nor a crash ever files anything.
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

# The named queries of `queries.sql`, read once.


def _load() -> dict[str, str]:
    """Each begins with two lines of comment: its name, and what it is for."""
    _, *parts = Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")
    queries = (part.split("\n", 2) for part in parts)
    return {name: sql.strip() for name, _purpose, sql in queries}


SQL = _load()


# No postponed annotations: msgspec would compile each of them anew in every hook.


# How many events may wait to be filed; whoever opens the file reads them in a few milliseconds.
FILE_AT: Final = 1_000
HEADS_KEPT: Final = 4096  # heads of other streams that are remembered after a filing
_UNREAD: Final = -1  # nothing was read yet

NamedHead = tuple[str, Head]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # more has no place in the file
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
    words: list[Text]  # texts to be found by their words


encode_delta = msgspec.msgpack.Encoder().encode
_decode_delta = msgspec.msgpack.Decoder(IndexDelta).decode


class PendingIndex:
    """All that is not filed yet, as one connection knows it.

    It is unsigned, so each row is compared with the events themselves when it is read: whoever
    changed or removed a row could otherwise make the newest events disappear.
    """

    def __init__(self, most: int = FILE_AT) -> None:
        """`most`: how many events may wait before a commit files them."""
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Know nothing until the next `catch_up`."""
        self.version = _UNREAD  # SQLite's data version when this was last brought up to date
        self._filed = _UNREAD  # number of the last event in the indexes
        self.last_event = _UNREAD  # number of the last event there is
        # stream -> its newest event: of every stream that is not filed, and of those that this
        # connection has looked up since others last wrote
        self.heads: dict[str, Head] = {}
        # stream -> a head that fits no record, because the events and the rows about it disagree
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
        """How many events are not filed yet."""
        return self.last_event - self._filed

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Read what others have added since; all of it again if somebody filed meanwhile.

        Each row is compared with the events that it speaks of: if one is missing, the stream would
        otherwise show an older history.
        """
        filed, known = _last_claimed(db), self.last_event
        if filed != self._filed or self.doubtful:
            self.forget()
            self._filed = self.last_event = filed
            known = _last_placed(db, filed)
        self.heads = {name: self.heads[name] for name in self.moved}
        late: list[UnfiledEvent] = db.execute(SQL["late_events"], (known,)).fetchall()
        written = iter(late)
        for event, says in db.execute(SQL["unfiled"], (self.last_event,)).fetchall():
            said = _decode(says, event)
            self._compare(_moved_by(said), _moved_until(event, written))
            self.add(event, said)
        self._compare({}, _moved_until(None, written))
        if late:
            self.last_event = max(self.last_event, late[-1][0])
        for name, head in self.doubtful.items():
            self.heads[name] = head
            self.moved[name] = [(head.seq, self._filed)]

    def _compare(self, said: Moved, written: Moved) -> None:
        """A stream whose events are not those that the rows speak of gets a head that fits no
        event, so that every use of it fails as tampered."""
        if said != written:
            for name in said.keys() | written.keys():
                if said.get(name) != written.get(name):
                    self.doubtful[name] = Head(*(written.get(name) or said[name]), b"")

    def add(self, last_event: int, delta: IndexDelta) -> bool:
        """Take in what one more commit changes; True if it is time to file all of it."""
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
        """The number of an event behind which all events of a moved stream stand that come after a
        position and are not filed: whoever reads the newest of them need not look at all."""
        commits = self.moved[stream]
        first = bisect_right(commits, after, key=_seq_of)
        return commits[first][1] if first < len(commits) else self.last_event

    def mark_filed(self) -> None:
        """This connection has filed everything, in the change under way."""
        self._filed = self.last_event
        self._empty()
        if len(self.heads) > HEADS_KEPT:
            self.heads = {}


def pending_index_damaged(why: str) -> StoreFailed:
    return StoreFailed(
        "store_damaged",
        f"the newest events are not as they were left: {why}",
        hint="keep the file; restore from a backup",
    )


def _last_claimed(db: sqlite3.Connection) -> int:
    """The newest event that the file itself calls filed."""
    match db.execute(SQL["filed"]).fetchall():
        case [(int(event),)]:
            return event
    raise pending_index_damaged("what is filed, and what is not, cannot be told apart")


def _last_placed(db: sqlite3.Connection, filed: int) -> int:
    """The newest event that actually stands in the index of places.

    If the file claims more than that, its events would be neither filed nor waiting, and so could
    not be found at all.
    """
    newest: int = db.execute(SQL["newest_event"]).fetchone()[0]
    last = min(filed, newest)
    while last > 0 and not db.execute(SQL["is_placed"], (last,)).fetchone():
        last -= 1
    return last


def _decode(says: bytes, event: int) -> IndexDelta:
    try:
        return _decode_delta(says)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise pending_index_damaged(f"what event {event} says cannot be read: {error}") from None


def _moved_by(said: IndexDelta) -> Moved:
    return {name: (head.number, head.seq) for name, head in said.heads}


def _moved_until(last: int | None, written: Iterator[UnfiledEvent]) -> Moved:
    """The same from the events themselves: up to the event `last`, or all that are left."""
    moved = {}
    for event, name, number, seq in written:
        moved[name] = number, seq
        if event == last:
            return moved
    return moved if last is None else {}


# Texts that are not in the full-text index yet get one of their own in memory, so that the same
# tokenizer decides what a word is, and reading still writes nothing.

_INDEX = "CREATE VIRTUAL TABLE index_words USING fts5 (space UNINDEXED, key UNINDEXED, text)"


def search_texts(
    texts: list[tuple[str, str]], space: str, query: str, limit: int
) -> list[tuple[float, str]]:
    """Rank and key of the (key, text) that match, as SQL["search"] gives them."""
    if not texts:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(_INDEX)
        rows = [(space, key, text) for key, text in texts]
        db.executemany("INSERT INTO index_words VALUES (?, ?, ?)", rows)
        return db.execute(SQL["search"], (query, space, limit)).fetchall()
