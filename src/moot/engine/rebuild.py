"""What can be made anew from the events: index rows, findable words, snapshots, the head tree.

`compare` recomputes all of it and says where what is stored differs; `rebuild` replaces it. The
two side tables (signs of life, delivery cursors) come from no event and stay as they are. A
record that does not hold stops a rebuild: nothing is derived from what cannot be believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from moot.core.clock import to_text
from moot.core.errors import MootError, Tampered
from moot.core.findings import Finding, Severity
from moot.core.ledger import Change, RowEdit, Snapshot, StoredRow, View
from moot.core.machine import Drop, Put, Recorded, Words
from moot.core.names import REGISTRY
from moot.core.record import ArtifactRef
from moot.core.signing import SNAPSHOT, Signer, verify
from moot.engine.evidence import rolled_back
from moot.engine.replay import (
    SNAPSHOT_EVERY,
    Loaded,
    Replay,
    read_record,
    require_keys,
    snapshot_bytes,
    take_snapshot,
    unsigned_snapshot,
)
from moot.engine.signs import SEEN
from moot.engine.tree import Mended, mended

_encode = msgspec.json.Encoder(order="sorted").encode


class Rebuilt(NamedTuple):
    """How much there is, and what differed from it before."""

    streams: int
    events: int
    rows: int
    words: int
    snapshots: int
    differences: tuple[Finding, ...]


class _Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: int


class Derived:
    """What the events say: filled by one walk over all streams."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], RowEdit] = {}
        self.words: list[RowEdit] = []
        self.seen: dict[str, Recorded[Any]] = {}
        self.cited: dict[str, ArtifactRef] = {}
        self.newest: Recorded[Any] | None = None
        self.events: dict[str, int] = {}
        self.differences: list[Finding] = []
        self.tree: Mended | None = None  # if another one is stored
        self.broken: list[MootError] = []

    def add(self, recorded: Recorded[Any], loaded: Loaded) -> None:
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

    def differs(self, code: str, message: str, where: str) -> None:
        self.differences.append(
            Finding(
                rule="LED-REBUILD",
                code=code,
                message=message,
                severity=Severity.WARNING,
                where=where,
                hint="`moot ledger rebuild` makes it anew from the events",
            )
        )


def compare(view: View, replay: Replay) -> Derived:
    """Recompute everything derived and list where what is stored is another."""
    found = Derived()
    for stream, _ in view.streams():
        try:
            _walk(view, replay, stream, found)
        except MootError as error:
            found.broken.append(error)
    if not found.broken:  # else rows that cannot be recomputed would all look foreign
        _compare_rows(view, found)
        _compare_words(view, found)
        _compare_strays(view, replay, found)
        _compare_tree(view, replay, found)
    return found


def rebuild(change: Change, replay: Replay, signer: Signer | None) -> Rebuilt:
    """Replace what is derived if any of it differs. Snapshots need the checkpoint key."""
    found = compare(change, replay)
    if found.broken:
        raise found.broken[0]
    if found.differences:
        change.clear_rows()
        change.edit_rows([*found.rows.values(), *_seen_rows(found), *found.words])
        if signer is not None:
            _snapshot_all(change, replay, found, signer)
    if found.tree is not None:
        change.set_nodes(found.tree.nodes)
        found.differs("tree_differs", found.tree.said, f"checkpoint {found.tree.checkpoint}")
    return Rebuilt(
        streams=len(found.events),
        events=sum(found.events.values()),
        rows=len(found.rows) + len(found.seen),
        words=len(found.words),
        snapshots=sum(1 for _ in change.all_snapshots()),
        differences=tuple(found.differences),
    )


def _walk(view: View, replay: Replay, stream: str, found: Derived) -> None:
    stored, keys = view.snapshot(stream), view.head(REGISTRY)
    for record, loaded in replay.walk(view, stream):
        require_keys(stream, loaded, keys)
        found.add(read_record(loaded.machine, record), loaded)
        if stored is not None and stored.seq == loaded.seq:
            _compare_snapshot(replay, stored, loaded, found)
    if stored is not None and stored.seq >= found.events.get(stream, 0):
        _require_no_loss(replay, stored)
        found.differs("snapshot_differs", "the snapshot is newer than its events", stream)


