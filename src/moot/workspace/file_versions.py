"""Which versions of which files agents have read and left behind: this machine's memory of them.

It is local (`.moot/files.db`), no part of the record, and may be lost: then less is noticed. A
version is git's own id of the bytes (`system/git_objects.py`), so that it can be compared with what
git has. `LEFT` is the file as an agent's edit left it, `READ` as a session last saw it, `KEPT` a
copy of the bytes that was stored before somebody else's act could destroy them. The journal of
calls (`call_journal.py`) is in the same file.
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
# The oldest rows go first; copies are only named here, git itself prunes the bytes.
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
    """How a version came to be known."""

    LEFT = "left"
    READ = "read"
    KEPT = "kept"


class FileVersion(NamedTuple):
    """`path` is relative to the root `worktree`. `agent` is who read or left it; empty: unknown.

    `session` tells sessions and sub-agents of one agent apart. `blob` is empty if the file was not
    there. `is_stored`: its bytes can be brought back from git's objects. `mode` is the kind of file
    and its permissions, as the system counts them. `why` says what made it: a tool, a command.
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
    """The memory of one workspace, open for reading and writing by any number of processes."""

    def __init__(self, workspace: Path, *, only_reads: bool = False) -> None:
        """`only_reads` makes no file where there is none, and changes none."""
        self._file = workspace / FILE
        with self._trouble():
            self._db = (_open_to_read if only_reads else _open_to_write)(self._file)
        self.journal = CallJournal(self)
        self.lines = LineStore(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def note(self, versions: Iterable[FileVersion]) -> None:
        """Remember these, all or none."""
        marks = ", ".join("?" * len(FileVersion._fields))
        with self.transaction() as db:
            db.executemany(f"INSERT INTO versions ({_COLUMNS}) VALUES ({marks})", list(versions))
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM versions").fetchone()
            if newest % _SWEEP_EVERY == 0:
                db.execute("DELETE FROM versions WHERE number <= ?", (newest - MOST_ROWS,))

    def last(
        self, worktree: str, path: str, act: Act, *, agent: str = "", session: str = ""
    ) -> FileVersion | None:
        """The newest version of a file; only by this agent or session, if one is named."""
        where, values = "worktree = ? AND path = ? AND act = ?", [worktree, path, str(act)]
        for column, value in (("agent", agent), ("session", session)):
            if value:
                where, values = f"{where} AND {column} = ?", [*values, value]
        return next(iter(self._select(where, values, limit=1)), None)

    def list_versions(self, act: Act, *, worktree: str = "", limit: int = 200) -> list[FileVersion]:
        """The newest of one kind, newest first; of all worktrees if none is named."""
        where, values = "act = ?", [str(act)]
        if worktree:
            where, values = f"{where} AND worktree = ?", [*values, worktree]
        return list(self._select(where, values, limit))

    def list_copied_files(self, limit: int) -> list[tuple[str, str]]:
        """Worktree and path of each file of which there are copies, the newest copied first."""
        sql = (
            "SELECT worktree, path FROM versions WHERE is_stored"
            " GROUP BY worktree, path ORDER BY max(number) DESC LIMIT ?"
        )
        with self._trouble():
            return self._db.execute(sql, (limit,)).fetchall()

    def list_history(self, worktree: str, path: str, limit: int = 1_000) -> list[FileVersion]:
        """What was left and kept of one file, newest first, whether it was stored or not."""
        where = "worktree = ? AND path = ? AND act <> 'read'"
        return list(self._select(where, [worktree, path], limit))

    def has_copy(self, worktree: str, path: str, blob: str) -> bool:
        """Was a copy of these bytes noted under this name?"""
        where = "worktree = ? AND path = ? AND blob = ? AND is_stored"
        return any(self._select(where, [worktree, path, blob], limit=1))

    def was_seen(self, worktree: str, path: str, blob: str, before: Millis) -> bool:
        """Was this version of a file noted before then?"""
        sql = (
            "SELECT 1 FROM versions WHERE worktree = ? AND path = ? AND blob = ? AND at < ? LIMIT 1"
        )
        return bool(self.query(sql, (worktree, path, blob, before)))

    def newest(self, worktree: str, path: str, *, session: str = "") -> FileVersion | None:
        """The newest version of a file, however it came to be known; to a session, if named."""
        where, values = "worktree = ? AND path = ?", [worktree, path]
        if session:
            where, values = f"{where} AND session = ?", [*values, session]
        return next(iter(self._select(where, values, limit=1)), None)

    def last_left(self, worktree: str) -> list[FileVersion]:
        """The newest version that each agent left of each file there."""
        where = "worktree = ? AND act = ?"
        newest = f"SELECT max(number) FROM versions WHERE {where} GROUP BY path, agent"
        return list(self._select(f"number IN ({newest})", [worktree, str(Act.LEFT)], MOST_ROWS))

    def copied_bytes(self, act: Act, since: Millis) -> int:
        """How many bytes were copied for this reason since then."""
        sql = "SELECT total(size) FROM versions WHERE act = ? AND at >= ? AND is_stored"
        with self._trouble():
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
        """All rows of an answer."""
        with self._trouble(), closing(self._db.execute(sql, values)) as rows:
            return rows.fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing."""
        with self._trouble():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreFailed(
                "file_memory_failed",
                f"{self._file} cannot be used: {error}",
                hint="remove it if that stays so: only what agents have read is forgotten",
            ) from error


def _open_to_write(file: Path) -> sqlite3.Connection:
    """A file that cannot be used is let go of again."""
    db = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_WHOLE_SCHEMA)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _open_to_read(file: Path) -> sqlite3.Connection:
    """Where nothing may be written, SQLite reads a file only if it is told that nobody writes."""
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
