"""Schema version and migrations.

`PRAGMA user_version` has the version. Missing migrations are applied in order, in one transaction
under the write lock, so that a file is never half migrated.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

from moot.core.errors import StoreFailed
from moot.store.sqlite.errors import INDEX_TABLES

APPLICATION_ID = 0x4D4F4F54  # "MOOT": identifies our files, also for the program `file`
_FOLDER = Path(__file__).with_name("migrations")
MIGRATIONS = tuple(_FOLDER / name for name in sorted(os.listdir(_FOLDER)) if name.endswith(".sql"))
VERSION = len(MIGRATIONS)


def version_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def require_our_file(db: sqlite3.Connection) -> None:
    """Raise StoreFailed if another program or a newer Moot made the file. Call it before anything
    is written (LDG-072)."""
    used = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    # Read second: a process that makes the file right now sets it together with its tables.
    if used and db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreFailed(
            "not_a_ledger", "the file is another program's database", hint="nothing was changed"
        )
    current = version_of(db)
    if current > VERSION:
        raise StoreFailed(
            "newer_store",
            f"the ledger has format {current}, this moot knows format {VERSION}",
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
    """Return the missing tables whose content follows from the events."""
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    present = {name for (name,) in names}
    return [table for table in INDEX_TABLES if table not in present]


def create_table(db: sqlite3.Connection, table: str) -> None:
    """Create a missing table, empty, as the migrations do."""
    begins = re.compile(rf"^CREATE (?:VIRTUAL )?TABLE {table}\b", re.MULTILINE)
    for file in MIGRATIONS:
        for statement in _statements(file.read_text("utf-8")):
            if begins.search(statement):
                db.execute(statement)


def _statements(script: str) -> list[str]:
    """Split a script into statements. `executescript` would commit first, and the migration would
    no longer be one transaction."""
    statements: list[str] = []
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            statements.append(statement)
            statement = ""
    return statements
