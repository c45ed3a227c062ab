"""Create lost tables of a ledger file again, if their content follows from the events.

Reading needs the tables that locate events (`places`, `filed`, `unfiled`) and the snapshots. These
are created before the ledger is opened, and only if the events are complete: numbered without a
gap, and each naming the one before it. The other tables are created empty inside a rebuild, which
fills them or rolls back. Nothing that exists is dropped, and no event is changed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, StoreFailed
from moot.core.record import Record
from moot.store.sqlite.errors import PLACE_TABLES, translate_opening_errors
from moot.store.sqlite.lock_waiting import WRITE, begin_when_free
from moot.store.sqlite.pending_index import SQL
from moot.store.sqlite.schema import create_table, find_missing_tables, require_our_file
from moot.store.sqlite.store import BUSY_SECONDS, connect_file, uri_of

_NEEDED_TO_READ: Final = (*PLACE_TABLES, "snapshots")

StreamHead = tuple[int, int, bytes]  # the stream's number, its newest event's seq and hash


def make_readable(path: Path) -> list[str]:
    """Create the missing tables that reading needs; return their names.

    StoreFailed if the events are not complete. Pending events are filed; a rebuild makes their
    index rows and all snapshots.
    """
    with (
        translate_opening_errors(path),
        closing(connect_file(f"file:{uri_of(path)}?mode=rw", BUSY_SECONDS)) as db,
    ):
        require_our_file(db)
        if not _missing_to_read(db):  # checked first without a lock: usually none is missing
            return []
        begin_when_free(db, WRITE, BUSY_SECONDS)
        try:
            missing = _missing_to_read(db)
            newest, heads = _require_whole_events(db)
            for table in missing:
                create_table(db, table)
            _place_events(db, [table for table in missing if table in PLACE_TABLES], newest, heads)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    return missing


def _missing_to_read(db: sqlite3.Connection) -> list[str]:
    return [table for table in find_missing_tables(db) if table in _NEEDED_TO_READ]


def _place_events(
    db: sqlite3.Connection, missing: list[str], newest: int, heads: list[StreamHead]
) -> None:
    """Fill the tables that were missing. If the pending events are unknown, file all events."""
    if "filed" in missing:
        (placed,) = db.execute("SELECT coalesce(max(event), 0) FROM places").fetchone()
        db.execute("INSERT INTO filed (event) VALUES (?)", (placed,))
    if "places" in missing:
        db.execute(SQL["place_filed"])
    if missing not in ([], ["places"], ["filed"]):
        db.execute(SQL["file_places"])
        db.executemany(SQL["move_head"], [(seq, head, number) for number, seq, head in heads])
        db.execute("DELETE FROM unfiled")
        db.execute(SQL["mark_filed"], (newest,))


def _require_whole_events(db: sqlite3.Connection) -> tuple[int, list[StreamHead]]:
    """Return the number of the newest event, and each stream's head, computed from the events."""
    count, newest = db.execute("SELECT count(*), coalesce(max(id), 0) FROM events").fetchone()
    if count != newest:
        raise _not_whole(f"{newest - count} of {newest} are missing")
    heads: dict[int, tuple[int, bytes]] = {}
    for number, name, seq, kid, body, signature in db.execute(SQL["all_events"]):
        if name is None:
            raise _not_whole(f"event {seq} belongs to a stream that is missing")
        record = Record(name, seq, kid, body, signature)
        last_seq, last_hash = heads.get(number, (-1, b""))
        _require_next(record, last_seq, last_hash)
        heads[number] = seq, record.hash
    _require_heads(db, heads)
    return newest, [(number, seq, digest) for number, (seq, digest) in heads.items()]


def _require_next(record: Record, last_seq: int, last_hash: bytes) -> None:
    try:
        body = record.body
    except Malformed as error:
        raise _not_whole(f"{record.stream} event {record.seq}: {error}") from None
    is_here = (body.stream, body.seq) == (record.stream, record.seq) and record.seq == last_seq + 1
    if not is_here or (last_hash and body.prev != last_hash.hex()):
        raise _not_whole(f"{record.stream} event {record.seq} does not follow event {last_seq}")


def _require_heads(db: sqlite3.Connection, heads: dict[int, tuple[int, bytes]]) -> None:
    """Raise StoreFailed if a stream's stored head is beyond its events: it has lost some."""
    for number, name, seq in db.execute("SELECT number, name, seq FROM streams"):
        there = heads[number][0] if number in heads else -1
        if seq > there:
            raise _not_whole(f"{name} had {seq + 1} events, and has {there + 1}")


def _not_whole(why: str) -> StoreFailed:
    return StoreFailed(
        "store_damaged",
        f"the missing tables cannot be created again, because events are missing or damaged: {why}",
        hint="nothing was changed; keep the file, and restore from a backup",
    )
