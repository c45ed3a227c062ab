"""A machine's own copy of a ledger that is kept elsewhere: the same records in the same order.

Every record is verified before it is taken over: that it continues its stream, and that the key it
names signed it and was valid there. The copy is a beginning of the kept ledger, event by event; so
its length says how far it is, and a keeper that shows less, or something else, is found out.
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
    read_known_note,
)
from moot.engine.replay import ChainEnd, LoadedStream, Replay
from moot.engine.signers import LedgerTrust
from moot.engine.signs_of_life import SEEN, is_genuine_heartbeat

if TYPE_CHECKING:
    from moot.core.registry.model import State as Registry


Place = tuple[str, int]  # stream and seq


def copy_records(
    change: WriteTransaction,
    replay: Replay,
    records: Sequence[Record],
    noted: Collection[Place] | None = None,
    own: Container[bytes] = (),
) -> None:
    """Take over records that follow on what the copy has; Tampered if one does not hold.

    `noted` are the events that the keeper notes as the last signs of life of their authors; if it
    does not say, the newest of each author is. `own` are the hashes of records that this process
    has signed: their signatures need no proof.
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
            registry = _registry(change, replay, ends)
        before = ends.get(stream) or replay.find_end(change, stream)
        after, recorded = replay.go_on(before, record, registry, is_own=record.hash in own)
        ends[stream] = after
        changes = tuple(after.machine.index(recorded))
        if (stream, record.seq) in noted:
            changes = (*changes, Put(SEEN, recorded.actor.id, {"at": recorded.at}))
        entries.append(RecordToAppend(record, record.body.key, changes))
    change.append(entries)
    for stream, end in ends.items():
        if isinstance(end, LoadedStream):
            replay.put_in_cache(stream, end)


def _registry(
    change: WriteTransaction, replay: Replay, ends: dict[str, ChainEnd | LoadedStream]
) -> Registry:
    known = ends.get(REGISTRY)
    if not isinstance(known, LoadedStream):
        known = ends[REGISTRY] = replay.load(change, REGISTRY)
    return REGISTRY_MACHINE.require_state(known.state)


def copy_snapshots(change: WriteTransaction, snapshots: Iterable[Snapshot]) -> None:
    """Take over states that the keeper signed; whoever reads one verifies it (decision 0003)."""
    for snapshot in snapshots:
        head = change.head(snapshot.stream)
        known = change.snapshot(snapshot.stream)
        is_newer = known is None or known.seq < snapshot.seq
        if head is not None and snapshot.seq <= head.seq and is_newer:
            change.put_snapshot(snapshot)


def copy_heartbeats(
    change: WriteTransaction, replay: Replay, heartbeats: Iterable[Heartbeat]
) -> None:
    """Take over signs of life that are newer than ours and genuine."""
    registry = replay.registry(change)
    for heartbeat in heartbeats:
        known = change.heartbeat(heartbeat.agent)
        is_newer = known is None or known.at < heartbeat.at or known.kid != heartbeat.kid
        if is_newer and _is_genuine_or_newer(registry, heartbeat):
            change.put_heartbeat(heartbeat)


def _is_genuine_or_newer(registry: Registry, heartbeat: Heartbeat) -> bool:
    """One that a newer moot signed is taken over; whoever asks how alive its agent is is told."""
    try:
        return is_genuine_heartbeat(registry, heartbeat)
    except StoreFailed:
        return True


def copy_checkpoint(
    change: WriteTransaction, trust: LedgerTrust, note: str, checkpoint: Checkpoint
) -> NewCheckpoint | None:
    """Take over a checkpoint that signs for exactly what the copy has; None if it is not newer.

    Tampered if it signs for another history than the copy's.
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
    root = checkpoint_note.root_hash(stored.under(fresh), streams)
    if (streams, root) != (checkpoint.streams, checkpoint.root):
        raise another_history(f"checkpoint {checkpoint.number} signs for another ledger than ours")
    change.put_note(note, fresh, moved)
    return NewCheckpoint(note, checkpoint, moved)


def read_sent_note(note: str, trust: LedgerTrust) -> Checkpoint:
    """What a checkpoint of the keeper's says; Tampered if the ledger's key did not sign it."""
    try:
        return read_known_note(note, trust.checkpoint)
    except Malformed as error:
        raise Tampered(f"the keeper's checkpoint does not hold: {error}", code=error.code) from None


def another_history(why: str) -> Tampered:
    return Tampered(
        why,
        code="another_history",
        hint="keep both as evidence (`moot ledger export`): the keeper was rolled back or lies",
    )
