"""What a machine's copy lacks: read from the keeper's ledger, as much as one answer holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moot.core.clock import Millis
from moot.core.ledger import Snapshot, View
from moot.core.record import Record
from moot.engine.ledger_copy import another_history
from moot.engine.signs_of_life import SEEN
from moot.keeper import questions as ask

MOST_RECORDS: Final = 1_000
MOST_BYTES: Final = 8 * 1024 * 1024  # of events and snapshots
# So much is read in a moment; whoever lacks more is told aside.
FEW_RECORDS: Final = 200
MOST_KNOWN: Final = 1_000  # places that are remembered; beyond that all are forgotten


def is_far_behind(view: View, asked: ask.Follow) -> bool:
    return view.newest_position() - asked.position > FEW_RECORDS


def read_news(view: View, asked: ask.Follow, now: Millis) -> ask.News:
    """What came after what the machine has; Tampered unless that is a beginning of what we have."""
    records = _records_since(view, asked)
    sent, snapshots, more = _within_bytes(view, records)
    return ask.News(
        tuple(sent),
        tuple(snapshots),
        tuple(ask.send_heartbeat(beat) for beat in view.heartbeats(asked.beats)),
        view.newest_note(),
        now,
        more or len(records) == MOST_RECORDS,
        _noted_signs(view, records[: len(sent)]),
    )


def untold_news(now: Millis) -> ask.News:
    """That there is more, to somebody who waits for a turn, and is next."""
    return ask.News((), (), (), None, now, more=True, seen=(), has_turn=False)


def require_beginning(view: View, asked: ask.Follow) -> None:
    """The same check without what came after."""
    if asked.position:
        _require_last(view.records_after(asked.position - 1, 1), asked)


class KnownBeginnings:
    """What copies were compared with our ledger already, by where they end.

    A machine that records one command after another names the same place each time. What stands
    there stays, as long as nobody else writes to our ledger.
    """

    def __init__(self) -> None:
        self._known: set[tuple[int, bytes]] = set()
        self._version = -1  # of the store then, as others have written to it

    def require(self, view: View, asked: ask.Follow) -> None:
        """As `require_beginning`."""
        version = view.version_of_others()
        if version != self._version or len(self._known) >= MOST_KNOWN:
            self._known, self._version = set(), version
        place = asked.position, asked.last
        if place not in self._known:
            require_beginning(view, asked)
            self._known.add(place)


def holds_record(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    record = next(view.records(stream, after=seq - 1), None)
    return record is not None and (record.seq, record.hash) == (seq, record_hash)


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


def _records_since(view: View, asked: ask.Follow) -> list[Record]:
    """What came after a machine's copy; Tampered unless that copy is a beginning of what we have,
    which the record shows that stands where the copy ends."""
    if asked.position == 0:
        return view.records_after(0, MOST_RECORDS)
    records = view.records_after(asked.position - 1, MOST_RECORDS + 1)
    _require_last(records, asked)
    return records[1:]


def _require_last(records: Sequence[Record], asked: ask.Follow) -> None:
    if not records or records[0].hash != asked.last:
        raise another_history(
            "the keeper's ledger lacks events that this machine has seen"
            if not records
            else "the keeper's ledger holds other events than this machine has seen"
        )
