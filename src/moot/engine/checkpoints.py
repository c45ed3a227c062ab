"""One signature over all heads, made when a process that wrote ends, every 1,000 events, at export.

The head tree is brought up to date only here (decision 0002): an append costs nothing for it, a
checkpoint costs O(heads moved * log streams), and the stored nodes always match the newest note, so
that proofs for that note can be made by anyone. A new checkpoint signs only for what follows from
the one before: someone without a key may have changed the file meanwhile, and a signature over it
would turn the change into history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

import msgspec

from moot.core import checkpoint_note
from moot.core.checkpoint_note import Checkpoint, read_note, sign_note
from moot.core.clock import Millis, to_text
from moot.core.errors import Malformed, Tampered
from moot.core.ledger import Head, View, WriteTransaction
from moot.core.signing import Signer
from moot.engine.signers import LedgerTrust

# A user who may write the file can remove its newest events without any key, and the next
# checkpoint would sign for what is left. So a guard that remembers the ledger
# (`workspace/rollback_guard.py`) is asked before anything is written or signed.

RESTORE_OR_ACCEPT_HINT = (
    "restore the newest copy of .moot/ledger.db; if it is lost for good, "
    "`moot ledger accept-loss --reason TEXT` goes on from here and says so for ever"
)


class RollbackGuard(Protocol):
    """Each raises Tampered, `rollback_error`, if something that was there is gone."""

    @property
    def seen(self) -> Mapping[str, tuple[int, bytes]]:
        """stream -> the newest event that was seen there. Whoever finds that very event need not
        tell so: this is on every command's way."""
        ...

    def before_writing(self, view: View) -> None:
        """Called under each write lock, before anything is read."""
        ...

    def before_loading(self, view: View, stream: str) -> None:
        """Called under the write lock for every stream that a command depends on and that was not
        seen before."""
        ...

    def note_loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Told the newest event of `stream` as it was found there."""
        ...

    def note_written(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Told the newest event of `stream` once this process has committed it."""
        ...

    def before_signing(self, view: View) -> None:
        """Called under the write lock before a checkpoint signs for all heads that moved."""
        ...


