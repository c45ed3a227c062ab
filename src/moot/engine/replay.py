"""Bring a stream's state up to date: from cache, from a signed snapshot, or from event 0.

Every read checks the hash chain. Signatures are verified on request (`proved`), which the engine
makes before commands that run something or take something from another agent. A snapshot is a state
that the checkpoint key signed (decision 0003): readers verify nothing before it. A snapshot that
does not fit in any respect is ignored, never repaired.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from moot.core.clock import Millis, parse_time
from moot.core.errors import Malformed, MootError, Tampered
from moot.core.ledger import Head, Snapshot, View, WriteTransaction
from moot.core.machine import Command, Event, Machine, Recorded
from moot.core.names import REGISTRY
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Body, Record, frame, genesis
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.core.registry.model import State as Registry
from moot.core.sha256 import sha256
from moot.core.signing import SNAPSHOT, Signer, verify
from moot.engine.attribution import CitedHeads, Prover
from moot.engine.checkpoints import RESTORE_OR_ACCEPT_HINT, RollbackGuard
from moot.engine.machines import Machines
from moot.engine.signers import LedgerTrust
from moot.store.artifacts import Artifacts

SNAPSHOT_EVERY = 64  # events of a stream; a new process replays about that many at most
CACHED_STREAMS = 4096  # states in memory, the most recently used ones


class LoadedStream(msgspec.Struct, frozen=True, gc=False):
    """A stream's state after event `seq`, whose hash is `hash`; `seq` is -1 before the first.

    `reg` is the newest registry position that its events refer to. `proved`: every signature up to
    here was verified, or is covered by a signed snapshot.
    """

    machine: Machine[Any]
    seq: int
    hash: bytes
    reg: int
    state: object
    proved: bool


class ChainEnd(msgspec.Struct, frozen=True):
    """The end of a stream without its state, for callers that only append records."""

    machine: Machine[Any]
    seq: int
    hash: bytes
    reg: int


class Replay:
    """Loads states, and caches the newest of each stream for the next command."""

    def __init__(
        self, trust: LedgerTrust, machines: Machines, artifacts: Artifacts | None = None
    ) -> None:
        self.trust = trust
        self._machines = machines
        self._artifacts = artifacts
        self._prover = Prover(trust, CitedHeads(artifacts))
        # stream -> its state, the most recently used at the end
        self._cache: OrderedDict[str, LoadedStream] = OrderedDict()
        # streams due a snapshot that did not fit into their commit
        self.postponed_snapshots: set[str] = set()
        # (agent, epoch) -> when this process last noted its sign of life
        self.last_noted: dict[tuple[str, int], Millis] = {}

    def load(self, view: View, stream: str, proved: bool = False) -> LoadedStream:
        """Return the state of `stream` at its head in `view`, also after a crash (TRC-059)."""
        head = view.head(stream)
        cached = self._cache.get(stream)
        if (
            cached is None
            or head is None
            or cached.seq != head.seq
            or cached.hash != head.hash
            or (proved and not cached.proved)
        ):
            return self._load_uncached(view, stream, proved, head)
        self._cache.move_to_end(stream)
        return cached

    def _load_uncached(
        self, view: View, stream: str, proved: bool, head: Head | None
    ) -> LoadedStream:
        """Load a stream whose cached state is missing, old or unproved."""
        start = self._find_start(view, stream, proved, head.seq if head else -1)
        if head is None:
            return start
        if head.seq != start.seq:
            return self._replay_from(view, stream, start, proved)
        if head.hash != start.hash:
            raise _stream_damaged(stream, head.seq, "its history was replaced")
        self.put_in_cache(stream, start)
        return start

    def load_from_start(self, view: View, stream: str) -> LoadedStream:
        """Load a stream from event 0 with every signature verified, ignoring cache and snapshot."""
        return self._replay_from(view, stream, self._initial_state(stream), True)

    def _replay_from(
        self, view: View, stream: str, start: LoadedStream, proved: bool
    ) -> LoadedStream:
        registry = self.registry(view, proved) if proved and stream != REGISTRY else None
        loaded = start
        for record in view.records(stream, after=start.seq):
            loaded = self.apply_record(loaded, stream, record, registry, proved)
        _require_end(stream, loaded, view.head(stream))
        self.put_in_cache(stream, loaded)
        return loaded

    def walk(self, view: View, stream: str) -> Iterator[tuple[Record, LoadedStream]]:
        """Yield each record from event 0 with the state after it, without cache and snapshots."""
        loaded = self._initial_state(stream)
        for record in view.records(stream):
            loaded = self.apply_record(loaded, stream, record, None, False)
            yield record, loaded
        _require_end(stream, loaded, view.head(stream))

    def machine(self, stream: str) -> Machine[Any]:
        return self._machines.machine_of(stream)

    def can_run(self, stream: str) -> bool:
        """Return whether this Moot knows the protocol. A newer Moot, or a forged row, may name
        others."""
        return self._machines.knows(stream)

    def needs_proof(self, stream: str, command: Command) -> bool:
        """Return whether this command needs a proved history; False for an unknown protocol."""
        machine = self._machines.find(stream)
        return machine is not None and type(command) in machine.guarded

    def prove(self, record: Record, registry: Registry) -> None:
        """Raise Tampered unless the actor that `record` names signed it."""
        self._prover.prove(record, registry)

    def registry(self, view: View, proved: bool = False) -> Registry:
        return REGISTRY_MACHINE.require_state(self.load(view, REGISTRY, proved).state)

    def put_in_cache(self, stream: str, loaded: LoadedStream) -> None:
        self._cache[stream] = loaded
        self._cache.move_to_end(stream)
        if len(self._cache) > CACHED_STREAMS:
            self._cache.popitem(last=False)

    def with_empty_cache(self) -> Replay:
        """Return a Replay of the same ledger with an empty cache."""
        return Replay(self.trust, self._machines, self._artifacts)

    def clear_cache(self) -> None:
        """Clear the cache: after a failed commit it may have states that were never stored."""
        self._cache.clear()
        self.last_noted.clear()

    def _find_start(self, view: View, stream: str, proved: bool, head: int) -> LoadedStream:
        """Return the nearest state to start from: cached, of the snapshot, or the initial one.

        Tampered if it is beyond the stream's head: then events that were committed here, or signed,
        were removed from the file.
        """
        # LDG-061
        cached = self._cache.get(stream)
        if cached is not None and cached.seq > head:
            raise _events_missing(stream, head)
        if cached is not None and (cached.proved or not proved):
            return cached
        snapshot = view.snapshot(stream)
        opened = (
            self._open_snapshot(self._machines.machine_of(stream), snapshot) if snapshot else None
        )
        if opened is None:
            return self._initial_state(stream)
        if opened.seq > head:
            raise _events_missing(stream, head)
        return opened

    def _initial_state(self, stream: str) -> LoadedStream:
        """Return the state before event 0."""
        machine = self._machines.machine_of(stream)
        start = bytes.fromhex(genesis(self.trust.origin, stream))
        return LoadedStream(machine, -1, start, -1, machine.initial, True)

    def _open_snapshot(self, machine: Machine[Any], snapshot: Snapshot) -> LoadedStream | None:
        """Return the snapshot's state; None if another version made it or our key did not sign."""
        # LDG-062
        if snapshot.machine != machine_tag(machine):
            return None
        signed = snapshot_bytes(self.trust.origin, snapshot)
        if not verify(self.trust.checkpoint, SNAPSHOT, signed, snapshot.signature):
            return None
        reg, state = msgspec.msgpack.decode(snapshot.state, type=tuple[int, msgspec.Raw])
        try:
            opened = decode_state(machine.state_type, state)
        except msgspec.DecodeError:
            return None
        return LoadedStream(machine, snapshot.seq, snapshot.hash, reg, opened, True)

    def apply_record(
        self, at: LoadedStream, stream: str, record: Record, registry: Registry | None, proved: bool
    ) -> LoadedStream:
        """Return the state after one more record; Tampered if it does not continue the stream.

        A `proved` record of any stream but the registry needs `registry`.
        """
        registry = registry or (REGISTRY_MACHINE.require_state(at.state) if proved else None)
        recorded = self._check(at, stream, record, registry if proved else None)
        return _advance(at, record, recorded, at.proved and proved)

    def find_end(self, view: View, stream: str) -> ChainEnd | LoadedStream:
        """Return the end of a stream, with its state if that is cached or the stream is empty."""
        head = view.head(stream)
        cached = self._cache.get(stream)
        if head is None:
            return self._initial_state(stream)
        if stream == REGISTRY:
            return self.load(view, REGISTRY)
        if cached is not None and (cached.seq, cached.hash) == (head.seq, head.hash):
            return cached
        last = next(view.records(stream, after=head.seq - 1), None)
        if last is None or (last.seq, last.hash) != (head.seq, head.hash):
            raise _stream_damaged(stream, head.seq, "the stored head does not match the records")
        reg = -1 if last.body.reg is None else last.body.reg  # it never decreases
        return ChainEnd(self._machines.machine_of(stream), head.seq, head.hash, reg)

    def append_to_end(
        self,
        at: ChainEnd | LoadedStream,
        record: Record,
        registry: Registry | None,
        *,
        is_own: bool,
    ) -> tuple[ChainEnd | LoadedStream, Recorded[Event]]:
        """Return the end of a stream after one more record, and that record as an event.

        Tampered if the record is not valid there. `is_own`: this process signed it, so its
        signature is not verified. Without a state in `at` none is computed.
        """
        if registry is None and isinstance(at, LoadedStream):
            registry = REGISTRY_MACHINE.require_state(at.state)
        recorded = self._check(at, record.stream, record, None if is_own else registry)
        if isinstance(at, LoadedStream):
            return _advance(at, record, recorded, at.proved), recorded
        reg = at.reg if record.body.reg is None else record.body.reg
        return ChainEnd(at.machine, record.seq, record.hash, reg), recorded

    def _check(
        self,
        at: ChainEnd | LoadedStream,
        stream: str,
        record: Record,
        registry: Registry | None,
    ) -> Recorded[Event]:
        """Return the record as an event of its machine; Tampered if it does not continue the
        stream or, given a registry, if the actor that it names did not sign it."""
        try:
            body = record.body
            if not self._continues_chain(at, stream, record, body):  # TRC-020, TRC-060
                raise _stream_damaged(stream, at.seq + 1, "the record does not continue the chain")
            if registry is not None:
                self._prover.prove(record, registry)
            return read_body(at.machine, body, record.hash)
        except Malformed as error:
            raise _stream_damaged(stream, record.seq, str(error)) from error

    def _continues_chain(
        self, at: ChainEnd | LoadedStream, stream: str, record: Record, body: Body
    ) -> bool:
        """Return whether the record is where its signed body says, right after `at`.

        Its registry position must not decrease: an older one could make a revoked key valid.
        """
        # LDG-049
        seq = at.seq + 1
        # LDG-086
        if not (
            record.seq == body.seq == seq
            and body.prev == at.hash.hex()
            and body.stream == stream
            and body.origin == self.trust.origin
            and body.actor.kid == record.kid
            and body.type.partition(".")[0] == at.machine.name
        ):
            return False
        if stream == REGISTRY:
            return body.reg == (seq - 1 if seq else None)
        # LDG-027
        return body.reg is not None and body.reg >= max(at.reg, 0)


