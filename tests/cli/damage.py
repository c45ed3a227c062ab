"""Ways to damage a ledger file behind its back, as an attacker or a bad disk would."""

from __future__ import annotations

import sqlite3
from pathlib import Path

LET_GO = ("DROP TRIGGER IF EXISTS events_stay", "DROP TRIGGER IF EXISTS events_remain")


def edit(ledger: Path, *statements: str) -> None:
    """Run SQL on the file directly; the triggers that guard events are taken away first."""
    db = sqlite3.connect(ledger, isolation_level=None)
    try:
        for statement in (*LET_GO, *statements):
            db.execute(statement)
    finally:
        db.close()


def of(stream: str) -> str:
    return f"stream = (SELECT number FROM streams WHERE name = '{stream}')"
