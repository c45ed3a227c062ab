"""What everybody uses of the ledger: execute a command, read a state, see what is due.

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
from moot.store.files import are_held

if TYPE_CHECKING:
    from moot.core.debug import DebugLog
    from moot.engine.batch import Batch, Result
    from moot.engine.rebuild import RebuildResult
    from moot.engine.signed_commits import SignedCommit

S = TypeVar("S")
T = TypeVar("T")


class Engine:
    """One process's access to one ledger. Threads may share it; each call is a turn of its own."""

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
        settle_overdue: Callable[[str], None] | None = None,
    ) -> None:
        """`write_error`: why nothing may be written here; every attempt to write raises it.

        `rollback_guard` knows what the ledger held before and is asked before anything is added or
        signed. `on_checkpoint` is called after the commit of each checkpoint. `debug` is told what
        was loaded, decided and appended. `settle_overdue` is given where the ledger's own key is
        not: it asks another process that has it to apply what is overdue on a stream.
        """
        self.store = store
        self.keys = keys
        self._signatories = Signatories(trust)
        self.trust = trust
        self.clock = clock
        self._replay = Replay(trust, machines or Machines(), artifacts)
        self.artifacts = artifacts
        self._on_checkpoint = on_checkpoint
        # LDG-039: what every command that writes raises, until a person accepts the loss.
        self._write_error = write_error
        self._rollback_guard = rollback_guard
        self._debug = debug
        self._settle_overdue = settle_overdue
        self._unpinned = 0  # events of this process that no checkpoint covers yet
        self._turn = (
            threading.RLock()
        )  # one thread at a time uses the cache of states and the store

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
        """Many jobs in one commit; each gets its own outcome or error, in order.

        `before_commit` is for what must happen together with the commit in another file: it is
        called once everything is written and nothing is durable yet. If it raises, nothing was
        recorded. If the process dies between it and the commit, the other file is ahead of the
        ledger, never behind: the caller can then sign what stands there (decision 0009).
        `after_commit` is called when everything is durable, before a checkpoint that may be due.
        """
        waiting = tuple(jobs)
        if self._settle_overdue is not None:
            self._settle(waiting)
        with self._turn:
            guarded = self._prove_guarded(waiting)
            results = self._commit(lambda batch: batch.run_all(waiting, guarded), before_commit)
        if after_commit is not None:
            after_commit(results)
        self.pin_if_due()
        return results

    def execute_chain(
        self,
        first: Job,
        *then: Callable[[JobOutcome], Job],
        proved: Iterable[str] = (),
        before_commit: Callable[[list[JobOutcome]], None] | None = None,
    ) -> list[JobOutcome]:
        """Jobs in one commit, or none of them: each further one is made from the outcome before.

        For one act that two protocols record. If any is refused, nothing is recorded, not even what
        its refusal would leave behind. A guarded command must come first or be on a stream that
        `proved` names: history is verified before the lock is taken, and what the further jobs are
        is not known then. `before_commit` is that of `execute_all`.
        """
        self._settle([first], proved)
        with self._turn:
            guarded = self._prove_guarded([first]) | self._prove(proved)
            done = self._commit(lambda batch: batch.run_chain(first, then, guarded), before_commit)
        self.pin_if_due()
        return done

    def deliver(self, agent: str, pick: Callable[[View], tuple[T, Mapping[str, int]]]) -> T:
        """Let `pick` choose what `agent` is shown, and note how far it got.

        `pick` returns what is shown and the new positions of this agent's cursors. It runs under
        the write lock, so that two processes of one agent never show the same thing twice.
        """
        if self._write_error is not None:
            raise self._write_error
        with self._turn, self.store.write() as change:
            shown, positions = pick(change)
            for name, position in positions.items():
                change.put_cursor(agent, name, position)
        return shown

    def tick(self, stream: str) -> JobOutcome | None:
        """Apply what is overdue on `stream`, as `system`; None if nothing was."""
        with self._turn:
            outcome = self._commit(lambda batch: batch.tick(stream))
        self.pin_if_due()
        return outcome if outcome.recorded else None

    def commit_signed(self, commits: Sequence[SignedCommit[Any]]) -> None:
        """Decide at the times given, with the signatures that came along, and commit together.

        For whoever keeps the ledger for others: they decided the same elsewhere and signed it. One
        that comes out different here, or is refused, notes its error, and nothing of it is
        recorded. What is raised concerns all of them: then nothing was recorded at all. A
        checkpoint may be due afterwards: `pin_if_due`, once everybody is answered.
        """
        with self._turn:
            done = self._write(lambda change: self._decide_signed(change, commits))
            for batch in done:
                batch.commit_to(self._replay)
            self._unpinned += sum(batch.count for batch in done)

    def _decide_signed(
        self, change: WriteTransaction, commits: Sequence[SignedCommit[Any]]
    ) -> list[Batch]:
        done: list[Batch] = []
        for one in commits:
            batch = self._make_batch(change, one.keys, Signatories(self.trust), one.now)
            try:
                one.decide(batch)
            except MootError as error:
                one.error = error
            else:
                batch.flush()
                done.append(batch)
        for one in commits:
            if one.error is None:
                one.told = one.read(change)
        return done

    def _commit(
        self,
        decide: Callable[[Batch], T],
        before_commit: Callable[[T], None] | None = None,
    ) -> T:
        """Take the lock (one writer at a time: TRC-049), let a batch decide, write, commit, then
        update the cache."""

        def decide_and_write(change: WriteTransaction) -> tuple[Batch, T]:
            batch = self._make_batch(change, self.keys, self._signatories, self.clock())
            decided = decide(batch)
            batch.flush()
            if before_commit is not None:
                before_commit(decided)
            return batch, decided

        batch, decided = self._write(decide_and_write)
        batch.commit_to(self._replay)
        self._unpinned += batch.count
        return decided

    def _write(self, change_ledger: Callable[[WriteTransaction], T]) -> T:
        """Change the ledger under the lock. If anything fails the cache is emptied: it may hold
        states that were never committed."""
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
        """Raises what every attempt to write would, if nothing may be written here."""
        if self._write_error is not None:
            raise self._write_error

    @property
    def signs_as_ledger(self) -> bool:
        """True if the ledger's own part of a command can be signed from here."""
        return find_system_signatory(self.trust, self.keys) is not None

    @property
    def makes_checkpoints(self) -> bool:
        """True if a checkpoint can be made from here."""
        return self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint)) is not None

    def beat(self, name: str) -> Millis:
        """Record that `name` is alive; returns the time on record, which never moves back.

        It sets the time last seen, in UTC, and changes nothing else (OPR-023, OPR-024).
        """
        if self._write_error is not None:
            raise self._write_error
        signatory = find_signatory(self.registry(), self.keys, name)
        return self.keep_heartbeat(make_heartbeat(signatory, self.trust.origin, self.clock()))

    def keep_heartbeat(self, heartbeat: Heartbeat) -> Millis:
        """Store a sign of life unless a newer one stands; returns the time on record."""
        registry = self.registry()
        with self._turn, self.store.write() as change:
            known = change.heartbeat(heartbeat.agent)
            # LDG-070
            is_newer = known is not None and known.at >= heartbeat.at
            if known is not None and is_newer and is_genuine_heartbeat(registry, known):
                return known.at  # a forged one must not stop a real one
            change.put_heartbeat(heartbeat)
        return heartbeat.at

    def signs(self, names: Iterable[str]) -> dict[str, SignOfLife]:
        """The latest proved sign of life of each of `names`."""
        with self._turn, self.store.read() as view:
            return latest_signs(view, self._replay, names)

    def claimed_times(self) -> dict[str, Millis]:
        """When everyone was seen last, by rows that are not proved."""
        with self._turn, self.store.read() as view:
            return read_claimed_times(view)

    def state(self, machine: Machine[S], stream: str) -> S:
        """The state of `stream`, which `machine` runs, now; its initial one without events."""
        return machine.require_state(self.load(stream).state)

    def load(self, stream: str, proved: bool = False) -> LoadedStream:
        """The state of `stream` with its position; `proved`: with every signature verified."""
        with self._turn, self.store.read() as view:
            return self._replay.load(view, stream, proved)

    def load_from_start(self, stream: str) -> LoadedStream:
        """The state from event 0, all of it verified, whatever cache and snapshot say: after a loss
        they may speak of events that are gone. What was loaded so stays in the cache."""
        with self._turn, self.store.read() as view:
            return self._replay.load_from_start(view, stream)

    def registry(self) -> Registry:
        return self.state(REGISTRY_MACHINE, REGISTRY)

    def agenda(self, streams: Iterable[str]) -> Iterator[tuple[str, Due]]:
        """What is due on each of `streams`, by the clock of this moment."""
        now, registry = self.clock(), self.registry()
        for stream in streams:
            loaded = self.load(stream)
            for due in loaded.machine.agenda(loaded.state, now):
                if not _is_owed_to_nobody(due, registry):
                    yield stream, _replace_if_holder_gone(due, registry)

    def open_streams(self) -> list[str]:
        """Streams that their machine lists in the index space `open` and that this Moot can run."""
        with self._turn, self.store.read() as view:
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
                hint="let whoever ran `moot init` make the checkpoint",
            )
        with self._turn, self.store.write() as change:
            if self._rollback_guard is not None:
                self._rollback_guard.before_signing(change)
            kept = make_checkpoint(change, self.trust, held.signer, self.clock(), beyond)
            if kept is not None and self._debug is not None:
                made = kept.checkpoint
                self._debug("sign", f"checkpoint {made.number} over {made.streams} streams")
        self._unpinned = 0
        if are_held():  # what is remembered outside must not be ahead of the disk
            from moot.store.batched_syncs import make_durable

            make_durable()
        if kept is not None and self._on_checkpoint is not None:
            self._on_checkpoint(kept)
        return kept

    def take_snapshots_for_others(self) -> None:
        """Make the snapshots that are due on what others wrote who lack the checkpoint key; nothing
        without that key. Before the next checkpoint: after it nobody knows what had moved."""
        held = self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint))
        if held is None or self._write_error is not None:
            return
        with self._turn:
            with self.store.read() as view:
                due = list(find_streams_without_snapshot(view, self._replay))
            self._prove(due)  # before the lock: a long history takes its time
            if due:
                with self.store.write() as change:
                    for stream in due:
                        take_late_snapshot(
                            change, self._replay, stream, held.signer, self._rollback_guard
                        )

    def rebuild(self) -> RebuildResult:
        """Make index rows, texts, snapshots and head tree anew if they differ from the events."""
        from moot.engine.rebuild import rebuild

        if self._write_error is not None:
            raise self._write_error
        held = self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint))
        signer = held.signer if held is not None else None
        with self._turn, self.store.write() as change:
            self._require_all(change)
            done = rebuild(change, self._replay.with_empty_cache(), signer)
        self._replay.clear_cache()
        return done

    def close(self) -> None:
        """Make a checkpoint over what this process wrote, if its key is here; close the store."""
        # LDG-036
        try:
            if self._unpinned:
                with suppress(
                    MootError
                ):  # what was acknowledged is durable; the next checkpoint covers it
                    self._pin_if_possible()
        finally:
            self.store.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def pin_if_due(self) -> None:
        """Make a checkpoint if enough was recorded since the last."""
        if self._unpinned >= EVERY_EVENTS:  # LDG-036
            # The events are durable; the next command tries again.
            with suppress(MootError), self._turn:
                self._pin_if_possible()

    def _pin_if_possible(self) -> None:
        if self.keys.find(CHECKPOINT, key_id(self.trust.checkpoint)) is not None:
            self.checkpoint()
        self._unpinned = 0

    def _require_all(self, view: View) -> None:
        """Tampered if any stream lacks what is remembered of it: a rebuild reads all of them."""
        if self._rollback_guard is not None:
            self._rollback_guard.before_writing(view)
            for stream, _ in view.streams():
                self._rollback_guard.before_loading(view, stream)

    def _settle(self, jobs: Iterable[Job], further: Iterable[str] = ()) -> None:
        """Without the ledger's own key, let another apply what is overdue before we take the lock:
        commands are decided on a state in which time limits have taken effect."""
        if self._settle_overdue is None:
            return
        for stream in dict.fromkeys([*(job.stream for job in jobs), *further]):
            with suppress(MootError):  # the batch meets it again
                loaded = self.load(stream)
                if loaded.seq >= 0 and loaded.machine.timeouts(loaded.state, self.clock()):
                    self._settle_overdue(stream)

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
            with suppress(MootError):  # the batch meets it again, and fails the job concerned
                self.load(stream, proved=True)
        return guarded


@cache  # every command asks, and an import costs something even if it was done before
def _load_batch_class() -> type[Batch]:
    from moot.engine.batch import Batch  # whoever only reads does without

    return Batch


def _replace_if_holder_gone(due: Due, registry: Registry) -> Due:
    """The due, or its replacement if the holder of the name that it waited for has gone."""
    if due.instead is None or registry.is_holder(due.who, due.epoch):
        return due
    return due.instead


def _is_owed_to_nobody(due: Due, registry: Registry) -> bool:
    """True if whoever it is owed to has ended. Names without a key, such as `system`, never do."""
    known = due.owed_to in registry.agents and due.owed_to_epoch > 0
    return known and not registry.is_holder(due.owed_to, due.owed_to_epoch)
