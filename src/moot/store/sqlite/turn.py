"""Waiting for the write lock, so that nobody starves.

SQLite's own waiting looks again after 1, 2, 5 and at last 100 ms: whoever has waited longest looks
most rarely, and may lose for ever to those who come and go. Here everyone looks equally often.
"""

from __future__ import annotations

import os
import sqlite3
import time

NAP_SECONDS = 0.004  # at most; with many waiting, one of them looks far sooner


def take_turn(db: sqlite3.Connection, seconds: float) -> None:
    """BEGIN IMMEDIATE, waiting up to `seconds` for whoever holds the lock."""
    db.execute("PRAGMA busy_timeout = 0")
    try:
        end = time.monotonic() + seconds
        while not _begun(db, last=time.monotonic() >= end):
            time.sleep(NAP_SECONDS * os.urandom(1)[0] / 255)
    finally:
        db.execute(f"PRAGMA busy_timeout = {round(seconds * 1_000)}")


def _begun(db: sqlite3.Connection, last: bool) -> bool:
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if last or getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
