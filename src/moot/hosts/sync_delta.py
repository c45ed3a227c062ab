"""Read what a machine's copy lacks from the keeper's ledger, as much as one answer holds."""

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
from moot.hosts import messages as wire
from moot.hosts.members import Member
from moot.store.artifacts import CHUNK, MAX_BYTES, FileArtifacts, require_hash

MOST_RECORDS: Final = 1_000
MOST_BYTES: Final = 8 * 1024 * 1024  # of events and snapshots
# More takes long to read: a background thread answers then.
MAX_FOREGROUND_RECORDS: Final = 200
MAX_VERIFIED: Final = 1_000  # positions; above this all are forgotten


def lacks_many_records(view: View, request: wire.CopyPosition) -> bool:
    return view.newest_position() - request.position > MAX_FOREGROUND_RECORDS


def read_delta(view: View, request: wire.CopyPosition, now: Millis) -> wire.SyncDelta:
    """Return what the machine's copy lacks; Tampered unless the copy is a prefix of our ledger."""
    records = _records_since(view, request)
    sent, snapshots, more = _fit_into_answer(view, records)
    return wire.SyncDelta(
        tuple(sent),
        tuple(snapshots),
        tuple(wire.pack_heartbeat(beat) for beat in view.heartbeats(request.beats)),
        view.newest_note(),
        now,
        more or len(records) == MOST_RECORDS,
        _author_notes(view, records[: len(sent)]),
    )


def more_to_come(now: Millis) -> wire.SyncDelta:
    """Return an empty delta that says there is more, for a machine that is next in the queue."""
    return wire.SyncDelta((), (), (), None, now, more=True, seen=(), has_turn=False)


class VerifiedPrefixes:
    """Remembers which positions of copies were compared with our ledger.

    A machine that commits one command after another names the same position each time. Our record
    there cannot change as long as no other process writes to our ledger.
    """

    def __init__(self) -> None:
        self._verified: set[tuple[int, bytes]] = set()
        self._version = -1  # counts the store's commits by other processes, at that time

    def require(self, view: View, request: wire.CopyPosition) -> None:
        """Raise Tampered unless the copy is a prefix of our ledger."""
        version = view.version_of_others()
        if version != self._version or len(self._verified) >= MAX_VERIFIED:
            self._verified, self._version = set(), version
        place = request.position, request.last
        if place not in self._verified:
            if request.position:
                _require_same_record(view.records_after(request.position - 1, 1), request)
            self._verified.add(place)


def _fit_into_answer(
    view: View, records: Sequence[Record]
) -> tuple[list[wire.SentRecord], list[wire.SentSnapshot], bool]:
    """Pack as many records as one answer holds, at least one, with their snapshots.

    The third value is True if there are more.
    """
    sent: list[wire.SentRecord] = []
    snapshots: list[wire.SentSnapshot] = []
    snapshot_seqs: dict[str, int] = {}
    size = 0
    for record in records:
        snapshot = _snapshot_with(view, record, snapshot_seqs)
        size += len(record.raw) + (0 if snapshot is None else len(snapshot.state))
        if sent and size > MOST_BYTES:
            return sent, snapshots, True
        sent.append(wire.pack_record(record))
        if snapshot is not None:
            snapshots.append(wire.pack_snapshot(snapshot))
    return sent, snapshots, False


def _snapshot_with(view: View, record: Record, snapshot_seqs: dict[str, int]) -> Snapshot | None:
    """Return the stream's snapshot if it is at this event, or at the one before.

    A snapshot at the event before may be newer than the delta that sent that event. None if there
    is none, or it is too long for an answer: the machine then replays the events.
    `snapshot_seqs`: stream -> the position of its snapshot, -1 without one.
    """
    stream, seq = record.stream, record.seq
    at = snapshot_seqs.get(stream)
    if at is not None and at != seq:
        return None
    snapshot = view.snapshot(stream)
    snapshot_seqs[stream] = -1 if snapshot is None else snapshot.seq
    if snapshot is None or len(snapshot.state) > MOST_BYTES:
        return None
    return snapshot if snapshot.seq in (seq, seq - 1) else None


