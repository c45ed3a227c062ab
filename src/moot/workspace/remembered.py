"""What this key folder has kept of a ledger, held against the ledger before it grows.

The key folder is asked about each stream once a process, and again before it is pinned if others
have moved it; what this process saw and wrote itself, it knows. Where nothing is kept, nothing is
known.
"""

from __future__ import annotations

from collections.abc import Callable

from moot.core.errors import MootError, Tampered
from moot.core.ledger import View
from moot.engine.checkpoints import Kept, newest, require_streams
from moot.engine.evidence import holds, rolled_back
from moot.engine.keys import Trust
from moot.engine.machines import Machines
from moot.engine.replay import Replay
from moot.keys.kept import Heads, KeptNote, KeptNotes

Position = tuple[int, bytes]  # the seq and hash of an event
Find = Callable[[View, str, Position | None], None]
_NOTHING = (-1, b"")


class Remembered:
    def __init__(self, kept: KeptNotes, trust: Trust) -> None:
        self._kept = kept
        self._trust = trust
        self._seen: Heads = {}  # how far each stream went, at least
        self._found: Heads = {}  # what is kept of it, and stands there
        self._begun = False
        self._others = -1  # which commits of others were looked at

    def before_writing(self, view: View) -> None:
        """The first time: no stream is gone, and none that the next checkpoint pins is cut."""
        if self._begun:
            return
        require_streams(view, self._trust, view.counts()[0])
        self._require_moved(view, self._find_or_forged)
        self._begun = True

    def before_loading(self, view: View, stream: str) -> None:
        if stream not in self._seen:
            self._find_or_forged(view, stream, self._kept_of([stream]).get(stream))
            head = view.head(stream)
            self._seen[stream] = (head.seq, head.hash) if head is not None else _NOTHING

    def loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        if self._seen.get(stream) != (seq, record_hash):
            self._compare(stream, seq, record_hash)
            self._seen[stream] = seq, record_hash

    def wrote(self, stream: str, seq: int, record_hash: bytes) -> None:
        self._seen[stream] = seq, record_hash

    def before_signing(self, view: View) -> None:
        """All that has moved; again if others have written since, for so may whoever cuts."""
        others = view.others()
        if others == self._others:
            return
        kept = self._kept.newest(self._trust.origin)
        if kept is not None and lacks(view, self._trust, kept):
            raise lacks_note(kept)
        self._require_moved(view, self._find)
        self._others = others

    def keep(self, made: Kept) -> None:
        """Remember a checkpoint of this process."""
        origin = self._trust.origin
        self._kept.keep(origin, made.checkpoint.number, made.note, made.moved)
        self._found.update((stream, (head.seq, head.hash)) for stream, head in made.moved)

    def _require_moved(self, view: View, find: Find) -> None:
        moved = view.stale_heads()
        kept = self._kept_of([stream for stream, _ in moved])
        for stream, head in moved:
            self._compare(stream, head.seq, head.hash)
            find(view, stream, kept.get(stream))
            self._seen[stream] = head.seq, head.hash

    def _kept_of(self, streams: list[str]) -> Heads:
        return self._kept.some(self._trust.origin, streams)

    def _compare(self, stream: str, seq: int, record_hash: bytes) -> None:
        """With what was seen last: if others moved it, what was found must be found again."""
        seen = self._seen.get(stream, _NOTHING)
        if seq < seen[0]:
            raise _lacks_event(stream, seen[0])
        if (seq, record_hash) != seen:
            self._found.pop(stream, None)

    def _find(self, view: View, stream: str, kept: Position | None) -> None:
        """Tampered unless what is kept of it is there; what was found before is not read again."""
        if kept is None or kept == self._found.get(stream):
            return
        if not holds(view, stream, *kept):
            raise _lacks_event(stream, kept[0])
        self._found[stream] = kept

    def _find_or_forged(self, view: View, stream: str, kept: Position | None) -> None:
        """The same, but an event forged in its place is for the proofs to find: nothing is gone,
        and a protocol may have to record that it failed. It is never signed for."""
        try:
            self._find(view, stream, kept)
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


def lacks(view: View, trust: Trust, kept: KeptNote) -> bool:
    """Is a checkpoint that was made before missing here? A damaged one is no better."""
    try:
        here = newest(view, trust)
    except Tampered:
        return True
    return here is None or (here.number <= kept.number and view.note() != kept.note)


def lacks_note(kept: KeptNote) -> Tampered:
    return rolled_back(f"this ledger lacks checkpoint {kept.number}, which was made here before")


def _lacks_event(stream: str, seq: int) -> Tampered:
    return rolled_back(f"{stream} lacks event {seq}, which was here before", stream, seq)