def _advance(
    at: LoadedStream, record: Record, recorded: Recorded[Event], proved: bool
) -> LoadedStream:
    state = at.machine.evolve(at.state, recorded)
    reg = record.body.reg
    if reg is None:
        reg = at.reg
    return LoadedStream(at.machine, recorded.seq, recorded.hash, reg, state, proved)


def read_record(machine: Machine[Any], record: Record) -> Recorded[Event]:
    """Return a stored record as an event of its machine."""
    return read_body(machine, record.body, record.hash)


def read_body(machine: Machine[Any], body: Body, record_hash: bytes) -> Recorded[Event]:
    """Return a body as an event of its machine, for callers that read an export."""
    return Recorded(
        machine.read_event(body.type, body.data),
        body.stream,
        body.seq,
        parse_time(body.at),
        body.actor,
        record_hash,
        body.cause,
        body.corr,
        body.artifacts,
    )


def require_keys(stream: str, loaded: LoadedStream, keys: Head | None) -> None:
    """Raise Tampered if the stream refers to an event of the registry that is missing.

    It is then unknown whose key signed it, and the next event could only name an older position of
    the registry, which every verifier would reject.
    """
    if loaded.reg > (keys.seq if keys is not None else -1):
        raise keys_lost_error(stream, loaded)


