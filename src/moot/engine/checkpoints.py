"""Checkpoints: one signature over all heads, when a writing process ends, every 1,000 events, and
at export.

Only a checkpoint updates the head tree (decision 0002). So an append costs nothing for it, a
checkpoint costs O(heads moved * log streams), and the stored nodes always match the newest note:
anyone can make proofs for it. A new checkpoint signs only what follows from the one before: an
intruder without a key may have changed the file, and a signature would make that change valid.
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
# checkpoint would sign the rest. So a guard that remembers the ledger
# (`workspace/rollback_guard.py`) checks it before anything is written or signed.

RESTORE_OR_ACCEPT_HINT = (
    "restore the newest copy of .moot/ledger.db; if it is lost for good, "
    "`moot ledger accept-loss --reason TEXT` continues from here and records the loss"
)


class RollbackGuard(Protocol):
    """Remembers the ledger. Methods raise Tampered (`rollback_error`) if events are missing."""

    @property
    def seen(self) -> Mapping[str, tuple[int, bytes]]:
        """Return stream -> its newest event seen. A caller that finds the same event skips
        `note_loaded`, since every command comes here."""
        ...

    def before_writing(self, view: View) -> None:
        """Check the ledger. Called under each write lock, before anything is read."""
        ...

    def before_loading(self, view: View, stream: str) -> None:
        """Check a stream. Called under the write lock for each stream that a command depends on
        and that is not in `seen`."""
        ...

    def note_loaded(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Remember the newest event of `stream`, as it was read."""
        ...

    def note_written(self, stream: str, seq: int, record_hash: bytes) -> None:
        """Remember the newest event of `stream`, after this process committed it."""
        ...

    def before_signing(self, view: View) -> None:
        """Check the ledger. Called under the write lock before a checkpoint is signed."""
        ...


