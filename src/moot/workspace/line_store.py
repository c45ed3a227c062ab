"""Who changed which lines of each file: the stored states (`lines/encoding.py`), one row a file.

Part of the local memory of files (`.moot/files.db`), not of the record. It may be lost: then Moot
compares the file with the committed version, and no line has an author.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from moot.workspace.file_versions import FileVersions

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS file_lines (
  worktree TEXT NOT NULL, path TEXT NOT NULL, head TEXT NOT NULL, state BLOB NOT NULL,
  PRIMARY KEY (worktree, path)) STRICT, WITHOUT ROWID;
"""


class StoredLines(NamedTuple):
    """An encoded state, and the commit (HEAD) at which its base was looked up; empty: unknown."""

    head: str
    state: bytes


class LineStore:
    """The states in an open memory of files."""

    def __init__(self, memory: FileVersions) -> None:
        self._memory = memory

    def find(self, worktree: str, path: str) -> StoredLines | None:
        """Return the state of a file."""
        sql = "SELECT head, state FROM file_lines WHERE worktree = ? AND path = ?"
        rows = self._memory.query(sql, (worktree, path))
        return StoredLines(*rows[0]) if rows else None

    def list_paths(self, worktree: str) -> list[str]:
        """Return the files of a worktree that have a state."""
        sql = "SELECT path FROM file_lines WHERE worktree = ? ORDER BY path"
        return [path for (path,) in self._memory.query(sql, (worktree,))]

    def replace(
        self, worktree: str, path: str, known: StoredLines | None, stored: StoredLines
    ) -> bool:
        """Store the state of a file if the stored one is still `known`; False if it is not.

        Two hooks may look at a file at the same time. Without the comparison the older look could
        replace the newer one, and lines would lose their author.
        """
        with self._memory.transaction() as db:
            sql = "SELECT head, state FROM file_lines WHERE worktree = ? AND path = ?"
            row = db.execute(sql, (worktree, path)).fetchone()
            if (None if row is None else StoredLines(*row)) != known:
                return False
            db.execute(
                "INSERT OR REPLACE INTO file_lines VALUES (?, ?, ?, ?)",
                (worktree, path, stored.head, stored.state),
            )
        return True
