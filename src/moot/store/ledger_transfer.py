"""Copy a whole ledger from one store into another: the records in order, everything derived from
them, and the two side tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.ledger import RecordToAppend, RowEdit, Store, View
from moot.core.machine import Put, Words

_BATCH: Final = 1_000


def copy_ledger(source: View, target: Store) -> int:
    """Fill an empty store in one commit; return the number of events."""
    with target.write() as change:
        for entries in _batches(source):
            change.append(entries)
        change.edit_rows(_row_edits(source))
        for snapshot in source.all_snapshots():
            change.put_snapshot(snapshot)
        for heartbeat in source.heartbeats():
            change.put_heartbeat(heartbeat)
        for agent, name, position in source.all_cursors():
            change.put_cursor(agent, name, position)
        for record in source.forks():
            change.keep_fork(record)
        *earlier, newest = list(source.all_notes()) or [""]
        for note in earlier:
            change.put_note(note, {}, ())
        if newest:
            change.put_note(newest, dict(source.all_nodes()), list(source.pinned_heads()))
        return change.newest_position()


def _batches(source: View) -> Iterator[list[RecordToAppend]]:
    keys: dict[str, dict[int, str]] = {}  # stream -> position -> idempotency key
    position = 0
    while records := source.records_after(position, _BATCH):
        for stream in {record.stream for record in records} - keys.keys():
            keys[stream] = {seq: key for key, seq in source.keys(stream, "")}
        yield [RecordToAppend(record, keys[record.stream].get(record.seq)) for record in records]
        position += len(records)


def _row_edits(source: View) -> Iterator[RowEdit]:
    for space, row in source.all_rows():
        yield RowEdit(Put(space, row.key, msgspec.json.decode(row.value)), row.stream, row.seq)
    for space, key, text in source.all_words():
        yield RowEdit(Words(space, key, text), "", 0)
