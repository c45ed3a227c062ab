"""What a machine's copy lacks: read from the keeper's ledger, as much as one answer holds."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from moot.core.clock import Millis
from moot.core.errors import Malformed, Refused
from moot.core.ledger import Snapshot, View
from moot.core.record import Record
from moot.engine.ledger_copy import another_history
from moot.engine.signs_of_life import SEEN
from moot.hosts import messages as ask
from moot.hosts.members import Member
from moot.store.artifacts import CHUNK, MAX_BYTES, FileArtifacts, require_hash

MOST_RECORDS: Final = 1_000
MOST_BYTES: Final = 8 * 1024 * 1024  # of events and snapshots
# So much is read in a moment; another thread answers a machine that lacks more.
FEW_RECORDS: Final = 200
MOST_KNOWN: Final = 1_000  # places that are remembered; beyond that all are forgotten


def is_far_behind(view: View, request: ask.Follow) -> bool:
    return view.newest_position() - request.position > FEW_RECORDS


def read_delta(view: View, request: ask.Follow, now: Millis) -> ask.SyncDelta:
    """What came after what the machine has; Tampered unless that is a beginning of what we have."""
    records = _records_since(view, request)
    sent, snapshots, more = _within_bytes(view, records)
    return ask.SyncDelta(
        tuple(sent),
        tuple(snapshots),
        tuple(ask.send_heartbeat(beat) for beat in view.heartbeats(request.beats)),
        view.newest_note(),
        now,
        more or len(records) == MOST_RECORDS,
        _noted_signs(view, records[: len(sent)]),
    )


def empty_delta(now: Millis) -> ask.SyncDelta:
    """That there is more, to somebody who waits for a turn, and is next."""
    return ask.SyncDelta((), (), (), None, now, more=True, seen=(), has_turn=False)


class KnownBeginnings:
    """What copies were compared with our ledger already, by where they end.

    A machine that records one command after another names the same place each time. What stands
    there stays, as long as nobody else writes to our ledger.
    """

    def __init__(self) -> None:
        self._known: set[tuple[int, bytes]] = set()
        self._version = -1  # of the store then, as others have written to it

    def require(self, view: View, request: ask.Follow) -> None:
        """Raise Tampered unless the copy is a beginning of what we have."""
        version = view.version_of_others()
        if version != self._version or len(self._known) >= MOST_KNOWN:
            self._known, self._version = set(), version
        place = request.position, request.last
        if place not in self._known:
            if request.position:
                _require_last(view.records_after(request.position - 1, 1), request)
            self._known.add(place)


def _within_bytes(
    view: View, records: Sequence[Record]
) -> tuple[list[ask.SentRecord], list[ask.SentSnapshot], bool]:
    """As many as one answer holds, at least one, and the snapshots that go with them; True if there
    are more."""
    sent: list[ask.SentRecord] = []
    snapshots: list[ask.SentSnapshot] = []
    places: dict[str, int] = {}
    size = 0
    for record in records:
        snapshot = _snapshot_with(view, record, places)
        size += len(record.raw) + (0 if snapshot is None else len(snapshot.state))
        if sent and size > MOST_BYTES:
            return sent, snapshots, True
        sent.append(ask.send_record(record))
        if snapshot is not None:
            snapshots.append(ask.send_snapshot(snapshot))
    return sent, snapshots, False


def _snapshot_with(view: View, record: Record, places: dict[str, int]) -> Snapshot | None:
    """The snapshot that stands at this event; or at the one before, if that one is not told now:
    it may have been made when that had been told. `places`: stream -> where its snapshot stands.

    None for one that is too long for an answer: a machine can do without, by the events.
    """
    stream, seq = record.stream, record.seq
    at = places.get(stream)
    if at is not None and at != seq:
        return None
    snapshot = view.snapshot(stream)
    places[stream] = -1 if snapshot is None else snapshot.seq
    if snapshot is None or len(snapshot.state) > MOST_BYTES:
        return None
    return snapshot if snapshot.seq in (seq, seq - 1) else None


def _noted_signs(view: View, records: Sequence[Record]) -> tuple[ask.SentSign, ...]:
    """Where the newest event of each author is noted. A key has one author, so that one record of
    each key is read and no more."""
    by_key = {record.kid: record for record in records}
    authors = sorted({record.body.actor.id for record in by_key.values()})
    noted = ((author, view.row(SEEN, author)) for author in authors)
    return tuple((author, row.stream, row.seq) for author, row in noted if row is not None)


def _records_since(view: View, request: ask.Follow) -> list[Record]:
    """What came after a machine's copy; Tampered unless that copy is a beginning of what we have,
    which the record shows that stands where the copy ends."""
    if request.position == 0:
        return view.records_after(0, MOST_RECORDS)
    records = view.records_after(request.position - 1, MOST_RECORDS + 1)
    _require_last(records, request)
    return records[1:]


def _require_last(records: Sequence[Record], request: ask.Follow) -> None:
    if not records or records[0].hash != request.last:
        raise another_history(
            "the keeper's ledger lacks events that this machine has seen"
            if not records
            else "the keeper's ledger holds other events than this machine has seen"
        )


# Artifacts between machines and keeper: piece by piece, kept once the hash is the one named.

MOST_UNFINISHED: Final = 16  # artifacts of one machine that are on their way
_HASH: Final = "?" * 64  # in the names of their files


class ArtifactPieces:
    """The keeper's artifacts, and in `folder` those on their way."""

    def __init__(self, artifacts: FileArtifacts, folder: Path) -> None:
        self._artifacts = artifacts
        self._folder = folder
        self._turn = threading.Lock()  # several processes of a machine may send the same one
        for left in folder.glob(f".*-{_HASH}-*"):  # by a keeper that was killed
            left.unlink(missing_ok=True)

    def take(self, member: Member, question: ask.GiveArtifact) -> ask.Done:
        """Put a piece to its place; the whole is stored once its hash is the one that was named."""
        if self._artifacts.size(question.sha256) == question.size:
            return ask.Done(question.size)
        with self._turn:
            end, whole = self._append(self._unfinished_place(member, question), question)
        if whole is not None:
            self._store(whole, question.sha256)
        return ask.Done(end)

    def _append(self, place: Path, question: ask.GiveArtifact) -> tuple[int, Path | None]:
        """How many bytes there are now; and once that is all, where they lie: nobody else adds to
        them there."""
        with place.open("r+b" if place.exists() else "w+b") as file:
            file.seek(0, 2)
            if file.tell() != question.offset:
                return file.tell(), None  # go on from here
            file.write(question.piece)
            end = file.tell()
        if end < question.size:
            return end, None
        whole = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
        return end, place.rename(whole)

    def _store(self, whole: Path, sha256: str) -> None:
        try:
            with whole.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    raise Malformed("the bytes are not those of this artifact", code="bad_hash")
                file.seek(0)
                self._artifacts.put_stream(iter(lambda: file.read(CHUNK), b""), "")
        finally:
            whole.unlink(missing_ok=True)

    def _unfinished_place(self, member: Member, question: ask.GiveArtifact) -> Path:
        """Where the pieces go; Refused for more than a record may cite, or than fits here."""
        if not len(question.piece) <= question.size <= MAX_BYTES:
            raise Refused("artifact_too_large", f"an artifact has at most {MAX_BYTES} bytes")
        place = self._folder / f".{member.number}-{require_hash(question.sha256)}"
        unfinished = list(self._folder.glob(f".{member.number}-{_HASH}"))
        if place not in unfinished and len(unfinished) >= MOST_UNFINISHED:
            oldest = min(unfinished, key=lambda file: file.stat().st_mtime_ns)
            oldest.unlink(missing_ok=True)  # its sender begins again
        return place

    def give(self, question: ask.WantArtifact, is_erased: bool) -> ask.Piece:
        """A piece of one; what was erased is gone here too, in case we died before we did so."""
        if is_erased:
            self._artifacts.erase(question.sha256)
        size, piece = self._artifacts.piece(question.sha256, question.offset)
        return ask.Piece(size, piece)

    def erase(self, sha256: str) -> None:
        self._artifacts.erase(sha256)
