"""The engine of a machine that joined: it decides here, on its own copy, and commits at the keeper.

What comes out of a command is signed here by its actor and sent with the command itself. The
keeper decides again; if the ledger has moved on meanwhile it answers with what is new, and the
machine decides again on that. After the first such answer it queues, so that nobody starves. A
lost answer is asked for again: the same question is recorded once. A process that records one
command after another is answered briefly, and goes on from what it has signed itself
(`sync_state.py`).
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
from moot.engine.remote_signatures import KeysWithoutLedgers, WithheldSignature, WithheldSigner
from moot.engine.replay import read_record
from moot.engine.signers import find_signatory
from moot.engine.signs_of_life import make_heartbeat
from moot.hosts import messages as ask
from moot.hosts.connection import ConnectFailed, ConnectionLost
from moot.hosts.messages import SyncDelta
from moot.hosts.replica import FRESH_SECONDS, FetchedArtifacts, LedgerCopy, bad_answer, keeper_away

if TYPE_CHECKING:
    from moot.engine.batch import Result


# Streams that others wrote to just now: a command queues there before it is decided. Deciding first
# and being overtaken would cost a decision, a signature and an exchange for nothing.

CONTENDED_SECONDS: Final = 1.0


class ContendedStreams:
    """One process's memory of the streams on which it met others."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, streams: Iterable[str], delta: SyncDelta) -> None:
        """These streams were waited for; those that others had moved meanwhile are crowded, and all
        of them if somebody else's turn had to end first."""
        until = time.monotonic() + CONTENDED_SECONDS
        if delta.has_turn is False:
            self._until.update(dict.fromkeys(streams, until))
            return
        moved = {stream for stream, *_ in delta.records}
        self._until.update((stream, until) for stream in streams if stream in moved)

    def among(self, streams: Iterable[str]) -> list[str]:
        """All of the streams if one of them is crowded, else none."""
        if not self._until:
            return []
        wanted, now = list(streams), time.monotonic()
        self._until = {stream: until for stream, until in self._until.items() if until > now}
        return wanted if any(stream in self._until for stream in wanted) else []


MOST_TRIES: Final = 12
# How long a question whose answer was lost is asked again before the outcome is called unknown.
UNKNOWN_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 0.05  # before the first time; then twice as long each time, up to a second
# A process that comes again so soon has more to record: it may keep its turn.
HURRIED_SECONDS: Final = 0.003
# A process that came too late to go on in its turn is far from the keeper, or slow. It does not
# ask for that again for so long.
FAR_SECONDS: Final = 1.0
# A process that committed so short a time ago needs no new records for its next command.
BUSY_SECONDS: Final = FRESH_SECONDS
# The keeper takes no command that is dated long ago.
RENEW_AFTER: Final[Millis] = 2_000

T = TypeVar("T")
# Decides on a batch: the jobs as they came out, and their results.
Decide = Callable[[Batch], tuple[list[Job], T]]


