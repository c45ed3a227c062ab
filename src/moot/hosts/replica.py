"""A machine's side: its connection to the keeper, and its copy of the ledger brought up to date."""

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
from moot.hosts import messages as ask
from moot.hosts.connection import ClientConnection, ConnectionLost, connect
from moot.hosts.messages import Answer, Question
from moot.hosts.sync_state import CommitsAhead, SyncLock
from moot.store.artifacts import MAX_BYTES, Artifacts

ANSWER_SECONDS: Final = 5.0
MAX_WITH_HELLO: Final = 8 * 1024  # bytes: both are then one piece of what TLS sends
# A process that lives long looks again this often; a command looks once when it begins.
FRESH_SECONDS: Final = 0.2
# Signs of life that reached the keeper late are asked for again.
BEATS_OVERLAP: Final[Millis] = 60_000
ERASED: Final = "registry.artifact_erased"
# Clocks that differ by less than this are taken for the same.
CLOCK_NOISE: Final[Millis] = 200

T = TypeVar("T", bound=ask.Answer)


class Membership(msgspec.Struct, frozen=True):
    """Where the keeper is, what its certificate is known by, and who this machine is there."""

    address: str
    fingerprint: str
    machine: str
    secret: bytes = msgspec.field(default=b"")


class KeeperConnection:
    """Questions to the keeper, one at a time, over one connection that is made again if it
    breaks."""

    def __init__(self, membership: Membership, seconds: float = ANSWER_SECONDS) -> None:
        self._membership = membership
        self._seconds = seconds
        self._connection: ClientConnection | None = None
        self._turn = threading.RLock()
        self.offset: Millis = 0  # how far the keeper's clock is ahead of ours
        self.keepers_version: str | None = None  # as it said when we last connected

    @property
    def address(self) -> str:
        return self._membership.address

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self) -> None:
        """See whether the keeper answers and knows this machine; the error if not."""
        with self._turn:
            try:
                if self._connection is None:
                    self._connect()
            except ConnectionLost as error:
                raise keeper_away(self.address, str(error)) from None

    def ask(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        """The answer; the keeper's error if it refused, Unavailable (`keeper_away`) if nobody
        answers. A connection that had been broken before is made again once."""
        with self._turn:
            for is_new in (self._connection is None, True):
                try:
                    return self._ask(question, kind, *others)
                except ConnectionLost as error:
                    self.close()
                    if is_new:
                        raise keeper_away(self.address, str(error)) from None
        raise AssertionError("the second line was new")

    def ask_once(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        """Ask on the connection there is. ConnectionLost is raised as it is, for a caller that must
        know whether its question may have arrived."""
        with self._turn:
            try:
                return self._ask(question, kind, *others)
            except ConnectionLost:
                self.close()
                raise

    def _ask(self, question: Question, kind: type[T], *others: type[Answer]) -> T:
        before = system_clock()
        try:
            connection = self._send(ask.encode(question))
            answer = ask.decode_answer(connection.receive(self._seconds))
        except BaseException:  # half an exchange: the next answer would be to this question
            self.close()
            raise
        if isinstance(answer, ask.SyncDelta):
            self._measure(answer.now, before)
        if isinstance(answer, ask.Failed):
            raise ask.raise_failure(answer)
        if not isinstance(answer, (kind, *others)):
            self.close()
            raise bad_answer("the keeper answered something else")
        return answer  # type: ignore[return-value]

    def _send(self, frame: bytes) -> ClientConnection:
        """Send a question; returns the connection it went over. On a new connection a short one
        travels with the hello, which saves a round trip; a long one could not be read to its end by
        a keeper who sends us away, and its reason would be lost."""
        if self._connection is not None and self._connection.has_ended:
            self.close()
        connection = self._connection
        if connection is None and len(frame) <= MAX_WITH_HELLO:
            return self._connect(frame)
        connection = connection or self._connect()
        connection.send(frame, self._seconds)
        return connection

    def _connect(self, *frames: bytes) -> ClientConnection:
        """A new connection on which we were welcomed; `frames` were sent right after the hello."""
        membership = self._membership
        connection = connect(membership.address, membership.fingerprint)
        hello = ask.Hello(ask.VERSION, membership.machine, membership.secret, VERSION)
        try:
            before = system_clock()
            connection.send(ask.encode(hello), self._seconds, *frames)
            answer = ask.decode_answer(connection.receive(self._seconds))
            if isinstance(answer, ask.Failed):
                raise ask.raise_failure(answer)
            if not isinstance(answer, ask.Welcome):
                raise bad_answer("the keeper answered something else")
            ask.require_same_version(answer.version, ask.VERSION)
        except BaseException:
            connection.close()
            raise
        self._measure(answer.now, before)
        self.keepers_version = answer.keeper
        self._connection = connection
        return connection

    def _measure(self, keepers: Millis, before: Millis) -> None:
        """Compare clocks: on each new connection, and again if one was set while a connection was
        open, as after a long sleep. Small differences are the connection's own delay."""
        after = system_clock()
        offset = keepers - (before + after) // 2
        if abs(offset - self.offset) > CLOCK_NOISE + (after - before) // 2:
            self.offset = offset

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def bad_answer(why: str) -> StoreFailed:
    return StoreFailed("bad_answer", why, hint="try again; whoever keeps the ledger may know why")


def keeper_away(
    address: str,
    why: str,
    hint: str = "what is known here can be read; try again once `moot keep` runs there",
) -> Unavailable:
    return Unavailable(
        "keeper_away",
        f"the keeper at {address} does not answer ({why}): nothing can be recorded",
        hint=hint,
    )


class LedgerCopy:
    """Keeps the local store a beginning of the keeper's ledger."""

    def __init__(
        self,
        store: Store,
        connection: KeeperConnection,
        trust: LedgerTrust,
        replay: Replay,
        on_checkpoint: Callable[[NewCheckpoint], None],
        erase: Callable[[str], object] = lambda _: None,
        fetching: SyncLock | None = None,
    ) -> None:
        """`erase` removes an artifact that was erased, on whichever machine that was asked for;
        `fetching` is shared by all processes of this machine."""
        self._erase = erase
        self._fetching = fetching
        self._store = store
        self.connection = connection
        self._trust = trust
        self._replay = replay
        self._on_checkpoint = on_checkpoint
        self._asked_at = float("-inf")
        self._beats: Millis = 0
        self._turn = threading.RLock()
        self._newest: NewCheckpoint | None = None
        self.ahead = CommitsAhead()
        self._position: ask.Follow | None = None  # as it was last told; events only come behind it
        self._position_version = -1  # of the store then, as others have written to it
        self.away: MootError | None = None  # why the copy may be old

    def follow(self) -> NewCheckpoint | None:
        """Bring the copy up to date; Unavailable if the keeper does not answer. Returns the newest
        checkpoint, if there is a new one."""
        with self._turn:
            self._newest = None
            more = True
            owed = self.ahead.newest
            while more:
                before = self.position()
                more = self.take(self.connection.ask(before, ask.SyncDelta))
                if more and self.position().position == before.position:
                    raise bad_answer("the keeper says that there is more, and sends nothing new")
            self._note_up_to_date(owed)
            return self._newest

    def hold(self, streams: tuple[str, ...]) -> ask.SyncDelta:
        """Wait for one's turn on these streams; the copy is then up to date. Returns what was new
        at first.

        Where others write all the time one is told early what they did, and reads that while the
        last of them has its turn.
        """
        with self._turn:
            first = self._hold(streams, early=bool(streams))
            if streams and first.has_turn is False:
                with self.read_as_it_is() as view:
                    for stream in streams:
                        self._replay.load(view, stream)
                self._hold(streams, early=False)
            return first

    def _hold(self, streams: tuple[str, ...], early: bool) -> ask.SyncDelta:
        owed = self.ahead.newest
        question = ask.Hold(streams, self.position(), early, brief=early)
        delta = self.connection.ask(question, ask.SyncDelta)
        self.take_all(delta, owed)
        return delta

    def pin(self) -> NewCheckpoint | None:
        """Have the keeper make a checkpoint, and take it over; None if there was nothing new."""
        with self._turn:
            self._newest = None
            owed = self.ahead.newest
            answer = self.connection.ask(ask.Pin(self.position()), ask.SyncDelta, ask.Done)
            if isinstance(answer, ask.Done):  # an older keeper tells it separately
                return self.follow()
            self.take_all(answer, owed)
            return self._newest

    @property
    def is_fresh(self) -> bool:
        """Has the keeper just been asked for new records?"""
        return self.away is None and time.monotonic() - self._asked_at < FRESH_SECONDS

    def begin_fetching(self) -> bool:
        """Is it time for this process to bring the copy up to date, although it is in the middle of
        something? What it was acknowledged must not stay in its memory alone for long; but it need
        not do so if another process of this machine has done it, or is just doing it."""
        if self.away is not None:
            return True
        if time.monotonic() - self.ahead.oldest_at < FRESH_SECONDS:
            return False
        return self._fetching is None or self._fetching.begin()

    def end_fetching(self) -> None:
        if self._fetching is not None:
            self._fetching.end()

    def follow_if_old(self) -> None:
        """For reading: what is here is better than nothing, if the keeper is away or shows another
        history; `away` says why it may be old. What this process has recorded itself, it
        reads at once."""
        is_complete = not self.ahead or self.away is not None
        if is_complete and time.monotonic() - self._asked_at < FRESH_SECONDS:
            return
        try:
            self.follow()
        except MootError as error:
            self.away = error
            self._asked_at = time.monotonic()

    def position(self) -> ask.Follow:
        """How far the copy is, as the keeper wants to know it."""
        with self._store.read() as view:
            return self.position_in(view)

    def position_in(self, view: View) -> ask.Follow:
        version = view.version_of_others()
        if self._position is not None and version == self._position_version:
            return self._position  # nobody has written since, and we would have forgotten it
        self._position_version = version
        position = view.newest_position()
        if self._position is None or self._position.position != position:
            last = view.records_after(position - 1, 1)[0].hash if position else b""
            note = newest_checkpoint(view, self._trust)
            number = note.number if note is not None else 0
            self._position = ask.Follow(position, last, number, self._beats)
        return self._position

    def take_all(self, delta: ask.SyncDelta, owed: Sequence[Record]) -> None:
        """Take over what came with an answer; if that was not all, ask for the rest. `owed` is what
        the copy must have then: what was ahead of it when the question was asked, and what the
        answer says is recorded."""
        if self.take(delta):
            self.follow()
        self._note_up_to_date(owed)

    def _note_up_to_date(self, owed: Sequence[Record]) -> None:
        if owed:
            with self._store.read() as view:
                self.ahead.require_in(view, owed)
        self._asked_at = time.monotonic()
        self.away = None

    def read_as_it_is(self) -> AbstractContextManager[View]:
        """The copy, with what this process knows to be ahead of it; nobody is asked for new
        records."""
        return _Reading(self._store.read(), self.ahead)

    def take(self, delta: ask.SyncDelta) -> bool:
        """Take over what came; True if there is more."""
        if delta.records or delta.heartbeats or delta.note is not None:
            with self._turn:
                self._take(delta)
        return delta.more

    def _take(self, delta: ask.SyncDelta) -> None:
        records = [Record(*fields) for fields in delta.records]
        if not records:
            with self._store.read() as view:
                if not self._lacks(view, delta):
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
        self._beats = max(self._beats, delta.now - BEATS_OVERLAP)
        self._position = None
        if made is not None:
            self._newest = made
            self._on_checkpoint(made)

    def _write(
        self, change: WriteTransaction, delta: ask.SyncDelta, records: list[Record]
    ) -> NewCheckpoint | None:
        """Append what the copy lacks; returns the checkpoint that came with it, if it is new."""
        # Another process of this machine may have taken some of them meanwhile.
        records = [record for record in records if not _has(change, record)]
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

    def _lacks(self, view: View, delta: ask.SyncDelta) -> bool:
        """Is there a checkpoint or a sign of life in the delta that the copy does not have?"""
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
    """One read of a copy. A class, since every command enters one and a generator would cost
    more."""

    __slots__ = ("_ahead", "_reading")

    def __init__(self, reading: AbstractContextManager[View], ahead: CommitsAhead) -> None:
        self._reading = reading
        self._ahead = ahead

    def __enter__(self) -> View:
        view = self._reading.__enter__()
        try:
            if time.monotonic() - self._ahead.oldest_at >= FRESH_SECONDS:
                self._ahead.drop_what_is_in(view)
        except BaseException as error:
            self._reading.__exit__(type(error), error, error.__traceback__)
            raise
        return self._ahead.over(view)

    def __exit__(self, *error: Any) -> bool | None:
        return self._reading.__exit__(*error)


def _has(view: View, record: Record) -> bool:
    head = view.head(record.stream)
    return head is not None and head.seq >= record.seq


class FollowingStore:
    """A machine's copy as a store: reading looks for new records, writing is the
    copy's own (`LedgerCopy`); what is to be recorded goes to the keeper (`joined_engine.py`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.copy: LedgerCopy | None = None
        self._reading = threading.local()  # how many reads of this thread are open

    @contextmanager
    def read(self) -> Iterator[View]:
        depth = getattr(self._reading, "depth", 0)
        if self.copy is not None and depth == 0:  # inside a view nothing may move
            self.copy.follow_if_old()
        self._reading.depth = depth + 1
        reading = self._store.read() if self.copy is None else self.copy.read_as_it_is()
        try:
            with reading as view:
                yield view
        finally:
            self._reading.depth = depth

    @contextmanager
    def write(self) -> Iterator[WriteTransaction]:
        if self.copy is not None and self.copy.ahead:
            self.copy.follow_if_old()
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


class FetchedArtifacts:
    """Artifacts of a machine that joined: here if they were used here, else at the keeper."""

    def __init__(self, here: Artifacts, connection: KeeperConnection) -> None:
        self._here = here
        self._connection = connection

    def fetch(self, sha256: str) -> bool:
        """Bring an artifact here; False if the keeper has none either."""
        pieces: list[bytes] = []
        size, have = 1, 0
        while have < size:
            try:
                answer = self._connection.ask(ask.WantArtifact(sha256, have), ask.Piece)
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
        self._here.put(data, "")
        return True

    def give(self, sha256: str) -> None:
        """Let the keeper have an artifact before an event cites it."""
        size = self._here.size(sha256) or 0
        offset = 0
        while True:
            piece = self._here.piece(sha256, offset)[1] if size else b""  # type: ignore[attr-defined]
            at = self._connection.ask(ask.GiveArtifact(sha256, size, offset, piece), ask.Done).at
            if at >= size:
                return
            offset = at

    def put(self, data: bytes, media_type: str) -> object:
        return self._here.put(data, media_type)

    def has(self, sha256: str) -> bool:
        return self._here.has(sha256) or self.fetch(sha256)

    def size(self, sha256: str) -> int | None:
        size = self._here.size(sha256)
        return size if size is not None or not self.fetch(sha256) else self._here.size(sha256)

    def chunks(self, sha256: str) -> Iterator[bytes]:
        if not self._here.has(sha256):
            self.fetch(sha256)
        return self._here.chunks(sha256)

    def __getattr__(self, name: str) -> object:
        return getattr(self._here, name)
