"""Which versions of which files agents have read and written: this machine's file memory.

It is local (`.moot/files.db`), not in the ledger, and may be lost: then Moot notices less. A
version is git's own id of the bytes (`system/git_objects.py`), so that it can be compared with
git's objects. `LEFT` is the file after an agent's edit, `READ` as a session last saw it, `KEPT` a
copy of the bytes made before another agent's act could destroy them. The journal of calls
(`call_journal.py`) is in the same file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from moot.core.errors import StoreFailed
from moot.workspace.call_journal import SCHEMA as JOURNAL_SCHEMA
from moot.workspace.call_journal import CallJournal
from moot.workspace.line_store import SCHEMA as LINES_SCHEMA
from moot.workspace.line_store import LineStore

if TYPE_CHECKING:
    from moot.core.clock import Millis

FILE: Final = "files.db"
BUSY_SECONDS: Final = 2.0
# The oldest rows are deleted first. The bytes of copies are in git's objects, which git prunes.
MOST_ROWS: Final = 100_000
_SWEEP_EVERY: Final = 1_000

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS versions (
  number INTEGER PRIMARY KEY, worktree TEXT NOT NULL, path TEXT NOT NULL, act TEXT NOT NULL,
  agent TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL, blob TEXT NOT NULL,
  size INTEGER NOT NULL, is_stored INTEGER NOT NULL, mode INTEGER NOT NULL,
  why TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS by_path ON versions (worktree, path, act, agent, number);
CREATE INDEX IF NOT EXISTS copied ON versions (act, at, size) WHERE is_stored;
"""
_WHOLE_SCHEMA: Final = _SCHEMA + JOURNAL_SCHEMA + LINES_SCHEMA
_COLUMNS: Final = "worktree, path, act, agent, session, at, blob, size, is_stored, mode, why"


class Act(StrEnum):
    """How Moot learned of a version."""

    LEFT = "left"
    READ = "read"
    KEPT = "kept"


class FileVersion(NamedTuple):
    """`path` is relative to the root `worktree`. `agent` read or wrote it; empty: unknown.

    `session` distinguishes sessions and sub-agents of one agent. `blob` is empty if the file did
    not exist. `is_stored`: its bytes can be restored from git's objects. `mode` is the file's
    `st_mode`. `why` names what made it: a tool, a command.
    """

    worktree: str
    path: str
    act: Act
    agent: str
    session: str
    at: Millis
    blob: str
    size: int = 0
    is_stored: bool = False
    mode: int = 0
    why: str = ""


