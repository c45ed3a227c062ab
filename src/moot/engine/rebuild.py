"""Recompute what is derived from events: index rows, searchable texts, snapshots, the head tree.

`compare_derived` recomputes all of it and lists what is stored differently; `rebuild` replaces it.
The two side tables (heartbeats, delivery cursors) come from no event and stay as they are. A
damaged record stops a rebuild: nothing is derived from events that cannot be trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from moot.core import checkpoint_note
from moot.core.checkpoint_note import Checkpoint
from moot.core.clock import to_text
from moot.core.errors import MootError, Tampered
from moot.core.findings import Finding, Severity
from moot.core.ledger import Head, RowEdit, Snapshot, StoredRow, View, WriteTransaction
from moot.core.machine import Drop, Event, Put, Recorded, Words
from moot.core.names import REGISTRY
from moot.core.record import ArtifactRef
from moot.core.signing import SNAPSHOT, Signer, verify
from moot.engine.checkpoints import (
    RESTORE_OR_ACCEPT_HINT,
    holds_event,
    newest_checkpoint,
    rollback_error,
)
from moot.engine.replay import (
    SNAPSHOT_EVERY,
    LoadedStream,
    Replay,
    read_record,
    require_keys,
    snapshot_bytes,
    take_snapshot,
    unsigned_snapshot,
)
from moot.engine.signers import LedgerTrust
from moot.engine.signs_of_life import SEEN

# The head tree, computed again from the pinned events. The list of these is not signed: the tree is
# valid only if its root is the one that the checkpoint signed. Nothing here writes.

SHOWN = 5
_RESTORE = "keep the damaged file; restore .moot/ledger.db from a backup"
Nodes = dict[checkpoint_note.Position, bytes]


class RebuiltTree(msgspec.Struct, frozen=True):
    """The correct tree, and how the stored one differs from it."""

    checkpoint: int
    nodes: Nodes
    wrong: int
    missing: int
    foreign: int

    @property
    def description(self) -> str:
        """Say for people how many nodes differ, and in what way."""
        counts = f"{self.wrong} nodes are wrong, {self.missing} missing, {self.foreign} too many"
        return f"in the head tree {counts}"


def rebuild_tree(view: View, trust: LedgerTrust) -> RebuiltTree | None:
    """Return the correct tree if another one is stored, else None.

    Tampered if the pinned events do not give the root that the newest checkpoint signed (LDG-100).
    """
    last = newest_checkpoint(view, trust)
    if last is None:
        return None
    expected, stored = _expected_nodes(view, last), dict(view.all_nodes())
    if stored == expected:
        return None
    both = expected.keys() & stored.keys()
    wrong = sum(stored[place] != expected[place] for place in both)
    return RebuiltTree(
        last.number, expected, wrong, len(expected) - len(both), len(stored) - len(both)
    )


def _expected_nodes(view: View, last: Checkpoint) -> Nodes:
    heads = list(view.pinned_heads())
    _require_counted(last, heads)
    for name, head in heads:
        if not holds_event(view, name, head.seq, head.hash):
            why = f"event {head.seq} of {name} is missing or was replaced"
            raise _damaged(last, why, name, RESTORE_OR_ACCEPT_HINT)
    leaves = [
        (head.number, checkpoint_note.leaf_hash(name, head.seq, head.hash)) for name, head in heads
    ]
    nodes = checkpoint_note.changed_nodes({}, last.streams, leaves)
    if checkpoint_note.root_hash(nodes, last.streams) != last.root:
        raise _damaged(last, f"the heads do not give its root{_describe_moved(view, nodes, heads)}")
    return nodes


def _require_counted(last: Checkpoint, heads: list[tuple[str, Head]]) -> None:
    if len(heads) != last.streams:
        raise _damaged(last, f"it counts {last.streams} streams, but {len(heads)} are pinned")
    for number, (name, head) in enumerate(heads):
        if head.number != number:
            raise _damaged(last, f"{name} has the number of another stream", name)


def _describe_moved(view: View, nodes: Nodes, heads: list[tuple[str, Head]]) -> str:
    """Name the streams whose stored leaf differs. If the stored nodes are correct, these streams
    were changed."""
    stored = dict(view.all_nodes())
    names = [name for name, h in heads if stored.get((0, h.number)) != nodes[0, h.number]]
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f", and differ from the stored tree in {', '.join(names[:SHOWN])}{more}"


def _damaged(last: Checkpoint, why: str, stream: str = "", hint: str = _RESTORE) -> Tampered:
    return Tampered(
        f"the ledger differs from what checkpoint {last.number} signed: {why}",
        code="tree_damaged",
        stream=stream,
        hint=hint,
    )


_encode = msgspec.json.Encoder(order="sorted").encode


class RebuildResult(msgspec.Struct, frozen=True):
    """The counts after a rebuild, and the differences found before it."""

    streams: int
    events: int
    rows: int
    words: int
    snapshots: int
    differences: tuple[Finding, ...]


class _Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: int


class DerivedData:
    """The index, snapshots and tree as computed from the events; filled stream by stream."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], RowEdit] = {}  # (space, key) -> the row's last change
        self.words: list[RowEdit] = []
        self.seen: dict[str, Recorded[Event]] = {}  # agent -> its newest event
        self.cited: dict[str, ArtifactRef] = {}  # hash of an artifact -> how it is cited
        self.newest: Recorded[Event] | None = None  # of all streams, by time
        self.events: dict[str, int] = {}  # stream -> how many events it has
        self.differences: list[Finding] = []
        self.tree: RebuiltTree | None = None  # the correct head tree, if the stored one differs
        self.broken: list[MootError] = []  # why streams could not be read to their end

    def add(self, recorded: Recorded[Event], loaded: LoadedStream) -> None:
        self.events[recorded.stream] = recorded.seq + 1
        self.cited.update((ref.sha256, ref) for ref in recorded.artifacts)
        for change in loaded.machine.index(recorded):
            self._index(RowEdit(change, recorded.stream, recorded.seq))
        if self.newest is None or recorded.at >= self.newest.at:
            self.newest = recorded
        last = self.seen.get(recorded.actor.id)
        if last is None or recorded.at >= last.at:
            self.seen[recorded.actor.id] = recorded

    def _index(self, edit: RowEdit) -> None:
        match edit.change:
            case Put(space, key):
                self.rows[space, key] = edit
            case Drop(space, key):
                self.rows.pop((space, key), None)
            case Words():
                self.words.append(edit)

    def add_difference(self, code: str, message: str, where: str) -> None:
        self.differences.append(_difference(code, message, where))


