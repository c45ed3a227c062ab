"""Taking events out of a ledger file with nothing but SQL, as someone without any key would.

Tidily: positions, heads and what is said to be filed fit what is left.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from moot.core.record import Record

_LET_GO = ("DROP TRIGGER events_remain",)
_TIDY = (
    "DELETE FROM places WHERE event NOT IN (SELECT id FROM events)",
    "DELETE FROM unfiled WHERE event NOT IN (SELECT id FROM events)",
    "UPDATE filed SET event = min(event, (SELECT max(id) FROM events))",
    "DELETE FROM snapshots",
)


def cut(ledger: Path, stream: str, events: int = 1, moved: bool = True) -> None:
    """The newest events of one stream; `moved`: the next checkpoint pins it as it is now."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        number, seq = _place(db, stream)
        left = seq - events
        _run(db, f"DELETE FROM events WHERE stream = {number} AND seq > {left}")
        db.execute(
            "UPDATE streams SET seq = ?, hash = ?, moved = ? WHERE number = ?",
            (left, _hash_at(db, stream, number, left), moved, number),
        )


def remove(ledger: Path, stream: str) -> None:
    """A whole stream."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        number, _ = _place(db, stream)
        _run(db, f"DELETE FROM events WHERE stream = {number}")
        db.execute("DELETE FROM streams WHERE number = ?", (number,))


def snapshots(ledger: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(ledger)) as db:
        return db.execute("SELECT * FROM snapshots ORDER BY stream").fetchall()


def cut_under_snapshots(ledger: Path, stream: str, events: int = 1) -> None:
    """The newest events of one stream, and nothing of what is signed for their state."""
    kept = snapshots(ledger)
    cut(ledger, stream, events)
    put_snapshots(ledger, kept)


def put_snapshots(ledger: Path, rows: list[tuple[object, ...]]) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        db.executemany("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", rows)


def set_back(ledger: Path, stream: str, events: int = 1) -> None:
    """Only the head: the events are still there."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        number, seq = _place(db, stream)
        left = seq - events
        db.execute(
            "UPDATE streams SET seq = ?, hash = ?, moved = 1 WHERE number = ?",
            (left, _hash_at(db, stream, number, left), number),
        )


def forge_newest(ledger: Path, stream: str) -> None:
    """Another signature under the newest event, and a head that fits it."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        number, seq = _place(db, stream)
        db.execute("DROP TRIGGER events_stay")
        place = f"stream = {number} AND seq = {seq}"
        db.execute(f"UPDATE events SET sig = zeroblob(64) WHERE {place}")
        forged = _hash_at(db, stream, number, seq)
        db.execute("UPDATE streams SET hash = ? WHERE number = ?", (forged, number))


def run(ledger: Path, *statements: str) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def _place(db: sqlite3.Connection, stream: str) -> tuple[int, int]:
    number, seq = db.execute("SELECT number, seq FROM streams WHERE name = ?", (stream,)).fetchone()
    return number, seq


def _hash_at(db: sqlite3.Connection, stream: str, number: int, seq: int) -> bytes:
    row = db.execute(
        "SELECT seq, kid, body, sig FROM events WHERE stream = ? AND seq = ?", (number, seq)
    ).fetchone()
    return Record(stream, *row).hash


def _run(db: sqlite3.Connection, statement: str) -> None:
    ((guard,),) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'events_remain'")
    for one in (*_LET_GO, statement, *_TIDY, guard):
        db.execute(one)
