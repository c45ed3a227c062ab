"""The newest checkpoint of every ledger that this user has written to, and the heads it pins.

A ledger alone cannot show that it was replaced by an older copy: every signature in the copy is
valid. So Moot remembers what it has seen in the user's key folder, outside the ledger: a ledger
that lacks a remembered head was rolled back (decision 0006). An older checkpoint never replaces a
newer one. Checks use `read_seen_ledger`, which writes nothing and works on a read-only disk.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from moot.core.errors import StoreFailed
from moot.core.ledger import Head
from moot.store.sqlite.read_only import NOT_WRITABLE, ReadOnlyFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
  origin TEXT PRIMARY KEY, number INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS heads (
  origin TEXT NOT NULL, stream TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (origin, stream)) STRICT, WITHOUT ROWID;
"""
# LDG-038: a note is replaced by a newer one only.
_KEEP_NOTE = (
    "INSERT INTO notes (origin, number, note) VALUES (?, ?, ?) ON CONFLICT (origin) DO UPDATE"
    " SET number = excluded.number, note = excluded.note WHERE excluded.number > notes.number"
)
_KEEP_HEAD = (
    "INSERT INTO heads (origin, stream, seq, hash) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (origin, stream) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"
    " WHERE excluded.seq > heads.seq"
)


class SeenCheckpoint(msgspec.Struct, frozen=True):
    """A remembered checkpoint: its number, and the signed note itself."""

    number: int
    note: str


Heads = dict[str, tuple[int, bytes]]  # stream -> seq and hash of the newest event seen


class SeenLedger(msgspec.Struct, frozen=True):
    """Everything that Moot remembers of one ledger."""

    newest: SeenCheckpoint | None
    heads: Heads


def read_seen_ledger(path: Path, origin: str) -> SeenLedger:
    """Return everything remembered of `origin`, in one consistent read; nothing without a file."""
    try:
        if not path.exists():
            return SeenLedger(None, {})
        with closing(ReadOnlyFile(path)) as file, file.require_unchanged():
            return _read_all(file.db, origin)
    except StoreFailed as error:  # another process wrote meanwhile, or the log is unreadable
        hint = "try again; if that fails, run `moot status` where the key folder is writable"
        raise StoreFailed(error.code, str(error), hint=hint) from None
    except (sqlite3.Error, OSError) as error:
        raise (_unreadable if _may_not_write(error) else _damaged)(path, error) from error


def _read_all(db: sqlite3.Connection, origin: str) -> SeenLedger:
    db.execute("BEGIN")
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if not tables:  # another process has just created the file
        return SeenLedger(None, {})
    return SeenLedger(_read_newest(db, origin), _read_heads(db, origin))


def _read_newest(db: sqlite3.Connection, origin: str) -> SeenCheckpoint | None:
    row = db.execute("SELECT number, note FROM notes WHERE origin = ?", (origin,)).fetchone()
    return SeenCheckpoint(*row) if row else None


def _read_heads(db: sqlite3.Connection, origin: str) -> Heads:
    sql = "SELECT stream, seq, hash FROM heads WHERE origin = ?"
    return {name: (seq, head) for name, seq, head in db.execute(sql, (origin,))}


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing; create it if there is none.

    `synchronous = NORMAL`: a power failure may cost the newest rows. An older copy of the ledger is
    then compared with an earlier checkpoint. The ledger's own commits are durable; a second sync
    with every checkpoint would gain little.
    """
    if path.exists() and not os.access(path, os.W_OK):  # SQLite would leave a write-protected log
        raise PermissionError(errno.EACCES, "not writable", str(path))
    # Created with mode 0600 first; if that fails, SQLite reports why. An existing file is not
    # opened here: closing it would release the locks of this process's other connections.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA)
        db.execute("BEGIN IMMEDIATE")  # fails now if not writable, not after a checkpoint
        db.execute("ROLLBACK")
    except BaseException:
        db.close()
        raise
    return db


class SeenCheckpoints:
    """The file of remembered checkpoints. Opened on first use; reading never creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()  # threads share the one connection
        self._db: sqlite3.Connection | None = None

    def newest(self, origin: str) -> SeenCheckpoint | None:
        """Return the newest checkpoint remembered of `origin`."""
        if not self._path.exists():  # reading never creates anything
            return None
        with self._connection() as db:
            return _read_newest(db, origin)

    def heads_of(self, origin: str, streams: Iterable[str]) -> Heads:
        """Return the remembered heads of these streams; streams never seen are left out."""
        if not self._path.exists():
            return {}
        with self._connection() as db:
            sql = "SELECT seq, hash FROM heads WHERE origin = ? AND stream = ?"
            rows_by_stream = {name: db.execute(sql, (origin, name)).fetchone() for name in streams}
        return {name: row for name, row in rows_by_stream.items() if row is not None}

    def heads(self, origin: str) -> Heads:
        """Return the remembered heads of all streams of `origin`."""
        if not self._path.exists():
            return {}
        with self._connection() as db:
            return _read_heads(db, origin)

    def remember(
        self, origin: str, number: int, note: str, moved: Iterable[tuple[str, Head]]
    ) -> None:
        """Remember a checkpoint and the heads that moved with it; ignore an older one."""
        rows = [(origin, stream, head.seq, head.hash) for stream, head in moved]
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(_KEEP_NOTE, (origin, number, note))
            db.executemany(_KEEP_HEAD, rows)
            db.execute("COMMIT")

    def replace_all(
        self, origin: str, number: int, note: str, heads: Iterable[tuple[str, Head]]
    ) -> None:
        """Forget what was lost, after a person has accepted the loss."""
        rows = [(origin, stream, head.seq, head.hash) for stream, head in heads]
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM notes WHERE origin = ?", (origin,))
            db.execute("DELETE FROM heads WHERE origin = ?", (origin,))
            db.execute(_KEEP_NOTE, (origin, number, note))
            db.executemany(_KEEP_HEAD, rows)
            db.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Return the connection, which stays open until `close` or an error: opening it costs more
        than a write."""
        try:
            with self._lock:
                self._db = self._db or _connect(self._path)
                yield self._db
        except BaseException as error:
            self.close()
            if not isinstance(error, (sqlite3.Error, PermissionError)):
                raise
            raise (_read_only if _may_not_write(error) else _damaged)(self._path, error) from error


def _may_not_write(error: sqlite3.Error | OSError) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, OSError) or code in NOT_WRITABLE


def _read_only(path: Path, error: Exception) -> StoreFailed:
    return StoreFailed(
        "kept_read_only",
        f"{path}, the remembered checkpoints, cannot be written: {error}",
        hint="check the permissions of the key folder and its disk; `moot verify` only reads, "
        "and still works",
    )


def _unreadable(path: Path, error: Exception) -> StoreFailed:
    return StoreFailed(
        "kept_unreadable",
        f"{path}, the remembered checkpoints, cannot be read: {error}",
        hint="check the permissions of the key folder, or set MOOT_KEYS to another one",
    )


def _damaged(path: Path, error: Exception) -> StoreFailed:
    return StoreFailed(
        "kept_damaged",
        f"{path}, the remembered checkpoints, is damaged: {error}",
        hint="check the key folder and its disk; without kept.db Moot cannot detect an older copy "
        "of the ledger, so restore it from a backup if there is one",
    )
