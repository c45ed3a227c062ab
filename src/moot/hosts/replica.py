"""A machine's copy of the ledger: the questions to the keeper, and how the copy is synchronised."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeVar

import msgspec

from moot.core.clock import Millis, system_clock
from moot.core.errors import MootError, StoreFailed, Unavailable
from moot.core.ledger import Heartbeat, Snapshot, Store, View, WriteTransaction
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.core.sha256 import sha256 as hash_bytes
from moot.core.version import VERSION
from moot.engine.checkpoints import NewCheckpoint, newest_checkpoint
from moot.engine.ledger_copy import (
    copy_checkpoint,
    copy_heartbeats,
    copy_records,
    copy_snapshots,
    read_sent_note,
)
from moot.engine.replay import Replay
from moot.engine.signers import LedgerTrust
from moot.hosts import messages as wire
from moot.hosts.connection import ClientConnection, ConnectionLost, connect
from moot.hosts.messages import Answer, Question
from moot.hosts.sync_state import CommitsAhead, SyncLock
from moot.store.artifacts import MAX_BYTES, Artifacts

ANSWER_SECONDS: Final = 5.0
MAX_WITH_HELLO: Final = 8 * 1024  # bytes: hello and question then fit into one TLS record
# How long a synchronised copy counts as current.
FRESH_SECONDS: Final = 0.2
# Ask again for heartbeats of this time: some reach the keeper late.
HEARTBEAT_OVERLAP: Final[Millis] = 60_000
ERASED: Final = "registry.artifact_erased"
# Clocks that differ by less than this count as equal.
CLOCK_NOISE: Final[Millis] = 200

T = TypeVar("T", bound=wire.Answer)


class Membership(msgspec.Struct, frozen=True):
    """The keeper's address and fingerprint, and this machine's name and secret there."""

    address: str
    fingerprint: str
    machine: str
    secret: bytes = msgspec.field(default=b"")


class KeeperConnection:
    """Sends questions to the keeper, one at a time, and reconnects if the connection breaks."""

    def __init__(self, membership: Membership, seconds: float = ANSWER_SECONDS) -> None:
        self._membership = membership
        self._seconds = seconds
        self._connection: ClientConnection | None = None
        self._lock = threading.RLock()
        self.offset: Millis = 0  # how far the keeper's clock is ahead of ours
        self.keepers_version: str | None = None  # of moot, when we last connected

    @property
    def address(self) -> str:
        return self._membership.address

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self) -> None:
        """Connect; raise the error if the keeper does not answer or know this machine."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connect()
            except ConnectionLost as error:
                raise keeper_away(self.address, str(error)) from None

    def ask(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        """Return the answer, or raise the keeper's error; Unavailable (`keeper_away`) without one.

        If the open connection turns out to be broken, it connects and asks once again.
        """
        with self._lock:
            for is_new in (self._connection is None, True):
                try:
                    return self._ask(question, kind, *others)
                except ConnectionLost as error:
                    self.close()
                    if is_new:
                        raise keeper_away(self.address, str(error)) from None
        raise AssertionError("the second try uses a new connection")

    def ask_once(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        """Ask without a second try. Raises ConnectionLost itself, for a caller that must know
        whether its question may have arrived."""
        with self._lock:
            try:
                return self._ask(question, kind, *others)
            except ConnectionLost:
                self.close()
                raise

    def _ask(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        before = system_clock()
        try:
            connection = self._send(wire.encode(question))
            answer = wire.decode_answer(connection.receive(self._seconds))
        except BaseException:  # else the next question would get this one's answer
            self.close()
            raise
        if isinstance(answer, wire.SyncDelta):
            self._measure_clock_offset(answer.now, before)
        if isinstance(answer, wire.Failed):
            raise wire.unpack_error(answer)
        if not isinstance(answer, (kind, *others)):
            self.close()
            raise bad_answer("the keeper sent an unexpected answer")
        return answer  # type: ignore[return-value]

    def _send(self, frame: bytes) -> ClientConnection:
        """Send a question; return the connection that was used.

        On a new connection a short question is sent together with the hello, which saves a round
        trip. A long one is not: a keeper that refuses us would close the connection before reading
        all of it, and we would not receive the reason.
        """
        if self._connection is not None and self._connection.has_ended:
            self.close()
        connection = self._connection
        if connection is None and len(frame) <= MAX_WITH_HELLO:
            return self._connect(frame)
        connection = connection or self._connect()
        connection.send(frame, self._seconds)
        return connection

    def _connect(self, *frames: bytes) -> ClientConnection:
        """Connect and authenticate; send `frames` right after the hello."""
        membership = self._membership
        connection = connect(membership.address, membership.fingerprint)
        hello = wire.Hello(wire.VERSION, membership.machine, membership.secret, VERSION)
        try:
            before = system_clock()
            connection.send(wire.encode(hello), self._seconds, *frames)
            answer = wire.decode_answer(connection.receive(self._seconds))
            if isinstance(answer, wire.Failed):
                raise wire.unpack_error(answer)
            if not isinstance(answer, wire.Welcome):
                raise bad_answer("the keeper sent an unexpected answer")
            wire.require_same_version(answer.version, wire.VERSION)
        except BaseException:
            connection.close()
            raise
        self._measure_clock_offset(answer.now, before)
        self.keepers_version = answer.keeper
        self._connection = connection
        return connection

    def _measure_clock_offset(self, keepers_time: Millis, before: Millis) -> None:
        """Update the offset of the keeper's clock: on each new connection, and when one of the
        clocks was set meanwhile. Ignores differences that network delay explains."""
        after = system_clock()
        offset = keepers_time - (before + after) // 2
        if abs(offset - self.offset) > CLOCK_NOISE + (after - before) // 2:
            self.offset = offset

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def bad_answer(why: str) -> StoreFailed:
    return StoreFailed("bad_answer", why, hint="try again; else check moot's version at the keeper")


def keeper_away(
    address: str,
    why: str,
    hint: str = "this machine's copy can be read; try again when `moot keep` runs there",
) -> Unavailable:
    return Unavailable(
        "keeper_away",
        f"the keeper at {address} does not answer ({why}): Moot can record nothing",
        hint=hint,
    )


class LedgerCopy:
    """Synchronises the local store, which is always a prefix of the keeper's ledger."""

    def __init__(
        self,
        store: Store,
        connection: KeeperConnection,
        trust: LedgerTrust,
        replay: Replay,
        on_checkpoint: Callable[[NewCheckpoint], None],
        erase: Callable[[str], object] = lambda _: None,
        sync_lock: SyncLock | None = None,
    ) -> None:
        """`erase` removes the local bytes of an artifact that any machine erased; all processes of
        this machine share `sync_lock`."""
        self._erase = erase
        self._sync_lock = sync_lock
        self._store = store
        self.connection = connection
        self._trust = trust
        self._replay = replay
        self._on_checkpoint = on_checkpoint
        self._synced_at = float("-inf")
        self._heartbeats_since: Millis = 0
        self._lock = threading.RLock()
        self._newest: NewCheckpoint | None = None
        self.ahead = CommitsAhead()
        self._position: wire.CopyPosition | None = (
            None  # as it was last told; events only come behind it
        )
        self._position_version = -1  # counts the store's commits by other processes, then
        self.away: MootError | None = None  # why the copy may be old

    def sync(self) -> NewCheckpoint | None:
        """Bring the copy up to date; return the newest checkpoint if it is new.

        Unavailable if the keeper does not answer.
        """
        with self._lock:
            self._newest = None
            more = True
            required = self.ahead.newest
            while more:
                before = self.position()
                more = self.apply(self.connection.ask(before, wire.SyncDelta))
                if more and self.position().position == before.position:
                    raise bad_answer("the keeper says that there is more but sends nothing new")
            self._note_up_to_date(required)
            return self._newest

    def wait_for_turn(self, streams: tuple[str, ...]) -> wire.SyncDelta:
        """Wait for our turn on these streams; the copy is then up to date. Returns the first delta.

        On busy streams the keeper answers when we are next, so that we read new records while the
        machine before us has its turn.
        """
        with self._lock:
            first = self._take_turn(streams, early=bool(streams))
            if streams and first.has_turn is False:
                with self.read_without_sync() as view:
                    for stream in streams:
                        self._replay.load(view, stream)
                self._take_turn(streams, early=False)
            return first

    def _take_turn(self, streams: tuple[str, ...], early: bool) -> wire.SyncDelta:
        required = self.ahead.newest
        question = wire.TakeTurn(streams, self.position(), early, brief=early)
        delta = self.connection.ask(question, wire.SyncDelta)
        self.apply_all(delta, required)
        return delta

    def fetch_checkpoint(self) -> NewCheckpoint | None:
        """Let the keeper make a checkpoint and copy it; None if there was nothing new."""
        with self._lock:
            self._newest = None
            required = self.ahead.newest
            answer = self.connection.ask(
                wire.MakeCheckpoint(self.position()), wire.SyncDelta, wire.Done
            )
            if isinstance(answer, wire.Done):  # an older keeper sends the delta separately
                return self.sync()
            self.apply_all(answer, required)
            return self._newest

    @property
    def is_just_synced(self) -> bool:
        """Return whether the copy was synchronised a moment ago."""
        return self.away is None and time.monotonic() - self._synced_at < FRESH_SECONDS

    def try_begin_sync(self) -> bool:
        """Return whether this process should synchronise the copy now, between two commits.

        Acknowledged commits must not stay in this process's memory alone for long. Not needed if
        another process of this machine has done it, or is doing it.
        """
        if self.away is not None:
            return True
        if time.monotonic() - self.ahead.oldest_at < FRESH_SECONDS:
            return False
        return self._sync_lock is None or self._sync_lock.try_acquire()

    def end_sync(self) -> None:
        if self._sync_lock is not None:
            self._sync_lock.release()

    def sync_if_stale(self) -> None:
        """Synchronise before reading, unless that was just done and this process has no own commits
        to see. If it fails, reading continues on the old copy and `away` has the reason."""
        is_complete = not self.ahead or self.away is not None
        if is_complete and time.monotonic() - self._synced_at < FRESH_SECONDS:
            return
        try:
            self.sync()
        except MootError as error:
            self.away = error
            self._synced_at = time.monotonic()

    def position(self) -> wire.CopyPosition:
        """Return how far the copy is, as the question that asks for what it lacks."""
        with self._store.read() as view:
            return self.position_in(view)

    def position_in(self, view: View) -> wire.CopyPosition:
        version = view.version_of_others()
        if self._position is not None and version == self._position_version:
            return self._position  # no other process wrote; our own writes reset it
        self._position_version = version
        position = view.newest_position()
        if self._position is None or self._position.position != position:
            last = view.records_after(position - 1, 1)[0].hash if position else b""
            note = newest_checkpoint(view, self._trust)
            number = note.number if note is not None else 0
            self._position = wire.CopyPosition(position, last, number, self._heartbeats_since)
        return self._position

    def apply_all(self, delta: wire.SyncDelta, required: Sequence[Record]) -> None:
        """Apply the delta of an answer, and ask for the rest if there is more.

        The copy must then have the `required` records: those that were ahead of it when the
        question was asked, and those that the answer says are recorded.
        """
        if self.apply(delta):
            self.sync()
        self._note_up_to_date(required)

    def _note_up_to_date(self, required: Sequence[Record]) -> None:
        if required:
            with self._store.read() as view:
                self.ahead.require_synced(view, required)
        self._synced_at = time.monotonic()
        self.away = None

    def read_without_sync(self) -> AbstractContextManager[View]:
        """Return a view of the copy with this process's own commits, without asking the keeper."""
        return _Reading(self._store.read(), self.ahead)

    def apply(self, delta: wire.SyncDelta) -> bool:
        """Write a delta into the copy; True if the keeper has more."""
        if delta.records or delta.heartbeats or delta.note is not None:
            with self._lock:
                self._apply(delta)
        return delta.more

    def _apply(self, delta: wire.SyncDelta) -> None:
        records = [Record(*fields) for fields in delta.records]
        if not records:
            with self._store.read() as view:
                if not self._has_news_for(view, delta):
                    return
        try:
            with self._store.write() as change:
                made = self._write(change, delta, records)
        except BaseException:
            # LDG-064: the cache may hold states that were never stored.
            self._replay.clear_cache()
            raise
        for record in records:
            if record.stream == REGISTRY and record.body.type == ERASED:
                self._erase(str(record.body.data["sha256"]))
        self._heartbeats_since = max(self._heartbeats_since, delta.now - HEARTBEAT_OVERLAP)
        self._position = None
        if made is not None:
            self._newest = made
            self._on_checkpoint(made)

    def _write(
        self, change: WriteTransaction, delta: wire.SyncDelta, records: list[Record]
    ) -> NewCheckpoint | None:
        """Append what the copy lacks; return the delta's checkpoint if it is new."""
        # Another process of this machine may have appended some of them meanwhile.
        records = [record for record in records if not _is_in(change, record)]
        checkpoint = None if delta.note is None else read_sent_note(delta.note, self._trust)
        made: NewCheckpoint | None = None
        noted = None if delta.seen is None else {(stream, seq) for _, stream, seq in delta.seen}
        own = self.ahead.hashes
        missing = 0
        if checkpoint is not None:
            missing = checkpoint.events - change.newest_position()
        if records:
            first = records[: max(missing, 0)] if checkpoint is not None else records
            copy_records(change, self._replay, first, noted, own)
            records = records[len(first) :]
        if checkpoint is not None and change.newest_position() == checkpoint.events:
            made = copy_checkpoint(change, self._trust, delta.note or "", checkpoint)
        if records:
            copy_records(change, self._replay, records, noted, own)
        copy_snapshots(change, [Snapshot(*fields) for fields in delta.snapshots])
        copy_heartbeats(change, self._replay, [Heartbeat(*fields) for fields in delta.heartbeats])
        return made

    def _has_news_for(self, view: View, delta: wire.SyncDelta) -> bool:
        """Return whether the delta has a checkpoint or a heartbeat that the copy lacks."""
        if delta.note is not None and view.newest_note() != delta.note:
            checkpoint = read_sent_note(delta.note, self._trust)
            if checkpoint.events == view.newest_position():
                return True
        for agent, at, *_ in delta.heartbeats:
            known = view.heartbeat(agent)
            if known is None or known.at < at:
                return True
        return False


class _Reading:
    """One read of a copy. A class, since a generator costs more and every command enters one."""

    __slots__ = ("_ahead", "_reading")

    def __init__(self, reading: AbstractContextManager[View], ahead: CommitsAhead) -> None:
        self._reading = reading
        self._ahead = ahead

    def __enter__(self) -> View:
        view = self._reading.__enter__()
        try:
            if time.monotonic() - self._ahead.oldest_at >= FRESH_SECONDS:
                self._ahead.drop_synced(view)
        except BaseException as error:
            self._reading.__exit__(type(error), error, error.__traceback__)
            raise
        return self._ahead.overlay(view)

    def __exit__(self, *error: Any) -> bool | None:
        return self._reading.__exit__(*error)


def _is_in(view: View, record: Record) -> bool:
    head = view.head(record.stream)
    return head is not None and head.seq >= record.seq


class SyncingStore:
    """A machine's copy as a store: a read synchronises first. Only `LedgerCopy` writes to it;
    commits go to the keeper (`joined_engine.py`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.copy: LedgerCopy | None = None
        self._reading = threading.local()  # how many reads of this thread are open

    @contextmanager
    def read(self) -> Iterator[View]:
        depth = getattr(self._reading, "depth", 0)
        if self.copy is not None and depth == 0:  # an open view must not change
            self.copy.sync_if_stale()
        self._reading.depth = depth + 1
        reading = self._store.read() if self.copy is None else self.copy.read_without_sync()
        try:
            with reading as view:
                yield view
        finally:
            self._reading.depth = depth

    @contextmanager
    def write(self) -> Iterator[WriteTransaction]:
        if self.copy is not None and self.copy.ahead:
            self.copy.sync_if_stale()
        with self._store.write() as change:
            yield change

    def version(self) -> int:
        return self._store.version()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def close(self) -> None:
        if self.copy is not None:
            self.copy.connection.close()
        self._store.close()


class RemoteArtifacts:
    """Artifacts of a joined machine: stored here if they were used here, else at the keeper."""

    def __init__(self, local: Artifacts, connection: KeeperConnection) -> None:
        self._local = local
        self._connection = connection

    def fetch(self, sha256: str) -> bool:
        """Download an artifact; False if the keeper does not have it."""
        pieces: list[bytes] = []
        size, have = 1, 0
        while have < size:
            try:
                answer = self._connection.ask(wire.DownloadPiece(sha256, have), wire.ArtifactPiece)
            except MootError:
                return False
            size = answer.size
            pieces.append(answer.piece)
            have += len(answer.piece)
            if not have <= size <= MAX_BYTES or (size and not answer.piece):
                return False
        data = b"".join(pieces)
        if hash_bytes(data).hexdigest() != sha256:
            return False
        self._local.put(data, "")
        return True

    def upload(self, sha256: str) -> None:
        """Upload an artifact to the keeper, before an event cites it."""
        size = self._local.size(sha256) or 0
        offset = 0
        while True:
            piece = self._local.piece(sha256, offset)[1] if size else b""  # type: ignore[attr-defined]
            at = self._connection.ask(wire.UploadPiece(sha256, size, offset, piece), wire.Done).at
            if at >= size:
                return
            offset = at

    def put(self, data: bytes, media_type: str) -> object:
        return self._local.put(data, media_type)

    def has(self, sha256: str) -> bool:
        return self._local.has(sha256) or self.fetch(sha256)

    def size(self, sha256: str) -> int | None:
        size = self._local.size(sha256)
        return size if size is not None or not self.fetch(sha256) else self._local.size(sha256)

    def chunks(self, sha256: str) -> Iterator[bytes]:
        if not self._local.has(sha256):
            self.fetch(sha256)
        return self._local.chunks(sha256)

    def __getattr__(self, name: str) -> object:
        return getattr(self._local, name)
