"""Waiting for a locked file, so that nobody starves.

SQLite's own waiting looks again after 1, 2, 5 and at last 100 ms: whoever has waited longest looks
most rarely, and may lose for ever to those who come and go. Here everyone looks equally often, so
an open store has SQLite's waiting switched off (`busy_timeout = 0`).
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable

WRITE = ("BEGIN IMMEDIATE",)
READ = ("BEGIN", "PRAGMA data_version")  # BEGIN only promises a view, the second one takes it
NAP_SECONDS = 0.004  # at most; with many waiting, one of them looks far sooner


def take_turn(db: sqlite3.Connection, statements: tuple[str, ...], seconds: float) -> None:
    """Begin with `statements`, waiting up to `seconds` for whoever has the file locked."""

    def begin() -> None:
        try:
            for statement in statements:
                db.execute(statement)
        except sqlite3.OperationalError:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    wait_for(begin, seconds)


def wait_for(act: Callable[[], None], seconds: float) -> None:
    """Do `act`, again and again for up to `seconds` while another has the file locked."""
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end
        try:
            return act()
        except sqlite3.OperationalError as error:
            if last or getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        time.sleep(NAP_SECONDS * os.urandom(1)[0] / 255)
