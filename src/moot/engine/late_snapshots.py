"""Snapshots for streams that were written by processes without the checkpoint key.

Whoever writes makes the snapshot that is due (`batch.py`), if the checkpoint key is at hand. An
agent with a key folder of its own cannot; whoever lent it that folder makes up for it, so that a
cold process still replays a bounded number of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from moot.core.errors import MootError
from moot.core.ledger import View, WriteTransaction
from moot.core.signing import Signer
from moot.engine.replay import SNAPSHOT_EVERY, Replay, take_snapshot
from moot.engine.rollback import RollbackGuard


def find_streams_without_snapshot(view: View, replay: Replay) -> Iterator[str]:
    """Streams that moved since the last checkpoint, and have too many events after a snapshot."""
    for stream, head in view.moved_heads():
        if not replay.can_run(stream):
            continue
        snapshot = view.snapshot(stream)
        if head.seq - (snapshot.seq if snapshot is not None else -1) >= SNAPSHOT_EVERY:
            yield stream


def take_late_snapshot(
    change: WriteTransaction,
    replay: Replay,
    stream: str,
    signer: Signer,
    rollback_guard: RollbackGuard | None,
) -> None:
    """Sign the state of `stream`, if its history holds."""
    with suppress(MootError):  # what does not hold is for `moot verify` to say, not for us to sign
        if rollback_guard is not None:
            rollback_guard.before_loading(change, stream)
        loaded = replay.load(change, stream, proved=True)
        if rollback_guard is not None:
            rollback_guard.note_loaded(stream, loaded.seq, loaded.hash)
        change.put_snapshot(take_snapshot(replay.trust.origin, stream, loaded, signer))
