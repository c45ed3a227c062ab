"""Turn commands into signed records, under the write lock.

Each job is decided on the state after the jobs before it, and signed; its events stay in memory
until `flush` hands all of them to the store. A job that fails or is refused does not affect the
others. Nothing is acknowledged before the store has committed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import Malformed, MootError, Refused, Tampered
from moot.core.ledger import RecordToAppend, WriteTransaction
from moot.core.machine import Command, Context, Decision, Draft, Event, Machine, Put, Recorded
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM, require_stream_name
from moot.core.record import Actor, Body, Record, encode_body
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.core.registry.model import State as Registry
from moot.core.signing import EVENT, key_id
from moot.engine.checkpoints import RollbackGuard, require_stream_count
from moot.engine.job import REFUSED_MARK, Job, JobOutcome, Repeat, find_repeat
from moot.engine.remote_signatures import WithheldSignature
from moot.engine.replay import (
    SNAPSHOT_EVERY,
    LoadedStream,
    Replay,
    keys_lost_error,
    read_record,
    take_snapshot,
)
from moot.engine.signers import Keys, Signatories, Signatory
from moot.engine.signs_of_life import SEEN, latest_signs
from moot.store.artifacts import Artifacts

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

MAX_TIMEOUTS = 1_000
SEEN_EVERY: Millis = 1_000
# In one commit. Streams that grow in step are due a snapshot in the same commit, and every caller
# would wait for all of them.
MAX_SNAPSHOTS = 8
MAX_DESCRIBED = 5  # events named on one line of MOOT_DEBUG

Result = JobOutcome | MootError
_RecordedEvents = tuple[Recorded[Event], ...]


class Batch:
    """The jobs of one commit. It lives as long as the write lock is held, and is used once."""

    def __init__(
        self,
        change: WriteTransaction,
        replay: Replay,
        keys: Keys,
        signatories: Signatories,
        now: Millis,
        artifacts: Artifacts | None = None,
        rollback_guard: RollbackGuard | None = None,
        debug: DebugLog | None = None,
    ) -> None:
        self._change = change
        self._replay = replay
        self._keys = keys
        self._signatories = signatories
        self._now = now
        self._at = to_text(now)
        self._artifacts = artifacts
        self._rollback_guard = rollback_guard
        self._debug = debug
        self._origin = replay.trust.origin
        # stream -> its state after everything this batch has decided so far
        self._streams: dict[str, LoadedStream] = {}
        # stream that this batch adds to -> its newest position before that (-1: it had no events)
        self._seq_before: dict[str, int] = {}
        self._entries: list[RecordToAppend] = []  # for `flush`, in order of decision
        self.cited: set[str] = set()  # artifacts that an event names
        # (agent, epoch) whose sign of life this batch has already noted
        self._seen_now: set[tuple[str, int]] = set()
        # streams whose snapshot is in this batch, and those whose snapshot is put off by it
        self._snapshots_taken: list[str] = []
        self._postponed_snapshots: list[str] = []
        # stream -> why its history could not be verified; raised for guarded commands only
        self._unproved: dict[str, MootError] = {}

    @property
    def change(self) -> WriteTransaction:
        """Return the transaction that this batch reads from and writes to."""
        return self._change

    @property
    def count(self) -> int:
        """Return the number of events decided so far."""
        return len(self._entries)

    @property
    def entries(self) -> tuple[RecordToAppend, ...]:
        """Return the events decided so far, in order."""
        return tuple(self._entries)

    def registry(self) -> Registry:
        """Return names and keys after everything this batch has decided so far."""
        return REGISTRY_MACHINE.require_state(self._load(REGISTRY).state)

    def run_all(self, jobs: Iterable[Job], guarded: Collection[str]) -> list[Result]:
        """Decide each job in turn; verify the streams in `guarded` first.

        Refusals and failures are returned as values, because other jobs share the batch.
        """
        if guarded:
            self._prove(guarded)
        results: list[Result] = []
        for job in jobs:
            try:
                results.append(self._run(job))
            except MootError as error:  # LDG-060
                results.append(error)
        return results

    def run_chain(
        self, first: Job, then: Iterable[Callable[[JobOutcome], Job]], guarded: Collection[str]
    ) -> list[JobOutcome]:
        """Make each job from the outcome before it. Raises the first failure, which ends the batch,
        so that the store keeps nothing of the other jobs."""
        self._prove(guarded)
        done = [self._require_outcome(self._run(first))]
        for job in then:
            done.append(self._require_outcome(self._run_further(job(done[-1]), guarded)))
        return done

    def _run_further(self, job: Job, guarded: Collection[str]) -> Result:
        if job.stream not in guarded and self._replay.needs_proof(job.stream, job.command):
            raise TypeError(
                f"{type(job.command).__name__} must come first: it needs proved history"
            )
        return self._run(job)

    def _require_outcome(self, result: Result) -> JobOutcome:
        if isinstance(result, MootError):
            raise result
        return result

    def tick(self, stream: str) -> JobOutcome:
        """Apply only what is overdue on `stream`, for callers without a command."""
        self._load(stream)
        recorded = self._apply_timeouts(stream)
        return JobOutcome(stream, recorded, self._streams[stream].state)

    def _prove(self, streams: Iterable[str]) -> None:
        """Load these streams with every signature verified, before any job relies on them.

        The engine did so before it took the lock; here only newer events are verified. An error is
        kept for the jobs that need the proof; other jobs on the same stream continue.
        """
        for stream in streams:
            try:
                self._load(stream, proved=True)
            except MootError as error:
                self._unproved[stream] = error

    def flush(self) -> None:
        """Hand all events to the store, with a snapshot of each stream that is due one."""
        if not self._entries:
            return
        self._change.append(self._entries)
        if self._debug is not None:
            self._debug("append", _describe_entries(self._entries))
        waiting = self._replay.postponed_snapshots
        for stream, seq_before in self._seq_before.items():
            if seq_before < 0:
                self._require_unused_number(stream)
            marks = (self._streams[stream].seq + 1) // SNAPSHOT_EVERY
            # LDG-062
            if marks > (seq_before + 1) // SNAPSHOT_EVERY or stream in waiting:
                self._store_or_postpone_snapshot(stream)

    def _store_or_postpone_snapshot(self, stream: str) -> None:
        """Make a snapshot, or postpone it to the next events of that stream."""
        if len(self._snapshots_taken) < MAX_SNAPSHOTS:
            self._store_snapshot(stream, self._streams[stream])
            self._snapshots_taken.append(stream)
        else:
            self._postponed_snapshots.append(stream)

    def _require_unused_number(self, stream: str) -> None:
        """Tampered if a checkpoint already counts a stream of this number.

        Streams are numbered in order of creation. If a new one gets a number that the newest
        checkpoint covers, another stream was removed from the file, and the new one would take its
        leaf in the head tree.
        """
        head = self._change.head(stream)
        assert head is not None, "its first event was appended"
        require_stream_count(self._change, self._replay.trust, head.number)

    def update_cache(self, replay: Replay) -> None:
        """Put the new states into the cache and tell the rollback guard.

        Only after the store's commit: else the next command would be decided on a state that may
        never be committed.
        """
        for stream in self._seq_before:
            loaded = self._streams[stream]
            replay.put_in_cache(stream, loaded)
            if self._rollback_guard is not None:
                self._rollback_guard.note_written(stream, loaded.seq, loaded.hash)
        if self._snapshots_taken:
            replay.postponed_snapshots.difference_update(self._snapshots_taken)
            replay.postponed_snapshots.update(self._postponed_snapshots)
        if self._seen_now:
            replay.last_noted.update(dict.fromkeys(self._seen_now, self._now))

    def _run(self, job: Job) -> Result:
        """Decide one job, and sign its events."""
        loaded = self._load(job.stream)
        self._check_job(job, loaded.machine)
        repeat = find_repeat(self._find_keys, job) if job.key is not None else None
        if repeat is not None and repeat.done_at:  # LDG-043
            return self._read_first_run(job, loaded, repeat)
        signatory = self._signatories.find(self.registry(), self._keys, job.actor, job.role)
        # Checked here first: usually nothing is overdue, and every command comes here.
        if loaded.seq >= 0 and loaded.machine.timeouts(loaded.state, self._now):
            self._apply_timeouts(job.stream)
        decision = self._decide(job.stream, job.command, signatory)
        if repeat is not None and repeat.refused_before and decision.refused:
            # LDG-045
            # The first refusal has recorded its events; a repeat adds none.
            return Refused.of(decision.findings)
        key = repeat.key if repeat is not None else None
        mark = REFUSED_MARK if decision.refused and key else ""
        signed_key = f"{key}{mark}" if key else None
        recorded = self._record(job, signatory, decision.drafts, signed_key)
        if decision.refused:
            return Refused.of(decision.findings)
        return JobOutcome(job.stream, recorded, self._streams[job.stream].state, decision.findings)

    def _check_job(self, job: Job, machine: Machine[Any]) -> None:
        if type(job.command) not in machine.commands:
            name = type(job.command).__name__
            raise Malformed(f"{machine.name} has no command {name}", code="unknown_command")
        # LDG-047
        if job.stream in self._unproved and type(job.command) in machine.guarded:
            raise self._unproved[job.stream]

    def _load(self, stream: str, proved: bool = False) -> LoadedStream:
        """Load a stream once, and compare it with what the rollback guard remembers: a command must
        not be decided on a history that lacks its newest events."""
        loaded = self._streams.get(stream)
        if loaded is None:
            require_stream_name(stream)
            guard = self._rollback_guard
            seen = guard.seen.get(stream) if guard is not None else None
            if guard is not None and seen is None:
                guard.before_loading(self._change, stream)
            loaded = self._streams[stream] = self._replay.load(self._change, stream, proved)
            if guard is not None and seen != (loaded.seq, loaded.hash):
                guard.note_loaded(stream, loaded.seq, loaded.hash)
            if self._debug is not None:
                self._debug(
                    "load", f"{stream}#{loaded.seq}" if loaded.seq >= 0 else f"{stream} (new)"
                )
        return loaded

    def _decide(self, stream: str, command: Command, signatory: Signatory) -> Decision:
        loaded = self._streams[stream]
        asked = loaded.machine.needs_signs_of(loaded.state, command)
        seen = latest_signs(self._change, self._replay, asked) if asked else {}
        context = Context(self._now, signatory.acting, stream, self._origin, seen)
        decision = loaded.machine.decide(loaded.state, command, context)
        if self._debug is not None:
            self._debug("decide", _describe_decision(stream, command, decision, loaded.machine))
        return decision

    def _find_keys(self, stream: str, prefix: str) -> list[tuple[str, int]]:
        """Return idempotency keys with their positions, from the store and from this batch."""
        waiting = [(e.key, e.record.seq) for e in self._entries if e.record.stream == stream]
        fresh = [(key, seq) for key, seq in waiting if key is not None and key.startswith(prefix)]
        return self._change.keys(stream, prefix) + fresh

    def _read_first_run(self, job: Job, loaded: LoadedStream, repeat: Repeat) -> JobOutcome:
        """Return the outcome of the job's first run, read from the store or from this batch.

        The position comes from an index, which anyone who may write the file can change. So each
        event must have the key in its signed body.
        """
        first, last = repeat.done_at[0], repeat.done_at[-1]
        stored = self._change.records(job.stream, after=first - 1)
        found = list(takewhile(lambda record: record.seq <= last, stored))
        waiting = (entry.record for entry in self._entries if entry.record.stream == job.stream)
        found += (record for record in waiting if first <= record.seq <= last)
        for record in found:
            if record.body.key != repeat.key:
                raise Tampered(
                    f"{job.stream} event {record.seq} was not signed under this key",
                    stream=job.stream,
                    seq=record.seq,
                )
        recorded = tuple(read_record(loaded.machine, record) for record in found)
        return JobOutcome(job.stream, recorded, loaded.state, replayed=True)

    def _apply_timeouts(self, stream: str) -> _RecordedEvents:
        """Let `system` do what is overdue on this stream, before the command itself is decided.

        One at a time: each changes the state, and with it what else is overdue.
        """
        # LDG-046
        done: _RecordedEvents = ()
        while len(done) < MAX_TIMEOUTS:
            loaded = self._streams[stream]
            overdue = loaded.machine.timeouts(loaded.state, self._now) if loaded.seq >= 0 else ()
            if not overdue:
                break
            recorded: _RecordedEvents = ()
            for command in overdue:
                recorded = self._apply_timeout(stream, command)
                if recorded:
                    break  # the state has changed: ask again what is overdue
            if not recorded:
                break
            done += recorded
        return done

    def _apply_timeout(self, stream: str, command: Command) -> _RecordedEvents:
        try:
            signatory = self._signatories.find(self.registry(), self._keys, SYSTEM, None)
        except Refused:
            return ()  # it stays due until a process with the system key writes
        decision = self._decide(stream, command, signatory)
        if decision.refused:
            return ()
        return self._record(Job(stream, command, SYSTEM), signatory, decision.drafts, None)

    def _record(
        self, job: Job, signatory: Signatory, drafts: tuple[Draft, ...], key: str | None
    ) -> _RecordedEvents:
        """Sign all drafts or none: if one cannot be recorded, restore the state before them."""
        before, signer = self._streams[job.stream], signatory.signer
        recorded: list[Recorded[Event]] = []
        entries: list[RecordToAppend] = []
        try:
            for draft in drafts:
                body = self._make_body(job, signatory, draft, key)
                raw = encode_body(body)
                signature = signer.sign(EVENT, raw)
                record = Record(body.stream, body.seq, signer.kid, raw, signature)
                if isinstance(signature, WithheldSignature):
                    record.fix_hash(signature.record_hash)
                event = self._advance(record, body, draft)
                recorded.append(event)
                entries.append(RecordToAppend(record, key, tuple(before.machine.index(event))))
        except MootError:
            self._streams[job.stream] = before
            raise
        if recorded:
            self._note_sign_of_life(signatory.actor, entries)
            self._entries += entries
            self._seq_before.setdefault(job.stream, before.seq)
        return tuple(recorded)

    def _note_sign_of_life(self, who: Actor, entries: list[RecordToAppend]) -> None:
        """Note the position of this agent's newest signed event in the index.

        Any signed event proves that its author was alive. At most one note a second for each agent:
        a busy agent would otherwise write an index row with every event.
        """
        holder = (who.id, who.epoch)
        last = self._now if holder in self._seen_now else self._replay.last_noted.get(holder)
        if last is None or not last <= self._now < last + SEEN_EVERY:
            newest = entries[-1]
            changes = (*newest.changes, Put(SEEN, who.id, {"at": self._now}))
            entries[-1] = msgspec.structs.replace(newest, changes=changes)
            self._seen_now.add(holder)

    def _require_stored(self, draft: Draft) -> None:
        """Refuse an event that cites an artifact which is not stored (TRC-050): no event may cite
        bytes that were lost in a crash (LDG-050)."""
        for ref in draft.artifacts:
            if self._artifacts is None or self._artifacts.size(ref.sha256) != ref.size:
                raise Refused(
                    "artifact_missing",
                    f"the artifact {ref.sha256[:12]}… is not stored here",
                    hint="store it first",
                )

    def _make_body(self, job: Job, signatory: Signatory, draft: Draft, key: str | None) -> Body:
        if draft.artifacts:
            self._require_stored(draft)
            self.cited.update(ref.sha256 for ref in draft.artifacts)
        loaded = self._streams[job.stream]
        machine = loaded.machine
        # LDG-097: the position gives the order; the clock's time is only noted.
        seq = loaded.seq + 1
        # LDG-027
        # `reg` is the registry's position that the author saw: it determines which keys were valid.
        # The registry is loaded, since the author was looked up in it.
        at_registry = self._streams[REGISTRY].seq
        reg = at_registry if job.stream != REGISTRY else (seq - 1 if seq else None)
        if loaded.reg > (-1 if reg is None else reg):
            raise keys_lost_error(job.stream, loaded)
        return Body(
            origin=self._origin,
            stream=job.stream,
            seq=seq,
            prev=loaded.hash.hex(),
            reg=reg,
            key=key,
            type=machine.type_of[type(draft.event)],
            at=self._at,
            actor=signatory.actor,
            cause=job.cause,
            corr=job.corr,
            data=msgspec.to_builtins(draft.event),
            artifacts=draft.artifacts,
        )

    def _advance(self, record: Record, body: Body, draft: Draft) -> Recorded[Event]:
        """Apply one event to the stream's state in this batch."""
        stream, seq, record_hash = record.stream, record.seq, record.hash
        loaded = self._streams[stream]
        recorded: Recorded[Event] = Recorded(
            draft.event,
            stream,
            seq,
            self._now,
            body.actor,
            record_hash,
            body.cause,
            body.corr,
            body.artifacts,
        )
        machine = loaded.machine
        state = machine.evolve(loaded.state, recorded)
        reg = loaded.reg if body.reg is None else body.reg
        self._streams[stream] = LoadedStream(machine, seq, record_hash, reg, state, loaded.proved)
        return recorded

    def _store_snapshot(self, stream: str, loaded: LoadedStream) -> None:
        """Sign the current state, so that no process has to read the stream from event 0."""
        held = self._keys.find(CHECKPOINT, key_id(self._replay.trust.checkpoint))
        if held is None:  # the next process that has the checkpoint key makes one
            return
        # LDG-048
        if not loaded.proved:  # readers verify nothing before a signed snapshot
            try:
                loaded = self._replay.load(self._change, stream, proved=True)
            except Tampered:
                return
            self._streams[stream] = loaded
        self._change.put_snapshot(take_snapshot(self._origin, stream, loaded, held.signer))


def _describe_decision(
    stream: str, command: Command, decision: Decision, machine: Machine[Any]
) -> str:
    """Describe a decision for MOOT_DEBUG: codes and event types only, never texts of agents."""
    from moot.core.debug import write_decision

    code = Refused.of(decision.findings).code if decision.refused else None
    types = [machine.type_of[type(draft.event)] for draft in decision.drafts]
    return write_decision(stream, type(command).__name__, code, types)


def _describe_entries(entries: list[RecordToAppend]) -> str:
    """Describe entries for MOOT_DEBUG: stream and position of the first few."""
    places = (f"{entry.record.stream}#{entry.record.seq}" for entry in entries[:MAX_DESCRIBED])
    more = f" and {len(entries) - MAX_DESCRIBED} more" if len(entries) > MAX_DESCRIBED else ""
    return f"{', '.join(places)}{more}"