def holds_event(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    """Return whether `stream` has this event at this position."""
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
# Every command, and every answer of a keeper, verifies the newest note.
read_note_cached = lru_cache(maxsize=16)(read_note)


class NewCheckpoint(msgspec.Struct, frozen=True):
    """A new note and the heads that moved since the one before it."""

    note: str
    checkpoint: Checkpoint
    moved: tuple[tuple[str, Head], ...]


_Nodes = dict[checkpoint_note.Position, bytes]


class StoredNodes(Mapping[checkpoint_note.Position, bytes]):
    """The store's nodes as the mapping that `checkpoint_note` reads; each is fetched once."""

    def __init__(self, view: View, known: _Nodes | None = None) -> None:
        self._view = view
        self._known = known or {}

    def with_nodes(self, fresh: _Nodes) -> StoredNodes:
        """Return these nodes with `fresh` ones on top."""
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
    """Return the newest checkpoint in the store; Tampered if its signature is invalid, because no
    checkpoint can follow an unsigned one (LDG-037)."""
    note = view.newest_note()
    if note is None:
        return None
    try:
        return read_note_cached(note, trust.checkpoint)
    except Malformed as error:
        raise Tampered(f"the newest checkpoint is invalid: {error}", code=error.code) from error


def make_checkpoint(
    change: WriteTransaction, trust: LedgerTrust, signer: Signer, now: Millis, beyond: int = 0
) -> NewCheckpoint | None:
    """Sign for every head; None if nothing moved since the last checkpoint.

    Normally only the heads that moved are hashed again, on top of the stored tree. The whole tree
    is computed for the first checkpoint, since a stored tree without a note is unsigned, and with
    `beyond`, the number of a checkpoint whose loss was accepted: the new one gets a higher number.
    """
    last = _newest_if_signed(change, trust) if beyond else newest_checkpoint(change, trust)
    is_full = beyond > 0 or last is None
    moved = tuple(change.streams() if is_full else change.moved_heads())
    streams, events = change.count_streams_and_events()
    if not beyond:
        require_stream_count(change, trust, streams)
    if not moved:
        return None
    stored = StoredNodes(change)
    require_numbers_in_order(streams, moved)
    if last is not None and not is_full:
        _require_tree(stored, last, moved)
        _require_all_moved(change, stored, last, moved, events)
    leaves = [(h.number, checkpoint_note.leaf_hash(name, h.seq, h.hash)) for name, h in moved]
    fresh = checkpoint_note.changed_nodes(stored, streams, leaves)
    checkpoint = Checkpoint(
        origin=trust.origin,
        streams=streams,
        root=checkpoint_note.root_hash(stored.with_nodes(fresh), streams),
        number=max(last.number if last else 0, beyond) + 1,  # LDG-035
        events=events,
        at=to_text(now),
    )
    note = sign_note(checkpoint, signer)
    if is_full:
        change.set_nodes({})  # the lost tree may have had more nodes than the new one
    change.put_note(note, fresh, moved)  # LDG-034
    return NewCheckpoint(note, checkpoint, moved)


def require_stream_count(view: View, trust: LedgerTrust, least: int) -> None:
    """Raise Tampered if the newest checkpoint counts more streams than `least`: some were removed.

    A checkpoint with an invalid signature proves nothing and is ignored.
    """
    # LDG-098
    last = _newest_if_signed(view, trust)
    if last is not None and least < last.streams:
        missing = last.streams - least
        raise rollback_error(
            f"{missing} of the streams that checkpoint {last.number} counts are missing"
        )


def _newest_if_signed(view: View, trust: LedgerTrust) -> Checkpoint | None:
    """Return the newest checkpoint; None if there is none, or its signature is invalid."""
    with suppress(Tampered):
        return newest_checkpoint(view, trust)
    return None


def require_numbers_in_order(streams: int, heads: Iterable[tuple[str, Head]]) -> None:
    """Raise Tampered if a stream's number is not below the count of streams: then one before it
    was removed, and the tree would have a leaf without a stream."""
    for name, head in heads:
        if head.number >= streams:
            raise Tampered(
                f"a stream older than {name} is missing",
                code="stream_missing",
                stream=name,
                hint="restore the newest copy of .moot/ledger.db: Moot cannot continue without it",
            )


def _require_tree(stored: StoredNodes, last: Checkpoint, moved: Iterable[tuple[str, Head]]) -> None:
    """Raise Tampered unless the stored nodes give the root that the last checkpoint signed.

    The new tree keeps all nodes of heads that did not move. They are in the same file as the
    events: an intruder who removes events can also change the nodes, and the new signature would
    hide it.
    """
    try:
        places = [(0, head.number) for _, head in moved if head.number < last.streams]
        leaves = [(place[1], stored[place]) for place in places]
        above = checkpoint_note.changed_nodes(stored, last.streams, leaves)
        root = checkpoint_note.root_hash(stored.with_nodes(above), last.streams)
    except KeyError:
        root = b""
    if root != last.root:
        raise _damaged(f"the stored tree is not the one that checkpoint {last.number} signed")


def _require_all_moved(
    view: View,
    stored: StoredNodes,
    last: Checkpoint,
    moved: Iterable[tuple[str, Head]],
    events: int,
) -> None:
    """Raise Tampered unless the moved heads account for all events since the checkpoint.

    The list of moved heads comes from an unsigned column. If a moved head were missing in it, the
    new note would count events that its tree does not cover.
    """
    known = last.events
    for name, head in moved:
        pinned = view.pinned_head(name) or Head(head.number, -1, b"")
        known += head.seq - pinned.seq
        leaf = checkpoint_note.leaf_hash(name, pinned.seq, pinned.hash)
        if head.number < last.streams and stored[0, head.number] != leaf:
            raise _damaged(f"checkpoint {last.number} pins another event of {name} than is stored")
    if known != events:
        raise _damaged(f"events after checkpoint {last.number} are in no stream that moved")


def _damaged(why: str) -> Tampered:
    return Tampered(
        why,
        code="tree_damaged",
        hint="`moot ledger rebuild` computes the tree again, if the events it covers are intact; "
        "else keep the damaged file and restore .moot/ledger.db from a backup",
    )


def inclusion_path_of(view: View, number: int, streams: int) -> tuple[bytes, ...]:
    """Return the path from stream `number` to the newest note's root (LDG-034)."""
    return checkpoint_note.inclusion_path(StoredNodes(view), number, streams)