class JoinedEngine(Engine):
    """An engine whose commits are the keeper's. `follow_with` gives it its copy."""

    _copy: LedgerCopy
    _contended: ContendedStreams

    def follow_with(self, copy: LedgerCopy) -> None:
        self._copy = copy
        self._contended = ContendedStreams()
        self._committed_at = -BUSY_SECONDS
        self._lost_turn_at = -FAR_SECONDS  # when we last came too late to go on in our turn
        # The streams on which it is still our turn, as the keeper said with its last answer.
        self._kept_turn: frozenset[str] = frozenset()

    @property
    def replay(self) -> Any:
        return self._replay

    def execute_all(
        self,
        jobs: Iterable[Job],
        before_commit: Callable[[list[Result]], None] | None = None,
        after_commit: Callable[[list[Result]], None] | None = None,
    ) -> list[Result]:
        waiting = list(jobs)

        def decide(batch: Batch) -> tuple[list[Job], list[Result]]:
            return waiting, batch.run_all(waiting, guarded)

        with self._turn:
            attempt = self._begin(waiting)
            guarded = self._prove_guarded(waiting)
            results = self._commit_there(decide, before_commit, attempt, chain=False)
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

        with self._turn:
            attempt = self._begin([first])
            guarded = self._prove_guarded([first]) | self._prove(proved)
            return self._commit_there(decide, before_commit, attempt, chain=True)

    @property
    def signs_as_ledger(self) -> bool:
        """The keeper signs the ledger's part, where it may (`ledger_signing.py`)."""
        return True

    @property
    def makes_checkpoints(self) -> bool:
        return True

    def tick(self, stream: str) -> JobOutcome | None:
        self._begin()
        before = self.load(stream)
        if before.seq < 0 or not before.machine.timeouts(before.state, self.clock()):
            return None
        self._copy.connection.ask(ask.Settle(stream), ask.Done)
        self._copy.follow()
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
        at = self._copy.connection.ask(ask.Beat(ask.send_heartbeat(heartbeat)), ask.Done).at
        self.keep_heartbeat(heartbeat)
        return at

    def checkpoint(self, beyond: int = 0) -> NewCheckpoint | None:  # noqa: ARG002
        """Ask the keeper for one; it comes with the delta."""
        return self._copy.pin()

    def close(self) -> None:
        """Ask for a checkpoint over what this process wrote, if the keeper answers; then close.
        Tampered if the keeper has lost what it acknowledged, which nobody else may know."""
        try:
            if self._unpinned:
                self.checkpoint()
        except Tampered:
            raise
        except MootError:
            pass  # what was acknowledged is durable; the next covers it
        finally:
            self.store.close()

    def _begin(self, jobs: Iterable[Job] = ()) -> _Attempt:
        """Look for new records, unless that was just done or we are in the middle of something.
        Where others write all the time, queue before deciding anything that would be in vain."""
        if self._write_error is not None:
            raise self._write_error
        since = time.monotonic() - self._committed_at
        kept, self._kept_turn = self._kept_turn, frozenset()
        has_turn = is_up_to_date = goes_on = False
        if streams := self._contended.among(_streams_of(jobs)):
            is_kept = since < HURRIED_SECONDS and kept.issuperset(streams)
            if not is_kept:
                self._hold(streams)
            has_turn, is_up_to_date, goes_on = True, not is_kept, is_kept
        elif not self._copy.is_fresh and since >= BUSY_SECONDS:
            self._copy.follow()
            is_up_to_date = True
        return _Attempt(self.clock(), has_turn, is_up_to_date, goes_on, since)

    @property
    def _is_near(self) -> bool:
        """Is the keeper so near that it can wait for our next command? By what it did lately: how
        long it takes to record one says nothing about the connection."""
        return time.monotonic() - self._lost_turn_at >= FAR_SECONDS

    def _hold(self, streams: Iterable[str]) -> None:
        """Wait for one's turn on these streams, and see what others did there meanwhile."""
        self._contended.note(streams, self._copy.hold(tuple(streams)))

    def _commit_there(
        self,
        decide: Decide[T],
        before_commit: Callable[[T], None] | None,
        attempt: _Attempt,
        *,
        chain: bool,
    ) -> T:
        try:
            for _ in range(MOST_TRIES):
                done = self._try_there(attempt, decide, before_commit, chain=chain)
                if done is not None:
                    return done[0]
        finally:
            if attempt.has_turn and self._copy.connection.is_open:  # a lost one has no turn
                with suppress(MootError):
                    self._copy.hold(())
        raise _overtaken_for_good(attempt.problem)

    def _try_there(
        self,
        attempt: _Attempt,
        decide: Decide[T],
        before_commit: Callable[[T], None] | None,
        *,
        chain: bool,
    ) -> tuple[T] | None:
        """Decide and commit once: the result, or None if it has to be tried again."""
        if attempt.streams and not attempt.has_turn:
            self._hold(attempt.streams)  # overtaken, or about to write a file
            attempt.has_turn = attempt.is_up_to_date = True
        attempt.renew(self.clock())
        ledgers = WithheldSigner(self.trust.root, attempt.hashes)
        keys = KeysWithoutLedgers(self.keys, ledgers)
        batch, jobs, result = self._decide_up_to_date(decide, keys, attempt)
        if not batch.count:  # nothing to record: refused, or a repeat
            if before_commit is not None:
                before_commit(result)
            return (result,)
        attempt.streams = _streams_of(jobs)
        if before_commit is not None and not attempt.has_turn:
            return None
        self._give_artifacts(batch)
        is_final = ledgers.is_complete and before_commit is not None
        if is_final and before_commit is not None:
            before_commit(result)
        records = [entry.record for entry in batch.entries]
        question = self._question(records, jobs, keys, attempt, ledgers, chain)
        try:
            answer = self._ask_until_known(question, records)
        except Refused as error:
            attempt.now = self._compare_clocks(error, attempt)
            return None
        finally:
            self._copy.end_fetching()
        if isinstance(answer, ask.Committed):
            attempt.has_turn = False
            self._take_committed(batch, answer, attempt)
            return (result,)
        attempt.has_turn = answer.has_turn
        if attempt.goes_on:
            self._lost_turn_at = time.monotonic()
            attempt.goes_on = False
        if is_final:  # the other file is ahead now: its owner signs what is there
            raise _overtaken_for_good(attempt.problem)
        self._contended.note(attempt.streams, answer.delta)
        attempt.take_answer(answer)
        return None

    def _take_committed(self, batch: Batch, answer: ask.Committed, attempt: _Attempt) -> None:
        """It is recorded. Without new records the copy does not have it yet, and we know it
        alone."""
        if answer.delta is None:
            self._copy.ahead.add(batch.entries)
            batch.commit_to(self._replay)
        self._unpinned += batch.count
        self._committed_at = time.monotonic()
        if answer.has_turn:
            self._kept_turn = frozenset(attempt.streams)

    def _compare_clocks(self, error: Refused, attempt: _Attempt) -> Millis:
        """A clock was set since the keeper was last asked: again, by the time it says now."""
        if error.code != "clock_differs" or attempt.has_compared_clocks:
            raise error
        attempt.has_compared_clocks = True
        self._copy.follow()
        attempt.is_up_to_date = True
        return self.clock()

    def _decide_up_to_date(
        self, decide: Decide[T], keys: KeysWithoutLedgers, attempt: _Attempt
    ) -> tuple[Batch, list[Job], T]:
        """Decide on the copy as it is. A refusal counts only on what the keeper shows now."""
        if attempt.is_up_to_date or attempt.streams:
            return self._decide_here(decide, keys, attempt)
        try:
            batch, jobs, result = self._decide_here(decide, keys, attempt)
        except MootError:
            batch, jobs, result = None, [], None
        results = result if isinstance(result, list) else []
        is_refused = batch is None or any(isinstance(one, MootError) for one in results)
        if batch is not None and batch.count and not is_refused:
            return batch, jobs, cast("T", result)
        self._copy.follow()
        return self._decide_here(decide, keys, attempt)

    def _decide_here(
        self, decide: Decide[T], keys: KeysWithoutLedgers, attempt: _Attempt
    ) -> tuple[Batch, list[Job], T]:
        with self._copy.read_as_it_is() as view:
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

    def _question(
        self,
        records: list[Record],
        jobs: list[Job],
        keys: KeysWithoutLedgers,
        attempt: _Attempt,
        ledgers: WithheldSigner,
        chain: bool,
    ) -> ask.Commit:
        """The command with its signatures. What rests on a record of the ledger's own whose hash
        is not known yet cannot be signed: then it asks for that hash first."""
        signed: list[tuple[bytes, bytes]] = []
        is_ours = True  # and about no keys
        for record in records:
            if isinstance(record.signature, WithheldSignature):
                is_ours = False
            elif not ledgers.rests_on_stand_in(record.raw):
                signed.append((record.raw, record.signature))
            if record.stream == REGISTRY:
                is_ours = False
        assert attempt.decided_on is not None, "something was decided"
        return ask.Commit(
            attempt.decided_on,
            attempt.now,
            chain,
            tuple([ask.send_job(job) for job in jobs]),
            tuple(signed),
            tuple([(record.stream, record.seq, record.hash) for record in records]),
            tuple(sorted(keys.attended)),
            self._needs_no_delta(is_ours, attempt),
            attempt.has_turn and attempt.is_hurried and self._is_near,
        )

    def _needs_no_delta(self, is_ours: bool, attempt: _Attempt) -> bool:
        """May we go on from what we have signed ourselves, for now? Not if the ledger signs a part
        of it, whose signature we learn from the delta alone; nor with keys, on which all rests."""
        return attempt.is_busy and is_ours and not self._copy.begin_fetching()

    def _ask_until_known(
        self, question: ask.Commit, records: list[Record]
    ) -> ask.Committed | ask.DecideAgain:
        """Ask again if the answer was lost: the keeper knows what it has recorded already. Where
        nobody could be asked in the first place, nothing is unknown. What is said to be recorded
        must be in the delta."""
        until = time.monotonic() + UNKNOWN_SECONDS
        pause, was_sent = PAUSE_SECONDS, False
        while True:
            owed = self._copy.ahead.newest
            try:
                answer = self._copy.connection.ask_once(question, ask.Committed, ask.DecideAgain)
            except ConnectionLost as error:
                why = str(error)
                was_sent = was_sent or not isinstance(error, ConnectFailed)
                if not was_sent:
                    raise keeper_away(self._copy.connection.address, why) from None
            else:
                if answer.delta is None and not question.brief:
                    raise bad_answer("the keeper calls recorded what it does not show")
                if answer.delta is not None:
                    if isinstance(answer, ask.Committed):
                        owed += {record.stream: record for record in records}.values()
                    self._copy.take_all(answer.delta, owed)
                return answer
            if time.monotonic() > until:
                raise _unknown(self._copy.connection.address, why)
            time.sleep(pause)
            pause = min(pause * 2, 1.0)

    def _give_artifacts(self, batch: Batch) -> None:
        if batch.cited and isinstance(self.artifacts, FetchedArtifacts):
            for sha256 in sorted(batch.cited):
                self.artifacts.give(sha256)


