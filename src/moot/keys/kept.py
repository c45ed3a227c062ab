"""The newest checkpoint of every ledger this user wrote, and the heads it pins.

Kept outside the ledger so that an older copy put in its place is noticed: a ledger that lacks
any kept head has been rolled back. Rows only ever move forward; an older note never replaces a
newer one.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import StoreFailed
from moot.core.ledger import Head

_SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
  origin TEXT PRIMARY KEY, number INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS heads (
  origin TEXT NOT NULL, stream TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (origin, stream)) STRICT, WITHOUT ROWID;
"""
_KEEP_NOTE = (
    "INSERT INTO notes (origin, number, note) VALUES (?, ?, ?) ON CONFLICT (origin) DO UPDATE"
    " SET number = excluded.number, note = excluded.note WHERE excluded.number > notes.number"
)
_KEEP_HEAD = (
    "INSERT INTO heads (origin, stream, seq, hash) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (origin, stream) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"
    " WHERE excluded.seq > heads.seq"
)


class KeptNote(NamedTuple):
    number: int
    note: str


def _connect(path: Path) -> sqlite3.Connection:
    """Power loss may cost the newest notes, which only makes an older copy harder to notice:
    the ledger's own commits are durable, and waiting for a second disk write buys nothing."""
    db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db


class KeptNotes:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.RLock()
        self._db: sqlite3.Connection | None = None

    def newest(self, origin: str) -> KeptNote | None:
        if not self._path.exists():  # reading never creates anything
            return None
        with self._open() as db:
            sql = "SELECT number, note FROM notes WHERE origin = ?"
            row = db.execute(sql, (origin,)).fetchone()
        return KeptNote(*row) if row else None

    def heads(self, origin: str) -> dict[str, tuple[int, bytes]]:
        if not self._path.exists():
            return {}
        with self._open() as db:
            sql = "SELECT stream, seq, hash FROM heads WHERE origin = ?"
            return {name: (seq, head) for name, seq, head in db.execute(sql, (origin,))}

    def keep(self, origin: str, number: int, note: str, moved: Iterable[tuple[str, Head]]) -> None:
        """Only changed rows are written; what is older than what is kept is ignored."""
        rows = [(origin, stream, head.seq, head.hash) for stream, head in moved]
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(_KEEP_NOTE, (origin, number, note))
            db.executemany(_KEEP_HEAD, rows)
            db.execute("COMMIT")

    def start_over(
        self, origin: str, number: int, note: str, heads: Iterable[tuple[str, Head]]
    ) -> None:
        """Forget what was lost, once a person has accepted the loss."""
        rows = [(origin, stream, head.seq, head.hash) for stream, head in heads]
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM notes WHERE origin = ?", (origin,))
            db.execute("DELETE FROM heads WHERE origin = ?", (origin,))
            db.execute(_KEEP_NOTE, (origin, number, note))
            db.executemany(_KEEP_HEAD, rows)
            db.execute("COMMIT")

    def close(self) -> None:
        with self._turn:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Held until `close`: opening costs more than keeping. After an error nothing is held."""
        try:
            with self._turn:
                self._db = self._db or _connect(self._path)
                yield self._db
        except BaseException as error:
            self.close()
            if not isinstance(error, sqlite3.Error):
                raise
            raise StoreFailed(
                "kept_damaged",
                f"the memory of checkpoints cannot be used ({self._path}: {error})",
                hint="check the key folder and its disk; without kept.db an older copy of the "
                "ledger could not be noticed, so put it back from a backup if there is one",
            ) from error