def missing_table_finding(table: str) -> Finding:
    """Return the finding for a missing index table."""
    return _difference("table_missing", "an index table was missing", table)


def _difference(code: str, message: str, where: str) -> Finding:
    return Finding(
        rule="LED-REBUILD",
        code=code,
        message=message,
        severity=Severity.WARNING,
        where=where,
        hint="`moot ledger rebuild` computes it again from the events",
    )


def compare_derived(view: View, replay: Replay) -> DerivedData:
    """Recompute everything that is derived, and list what is stored differently."""
    derived = DerivedData()
    for stream, _ in view.streams():
        try:
            _derive_stream(view, replay, stream, derived)
        except MootError as error:
            derived.broken.append(error)
    if not derived.broken:  # else rows that cannot be recomputed would all look foreign
        _compare_rows(view, derived)
        _compare_words(view, derived)
        _compare_foreign_snapshots(view, replay, derived)
        _compare_tree(view, replay, derived)
    return derived


def rebuild(change: WriteTransaction, replay: Replay, signer: Signer | None) -> RebuildResult:
    """Replace derived data if any of it differs. Snapshots need the checkpoint key (LDG-071)."""
    created = change.create_missing_tables()
    derived = compare_derived(change, replay)
    if derived.broken:
        raise derived.broken[0]
    derived.differences += [missing_table_finding(table) for table in created]
    if derived.differences:
        change.clear_rows()
        change.edit_rows([*derived.rows.values(), *_seen_rows(derived), *derived.words])
        if signer is not None:
            _snapshot_all(change, replay, derived, signer)
    if derived.tree is not None:
        change.set_nodes(derived.tree.nodes)
        derived.add_difference(
            "tree_differs", derived.tree.description, f"checkpoint {derived.tree.checkpoint}"
        )
    return RebuildResult(
        streams=len(derived.events),
        events=sum(derived.events.values()),
        rows=len(derived.rows) + len(derived.seen),
        words=len(derived.words),
        snapshots=sum(1 for _ in change.all_snapshots()),
        differences=tuple(derived.differences),
    )


def _derive_stream(view: View, replay: Replay, stream: str, derived: DerivedData) -> None:
    stored, keys = view.snapshot(stream), view.head(REGISTRY)
    for record, loaded in replay.walk(view, stream):
        require_keys(stream, loaded, keys)
        derived.add(read_record(loaded.machine, record), loaded)
        if stored is not None and stored.seq == loaded.seq:
            _compare_snapshot(replay, stored, loaded, derived)
    if stored is not None and stored.seq >= derived.events.get(stream, 0):
        _require_no_loss(replay, stored)
        derived.add_difference("snapshot_differs", "the snapshot is newer than its events", stream)