class _Attempt:
    """How far a command has come that is decided here and committed there."""

    def __init__(
        self, now: Millis, has_turn: bool, is_up_to_date: bool, goes_on: bool, since: float
    ) -> None:
        """`since`: how long ago this process has recorded something; `goes_on`: in a turn in which
        it has done so."""
        self.goes_on = goes_on
        self.now = now
        self.has_turn = has_turn
        self.is_up_to_date = (
            is_up_to_date  # whether the copy is what the keeper has, as of this command
        )
        self.is_busy = since < BUSY_SECONDS
        self.is_hurried = since < HURRIED_SECONDS
        self.streams: list[str] = []  # that it moves; empty until it was decided once
        self.hashes: dict[bytes, bytes] = {}  # of the ledger's own records, as the keeper told them
        self.problem: ask.Failed | None = None
        self.has_compared_clocks = False
        self.decided_on: ask.Follow | None = None  # how far the copy was then

    def renew(self, clock: Millis) -> None:
        if clock - self.now >= RENEW_AFTER:
            self.now = clock

    def take_answer(self, answer: ask.DecideAgain) -> None:
        self.hashes.update(answer.hashes)
        self.problem = answer.problem


def _streams_of(jobs: Iterable[Job]) -> list[str]:
    return list(dict.fromkeys([job.stream for job in jobs]))


def _overtaken_for_good(problem: ask.Failed | None) -> MootError:
    if problem is not None:
        return ask.raise_failure(problem)
    return Conflict("too_busy", "others were first, again and again", hint="try again in a moment")


def _unknown(address: str, why: str) -> MootError:
    return StoreFailed(
        "outcome_unknown",
        f"the line to the keeper at {address} broke ({why}): whether this was recorded is unknown",
        hint="`moot log` shows it as soon as the keeper answers; with a key a repeat is harmless",
    )
