"""A machine's copy of a ledger that another machine keeps: the same records in the same order.

Every record is verified before it is copied: it must continue its stream, and the key that it names
must have signed it and been valid there. The copy is always a prefix of the kept ledger, so a
keeper that shows fewer or other records is detected.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from typing import TYPE_CHECKING

from moot.core import checkpoint_note
from moot.core.checkpoint_note import Checkpoint
from moot.core.errors import Malformed, StoreFailed, Tampered
from moot.core.ledger import Heartbeat, RecordToAppend, Snapshot, WriteTransaction
from moot.core.machine import Put
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.engine.checkpoints import (
    NewCheckpoint,
    StoredNodes,
    newest_checkpoint,
    read_note_cached,
)
from moot.engine.replay import ChainEnd, LoadedStream, Replay
from moot.engine.signers import LedgerTrust
from moot.engine.signs_of_life import SEEN, is_genuine_heartbeat

if TYPE_CHECKING:
    from moot.core.registry.model import State as Registry


StreamPosition = tuple[str, int]  # stream and seq


def copy_records(
    change: WriteTransaction,
    replay: Replay,
    records: Sequence[Record],
    noted: Collection[StreamPosition] | None = None,
    own: Container[bytes] = (),
) -> None:
    """Append records that continue the copy; Tampered if one is not valid.

    `noted` are the events that the keeper notes as the last signs of life of their authors; None
    means the newest of each author. `own` are the hashes of records that this process signed: their
    signatures are not verified again.
    """
    ends: dict[str, ChainEnd | LoadedStream] = {}
    entries: list[RecordToAppend] = []
    if noted is None:
        newest = {record.body.actor.id: (record.stream, record.seq) for record in records}
        noted = set(newest.values())
    registry: Registry | None = None  # as of the record before
    for record in records:
        stream = record.stream
        if stream == REGISTRY:
            registry = None
        elif registry is None:
            registry = _load_registry(change, replay, ends)
        before = ends.get(stream) or replay.find_end(change, stream)
        after, recorded = replay.append_to_end(before, record, registry, is_own=record.hash in own)
        ends[stream] = after
        changes = tuple(after.machine.index(recorded))
        if (stream, record.seq) in noted:
            changes = (*changes, Put(SEEN, recorded.actor.id, {"at": recorded.at}))
        entries.append(RecordToAppend(record, record.body.key, changes))
    change.append(entries)
    for stream, end in ends.items():
        if isinstance(end, LoadedStream):
            replay.put_in_cache(stream, end)


def _load_registry(
    change: WriteTransaction, replay: Replay, ends: dict[str, ChainEnd | LoadedStream]
) -> Registry:
    known = ends.get(REGISTRY)
    if not isinstance(known, LoadedStream):
        known = ends[REGISTRY] = replay.load(change, REGISTRY)
    return REGISTRY_MACHINE.require_state(known.state)


def copy_snapshots(change: WriteTransaction, snapshots: Iterable[Snapshot]) -> None:
    """Store states that the keeper signed; readers verify the signature (decision 0003)."""
    for snapshot in snapshots:
        head = change.head(snapshot.stream)
        known = change.snapshot(snapshot.stream)
        is_newer = known is None or known.seq < snapshot.seq
        if head is not None and snapshot.seq <= head.seq and is_newer:
            change.put_snapshot(snapshot)


def copy_heartbeats(
    change: WriteTransaction, replay: Replay, heartbeats: Iterable[Heartbeat]
) -> None:
    """Store heartbeats that are newer than ours and genuine."""
    registry = replay.registry(change)
    for heartbeat in heartbeats:
        known = change.heartbeat(heartbeat.agent)
        is_newer = known is None or known.at < heartbeat.at or known.kid != heartbeat.kid
        if is_newer and _is_genuine_or_newer(registry, heartbeat):
            change.put_heartbeat(heartbeat)


def _is_genuine_or_newer(registry: Registry, heartbeat: Heartbeat) -> bool:
    """Return whether to store a heartbeat: it is genuine, or a newer moot signed it. Readers of
    the latter get an error instead of a wrong answer."""
    try:
        return is_genuine_heartbeat(registry, heartbeat)
    except StoreFailed:
        return True


def copy_checkpoint(
    change: WriteTransaction, trust: LedgerTrust, note: str, checkpoint: Checkpoint
) -> NewCheckpoint | None:
    """Store a checkpoint that signs for exactly what the copy has; None if it is not newer.

    Tampered if it signs for another history.
    """
    last = newest_checkpoint(change, trust)
    if last is not None and last.number >= checkpoint.number:
        return None
    moved = tuple(change.moved_heads())
    streams, _ = change.count_streams_and_events()
    stored = StoredNodes(change)
    leaves = [
        (head.number, checkpoint_note.leaf_hash(name, head.seq, head.hash)) for name, head in moved
    ]
    fresh = checkpoint_note.changed_nodes(stored, streams, leaves)
    root = checkpoint_note.root_hash(stored.with_nodes(fresh), streams)
    if (streams, root) != (checkpoint.streams, checkpoint.root):
        raise another_history(f"checkpoint {checkpoint.number} signs for another history than ours")
    change.put_note(note, fresh, moved)
    return NewCheckpoint(note, checkpoint, moved)


def read_sent_note(note: str, trust: LedgerTrust) -> Checkpoint:
    """Read a checkpoint of the keeper; Tampered if the ledger's key did not sign it."""
    try:
        return read_note_cached(note, trust.checkpoint)
    except Malformed as error:
        raise Tampered(f"the keeper's checkpoint is invalid: {error}", code=error.code) from None


def another_history(why: str) -> Tampered:
    return Tampered(
        why,
        code="another_history",
        hint="the keeper was rolled back or lies: keep both ledgers as evidence"
        " (`moot ledger export`)",
    )