def _compare_snapshot(replay: Replay, stored: Snapshot, loaded: Loaded, found: Derived) -> None:
    if stored.hash != loaded.hash:
        _require_no_loss(replay, stored)
    due = unsigned_snapshot(stored.stream, loaded)
    if stored._replace(signature=b"") != due:
        found.differs("snapshot_differs", "the snapshot is of another state", stored.stream)
    elif not _is_signed(replay, stored):
        found.differs("snapshot_unsigned", "the snapshot's signature is not ours", stored.stream)


def _require_no_loss(replay: Replay, stored: Snapshot) -> None:
    """One that is signed shows that its event was there: whoever made it anew would hide that."""
    if _is_signed(replay, stored):
        lacking = f"{stored.stream} lacks event {stored.seq}, whose state was signed here before"
        raise rolled_back(lacking, stored.stream, stored.seq)


def _is_signed(replay: Replay, stored: Snapshot) -> bool:
    said = snapshot_bytes(replay.trust.origin, stored)
    return verify(replay.trust.checkpoint, SNAPSHOT, said, stored.signature)


def _compare_rows(view: View, found: Derived) -> None:
    missing = dict(found.rows)
    missing.update({_place(edit): edit for edit in _seen_rows(found)})
    for space, row in view.all_rows():
        due = missing.pop((space, row.key), None)
        where = f"{space} {row.key}"
        if due is None:
            found.differs("row_foreign", "no event made this index row", where)
        elif not _holds(view, space, row, due):
            found.differs("row_differs", "the index row is not what its events say", where)
    for space, key in missing:
        found.differs("row_missing", "an index row is missing", f"{space} {key}")


def _holds(view: View, space: str, row: StoredRow, due: RowEdit) -> bool:
    if space == SEEN:
        return _was_seen(view, row)
    assert isinstance(due.change, Put)
    return row[1:] == (_encode(due.change.value), due.stream, due.seq)


def _was_seen(view: View, row: StoredRow) -> bool:
    """Which of an agent's events came last, only the order of commits knew: any of them holds."""
    record = next(view.records(row.stream, after=row.seq - 1), None)
    if record is None or record.seq != row.seq:
        return False
    try:
        at = to_text(msgspec.json.decode(row.value, type=_Seen).at)
    except (msgspec.DecodeError, MootError):
        return False
    return (record.body.actor.id, record.body.at) == (row.key, at)


def _compare_words(view: View, found: Derived) -> None:
    due = Counter(_text(edit) for edit in found.words)
    stored = Counter(view.all_words())
    for space, key, _ in due - stored:
        found.differs("words_missing", "a text cannot be found", f"{space} {key}")
    for space, key, _ in stored - due:
        found.differs("words_foreign", "no event made this text findable", f"{space} {key}")


def _compare_strays(view: View, replay: Replay, found: Derived) -> None:
    for snapshot in view.all_snapshots():
        if snapshot.stream not in found.events:
            try:
                _require_no_loss(replay, snapshot)
            except Tampered as error:
                found.broken.append(error)
                continue
            found.differs("snapshot_foreign", "a snapshot of nothing", snapshot.stream)


def _compare_tree(view: View, replay: Replay, found: Derived) -> None:
    try:
        found.tree = mended(view, replay.trust)
    except Tampered as error:  # it cannot be made anew, and so nothing is
        found.broken.append(error)


def _snapshot_all(change: Change, replay: Replay, found: Derived, signer: Signer) -> None:
    """Sign only what was proved: a signed snapshot is believed without a second look."""
    for stream, events in found.events.items():
        if events < SNAPSHOT_EVERY:
            continue
        try:
            loaded = replay.load(change, stream, proved=True)
        except MootError:
            continue
        change.put_snapshot(take_snapshot(replay.trust.origin, stream, loaded, signer))


def _seen_rows(found: Derived) -> Iterator[RowEdit]:
    for name, recorded in found.seen.items():
        yield RowEdit(Put(SEEN, name, {"at": recorded.at}), recorded.stream, recorded.seq)


def _place(edit: RowEdit) -> tuple[str, str]:
    return edit.change.space, edit.change.key


def _text(edit: RowEdit) -> tuple[str, str, str]:
    assert isinstance(edit.change, Words)
    return edit.change.space, edit.change.key, edit.change.text
