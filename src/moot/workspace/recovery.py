"""Find events that the ledger has lost, and continue without them by a person's decision.

The registry records the missing checkpoint and the reason. Also: back up the ledger file.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import Refused, StoreFailed, Tampered
from moot.core.ledger import Snapshot, Store, View
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import Record
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.core.registry.model import AcceptHistory, loss_statement, sign_endorsement
from moot.core.registry.model import State as Registry
from moot.core.signing import SNAPSHOT, Signer, verify
from moot.engine.checkpoints import (
    NewCheckpoint,
    holds_event,
    newest_checkpoint,
    require_numbers_in_order,
)
from moot.engine.machines import Machines
from moot.engine.replay import Replay, require_keys, snapshot_bytes
from moot.engine.signers import LedgerTrust
from moot.keys.seen_checkpoints import SeenCheckpoint
from moot.store.files import sync_folder
from moot.store.sqlite.read_only import SqliteReader
from moot.workspace.workspace import Workspace

RESTORE = "keep the file as it is; restore .moot/ledger.db from a backup"


def lost_heads(view: View, seen_heads: dict[str, tuple[int, bytes]]) -> Iterator[tuple[str, int]]:
    """Yield remembered positions that are missing or have another event now."""
    for stream, (seq, head) in seen_heads.items():
        if not holds_event(view, stream, seq, head):
            yield stream, seq


def _lost_note(workspace: Workspace, view: View) -> SeenCheckpoint | None:
    """Return the newest known checkpoint if anything is lost, else None. If the key folder
    remembers none, use the ledger's own."""
    remembered, heads = (
        workspace.seen_checkpoints.newest(workspace.trust.origin),
        workspace.seen_checkpoints.heads(workspace.trust.origin),
    )
    if remembered is None:
        here = newest_checkpoint(view, workspace.trust)
        remembered = SeenCheckpoint(here.number if here else 0, view.newest_note() or "")
        heads = {name: (head.seq, head.hash) for name, head in view.pinned_heads()}
    lost = any(lost_heads(view, heads)) or any(_lost_snapshots(view, workspace.trust))
    return remembered if lost or workspace.rollback is not None else None


def _lost_snapshots(view: View, trust: LedgerTrust) -> Iterator[Snapshot]:
    """Yield signed snapshots of missing or changed events: they prove a loss."""
    for snapshot in view.all_snapshots():
        statement = snapshot_bytes(trust.origin, snapshot)
        if verify(trust.checkpoint, SNAPSHOT, statement, snapshot.signature) and not holds_event(
            view, snapshot.stream, snapshot.seq, snapshot.hash
        ):
            yield snapshot


def accept_loss(workspace: Workspace, reason: str, person: Signer | None) -> NewCheckpoint:
    """Record that the missing events are lost, and continue from the remaining ones.

    If any person has a key in this ledger, `person` must sign for it.
    """
    origin = workspace.trust.origin
    with workspace.store.read() as view:
        remembered = _lost_note(workspace, view)
        if remembered is None:
            raise Refused(
                "nothing_lost",
                "no remembered event is missing here",
                hint="`moot verify` checks the record",
            )
        # Tampered here, before anything is recorded: no checkpoint could follow.
        require_numbers_in_order(view.count_streams_and_events()[0], view.streams())
        _require_chains(view, Replay(workspace.trust, Machines()))
    statement = loss_statement(origin=origin, lost=remembered.note, reason=reason)
    command = AcceptHistory(
        lost=remembered.note,
        reason=reason,
        endorsement=sign_endorsement(person, statement) if person else None,
    )
    engine = workspace.engine_ignoring_loss()
    engine.load_from_start(REGISTRY)
    engine.execute(REGISTRY, command, SYSTEM)
    _drop_snapshots(workspace)
    made = engine.checkpoint(beyond=remembered.number)
    assert made is not None, "the event above moved a head"
    with workspace.store.read() as view:
        workspace.seen_checkpoints.replace_all(
            origin, made.checkpoint.number, made.note, view.pinned_heads()
        )
    return made


def _require_chains(view: View, replay: Replay) -> None:
    """Raise Tampered at the first event that does not follow the one before it, refers to lost
    keys, or is signed by no remaining key: nothing could follow it."""
    keys = view.head(REGISTRY)
    registry = REGISTRY_MACHINE.require_state(replay.load_from_start(view, REGISTRY).state)
    for stream, _ in view.streams():
        if replay.can_run(stream):
            for _, loaded in replay.walk(view, stream):
                require_keys(stream, loaded, keys)
        for record in view.records(stream):
            _require_signed(record, registry)


def _require_signed(record: Record, registry: Registry) -> None:
    """Raise Tampered unless a registered key signed the record: a checkpoint must not sign an
    unsigned one. `moot verify` checks whether it was the right key."""
    key = registry.keys.get(record.kid)
    if key is None or not record.signed_by(bytes.fromhex(key.public)):
        raise Tampered(
            f"event {record.seq} of {record.stream} is signed by no key of this ledger",
            code="unproved_record",
            stream=record.stream,
            seq=record.seq,
            hint=RESTORE,
        )


def _drop_snapshots(workspace: Workspace) -> None:
    """Drop the snapshots of lost events. They prove the loss, so only after it is recorded."""
    with workspace.store.write() as change:
        for snapshot in list(_lost_snapshots(change, workspace.trust)):
            change.drop_snapshot(snapshot.stream)


# Backups: a checked copy of the ledger file. It is complete or absent, and never overwrites a file.


class Backup(NamedTuple):
    size: int
    streams: int
    events: int


def back_up(store: Store, target: Path) -> Backup:
    """Copy the ledger while others write, compare the copy with it, then rename it to `target`."""
    # LDG-073
    if target.exists():
        raise _file_exists(target)
    if not target.parent.is_dir():
        raise StoreFailed(
            "store_unreachable", f"{target.parent} is not a folder", hint="create it first"
        )
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        store.backup(temporary)
        made = _require_same(store, temporary)
        os.link(temporary, target)
        sync_folder(target.parent)
    except FileExistsError:
        raise _file_exists(target) from None
    finally:
        temporary.unlink(missing_ok=True)
    return made


def _require_same(store: Store, copy: Path) -> Backup:
    with SqliteReader(copy, immutable=True) as reader, reader.read() as copied:
        problems = reader.integrity()
        with store.read() as live:
            wrong = problems or [
                name for name, _ in copied.streams() if not _has_same_head(live, copied, name)
            ]
        if wrong:
            raise StoreFailed(
                "backup_failed",
                f"the copy differs from the ledger: {wrong[0]}",
                hint="check the disk and try again; `moot ledger doctor` checks the ledger",
            )
        streams, events = copied.count_streams_and_events()
    return Backup(copy.stat().st_size, streams, events)


def _has_same_head(live: View, copied: View, stream: str) -> bool:
    """Return whether the ledger, which may have grown, has the copy's newest event of a stream."""
    head = copied.head(stream)
    assert head is not None
    record = next(live.records(stream, after=head.seq - 1), None)
    mine = next(copied.records(stream, after=head.seq - 1), None)
    return record is not None and record == mine and record.hash == head.hash


def _file_exists(target: Path) -> Refused:
    return Refused("file_exists", f"{target} already exists", hint="choose another name")
