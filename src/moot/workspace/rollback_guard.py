"""What the key folder remembers of a ledger, compared with the ledger before anything is added.

Whoever may write the ledger file can remove its newest events without any key. Writing on top would
make a second history for positions that were already signed. So before a process writes to a
stream, and before a checkpoint signs for it, the events remembered from earlier checkpoints must
still be there. The key folder is asked about each stream once in a process, and again before a
checkpoint if others have moved it; what this process saw and wrote itself, it knows. Where the key
folder has never met a ledger, nothing can be noticed.
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
    """Compares a ledger with what this machine has seen of it before, so that a rollback is noticed
    (`engine/checkpoints.py` asks): one ledger, one process."""

    def __init__(self, seen_checkpoints: SeenCheckpoints, trust: LedgerTrust) -> None:
        self._seen_checkpoints = seen_checkpoints
        self._trust = trust
        # stream -> the newest event that this process saw there; a stream cannot go back
        self.seen: Heads = {}
        # stream -> what is remembered of it and was found in the ledger
        self._found: Heads = {}
        self._begun = False  # whether the whole ledger was compared once
        self._others = -1  # `others` of the store when it was last compared before a checkpoint

    def before_writing(self, view: View) -> None:
        """Before the first write of a process: no stream was removed, and none that the next
        checkpoint will sign for was cut short (LDG-098)."""
        if self._begun:
            return
        require_stream_count(view, self._trust, view.count_streams_and_events()[0])
        self._compare_moved(view, self._require_found_or_forged)
        self._begun = True

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
        """Compare every stream that moved, and again whenever others have written since: removing
        events is such a write, too (LDG-098)."""
        others = view.version_of_others()
        if others == self._others:
            return
        kept = self._seen_checkpoints.newest(self._trust.origin)
        if kept is not None and was_rolled_back(view, self._trust, kept):
            raise missing_checkpoint_error(kept)
        self._compare_moved(view, self._require_found)
        self._others = others

    def remember(self, made: NewCheckpoint) -> None:
        """Remember a checkpoint that this process has made."""
        origin = self._trust.origin
        self._seen_checkpoints.remember(origin, made.checkpoint.number, made.note, made.moved)
        self._found.update((stream, (head.seq, head.hash)) for stream, head in made.moved)

    def _compare_moved(self, view: View, find: Find) -> None:
        moved = view.moved_heads()
        kept = self._remembered_of([stream for stream, _ in moved])
        for stream, head in moved:
            self._compare_with_seen(stream, head.seq, head.hash)
            find(view, stream, kept.get(stream))
            self.seen[stream] = head.seq, head.hash

    def _remembered_of(self, streams: list[str]) -> Heads:
        return self._seen_checkpoints.heads_of(self._trust.origin, streams)

    def _compare_with_seen(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Tampered if the stream ends before an event that was seen. If it has moved at all, what
        is remembered of it must be looked for again."""
        seen = self.seen.get(stream, _NOTHING)
        if seq < seen[0]:
            raise _lacks_event(stream, seen[0])
        if (seq, record_hash) != seen:
            self._found.pop(stream, None)

    def _require_found(self, view: View, stream: str, kept: Position | None) -> None:
        """Tampered unless the remembered event is there; one found before is not read again."""
        if kept is None or kept == self._found.get(stream):
            return
        if not holds_event(view, stream, *kept):
            raise _lacks_event(stream, kept[0])
        self._found[stream] = kept

    def _require_found_or_forged(self, view: View, stream: str, kept: Position | None) -> None:
        """The same, but an event forged in its place is let pass here.

        Nothing is missing then; the proof of signatures finds the forgery, and a protocol may have
        to record that. No checkpoint is signed over it: before signing, `_require_found` itself is
        asked.
        """
        try:
            self._require_found(view, stream, kept)
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
    """Is the newest checkpoint older than the one seen before, or another one of that number?

    One whose signature is damaged counts as rolled back."""
    try:
        here = newest_checkpoint(view, trust)
    except Tampered:
        return True
    return here is None or (here.number <= seen.number and view.newest_note() != seen.note)


def missing_checkpoint_error(seen: SeenCheckpoint) -> Tampered:
    return rollback_error(f"this ledger lacks checkpoint {seen.number}, which was made here before")


def _lacks_event(stream: str, seq: int) -> Tampered:
    return rollback_error(f"{stream} lacks event {seq}, which was here before", stream, seq)
