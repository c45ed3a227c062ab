"""The engine of a machine that joined: it decides here, on its own copy, and commits at the keeper.

The actor signs the events here, and the machine sends them with the command. The keeper decides
again. If the ledger changed meanwhile, the keeper answers with the new records and the machine
decides again on those; from then on it queues for a turn, so that no machine starves. If an answer
is lost, the machine sends the same question again, which the keeper records only once. A process
that commits one command after another gets brief answers and continues from the events that it
signed itself (`sync_state.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from moot.core.clock import Millis
from moot.core.errors import Conflict, MootError, Refused, StoreFailed, Tampered
from moot.core.ledger import WriteTransaction
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.engine.batch import Batch
from moot.engine.checkpoints import NewCheckpoint
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.remote_signatures import KeysWithoutLedgerKey, WithheldSignature, WithheldSigner
from moot.engine.replay import read_record
from moot.engine.signers import find_signatory
from moot.engine.signs_of_life import make_heartbeat
from moot.hosts import messages as wire
from moot.hosts.connection import ConnectFailed, ConnectionLost
from moot.hosts.messages import SyncDelta
from moot.hosts.replica import FRESH_SECONDS, LedgerCopy, RemoteArtifacts, bad_answer, keeper_away

if TYPE_CHECKING:
    from moot.engine.batch import Result


# Streams that other machines wrote to just now: a command queues for a turn before it is decided.
# Else it would often be overtaken, and waste a decision, a signature and a round trip.

CONTENDED_SECONDS: Final = 1.0


class ContendedStreams:
    """Remembers on which streams this process met other machines."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, streams: Iterable[str], delta: SyncDelta) -> None:
        """Note contention after a wait for a turn: on the streams that other machines moved, or on
        all of them if another machine's turn had to end first."""
        until = time.monotonic() + CONTENDED_SECONDS
        if delta.has_turn is False:
            self._until.update(dict.fromkeys(streams, until))
            return
        moved = {stream for stream, *_ in delta.records}
        self._until.update((stream, until) for stream in streams if stream in moved)

    def find_contended(self, streams: Iterable[str]) -> list[str]:
        """Return all of the streams if one of them is contended, else none."""
        if not self._until:
            return []
        wanted, now = list(streams), time.monotonic()
        self._until = {stream: until for stream, until in self._until.items() if until > now}
        return wanted if any(stream in self._until for stream in wanted) else []


MAX_TRIES: Final = 12
# How long to repeat a question whose answer was lost, before reporting an unknown outcome.
UNKNOWN_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 0.05  # before the first repeat; doubles up to a second
# A process that commits again this soon is likely to commit more: it asks to keep its turn.
HURRIED_SECONDS: Final = 0.003
# A process that was too late to use a kept turn is slow or far from the keeper. It does not ask to
# keep its turn for this long.
FAR_SECONDS: Final = 1.0
# A process that committed this recently needs no new records for its next command.
BUSY_SECONDS: Final = FRESH_SECONDS
# The keeper refuses commands with an old time.
RENEW_AFTER: Final[Millis] = 2_000

T = TypeVar("T")
# Decides on a batch; returns the jobs, with those that a chain made, and their results.
Decide = Callable[[Batch], tuple[list[Job], T]]


