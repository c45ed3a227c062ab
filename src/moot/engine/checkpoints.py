"""One signature over all heads, made when a process that wrote ends, every 1,000 events, at export.

The head tree is brought up to date only here: an append costs nothing for it, a checkpoint costs
O(heads moved * log streams), and the stored nodes always match the newest note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from moot.core import headtree
from moot.core.clock import Millis, to_text
from moot.core.errors import Malformed, Tampered
from moot.core.ledger import Change, Head, View
from moot.core.note import Checkpoint, read_note, sign_note
from moot.core.signing import Signer
from moot.engine.keys import Trust

EVERY_EVENTS = 1_000


class Kept(NamedTuple):
    """A new note and the heads that moved since the one before it."""

    note: str
    checkpoint: Checkpoint
    moved: tuple[tuple[str, Head], ...]


class _StoredNodes(Mapping[tuple[int, int], bytes]):
    """The store's nodes as the mapping the tree arithmetic reads."""

    def __init__(self, view: View, fresh: dict[tuple[int, int], bytes] | None = None) -> None:
        self._view = view
        self._fresh = fresh or {}

    def __getitem__(self, place: tuple[int, int]) -> bytes:
        return self._fresh.get(place) or self._view.node(*place)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._fresh)

    def __len__(self) -> int:
        return len(self._fresh)


def newest(view: View, trust: Trust) -> Checkpoint | None:
    """What the stored note says; Tampered if it does not hold, for nothing can follow it."""
    note = view.note()
    if note is None:
        return None
    try:
        return read_note(note, trust.checkpoint)
    except Malformed as error:
        raise Tampered(f"the newest checkpoint does not hold: {error}", code=error.code) from error


def make_checkpoint(
    change: Change, trust: Trust, signer: Signer, now: Millis, beyond: int = 0
) -> Kept | None:
    """Pin every head; None if nothing moved since the last one. Its number is above `beyond`."""
    moved = tuple(change.stale_heads())
    last = newest(change, trust)
    if not moved:
        return None
    streams, events = change.counts()
    leaves = [(h.number, headtree.leaf_hash(name, h.seq, h.hash)) for name, h in moved]
    fresh = headtree.changed_nodes(_StoredNodes(change), streams, leaves)
    checkpoint = Checkpoint(
        origin=trust.origin,
        streams=streams,
        root=headtree.root(_StoredNodes(change, fresh), streams),
        number=max(last.number if last else 0, beyond) + 1,
        events=events,
        at=to_text(now),
    )
    note = sign_note(checkpoint, signer)
    change.put_note(note, fresh, moved)
    return Kept(note, checkpoint, moved)


def inclusion(view: View, number: int, streams: int) -> tuple[bytes, ...]:
    """The path from stream `number` to the newest note's root."""
    return headtree.inclusion_path(_StoredNodes(view), number, streams)