class FileVersions:
    """The file memory of one workspace; any number of processes may read and write it."""

    def __init__(self, workspace: Path, *, only_reads: bool = False) -> None:
        """`only_reads` creates and changes no file."""
        self._file = workspace / FILE
        with self._translate_errors():
            self._db = (_open_for_reading if only_reads else _open_for_writing)(self._file)
        self.journal = CallJournal(self)
        self.lines = LineStore(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def note(self, versions: Iterable[FileVersion]) -> None:
        """Store these versions, all or none."""
        marks = ", ".join("?" * len(FileVersion._fields))
        with self.transaction() as db:
            db.executemany(f"INSERT INTO versions ({_COLUMNS}) VALUES ({marks})", list(versions))
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM versions").fetchone()
            if newest % _SWEEP_EVERY == 0:
                db.execute("DELETE FROM versions WHERE number <= ?", (newest - MOST_ROWS,))

    def last(
        self, worktree: str, path: str, act: Act, *, agent: str = "", session: str = ""
    ) -> FileVersion | None:
        """Return the newest version of a file, by this agent or session if given."""
        where, values = "worktree = ? AND path = ? AND act = ?", [worktree, path, str(act)]
        for column, value in (("agent", agent), ("session", session)):
            if value:
                where, values = f"{where} AND {column} = ?", [*values, value]
        return next(iter(self._select(where, values, limit=1)), None)

    def list_versions(self, act: Act, *, worktree: str = "", limit: int = 200) -> list[FileVersion]:
        """Return the newest versions of one kind, newest first, of one worktree or all."""
        where, values = "act = ?", [str(act)]
        if worktree:
            where, values = f"{where} AND worktree = ?", [*values, worktree]
        return list(self._select(where, values, limit))

    def list_copied_files(self, limit: int) -> list[tuple[str, str]]:
        """Return worktree and path of each copied file, the most recently copied first."""
        sql = (
            "SELECT worktree, path FROM versions WHERE is_stored"
            " GROUP BY worktree, path ORDER BY max(number) DESC LIMIT ?"
        )
        with self._translate_errors():
            return self._db.execute(sql, (limit,)).fetchall()

    def list_history(self, worktree: str, path: str, limit: int = 1_000) -> list[FileVersion]:
        """Return the LEFT and KEPT versions of one file, newest first, stored or not."""
        where = "worktree = ? AND path = ? AND act <> 'read'"
        return list(self._select(where, [worktree, path], limit))

    def has_copy(self, worktree: str, path: str, blob: str) -> bool:
        """Return whether these bytes were copied under this path."""
        where = "worktree = ? AND path = ? AND blob = ? AND is_stored"
        return any(self._select(where, [worktree, path, blob], limit=1))

    def was_seen(self, worktree: str, path: str, blob: str, before: Millis) -> bool:
        """Return whether this version of a file was noted before that time."""
        sql = (
            "SELECT 1 FROM versions WHERE worktree = ? AND path = ? AND blob = ? AND at < ? LIMIT 1"
        )
        return bool(self.query(sql, (worktree, path, blob, before)))

    def newest(self, worktree: str, path: str, *, session: str = "") -> FileVersion | None:
        """Return the newest version of a file of any kind, of one session if given."""
        where, values = "worktree = ? AND path = ?", [worktree, path]
        if session:
            where, values = f"{where} AND session = ?", [*values, session]
        return next(iter(self._select(where, values, limit=1)), None)

    def last_left(self, worktree: str) -> list[FileVersion]:
        """Return the newest LEFT version of each file by each agent."""
        where = "worktree = ? AND act = ?"
        newest = f"SELECT max(number) FROM versions WHERE {where} GROUP BY path, agent"
        return list(self._select(f"number IN ({newest})", [worktree, str(Act.LEFT)], MOST_ROWS))

    def copied_bytes(self, act: Act, since: Millis) -> int:
        """Return how many bytes of this kind were copied since then."""
        sql = "SELECT total(size) FROM versions WHERE act = ? AND at >= ? AND is_stored"
        with self._translate_errors():
            (total,) = self._db.execute(sql, (str(act), since)).fetchone()
        return int(total)

    def _select(self, where: str, values: list[str], limit: int) -> Iterator[FileVersion]:
        sql = f"SELECT {_COLUMNS} FROM versions WHERE {where} ORDER BY number DESC LIMIT ?"
        for worktree, path, act, agent, session, at, blob, size, stored, mode, why in self.query(
            sql, [*values, limit]
        ):
            yield FileVersion(
                *(worktree, path, Act(act), agent, session, at, blob, size, bool(stored), mode, why)
            )

    def query(self, sql: str, values: Sequence[object]) -> list[Any]:
        """Return all rows of a query."""
        with self._translate_errors(), closing(self._db.execute(sql, values)) as rows:
            return rows.fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing."""
        with self._translate_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreFailed(
                "file_memory_failed",
                f"{self._file} cannot be used: {error}",
                hint="try again; else remove it: Moot only forgets which versions agents have seen",
            ) from error


def _open_for_writing(file: Path) -> sqlite3.Connection:
    """Open the file; close it again if it cannot be used."""
    db = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_WHOLE_SCHEMA)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _open_for_reading(file: Path) -> sqlite3.Connection:
    """Open the file read-only; on a read-only disk SQLite needs `immutable`."""
    if not file.exists():
        empty = sqlite3.connect(":memory:")
        empty.executescript(_WHOLE_SCHEMA)
        return empty
    address = f"{file.absolute().as_uri()}?mode=ro"
    try:
        return _connect_to_read(address)
    except sqlite3.OperationalError:
        return _connect_to_read(f"{address}&immutable=1")


def _connect_to_read(address: str) -> sqlite3.Connection:
    db = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db