def _compare_snapshot(
    replay: Replay, stored: Snapshot, loaded: LoadedStream, derived: DerivedData
) -> None:
    if stored.hash != loaded.hash:
        _require_no_loss(replay, stored)
    expected_row = unsigned_snapshot(stored.stream, loaded)
    if stored._replace(signature=b"") != expected_row:
        derived.add_difference(
            "snapshot_differs", "the snapshot is of another state", stored.stream
        )
    elif not _is_signed(replay, stored):
        derived.add_difference(
            "snapshot_unsigned", "the snapshot's signature is not ours", stored.stream
        )


def _require_no_loss(replay: Replay, stored: Snapshot) -> None:
    """Raise Tampered if a snapshot of a missing event has our signature.

    The signature proves that the event existed. A rebuild that replaced the snapshot would destroy
    the only evidence of the loss.
    """
    if _is_signed(replay, stored):
        problem = f"{stored.stream} lacks event {stored.seq}, whose state was signed here before"
        raise rollback_error(problem, stored.stream, stored.seq)


def _is_signed(replay: Replay, stored: Snapshot) -> bool:
    signed = snapshot_bytes(replay.trust.origin, stored)
    return verify(replay.trust.checkpoint, SNAPSHOT, signed, stored.signature)


def _compare_rows(view: View, derived: DerivedData) -> None:
    missing = dict(derived.rows)
    missing.update({_row_key(edit): edit for edit in _seen_rows(derived)})
    for space, row in view.all_rows():
        expected_row = missing.pop((space, row.key), None)
        where = f"{space} {row.key}"
        if expected_row is None:
            derived.add_difference("row_foreign", "no event made this index row", where)
        elif not _matches(view, space, row, expected_row):
            derived.add_difference("row_differs", "the index row differs from its events", where)
    for space, key in missing:
        derived.add_difference("row_missing", "an index row is missing", f"{space} {key}")


def _matches(view: View, space: str, row: StoredRow, expected_row: RowEdit) -> bool:
    if space == SEEN:
        return _was_seen(view, row)
    assert isinstance(expected_row.change, Put)
    return row[1:] == (_encode(expected_row.change.value), expected_row.stream, expected_row.seq)


def _was_seen(view: View, row: StoredRow) -> bool:
    """Return whether the row points at an event of that agent and has its time.

    Any of its events is accepted: which one was last depends on the order of commits, which is not
    recorded.
    """
    record = next(view.records(row.stream, after=row.seq - 1), None)
    if record is None or record.seq != row.seq:
        return False
    try:
        at = to_text(msgspec.json.decode(row.value, type=_Seen).at)
    except (msgspec.DecodeError, MootError):
        return False
    return (record.body.actor.id, record.body.at) == (row.key, at)


def _compare_words(view: View, derived: DerivedData) -> None:
    expected_row = Counter(_word_row(edit) for edit in derived.words)
    stored = Counter(view.all_words())
    for space, key, _ in expected_row - stored:
        derived.add_difference("words_missing", "a text cannot be found", f"{space} {key}")
    for space, key, _ in stored - expected_row:
        derived.add_difference(
            "words_foreign", "no event made this text findable", f"{space} {key}"
        )


def _compare_foreign_snapshots(view: View, replay: Replay, derived: DerivedData) -> None:
    for snapshot in view.all_snapshots():
        if snapshot.stream not in derived.events:
            try:
                _require_no_loss(replay, snapshot)
            except Tampered as error:
                derived.broken.append(error)
                continue
            problem = "a snapshot of a stream that does not exist"
            derived.add_difference("snapshot_foreign", problem, snapshot.stream)


def _compare_tree(view: View, replay: Replay, derived: DerivedData) -> None:
    try:
        derived.tree = rebuild_tree(view, replay.trust)
    except Tampered as error:  # it cannot be computed, and so nothing is rebuilt
        derived.broken.append(error)


def _snapshot_all(
    change: WriteTransaction, replay: Replay, derived: DerivedData, signer: Signer
) -> None:
    """Sign snapshots of states whose events are verified: readers verify nothing before one."""
    for stream, events in derived.events.items():
        if events < SNAPSHOT_EVERY:
            continue
        try:
            loaded = replay.load(change, stream, proved=True)
        except MootError:
            continue
        change.put_snapshot(take_snapshot(replay.trust.origin, stream, loaded, signer))


def _seen_rows(derived: DerivedData) -> Iterator[RowEdit]:
    for name, recorded in derived.seen.items():
        yield RowEdit(Put(SEEN, name, {"at": recorded.at}), recorded.stream, recorded.seq)


def _row_key(edit: RowEdit) -> tuple[str, str]:
    return edit.change.space, edit.change.key


def _word_row(edit: RowEdit) -> tuple[str, str, str]:
    assert isinstance(edit.change, Words)
    return edit.change.space, edit.change.key, edit.change.text
