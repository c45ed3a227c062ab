"""Compare the ledger with what the key folder remembers of it, before anything is written.

A user who may write the ledger file can remove its newest events without any key. Writing on top
would make a second history for positions that were already signed. So before a process writes to a
stream, and before a checkpoint signs it, the events remembered from earlier checkpoints must still
be there. A process reads the key folder once for each stream, and again before a checkpoint if
other processes moved the stream. Without a remembered checkpoint a rollback cannot be detected.
"""

from __future__ import annotations

from collections.abc import Callable

from moot.core.errors import MootError, Tampered
from moot.core.ledger import View
from moot.engine.checkpoints import (
    NewCheckpoint,
    holds_event,
    newest_checkpoint,
    require_stream_count,
    rollback_error,
)
from moot.engine.machines import Machines
from moot.engine.replay import Replay
from moot.engine.signers import LedgerTrust
from moot.keys.seen_checkpoints import Heads, SeenCheckpoint, SeenCheckpoints

Position = tuple[int, bytes]  # seq and hash of an event
Find = Callable[[View, str, Position | None], None]
_NOTHING = (-1, b"")


class MemoryRollbackGuard:
    """Detects a rollback of one ledger, for one process: compares the ledger with what this machine
    has seen of it before. `engine/checkpoints.py` has the protocol."""

    def __init__(self, seen_checkpoints: SeenCheckpoints, trust: LedgerTrust) -> None:
        self._seen_checkpoints = seen_checkpoints
        self._trust = trust
        # stream -> the newest event that this process saw there; a stream never shrinks
        self.seen: Heads = {}
        # stream -> what is remembered of it and was found in the ledger
        self._verified: Heads = {}
        self._has_compared = False  # whether the whole ledger was compared once
        self._version_of_others = (
            -1
        )  # `others` of the store when it was last compared before a checkpoint

    def before_writing(self, view: View) -> None:
        """Check before a process's first write that no stream was removed, and that none which the
        next checkpoint will sign was cut short (LDG-098)."""
        if self._has_compared:
            return
        require_stream_count(view, self._trust, view.count_streams_and_events()[0])
        self._compare_moved(view, self._require_found_or_forged)
        self._has_compared = True

    def before_loading(self, view: View, stream: str) -> None:
        if stream not in self.seen:
            self._require_found_or_forged(view, stream, self._remembered_of([stream]).get(stream))
            head = view.head(stream)
            self.seen[stream] = (head.seq, head.hash) if head is not None else _NOTHING

    def note_loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        if self.seen.get(stream) != (seq, record_hash):
            self._compare_with_seen(stream, seq, record_hash)
            self.seen[stream] = seq, record_hash

    def note_written(self, stream: str, seq: int, record_hash: bytes) -> None:
        self.seen[stream] = seq, record_hash

    def before_signing(self, view: View) -> None:
        """Compare every stream that moved, and again after other processes wrote: removing events
        is such a write, too (LDG-098)."""
        others = view.version_of_others()
        if others == self._version_of_others:
            return
        remembered = self._seen_checkpoints.newest(self._trust.origin)
        if remembered is not None and was_rolled_back(view, self._trust, remembered):
            raise missing_checkpoint_error(remembered)
        self._compare_moved(view, self._require_found)
        self._version_of_others = others

    def remember(self, made: NewCheckpoint) -> None:
        """Remember a checkpoint that this process has made."""
        origin = self._trust.origin
        self._seen_checkpoints.remember(origin, made.checkpoint.number, made.note, made.moved)
        self._verified.update((stream, (head.seq, head.hash)) for stream, head in made.moved)

    def _compare_moved(self, view: View, find: Find) -> None:
        moved = view.moved_heads()
        remembered = self._remembered_of([stream for stream, _ in moved])
        for stream, head in moved:
            self._compare_with_seen(stream, head.seq, head.hash)
            find(view, stream, remembered.get(stream))
            self.seen[stream] = head.seq, head.hash

    def _remembered_of(self, streams: list[str]) -> Heads:
        return self._seen_checkpoints.heads_of(self._trust.origin, streams)

    def _compare_with_seen(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Raise Tampered if the stream ends before an event that was seen. If the stream has moved,
        the remembered event must be checked again."""
        seen = self.seen.get(stream, _NOTHING)
        if seq < seen[0]:
            raise _lacks_event(stream, seen[0])
        if (seq, record_hash) != seen:
            self._verified.pop(stream, None)

    def _require_found(self, view: View, stream: str, remembered: Position | None) -> None:
        """Raise Tampered unless the remembered event is there; do not read a verified one again."""
        if remembered is None or remembered == self._verified.get(stream):
            return
        if not holds_event(view, stream, *remembered):
            raise _lacks_event(stream, remembered[0])
        self._verified[stream] = remembered

    def _require_found_or_forged(
        self, view: View, stream: str, remembered: Position | None
    ) -> None:
        """Like `_require_found`, but accept an event that was forged in its place.

        Nothing is missing then: verifying signatures finds the forgery, and a protocol may have to
        record that. No checkpoint is signed over it: `before_signing` calls `_require_found`.
        """
        try:
            self._require_found(view, stream, remembered)
        except Tampered as lost:
            if not self._is_forged(view, stream, lost.seq):
                raise

    def _is_forged(self, view: View, stream: str, seq: int) -> bool:
        record = next(view.records(stream, after=seq - 1), None)
        if record is None or record.seq != seq:
            return False
        replay = Replay(self._trust, Machines())
        try:
            replay.prove(record, replay.registry(view))
        except MootError:
            return True
        return False


def was_rolled_back(view: View, trust: LedgerTrust, seen: SeenCheckpoint) -> bool:
    """Return whether the newest checkpoint is older than the one seen, or another of that number.

    A checkpoint with an invalid signature counts as rolled back.
    """
    try:
        here = newest_checkpoint(view, trust)
    except Tampered:
        return True
    return here is None or (here.number <= seen.number and view.newest_note() != seen.note)


def missing_checkpoint_error(seen: SeenCheckpoint) -> Tampered:
    return rollback_error(f"this ledger lacks checkpoint {seen.number}, which was made here before")


def _lacks_event(stream: str, seq: int) -> Tampered:
    return rollback_error(f"{stream} lacks event {seq}, which was here before", stream, seq)