def _author_notes(view: View, records: Sequence[Record]) -> tuple[wire.AuthorNote, ...]:
    """Return the newest event noted for each author of these records.

    A key has one author, so only one record of each key is decoded.
    """
    by_key = {record.kid: record for record in records}
    authors = sorted({record.body.actor.id for record in by_key.values()})
    noted = ((author, view.row(SEEN, author)) for author in authors)
    return tuple((author, row.stream, row.seq) for author, row in noted if row is not None)


def _records_since(view: View, request: wire.CopyPosition) -> list[Record]:
    """Return the records after a machine's copy; Tampered unless the copy is a prefix of our
    ledger: our record at the copy's last position must have the same hash."""
    if request.position == 0:
        return view.records_after(0, MOST_RECORDS)
    records = view.records_after(request.position - 1, MOST_RECORDS + 1)
    _require_same_record(records, request)
    return records[1:]


def _require_same_record(records: Sequence[Record], request: wire.CopyPosition) -> None:
    if not records or records[0].hash != request.last:
        raise another_history(
            "the keeper's ledger lacks events that this machine has"
            if not records
            else "the keeper's ledger has other events than this machine"
        )


# Artifacts travel in pieces; the keeper stores one when it is complete and its hash matches.

MAX_UNFINISHED: Final = 16  # incomplete artifacts of one machine
_HASH: Final = "?" * 64  # a glob for the hash in their file names


class ArtifactPieces:
    """The keeper's artifacts, and in `folder` the incomplete ones."""

    def __init__(self, artifacts: FileArtifacts, folder: Path) -> None:
        self._artifacts = artifacts
        self._folder = folder
        self._lock = threading.Lock()  # several processes of a machine may send the same one
        for abandoned in folder.glob(f".*-{_HASH}-*"):  # by a keeper that was killed
            abandoned.unlink(missing_ok=True)

    def store_piece(self, member: Member, question: wire.UploadPiece) -> wire.Done:
        """Append a piece; when the artifact is complete, verify its hash and store it."""
        if self._artifacts.size(question.sha256) == question.size:
            return wire.Done(question.size)
        with self._lock:
            end, complete = self._append(self._unfinished_path(member, question), question)
        if complete is not None:
            self._store(complete, question.sha256)
        return wire.Done(end)

    def _append(self, place: Path, question: wire.UploadPiece) -> tuple[int, Path | None]:
        """Append; return the number of bytes now, and the renamed file once it is complete.

        Renaming keeps another process of the machine from appending to it again.
        """
        with place.open("r+b" if place.exists() else "w+b") as file:
            file.seek(0, 2)
            if file.tell() != question.offset:
                return file.tell(), None  # the sender continues from here
            file.write(question.piece)
            end = file.tell()
        if end < question.size:
            return end, None
        complete = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
        return end, place.rename(complete)

    def _store(self, complete: Path, sha256: str) -> None:
        try:
            with complete.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    raise Malformed("the bytes do not match the artifact's hash", code="bad_hash")
                file.seek(0)
                self._artifacts.put_stream(iter(lambda: file.read(CHUNK), b""), "")
        finally:
            complete.unlink(missing_ok=True)

    def _unfinished_path(self, member: Member, question: wire.UploadPiece) -> Path:
        """Return the file that collects the pieces; Refused if the artifact is too large."""
        if not len(question.piece) <= question.size <= MAX_BYTES:
            raise Refused("artifact_too_large", f"an artifact has at most {MAX_BYTES} bytes")
        place = self._folder / f".{member.number}-{require_hash(question.sha256)}"
        unfinished = list(self._folder.glob(f".{member.number}-{_HASH}"))
        if place not in unfinished and len(unfinished) >= MAX_UNFINISHED:
            oldest = min(unfinished, key=lambda file: file.stat().st_mtime_ns)
            oldest.unlink(missing_ok=True)  # its sender starts again
        return place

    def read_piece(self, question: wire.DownloadPiece, is_erased: bool) -> wire.ArtifactPiece:
        """Return a piece. Erases an erased artifact first: the keeper may have crashed before."""
        if is_erased:
            self._artifacts.erase(question.sha256)
        size, piece = self._artifacts.piece(question.sha256, question.offset)
        return wire.ArtifactPiece(size, piece)

    def erase(self, sha256: str) -> None:
        self._artifacts.erase(sha256)
