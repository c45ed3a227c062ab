"""Translate SQLite's errors into ours: what happened, and what to do about it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core.errors import Conflict, MootError, StoreFailed

# Result code, extended or primary -> (code, sentence, hint).
_ERRORS: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_BUSY: (  # LDG-067
        "store_busy",
        "another process held the ledger too long",
        "try again; `moot ledger doctor` shows which process may hold it",
    ),
    sqlite3.SQLITE_FULL: (  # LDG-078
        "disk_full",
        "the disk is full; nothing of this command was written",
        "free some space and try again",
    ),
    sqlite3.SQLITE_READONLY: (  # LDG-078
        "store_read_only",
        "the ledger may not be written here",
        "check the permissions of .moot and its disk; commands that only read still work",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "store_unreachable",
        "the ledger file cannot be opened",
        "check that the .moot folder exists and may be read",
    ),
    sqlite3.SQLITE_CORRUPT: (  # LDG-079
        "store_damaged",
        "the ledger file is damaged",
        "keep the file; `moot ledger doctor` shows what can be read; restore from a backup",
    ),
    sqlite3.SQLITE_NOTADB: (
        "store_damaged",
        "the ledger file is not a database",
        "keep the file; restore from a backup",
    ),
    sqlite3.SQLITE_IOERR: (
        "disk_failed",
        "the disk failed while the ledger was used; nothing of this command was acknowledged",
        "check the disk, then try again",
    ),
}
# Opening a file, even for reading, makes an index of its log; on a full disk that fails like this.
_ERRORS[sqlite3.SQLITE_IOERR_SHMSIZE] = _ERRORS[sqlite3.SQLITE_FULL]


# They locate the events, filed or pending: without them nothing can be read.
PLACE_TABLES = ("places", "filed", "unfiled")
# Tables whose content follows from the events.
INDEX_TABLES = ("index_rows", "index_words", "nodes", "snapshots", *PLACE_TABLES)
_NO_TABLE = r"no such table: (?:main\.)?(\w+)"


class translate_errors:  # noqa: N801 - used like a function
    """Translates SQLite's errors that are raised inside into ours. A class, since a generator
    costs more and every command enters several."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise as_moot_error(error, self._path) from error


@contextmanager
def translate_opening_errors(path: Path) -> Iterator[None]:
    """Translate errors while opening a file: with a damaged schema, Python may fail to decode
    SQLite's message."""
    try:
        with translate_errors(path):
            yield
    except UnicodeDecodeError as error:
        code, sentence, hint = _ERRORS[sqlite3.SQLITE_CORRUPT]
        raise StoreFailed(code, f"{sentence} ({path.name})", hint=hint) from error


def as_moot_error(error: sqlite3.Error, path: Path) -> MootError:
    number = getattr(error, "sqlite_errorcode", None) or _unnumbered(error)
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict("position_taken", f"another writer was first: {error}", hint="try again")
    row = _ERRORS.get(number) or _ERRORS.get(number & 0xFF)
    if row is None and (missing := re.search(_NO_TABLE, str(error))):
        return _missing_table(missing[1], path)
    if row is None:
        return StoreFailed("store_failed", f"the ledger at {path}: {error}")
    code, sentence, hint = row
    return StoreFailed(code, f"{sentence} ({path.name}: {error})", hint=hint)


def describe_missing_index(table: str) -> tuple[str, str]:
    """Return the sentence and the hint for a missing index table."""
    return (
        f"the index table {table} is missing from the ledger file; the events are not affected",
        "`moot ledger rebuild` creates it again from the events, if they are complete",
    )


def _missing_table(table: str, path: Path) -> StoreFailed:
    if table in INDEX_TABLES:
        sentence, hint = describe_missing_index(table)
        return StoreFailed("index_damaged", f"{sentence} ({path.name})", hint=hint)
    _code, _sentence, hint = _ERRORS[sqlite3.SQLITE_CORRUPT]
    sentence = f"the table {table} is missing from the ledger file"
    return StoreFailed("store_damaged", f"{sentence} ({path.name})", hint=hint)


def read_only_error(path: Path) -> StoreFailed:
    """Return the error that SQLite would raise at the first write."""
    code, sentence, hint = _ERRORS[sqlite3.SQLITE_READONLY]
    return StoreFailed(code, f"{sentence} ({path.name})", hint=hint)


def _unnumbered(error: sqlite3.Error) -> int:
    """Return a code for an error that Python itself raised: text that is not UTF-8 is damage."""
    return sqlite3.SQLITE_CORRUPT if isinstance(error, sqlite3.OperationalError) else 0