class JoinedEngine(Engine):
    """An engine that commits at the keeper. Call `attach_copy` before anything else."""

    _copy: LedgerCopy
    _contended: ContendedStreams

    def attach_copy(self, copy: LedgerCopy) -> None:
        self._copy = copy
        self._contended = ContendedStreams()
        self._committed_at = -BUSY_SECONDS
        self._lost_turn_at = -FAR_SECONDS  # when we were last too late to use a kept turn
        # The streams on which we still have our turn, by the keeper's last answer.
        self._turn_streams: frozenset[str] = frozenset()

    @property
    def replay(self) -> Any:
        return self._replay

    def execute_all(
        self,
        jobs: Iterable[Job],
        before_commit: Callable[[list[Result]], None] | None = None,
        after_commit: Callable[[list[Result]], None] | None = None,
    ) -> list[Result]:
        job_list = list(jobs)

        def decide(batch: Batch) -> tuple[list[Job], list[Result]]:
            return job_list, batch.run_all(job_list, guarded)

        with self._lock:
            attempt = self._begin_attempt(job_list)
            guarded = self._prove_guarded(job_list)
            results = self._commit_at_keeper(decide, before_commit, attempt, chain=False)
        if after_commit is not None:
            after_commit(results)
        return results

    def execute_chain(
        self,
        first: Job,
        *then: Callable[[JobOutcome], Job],
        proved: Iterable[str] = (),
        before_commit: Callable[[list[JobOutcome]], None] | None = None,
    ) -> list[JobOutcome]:
        def decide(batch: Batch) -> tuple[list[Job], list[JobOutcome]]:
            taken = [first]

            def noted(make: Callable[[JobOutcome], Job]) -> Callable[[JobOutcome], Job]:
                def make_and_note(outcome: JobOutcome) -> Job:
                    taken.append(make(outcome))
                    return taken[-1]

                return make_and_note

            done = batch.run_chain(first, [noted(make) for make in then], guarded)
            return taken, done

        with self._lock:
            attempt = self._begin_attempt([first])
            guarded = self._prove_guarded([first]) | self._prove(proved)
            return self._commit_at_keeper(decide, before_commit, attempt, chain=True)

    @property
    def signs_as_ledger(self) -> bool:
        """Return True: the keeper signs for the ledger what `ledger_signing.py` allows."""
        return True

    @property
    def makes_checkpoints(self) -> bool:
        return True

    def tick(self, stream: str) -> JobOutcome | None:
        self._begin_attempt()
        before = self.load(stream)
        if before.seq < 0 or not before.machine.timeouts(before.state, self.clock()):
            return None
        self._copy.connection.ask(wire.ApplyTimeouts(stream), wire.Done)
        self._copy.sync()
        with self.store.read() as view:
            done = tuple(
                read_record(before.machine, record)
                for record in view.records(stream, after=before.seq)
            )
        return JobOutcome(stream, done, self.load(stream).state) if done else None

    def beat(self, name: str) -> Millis:
        if self._write_error is not None:
            raise self._write_error
        signatory = find_signatory(self.registry(), self.keys, name)
        heartbeat = make_heartbeat(signatory, self.trust.origin, self.clock())
        at = self._copy.connection.ask(
            wire.SendHeartbeat(wire.pack_heartbeat(heartbeat)), wire.Done
        ).at
        self.store_heartbeat(heartbeat)
        return at

    def checkpoint(self, beyond: int = 0) -> NewCheckpoint | None:  # noqa: ARG002
        """Let the keeper make a checkpoint, and fetch it."""
        return self._copy.fetch_checkpoint()

    def close(self) -> None:
        """Ask for a checkpoint over what this process wrote, if the keeper answers; then close.

        Tampered if the keeper lost what it acknowledged: only this process may know that.
        """
        try:
            if self._events_since_checkpoint:
                self.checkpoint()
        except Tampered:
            raise
        except MootError:
            pass  # acknowledged events are durable; the next checkpoint covers them
        finally:
            self.store.close()

    def _begin_attempt(self, jobs: Iterable[Job] = ()) -> _Attempt:
        """Synchronise the copy, unless that was just done or this process commits in quick
        succession. On contended streams, queue for a turn before deciding."""
        if self._write_error is not None:
            raise self._write_error
        seconds_since_commit = time.monotonic() - self._committed_at
        kept, self._turn_streams = self._turn_streams, frozenset()
        has_turn = is_up_to_date = continues_turn = False
        if streams := self._contended.find_contended(_streams_of(jobs)):
            is_kept = seconds_since_commit < HURRIED_SECONDS and kept.issuperset(streams)
            if not is_kept:
                self._wait_for_turn(streams)
            has_turn, is_up_to_date, continues_turn = True, not is_kept, is_kept
        elif not self._copy.is_just_synced and seconds_since_commit >= BUSY_SECONDS:
            self._copy.sync()
            is_up_to_date = True
        return _Attempt(self.clock(), has_turn, is_up_to_date, continues_turn, seconds_since_commit)

    @property
    def _is_near(self) -> bool:
        """Return whether the keeper is near enough to wait for our next commit, as far as kept
        turns were used lately. The time of a commit says nothing about the connection."""
        return time.monotonic() - self._lost_turn_at >= FAR_SECONDS

    def _wait_for_turn(self, streams: Iterable[str]) -> None:
        """Wait for our turn on these streams, and note whether they are contended."""
        self._contended.note(streams, self._copy.wait_for_turn(tuple(streams)))

    def _commit_at_keeper(
        self,
        decide: Decide[T],
        before_commit: Callable[[T], None] | None,
        attempt: _Attempt,
        *,
        chain: bool,
    ) -> T:
        try:
            for _ in range(MAX_TRIES):
                done = self._try_to_commit(attempt, decide, before_commit, chain=chain)
                if done is not None:
                    return done[0]
        finally:
            if attempt.has_turn and self._copy.connection.is_open:  # a broken one lost its turn
                with suppress(MootError):
                    self._copy.wait_for_turn(())
        raise _too_often_overtaken(attempt.problem)

    def _try_to_commit(
        self,
        attempt: _Attempt,
        decide: Decide[T],
        before_commit: Callable[[T], None] | None,
        *,
        chain: bool,
    ) -> tuple[T] | None:
        """Decide and commit once; return the result, or None to try again."""
        if attempt.streams and not attempt.has_turn:
            self._wait_for_turn(attempt.streams)  # it was overtaken, or also writes a file
            attempt.has_turn = attempt.is_up_to_date = True
        attempt.renew(self.clock())
        ledgers = WithheldSigner(self.trust.root, attempt.hashes)
        keys = KeysWithoutLedgerKey(self.keys, ledgers)
        batch, jobs, result = self._decide_on_current_copy(decide, keys, attempt)
        if not batch.count:  # nothing to record: refused, or a repeat
            if before_commit is not None:
                before_commit(result)
            return (result,)
        attempt.streams = _streams_of(jobs)
        if before_commit is not None and not attempt.has_turn:
            return None
        self._upload_artifacts(batch)
        is_final = ledgers.is_complete and before_commit is not None
        if is_final and before_commit is not None:
            before_commit(result)
        records = [entry.record for entry in batch.entries]
        question = self._make_commit(records, jobs, keys, attempt, ledgers, chain)
        try:
            answer = self._commit_until_known(question, records)
        except Refused as error:
            attempt.now = self._retry_with_keepers_clock(error, attempt)
            return None
        finally:
            self._copy.end_sync()
        if isinstance(answer, wire.Committed):
            attempt.has_turn = False
            self._note_committed(batch, answer, attempt)
            return (result,)
        attempt.has_turn = answer.has_turn
        if attempt.continues_turn:
            self._lost_turn_at = time.monotonic()
            attempt.continues_turn = False
        if is_final:  # the file is already written: it is ahead of the ledger now
            raise _too_often_overtaken(attempt.problem)
        self._contended.note(attempt.streams, answer.delta)
        attempt.take_answer(answer)
        return None

    def _note_committed(self, batch: Batch, answer: wire.Committed, attempt: _Attempt) -> None:
        """Note a commit. After a brief answer the copy does not have it yet: keep it in memory."""
        if answer.delta is None:
            self._copy.ahead.add(batch.entries)
            batch.update_cache(self._replay)
        self._events_since_checkpoint += batch.count
        self._committed_at = time.monotonic()
        if answer.has_turn:
            self._turn_streams = frozenset(attempt.streams)

    def _retry_with_keepers_clock(self, error: Refused, attempt: _Attempt) -> Millis:
        """Return the keeper's time for another try, after one of the clocks was set; else raise."""
        if error.code != "clock_differs" or attempt.has_compared_clocks:
            raise error
        attempt.has_compared_clocks = True
        self._copy.sync()
        attempt.is_up_to_date = True
        return self.clock()

    def _decide_on_current_copy(
        self, decide: Decide[T], keys: KeysWithoutLedgerKey, attempt: _Attempt
    ) -> tuple[Batch, list[Job], T]:
        """Decide on the copy as it is; before refusing, synchronise and decide again.

        A refusal is valid only on the keeper's current records.
        """
        if attempt.is_up_to_date or attempt.streams:
            return self._decide_here(decide, keys, attempt)
        try:
            batch, jobs, result = self._decide_here(decide, keys, attempt)
        except MootError:
            batch, jobs, result = None, [], None
        results = result if isinstance(result, list) else []
        is_refused = batch is None or any(isinstance(result, MootError) for result in results)
        if batch is not None and batch.count and not is_refused:
            return batch, jobs, cast("T", result)
        self._copy.sync()
        return self._decide_here(decide, keys, attempt)

    def _decide_here(
        self, decide: Decide[T], keys: KeysWithoutLedgerKey, attempt: _Attempt
    ) -> tuple[Batch, list[Job], T]:
        with self._copy.read_without_sync() as view:
            if self._rollback_guard is not None:
                self._rollback_guard.before_writing(view)
            batch = Batch(
                cast("WriteTransaction", view),
                self._replay,
                keys,
                self._signatories,
                attempt.now,
                self.artifacts,
                self._rollback_guard,
                self._debug,
            )
            jobs, result = decide(batch)
            if batch.count:
                attempt.decided_on = self._copy.position_in(view)
        return batch, jobs, result

    def _make_commit(
        self,
        records: list[Record],
        jobs: list[Job],
        keys: KeysWithoutLedgerKey,
        attempt: _Attempt,
        ledgers: WithheldSigner,
        chain: bool,
    ) -> wire.Commit:
        """Build the question, with our signatures.

        A record that refers to a record of the ledger's own cannot be signed before the keeper has
        sent that record's hash: the first question then only asks for it.
        """
        signed: list[tuple[bytes, bytes]] = []
        is_ours = True  # only our signatures, and no change of keys
        for record in records:
            if isinstance(record.signature, WithheldSignature):
                is_ours = False
            elif not ledgers.names_placeholder_hash(record.raw):
                signed.append((record.raw, record.signature))
            if record.stream == REGISTRY:
                is_ours = False
        assert attempt.decided_on is not None, "something was decided"
        return wire.Commit(
            attempt.decided_on,
            attempt.now,
            chain,
            tuple([wire.pack_job(job) for job in jobs]),
            tuple(signed),
            tuple([(record.stream, record.seq, record.hash) for record in records]),
            tuple(sorted(keys.attended)),
            self._can_skip_delta(is_ours, attempt),
            attempt.has_turn and attempt.may_keep_turn and self._is_near,
        )

    def _can_skip_delta(self, is_ours: bool, attempt: _Attempt) -> bool:
        """Return whether a brief answer is enough, so that we continue from our own events.

        Not if the ledger signs some of them, since only the delta has its signatures; nor if keys
        change, since everything depends on them.
        """
        return attempt.is_busy and is_ours and not self._copy.try_begin_sync()

    def _commit_until_known(
        self, question: wire.Commit, records: list[Record]
    ) -> wire.Committed | wire.DecideAgain:
        """Ask, and ask again while the answer is lost: the keeper recognises a repeated question.

        If the question was never sent, the outcome is known: nothing was recorded. An answer
        without a brief one being asked for must have the records in its delta.
        """
        until = time.monotonic() + UNKNOWN_SECONDS
        pause, was_sent = PAUSE_SECONDS, False
        while True:
            required = self._copy.ahead.newest
            try:
                answer = self._copy.connection.ask_once(question, wire.Committed, wire.DecideAgain)
            except ConnectionLost as error:
                why = str(error)
                was_sent = was_sent or not isinstance(error, ConnectFailed)
                if not was_sent:
                    raise keeper_away(self._copy.connection.address, why) from None
            else:
                if answer.delta is None and not question.brief:
                    raise bad_answer("the keeper acknowledged records without sending them")
                if answer.delta is not None:
                    if isinstance(answer, wire.Committed):
                        required += {record.stream: record for record in records}.values()
                    self._copy.apply_all(answer.delta, required)
                return answer
            if time.monotonic() > until:
                raise _outcome_unknown(self._copy.connection.address, why)
            time.sleep(pause)
            pause = min(pause * 2, 1.0)

    def _upload_artifacts(self, batch: Batch) -> None:
        if batch.cited and isinstance(self.artifacts, RemoteArtifacts):
            for sha256 in sorted(batch.cited):
                self.artifacts.upload(sha256)