def keys_lost_error(stream: str, loaded: LoadedStream) -> Tampered:
    where = f"event {loaded.seq} of {stream}"
    return Tampered(
        f"{where} refers to event {loaded.reg} of the registry, which is missing",
        code="keys_lost",
        stream=stream,
        seq=loaded.seq,
        hint="restore a copy of .moot/ledger.db that has it; if there is none, keep this one as "
        "evidence (`moot ledger export`) and run `moot init` in another folder",
    )


def take_snapshot(origin: str, stream: str, loaded: LoadedStream, signer: Signer) -> Snapshot:
    unsigned = unsigned_snapshot(stream, loaded)
    signature = signer.sign(SNAPSHOT, snapshot_bytes(origin, unsigned))
    return unsigned._replace(signature=signature)


def unsigned_snapshot(stream: str, loaded: LoadedStream) -> Snapshot:
    state = msgspec.msgpack.encode((loaded.reg, msgspec.Raw(encode_state(loaded.state))))
    return Snapshot(stream, loaded.seq, loaded.hash, machine_tag(loaded.machine), state, b"")


def snapshot_bytes(origin: str, snapshot: Snapshot) -> bytes:
    """Return the bytes to sign, with the state's hash instead of the state, which may be long."""
    return frame(
        origin.encode(),
        snapshot.stream.encode(),
        b"%d" % snapshot.seq,
        snapshot.hash,
        snapshot.machine.encode(),
        sha256(snapshot.state).digest(),
    )


