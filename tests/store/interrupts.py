"""A connection that is struck at one statement: by an interrupt, or by the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any


class Interrupt(BaseException):
    """As a KeyboardInterrupt, which would end the tests too."""


class Interrupted(sqlite3.Connection):
    """Raises with one statement: before it is run, or after."""

    left: int | None = None
    after = True
    error: BaseException = Interrupt()
    cleaning_up = ("ROLLBACK",)

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return self._strike(sql, super().execute, *values)

    def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
        return self._strike(sql, super().executemany, rows)

    def _strike(self, sql: str, run: Callable[..., sqlite3.Cursor], *values: Any) -> sqlite3.Cursor:
        if self.left is None or sql in self.cleaning_up:
            return run(sql, *values)
        self.left -= 1
        strikes = self.left < 0
        if strikes:
            self.left = None
        if strikes and not self.after:
            raise self.error
        cursor = run(sql, *values)
        if strikes:
            cursor.close()
            raise self.error
        return cursor


def interruptible(
    opened: list[Interrupted], left: int | None = None
) -> Callable[[str, float], sqlite3.Connection]:
    """For `SqliteStore(connect=...)`; struck at once after `left` statements, or when told."""

    def connect(uri: str, _seconds: float) -> sqlite3.Connection:
        db = sqlite3.connect(uri, uri=True, isolation_level=None, factory=Interrupted)
        db.left = left
        opened.append(db)
        return db

    return connect


def disk_failed() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error
