"""Schema version and migrations, from the first day.

`PRAGMA user_version` holds the version; the files in `migrations/` that are missing are applied in
order, in one transaction under the write lock: a file is new or up to date, never half-way.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

from moot.core.errors import StoreFailed
from moot.store.sqlite.errors import INDEX_TABLES

APPLICATION_ID = 0x4D4F4F54  # "MOOT", so that `file` and we can tell our files from others
_FOLDER = Path(__file__).with_name("migrations")
MIGRATIONS = tuple(_FOLDER / name for name in sorted(os.listdir(_FOLDER)) if name.endswith(".sql"))
VERSION = len(MIGRATIONS)


def version_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def require_our_file(db: sqlite3.Connection) -> None:
    """StoreFailed if another program or a newer Moot made the file; asked before anything is
    written (LDG-072)."""
    used = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    # Asked second: another process may be making the file, and sets this together with its tables.
    if used and db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreFailed(
            "not_a_ledger", "the file is another program's database", hint="nothing was changed"
        )
    current = version_of(db)
    if current > VERSION:
        raise StoreFailed(
            "newer_store",
            f"the ledger has format {current}, this moot knows {VERSION}",
            hint="update moot; nothing was changed",
        )


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to VERSION (LDG-072)."""
    if version_of(db) == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for file in MIGRATIONS[version_of(db) :]:  # another process may have been first
            for statement in _statements(file.read_text("utf-8")):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def find_missing_tables(db: sqlite3.Connection) -> list[str]:
    """The tables that are not there although all in them follows from the events."""
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    present = {name for (name,) in names}
    return [table for table in INDEX_TABLES if table not in present]


def create_table(db: sqlite3.Connection, table: str) -> None:
    """Make a table that is missing, empty, as the migrations make it."""
    begins = re.compile(rf"^CREATE (?:VIRTUAL )?TABLE {table}\b", re.MULTILINE)
    for file in MIGRATIONS:
        for statement in _statements(file.read_text("utf-8")):
            if begins.search(statement):
                db.execute(statement)


def _statements(script: str) -> list[str]:
    """The statements of a script one by one. `executescript` would commit before it begins, and the
    migration would no longer be one transaction."""
    statements: list[str] = []
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            statements.append(statement)
            statement = ""
    return statements
