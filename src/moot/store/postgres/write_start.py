"""What a change reads together with the lock, so that it need not go to the server for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg

from moot.core.ledger import Head
from moot.store.postgres.view import to_bytes

_PREPARE = (
    "PREPARE write_start AS SELECT writes,"
    " (SELECT coalesce(max(number) + 1, 0) FROM streams),"
    " (SELECT coalesce(max(id), 0) FROM events) FROM ledger;"
    "PREPARE stream_head (bytea) AS SELECT number, seq, hash FROM streams WHERE name = $1"
)


class WriteStart(NamedTuple):
    """The ledger as it was when the lock was got. `heads`: of the streams that were named, None
    for one without events."""

    writes: int
    next_number: int
    newest_position: int
    heads: dict[str, Head | None]


def ensure_prepared(db: psycopg.Connection[Any]) -> None:
    """Prepare the statements unless they are: planning them takes longer than running them."""
    known = db.execute(
        "SELECT FROM pg_prepared_statements WHERE name = 'write_start'", prepare=False
    )
    if not known.rowcount:
        db.execute(_PREPARE, prepare=False)


def write_start_query(streams: Sequence[str]) -> str:
    """The statements without parameters, so that they can be sent together with others. Names are
    written as hexadecimal digits: nothing in them can end the literal."""
    heads = (f"EXECUTE stream_head('\\x{to_bytes(stream).hex()}')" for stream in streams)
    return ";".join(("EXECUTE write_start", *heads))


def read_write_start(found: psycopg.Cursor[Any], streams: Sequence[str]) -> WriteStart:
    """`found` stands at the first answer to those statements; one answer for each follows."""
    row = found.fetchone()
    assert row is not None, "made with the schema"
    heads: dict[str, Head | None] = {}
    for stream in streams:
        found.nextset()
        head = found.fetchone()
        heads[stream] = Head(*head) if head is not None else None
    writes, next_number, newest_position = row
    return WriteStart(writes, next_number, newest_position, heads)