class _Attempt:
    """The state of one command between its tries to commit at the keeper."""

    def __init__(
        self,
        now: Millis,
        has_turn: bool,
        is_up_to_date: bool,
        continues_turn: bool,
        seconds_since_commit: float,
    ) -> None:
        """`seconds_since_commit`: of this process; `continues_turn`: it uses a kept turn."""
        self.continues_turn = continues_turn
        self.now = now
        self.has_turn = has_turn
        self.is_up_to_date = (
            is_up_to_date  # whether the copy is what the keeper has, as of this command
        )
        self.is_busy = seconds_since_commit < BUSY_SECONDS
        self.may_keep_turn = seconds_since_commit < HURRIED_SECONDS
        self.streams: list[str] = []  # that it moves; empty until it was decided once
        self.hashes: dict[bytes, bytes] = {}  # bytes of a record of the ledger's own -> its hash
        self.problem: wire.Failed | None = None
        self.has_compared_clocks = False
        self.decided_on: wire.CopyPosition | None = None  # the copy's position at the decision

    def renew(self, clock: Millis) -> None:
        if clock - self.now >= RENEW_AFTER:
            self.now = clock

    def take_answer(self, answer: wire.DecideAgain) -> None:
        self.hashes.update(answer.hashes)
        self.problem = answer.problem


def _streams_of(jobs: Iterable[Job]) -> list[str]:
    return list(dict.fromkeys([job.stream for job in jobs]))


def _too_often_overtaken(problem: wire.Failed | None) -> MootError:
    if problem is not None:
        return wire.unpack_error(problem)
    return Conflict("too_busy", "other machines were always faster", hint="try again in a moment")


def _outcome_unknown(address: str, why: str) -> MootError:
    return StoreFailed(
        "outcome_unknown",
        f"the connection to the keeper at {address} broke ({why}): Moot cannot tell whether this"
        " was recorded",
        hint="run `moot log` when the keeper answers; with the same key a repeat is harmless",
    )
