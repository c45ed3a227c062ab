"""Access to one ledger: execute a command, read a state, see what is due.

Synchronous and safe for threads and processes: `execute` takes the store's write lock, reads,
decides, signs, appends and commits, in that order, and returns only after the commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from moot.core.clock import Clock, Millis
from moot.core.errors import MootError, Refused
from moot.core.ledger import Heartbeat, Store, View, WriteTransaction
from moot.core.machine import Command, Due, Machine, SignOfLife
from moot.core.names import CHECKPOINT, REGISTRY
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.core.registry.model import State as Registry
from moot.core.signing import key_id
from moot.engine.checkpoints import EVERY_EVENTS, NewCheckpoint, RollbackGuard, make_checkpoint
from moot.engine.job import Job, JobOutcome
from moot.engine.machines import Machines
from moot.engine.replay import (
    LoadedStream,
    Replay,
    find_streams_without_snapshot,
    take_late_snapshot,
)
from moot.engine.signers import (
    Keys,
    LedgerTrust,
    Signatories,
    find_signatory,
    find_system_signatory,
)
from moot.engine.signs_of_life import (
    is_genuine_heartbeat,
    latest_signs,
    make_heartbeat,
    read_claimed_times,
)
from moot.store.artifacts import Artifacts
from moot.store.files import syncs_are_held

if TYPE_CHECKING:
    from moot.core.debug import DebugLog
    from moot.engine.batch import Batch, Result
    from moot.engine.rebuild import RebuildResult
    from moot.engine.signed_commits import SignedCommit

S = TypeVar("S")
T = TypeVar("T")


class Engine:
    """One process's access to one ledger. Threads may share it; calls run one after another."""

    def __init__(
        self,
        store: Store,
        keys: Keys,
        trust: LedgerTrust,
        clock: Clock,
        machines: Machines | None = None,
        on_checkpoint: Callable[[NewCheckpoint], None] | None = None,
        artifacts: Artifacts | None = None,
        write_error: MootError | None = None,
        rollback_guard: RollbackGuard | None = None,
        debug: DebugLog | None = None,
        request_timeouts: Callable[[str], None] | None = None,
    ) -> None:
        """`write_error`: why nothing may be written here; every attempt to write raises it.

        `rollback_guard` remembers what the ledger had before, and checks it before anything is
        added or signed. `on_checkpoint` is called after the commit of each checkpoint. `debug` logs
        what was loaded, decided and appended. `request_timeouts` is for a process without the
        ledger's own key: it asks a process that has the key to apply what is overdue on a stream.
        """
        self.store = store
        self.keys = keys
        self._signatories = Signatories(trust)
        self.trust = trust
        self.clock = clock
        self._replay = Replay(trust, machines or Machines(), artifacts)
        self.artifacts = artifacts
        self._on_checkpoint = on_checkpoint
        # LDG-039: every command that writes raises it, until a person accepts the loss.
        self._write_error = write_error
        self._rollback_guard = rollback_guard
        self._debug = debug
        self._request_timeouts = request_timeouts
        self._events_since_checkpoint = 0  # events of this process that no checkpoint covers yet
        self._lock = threading.RLock()  # for the cache of states and the store

    def execute(
        self,
        stream: str,
        command: Command,
        actor: str,
        *,
        key: str | None = None,
        role: str | None = None,
        cause: str | None = None,
        corr: str | None = None,
    ) -> JobOutcome:
        """Run one command and return what it recorded; if it did not run, the error says why."""
        job = Job(stream, command, actor, key, role, cause, corr)
        result = self.execute_all((job,))[0]
        if isinstance(result, MootError):
            raise result
        return result

    def execute_all(
        self,
        jobs: Iterable[Job],
        before_commit: Callable[[list[Result]], None] | None = None,
        after_commit: Callable[[list[Result]], None] | None = None,
    ) -> list[Result]:
        """Run many jobs in one commit; return the outcome or error of each, in order.

        `before_commit` writes another file that must change together with the ledger. It is called
        when everything is written and nothing is durable yet. If it raises, nothing is recorded. If
        the process dies between it and the commit, that file is ahead of the ledger, never behind:
        the caller can then sign the file's content (decision 0009). `after_commit` is called when
        everything is durable, before a checkpoint that may be due.
        """
        job_list = tuple(jobs)
        if self._request_timeouts is not None:
            self._request_overdue(job_list)
        with self._lock:
            guarded = self._prove_guarded(job_list)
            results = self._commit(lambda batch: batch.run_all(job_list, guarded), before_commit)
        if after_commit is not None:
            after_commit(results)
        self.checkpoint_if_due()
        return results

    def execute_chain(
        self,
        first: Job,
        *then: Callable[[JobOutcome], Job],
        proved: Iterable[str] = (),
        before_commit: Callable[[list[JobOutcome]], None] | None = None,
    ) -> list[JobOutcome]:
        """Run jobs in one commit, all or none: each later job is made from the outcome before.

        For one act that two protocols record. If one is refused, nothing is recorded, not even the
        events of its refusal. A guarded command must come first or be on a stream in `proved`:
        history is verified before the lock is taken, when the later jobs are not known yet.
        `before_commit` is as in `execute_all`.
        """
        self._request_overdue([first], proved)
        with self._lock:
            guarded = self._prove_guarded([first]) | self._prove(proved)
            done = self._commit(lambda batch: batch.run_chain(first, then, guarded), before_commit)
        self.checkpoint_if_due()
        return done

    def deliver(self, agent: str, pick: Callable[[View], tuple[T, Mapping[str, int]]]) -> T:
        """Let `pick` choose what to show to `agent`, and store its new cursors.

        `pick` returns what to show and the new positions of this agent's cursors. It runs under
        the write lock, so that two processes of one agent never show the same thing twice.
        """
        if self._write_error is not None:
            raise self._write_error
        with self._lock, self.store.write() as change:
            shown, positions = pick(change)
            for name, position in positions.items():
                change.put_cursor(agent, name, position)
        return shown

    def tick(self, stream: str) -> JobOutcome | None:
        """Apply what is overdue on `stream`, as `system`; None if nothing is."""
        with self._lock:
            outcome = self._commit(lambda batch: batch.tick(stream))
        self.checkpoint_if_due()
        return outcome if outcome.recorded else None

    def commit_signed(self, commits: Sequence[SignedCommit[Any]]) -> None:
        """Decide commands of other machines again, with their signatures, and commit together.

        Called by the keeper. If a decision differs from the machine's, or is refused, that commit
        gets an `error` and nothing of it is recorded. An error that is raised concerns all of them:
        then nothing was recorded. Call `checkpoint_if_due` after all machines are answered.
        """
        with self._lock:
            done = self._write(lambda change: self._decide_signed(change, commits))
            for batch in done:
                batch.update_cache(self._replay)
            self._events_since_checkpoint += sum(batch.count for batch in done)

    def _decide_signed(
        self, change: WriteTransaction, commits: Sequence[SignedCommit[Any]]
    ) -> list[Batch]:
        done: list[Batch] = []
        for commit in commits:
            batch = self._make_batch(change, commit.keys, Signatories(self.trust), commit.now)
            try:
                commit.decide(batch)
            except MootError as error:
                commit.error = error
            else:
                batch.flush()
                done.append(batch)
        for commit in commits:
            if commit.error is None:
                commit.answer = commit.read(change)
        return done

    def _commit(
        self,
        decide: Callable[[Batch], T],
        before_commit: Callable[[T], None] | None = None,
    ) -> T:
        """Take the lock (one writer at a time: TRC-049), let a batch decide, write and commit;
        then update the cache."""

        def decide_and_write(change: WriteTransaction) -> tuple[Batch, T]:
            batch = self._make_batch(change, self.keys, self._signatories, self.clock())
            decided = decide(batch)
            batch.flush()
            if before_commit is not None:
                before_commit(decided)
            return batch, decided

        batch, decided = self._write(decide_and_write)
        batch.update_cache(self._replay)
        self._events_since_checkpoint += batch.count
        return decided

    def _write(self, change_ledger: Callable[[WriteTransaction], T]) -> T:
        """Change the ledger under the lock. On any failure, clear the cache: it may have states
        that were never committed."""
        if self._write_error is not None:
            raise self._write_error
        try:
            with self.store.write() as change:
                if self._rollback_guard is not None:
                    self._rollback_guard.before_writing(change)
                return change_ledger(change)
        except BaseException:
            # LDG-064
            self._replay.clear_cache()
            raise

    def _make_batch(
        self, change: WriteTransaction, keys: Keys, signatories: Signatories, now: Millis
    ) -> Batch:
        return _load_batch_class()(
            change,
            self._replay,
            keys,
            signatories,
            now,
            self.artifacts,
            self._rollback_guard,
            self._debug,
        )

    def require_writable(self) -> None:
        """Raise the write error, if nothing may be written here."""
        if self._write_error is not None:
            raise self._write_error

    @property
    def signs_as_ledger(self) -> bool:
        """Return whether this process can sign for the ledger."""
        return find_system_signatory(self.trust, self.keys) is not None

    @property
    def makes_checkpoints(self) -> bool:
        """Return whether this process can make checkpoints."""
        return self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint)) is not None

    def beat(self, name: str) -> Millis:
        """Record that `name` is alive; return the time on record, which never moves back.

        Sets the time last seen, in UTC, and changes nothing else (OPR-023, OPR-024).
        """
        if self._write_error is not None:
            raise self._write_error
        signatory = find_signatory(self.registry(), self.keys, name)
        return self.store_heartbeat(make_heartbeat(signatory, self.trust.origin, self.clock()))

    def store_heartbeat(self, heartbeat: Heartbeat) -> Millis:
        """Store a heartbeat unless there is a newer one; return the time on record."""
        registry = self.registry()
        with self._lock, self.store.write() as change:
            known = change.heartbeat(heartbeat.agent)
            # LDG-070
            is_newer = known is not None and known.at >= heartbeat.at
            if known is not None and is_newer and is_genuine_heartbeat(registry, known):
                return known.at  # a forged one must not stop a real one
            change.put_heartbeat(heartbeat)
        return heartbeat.at

    def signs(self, names: Iterable[str]) -> dict[str, SignOfLife]:
        """Return the latest proved sign of life of each of `names`."""
        with self._lock, self.store.read() as view:
            return latest_signs(view, self._replay, names)

    def claimed_times(self) -> dict[str, Millis]:
        """Return when each agent was last seen, by index rows that are not proved."""
        with self._lock, self.store.read() as view:
            return read_claimed_times(view)

    def state(self, machine: Machine[S], stream: str) -> S:
        """Return the current state of `stream`, which `machine` runs."""
        return machine.require_state(self.load(stream).state)

    def load(self, stream: str, proved: bool = False) -> LoadedStream:
        """Return the state of `stream` with its position; `proved`: verify every signature."""
        with self._lock, self.store.read() as view:
            return self._replay.load(view, stream, proved)

    def load_from_start(self, stream: str) -> LoadedStream:
        """Return the state from event 0, all verified, and cache it. Ignores cache and snapshot:
        after a loss they may cover events that no longer exist."""
        with self._lock, self.store.read() as view:
            return self._replay.load_from_start(view, stream)

    def registry(self) -> Registry:
        return self.state(REGISTRY_MACHINE, REGISTRY)

    def agenda(self, streams: Iterable[str]) -> Iterator[tuple[str, Due]]:
        """Yield what is due on each of `streams` now."""
        now, registry = self.clock(), self.registry()
        for stream in streams:
            loaded = self.load(stream)
            for due in loaded.machine.agenda(loaded.state, now):
                if not _has_creditor_ended(due, registry):
                    yield stream, _replace_if_holder_ended(due, registry)

    def open_streams(self) -> list[str]:
        """Streams that their machine lists in the index space `open` and that this Moot can run."""
        with self._lock, self.store.read() as view:
            rows = view.rows("open", limit=100_000)
        return [row.key for row in rows if self._replay.can_run(row.key)]

    def checkpoint(self, beyond: int = 0) -> NewCheckpoint | None:
        """Sign for all heads as they are now; None if nothing moved since the last checkpoint.

        Refused without the checkpoint key. `beyond` is the number of a checkpoint whose loss was
        accepted: the new one gets a higher number.
        """
        if self._write_error is not None:
            raise self._write_error
        held = self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint))
        if held is None:
            raise Refused(
                "key_missing",
                "the checkpoint key is not in this key folder",
                hint="make the checkpoint as the user who ran `moot init`",
            )
        with self._lock, self.store.write() as change:
            if self._rollback_guard is not None:
                self._rollback_guard.before_signing(change)
            made = make_checkpoint(change, self.trust, held.signer, self.clock(), beyond)
            if made is not None and self._debug is not None:
                number, streams = made.checkpoint.number, made.checkpoint.streams
                self._debug("sign", f"checkpoint {number} over {streams} streams")
        self._events_since_checkpoint = 0
        if syncs_are_held():  # what `on_checkpoint` remembers must not be ahead of the disk
            from moot.store.batched_syncs import make_durable

            make_durable()
        if made is not None and self._on_checkpoint is not None:
            self._on_checkpoint(made)
        return made

    def take_late_snapshots(self) -> None:
        """Make the snapshots that processes without the checkpoint key could not make.

        Does nothing without that key. Call it before the next checkpoint, which resets the list of
        streams that moved.
        """
        held = self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint))
        if held is None or self._write_error is not None:
            return
        with self._lock:
            with self.store.read() as view:
                due = list(find_streams_without_snapshot(view, self._replay))
            self._prove(due)  # before the lock: a long history takes seconds
            if due:
                with self.store.write() as change:
                    for stream in due:
                        take_late_snapshot(
                            change, self._replay, stream, held.signer, self._rollback_guard
                        )

    def rebuild(self) -> RebuildResult:
        """Recompute index rows, texts, snapshots and head tree if they differ from the events."""
        from moot.engine.rebuild import rebuild

        if self._write_error is not None:
            raise self._write_error
        held = self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint))
        signer = held.signer if held is not None else None
        with self._lock, self.store.write() as change:
            self._require_all(change)
            done = rebuild(change, self._replay.with_empty_cache(), signer)
        self._replay.clear_cache()
        return done

    def close(self) -> None:
        """Make a checkpoint over what this process wrote, if it has the key; close the store."""
        # LDG-036
        try:
            if self._events_since_checkpoint:
                with suppress(MootError):  # events are durable; the next checkpoint covers them
                    self._checkpoint_if_possible()
        finally:
            self.store.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def checkpoint_if_due(self) -> None:
        """Make a checkpoint if enough events were recorded since the last one."""
        if self._events_since_checkpoint >= EVERY_EVENTS:  # LDG-036
            # The events are durable; the next command tries again.
            with suppress(MootError), self._lock:
                self._checkpoint_if_possible()

    def _checkpoint_if_possible(self) -> None:
        if self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint)) is not None:
            self.checkpoint()
        self._events_since_checkpoint = 0

    def _require_all(self, view: View) -> None:
        """Raise Tampered if any stream lacks a remembered event: a rebuild reads all of them."""
        if self._rollback_guard is not None:
            self._rollback_guard.before_writing(view)
            for stream, _ in view.streams():
                self._rollback_guard.before_loading(view, stream)

    def _request_overdue(self, jobs: Iterable[Job], further: Iterable[str] = ()) -> None:
        """Without the ledger's own key, let a process that has it apply what is overdue.

        Before we take the lock: commands must be decided on a state with timeouts applied.
        """
        if self._request_timeouts is None:
            return
        for stream in dict.fromkeys([*(job.stream for job in jobs), *further]):
            with suppress(MootError):  # the batch runs into the same error
                loaded = self.load(stream)
                if loaded.seq >= 0 and loaded.machine.timeouts(loaded.state, self.clock()):
                    self._request_timeouts(stream)

    def _prove_guarded(self, jobs: Iterable[Job]) -> set[str]:
        """Verify the histories that guarded commands rely on, before the write lock is taken.

        Verifying a long history takes seconds, and every other writer would wait. Under the lock
        the batch verifies only what was added meanwhile.
        """
        # LDG-047
        guarded: set[str] = set()
        for job in jobs:
            if self._replay.needs_proof(job.stream, job.command):
                guarded.add(job.stream)
        return self._prove(guarded) if guarded else guarded

    def _prove(self, streams: Iterable[str]) -> set[str]:
        guarded = set(streams)
        for stream in guarded:
            with suppress(MootError):  # the batch runs into it again and fails the job concerned
                self.load(stream, proved=True)
        return guarded


@cache  # every command calls it, and even a repeated import costs time
def _load_batch_class() -> type[Batch]:
    from moot.engine.batch import Batch  # a process that only reads does not need it

    return Batch


def _replace_if_holder_ended(due: Due, registry: Registry) -> Due:
    """Return the due, or its replacement if the agent that must act has ended."""
    if due.instead is None or registry.is_holder(due.who, due.epoch):
        return due
    return due.instead


def _has_creditor_ended(due: Due, registry: Registry) -> bool:
    """Return whether the agent it is owed to has ended. Names without a key, such as `system`,
    never end."""
    known = due.owed_to in registry.agents and due.owed_to_epoch > 0
    return known and not registry.is_holder(due.owed_to, due.owed_to_epoch)