def machine_tag(machine: Machine[Any]) -> str:
    return f"{machine.name}/{machine.version}"


def _require_end(stream: str, loaded: LoadedStream, head: Head | None) -> None:
    """Raise Tampered unless the last record read is the one that the stored head names.

    If both are at the same position and only the hash differs, that event is the damaged one;
    otherwise the next is missing.
    """
    if head is None or (loaded.seq, loaded.hash) != (head.seq, head.hash):
        same = head is not None and head.seq == loaded.seq
        bad = loaded.seq if same else loaded.seq + 1
        raise _stream_damaged(stream, bad, "the stored head does not match the records")


def _events_missing(stream: str, head: int) -> Tampered:
    return _stream_damaged(
        stream, head + 1, "events that it had before are missing", RESTORE_OR_ACCEPT_HINT
    )


def _stream_damaged(stream: str, seq: int, why: str, hint: str = "") -> Tampered:
    problem = f"{stream} is damaged at event {seq}: {why}"
    return Tampered(problem, stream=stream, seq=seq, hint=hint)


# Snapshots of streams that processes without the checkpoint key wrote. The process that lent an
# agent its key folder makes them, so that a new process replays few events.


def find_streams_without_snapshot(view: View, replay: Replay) -> Iterator[str]:
    """Yield streams that moved since the last checkpoint and are due a snapshot."""
    for stream, head in view.moved_heads():
        if not replay.can_run(stream):
            continue
        snapshot = view.snapshot(stream)
        if head.seq - (snapshot.seq if snapshot is not None else -1) >= SNAPSHOT_EVERY:
            yield stream


def take_late_snapshot(
    change: WriteTransaction,
    replay: Replay,
    stream: str,
    signer: Signer,
    rollback_guard: RollbackGuard | None,
) -> None:
    """Sign the state of `stream`, if its history can be verified."""
    with suppress(MootError):  # `moot verify` reports damage; here it is only not signed
        if rollback_guard is not None:
            rollback_guard.before_loading(change, stream)
        loaded = replay.load(change, stream, proved=True)
        if rollback_guard is not None:
            rollback_guard.note_loaded(stream, loaded.seq, loaded.hash)
        change.put_snapshot(take_snapshot(replay.trust.origin, stream, loaded, signer))
