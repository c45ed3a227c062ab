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
from typing import TypeVar

T = TypeVar("T")

WRITE = "BEGIN IMMEDIATE"
READ = "BEGIN"  # only promises a view; asking for the version takes it
NAP_SECONDS = 0.004  # at most; with many waiting, one of them looks far sooner


def take_turn(db: sqlite3.Connection, begin: str, seconds: float) -> int:
    """Begin, waiting up to `seconds` for whoever has the file locked.

    Gives SQLite's data version, which moves with the commits of other connections, in this process
    or another.
    """
    try:
        return _begin(db, begin)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
    return wait_for(lambda: _begin(db, begin), seconds)


def _begin(db: sqlite3.Connection, begin: str) -> int:
    try:
        db.execute(begin)
        (version,) = db.execute("PRAGMA data_version").fetchone()
    except sqlite3.OperationalError:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return int(version)


def wait_for(act: Callable[[], T], seconds: float) -> T:
    """Do `act`, again and again for up to `seconds` while another has the file locked."""
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end
        try:
            return act()
        except sqlite3.OperationalError as error:
            if last or not _is_busy(error):
                raise
        time.sleep(NAP_SECONDS * os.urandom(1)[0] / 255)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