def holds_event(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    """Does `stream` reach this position, and is it this very event?"""
    head = view.head(stream)
    if head is None or head.seq < seq:
        return False
    record = next(view.records(stream, after=seq - 1), None)
    return record is not None and (record.seq, record.hash) == (seq, record_hash)


def rollback_error(message: str, stream: str = "", seq: int = -1) -> Tampered:
    return Tampered(
        message, code="rolled_back", stream=stream, seq=seq, hint=RESTORE_OR_ACCEPT_HINT
    )


EVERY_EVENTS = 1_000
# The newest note is verified again by every command, and by every answer of a keeper.
read_known_note = lru_cache(maxsize=16)(read_note)


class NewCheckpoint(msgspec.Struct, frozen=True):
    """A new note and the heads that moved since the one before it."""

    note: str
    checkpoint: Checkpoint
    moved: tuple[tuple[str, Head], ...]


_Nodes = dict[checkpoint_note.Position, bytes]


class StoredNodes(Mapping[checkpoint_note.Position, bytes]):
    """The store's nodes as the mapping that `headtree` reads; each is fetched once."""

    def __init__(self, view: View, known: _Nodes | None = None) -> None:
        self._view = view
        self._known = known or {}

    def under(self, fresh: _Nodes) -> StoredNodes:
        """The same nodes, with `fresh` ones over them."""
        return StoredNodes(self._view, self._known | fresh)

    def __getitem__(self, place: checkpoint_note.Position) -> bytes:
        node = self._known.get(place)
        if node is None:
            node = self._known[place] = self._view.node(*place)
        return node

    def __iter__(self) -> Iterator[checkpoint_note.Position]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def newest_checkpoint(view: View, trust: LedgerTrust) -> Checkpoint | None:
    """The newest checkpoint in the store; Tampered if its signature does not hold, because no
    checkpoint can follow one that nobody signed (LDG-037)."""
    note = view.newest_note()
    if note is None:
        return None
    try:
        return read_known_note(note, trust.checkpoint)
    except Malformed as error:
        raise Tampered(f"the newest checkpoint does not hold: {error}", code=error.code) from error


def make_checkpoint(
    change: WriteTransaction, trust: LedgerTrust, signer: Signer, now: Millis, beyond: int = 0
) -> NewCheckpoint | None:
    """Sign for every head; None if nothing moved since the last checkpoint.

    Normally only the heads that moved are hashed again, on top of the stored tree. The whole tree
    is made anew for the first checkpoint, since nobody has signed what a file without a note says
    of its tree, and with `beyond`, the number of a checkpoint whose loss was accepted: the new one
    gets a higher number, whatever became of the newest.
    """
    last = _newest_if_signed(change, trust) if beyond else newest_checkpoint(change, trust)
    anew = beyond > 0 or last is None
    moved = tuple(change.streams() if anew else change.moved_heads())
    streams, events = change.count_streams_and_events()
    if not beyond:
        require_stream_count(change, trust, streams)
    if not moved:
        return None
    stored = StoredNodes(change)
    require_numbers_in_order(streams, moved)
    if last is not None and not anew:
        _require_tree(stored, last, moved)
        _require_all_moved(change, stored, last, moved, events)
    leaves = [(h.number, checkpoint_note.leaf_hash(name, h.seq, h.hash)) for name, h in moved]
    fresh = checkpoint_note.changed_nodes(stored, streams, leaves)
    checkpoint = Checkpoint(
        origin=trust.origin,
        streams=streams,
        root=checkpoint_note.root_hash(stored.under(fresh), streams),
        number=max(last.number if last else 0, beyond) + 1,  # LDG-035
        events=events,
        at=to_text(now),
    )
    note = sign_note(checkpoint, signer)
    if anew:
        change.set_nodes({})  # the lost tree may have had more nodes than the new one
    change.put_note(note, fresh, moved)  # LDG-034
    return NewCheckpoint(note, checkpoint, moved)


def require_stream_count(view: View, trust: LedgerTrust, least: int) -> None:
    """Tampered if the newest checkpoint counts more streams than `least`; then some were removed.

    A checkpoint whose signature is damaged proves nothing, and so counts none.
    """
    # LDG-098
    last = _newest_if_signed(view, trust)
    if last is not None and least < last.streams:
        gone = last.streams - least
        raise rollback_error(
            f"{gone} of the histories that checkpoint {last.number} counts are gone"
        )


def _newest_if_signed(view: View, trust: LedgerTrust) -> Checkpoint | None:
    """The newest checkpoint; None if there is none, or its signature does not hold."""
    with suppress(Tampered):
        return newest_checkpoint(view, trust)
    return None


def require_numbers_in_order(streams: int, heads: Iterable[tuple[str, Head]]) -> None:
    """Tampered if a stream has a number that is not below the count of streams: then one before it
    was removed, and the tree would have a leaf that belongs to no stream."""
    for name, head in heads:
        if head.number >= streams:
            raise Tampered(
                f"a history that began before {name} is gone",
                code="stream_missing",
                stream=name,
                hint="restore the newest copy of .moot/ledger.db: nothing can go on without it",
            )


def _require_tree(stored: StoredNodes, last: Checkpoint, moved: Iterable[tuple[str, Head]]) -> None:
    """Tampered unless the stored nodes give the root that the last checkpoint signed.

    The new tree takes over all nodes of heads that did not move. They lie in the same file as the
    events: whoever removes events can also change the nodes, and the new signature would hide it.
    """
    try:
        places = [(0, head.number) for _, head in moved if head.number < last.streams]
        leaves = [(place[1], stored[place]) for place in places]
        above = checkpoint_note.changed_nodes(stored, last.streams, leaves)
        root = checkpoint_note.root_hash(stored.under(above), last.streams)
    except KeyError:
        root = b""
    if root != last.root:
        raise _damaged(f"the stored tree is not the one that checkpoint {last.number} was made of")


def _require_all_moved(
    view: View,
    stored: StoredNodes,
    last: Checkpoint,
    moved: Iterable[tuple[str, Head]],
    events: int,
) -> None:
    """Tampered unless the heads said to have moved account for all events since the checkpoint.

    The list of moved heads comes from an unsigned column. If a head that moved were missing in it,
    the new note would count events that its tree does not cover.
    """
    known = last.events
    for name, head in moved:
        pinned = view.pinned_head(name) or Head(head.number, -1, b"")
        known += head.seq - pinned.seq
        leaf = checkpoint_note.leaf_hash(name, pinned.seq, pinned.hash)
        if head.number < last.streams and stored[0, head.number] != leaf:
            raise _damaged(f"checkpoint {last.number} pins another event of {name} than is said")
    if known != events:
        raise _damaged(f"not all that came since checkpoint {last.number} is said to have moved")


def _damaged(why: str) -> Tampered:
    return Tampered(
        why,
        code="tree_damaged",
        hint="`moot ledger rebuild` makes it anew, if what it pins is as it was signed; "
        "else keep the file as it is and restore .moot/ledger.db from a backup",
    )


def inclusion_path_of(view: View, number: int, streams: int) -> tuple[bytes, ...]:
    """The path from stream `number` to the newest note's root (LDG-034)."""
    return checkpoint_note.inclusion_path(StoredNodes(view), number, streams)
