"""Answer one request of a machine, at the keeper.

Everything that a machine sends is either signed or checked by a rule: the keeper decides its
commands again, and `ledger_signing.py` lists what the ledger's own key signs for it. Nothing blocks
in here: a command is answered when its turn has come, and background threads answer what takes
long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.errors import Malformed, MootError, Refused, StoreFailed
from moot.core.ledger import Heartbeat, View
from moot.core.names import SYSTEM, protocol_of
from moot.core.registry.model import EraseArtifact
from moot.engine.batch import Batch, Result
from moot.engine.checkpoints import holds_event
from moot.engine.engine import Engine
from moot.engine.job import Job
from moot.engine.machines import Machines
from moot.engine.remote_signatures import DecidedDifferently, RemoteKeys
from moot.engine.signed_commits import SignedCommit, WorkingAhead, split_into_groups
from moot.engine.signs_of_life import is_genuine_heartbeat
from moot.hosts import messages as wire
from moot.hosts.ledger_signing import OWNED_PROTOCOLS, require_ledger_may_sign
from moot.hosts.members import Member, MemberFile
from moot.hosts.membership import MembershipQuestion, answer_membership_question
from moot.hosts.session_owner import OWNER
from moot.hosts.sync_delta import (
    ArtifactPieces,
    VerifiedPrefixes,
    lacks_many_records,
    more_to_come,
    read_delta,
)
from moot.hosts.turns import Turns
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite.lock_waiting import waiting_at_most

# A command's time may differ this much from ours: two round trips on a slow connection.
MAX_CLOCK_DIFFERENCE: Final[Millis] = 5_000
# How long to wait for another process that has the ledger locked: at a time, while no other request
# is answered; and in all, which is less than a machine waits for an answer.
WAIT_SECONDS: Final = 0.25
LONGEST_WAIT_SECONDS: Final = 3.0
PAUSE_SECONDS: Final = 0.02  # between two tries of a background thread
MAX_HEARTBEAT_BYTES: Final = 1_024  # with the longest names it has less than half


class Request:
    """A question that is being answered. Exactly one of `reply` and `answer_in_background` is
    called, once."""

    def __init__(
        self,
        member: Member,
        connection: object,
        question: wire.AnyQuestion,
        reply: Callable[[wire.AnyAnswer], None],
        answer_in_background: Callable[[Callable[[], wire.AnyAnswer]], None],
    ) -> None:
        self.member = member
        self.connection = connection
        self.question = question
        self.reply = reply
        self.answer_in_background = answer_in_background


class _PendingCommit:
    """A machine's command on its way into the ledger."""

    def __init__(self, request: Request, question: wire.Commit, jobs: list[Job]) -> None:
        self.request = request
        self.question = question
        self.jobs = jobs
        self.streams = list(dict.fromkeys(job.stream for job in jobs))
        self.received_at = time.monotonic()


class RequestHandler:
    """Answers the questions of all machines; used by one thread. `receive` takes a question,
    `step` acts on all that have arrived. Background threads may use the engine meanwhile."""

    def __init__(self, engine: Engine, artifacts: FileArtifacts, folder: Path) -> None:
        self._engine = engine
        self._pieces = ArtifactPieces(artifacts, folder)
        self._members = MemberFile(folder)
        self._machines = Machines()
        self._turns = Turns()
        self._verified_prefixes = VerifiedPrefixes()
        self._commands: list[_PendingCommit] = []  # whose turn has come
        self._postponed: list[
            _PendingCommit
        ] = []  # the same, while another process holds the ledger
        self._working_ahead = WorkingAhead(engine.store)

    def receive(self, request: Request) -> None:
        """Take a question; answer it now, in `step`, or later."""
        reply_on_error(lambda: self._receive(request), request.reply)

    def _receive(self, request: Request) -> None:
        question = request.question
        if isinstance(question, wire.Commit):
            self._take_command(request, question)
        elif isinstance(question, wire.TakeTurn):
            self._queue_for_turn(request, question)
        elif isinstance(question, wire.CopyPosition):
            self._answer_follow(request, question)
        else:
            answer = _BACKGROUND.get(type(question))
            if answer is None:
                raise Malformed("unexpected question on an open connection", code="bad_request")
            request.answer_in_background(
                lambda: _retry_while_store_busy(lambda: answer(self, request.member, question))
            )

    def step(self) -> float:
        """Commit what has arrived and answer it; return when to be called again."""
        self._turns.expire()
        self._commands, self._postponed = self._postponed + self._commands, []
        while self._turns.notify_all() or self._commands:
            commands, self._commands = self._commands, []
            with waiting_at_most(WAIT_SECONDS):
                self._record(commands)
        return time.monotonic() if self._postponed else self._turns.next_deadline()

    def forget(self, connection: object) -> None:
        """Free the turn and the postponed commands of a connection that ended or was idle."""
        self._postponed = [
            command for command in self._postponed if command.request.connection is not connection
        ]
        self._turns.release(connection)

    def keeps_turn(self, connection: object) -> bool:
        """Return whether the connection keeps its turn after a commit."""
        return self._turns.keeps_turn(connection)

    def close(self) -> None:
        self._working_ahead.close()

    # Commands ---------------------------------------------------------------------------------

    def _take_command(self, request: Request, question: wire.Commit) -> None:
        command = _PendingCommit(request, question, self._read_jobs(question))
        self._turns.wait_until_free(
            request.connection,
            request.member.number,
            command.streams,
            lambda _has_come: self._commands.append(command),
        )

    def _record(self, commands: list[_PendingCommit]) -> None:
        """Decide commands again and commit them; those on different streams share a transaction.

        Each is answered as soon as it is durable.
        """
        commits: dict[SignedCommit[wire.SyncDelta | None], _PendingCommit] = {}
        for command in commands:
            try:
                commits[self._prepare(command)] = command
            except Exception as error:  # noqa: BLE001 - it concerns this command alone
                self._fail(command, error)
        for group in split_into_groups(commits):
            if self._postponed:
                self._postponed += (commits[commit] for commit in group)
                continue
            commit_group(self._engine, group)
            for commit in group:
                self._answer_command(commits[commit], commit)
        if commits:
            self._working_ahead.note_written(len(commits))
            with suppress(Exception):  # all are answered; the next commit tries again
                self._engine.checkpoint_if_due()

    def _prepare(self, command: _PendingCommit) -> SignedCommit[wire.SyncDelta | None]:
        question = command.question
        self._require_recent(question.now)
        keys = RemoteKeys(self._engine.keys, dict(question.signed), frozenset(question.attended))
        return SignedCommit(
            command.streams,
            lambda batch: self._decide(batch, command, keys),
            keys,
            question.now,
            lambda view: self._delta_for(view, question),
        )

    def _answer_command(
        self, command: _PendingCommit, commit: SignedCommit[wire.SyncDelta | None]
    ) -> None:
        try:
            if _is_store_busy(commit.error) and _may_wait(command.received_at):
                self._postponed.append(command)
            elif isinstance(commit.error, DecidedDifferently):
                self._decide_again(command, commit.error)
            elif commit.error is not None:
                self._fail(command, commit.error)
            else:
                command.request.reply(self._finish(command, commit.answer))
        except Exception as error:  # noqa: BLE001 - as in `receive`
            command.request.reply(_to_failed(error))

    def _decide_again(self, command: _PendingCommit, otherwise: DecidedDifferently) -> None:
        """Queue for a turn, and answer with the new records when it has come."""
        question, request = command.question, command.request
        if self._are_recorded(question.places):  # asked again: the answer was lost
            self._answer_recorded(command)
            return
        problem = otherwise.problem

        def notify(has_turn: bool) -> None:
            def answer() -> wire.AnyAnswer:
                hashes = tuple(otherwise.hashes.items())
                failed = None if problem is None else wire.pack_error(problem)
                return wire.DecideAgain(self._read_delta(question.follow), hashes, failed, has_turn)

            request.reply(answer_safely(answer))

        self._turns.queue_for_turn(
            request.connection, request.member.number, command.streams, notify
        )

    def _fail(self, command: _PendingCommit, error: BaseException) -> None:
        """Answer with the error, unless the command was recorded before and its answer was lost."""
        self._turns.release(command.request.connection)
        try:
            if isinstance(error, MootError) and self._are_recorded(command.question.places):
                self._answer_recorded(command)
                return
        except Exception as further:  # noqa: BLE001 - as in `receive`
            error = further
        command.request.reply(_to_failed(error))

    def _answer_recorded(self, command: _PendingCommit) -> None:
        self._turns.release(command.request.connection)
        command.request.reply(wire.Committed(self._read_delta(command.question.follow)))

    def _finish(self, command: _PendingCommit, delta: wire.SyncDelta | None) -> wire.Committed:
        connection = command.request.connection
        has_turn = command.question.keeps_turn and self._turns.keep_turn(connection)
        if not has_turn:
            self._turns.release(connection)
        for job in command.jobs:
            if isinstance(job.command, EraseArtifact):  # erase the keeper's bytes as well
                self._pieces.erase(job.command.sha256)
        return wire.Committed(delta, has_turn)

    def _delta_for(self, view: View, question: wire.Commit) -> wire.SyncDelta | None:
        """Return what the committing machine's copy lacks; None for a brief answer."""
        if not question.brief:
            return read_delta(view, question.follow, self._engine.clock())
        self._verified_prefixes.require(view, question.follow)
        return None

    def _are_recorded(self, places: tuple[wire.RecordPosition, ...]) -> bool:
        if not places:
            return False
        with self._engine.store.read() as view:
            return all(holds_event(view, *place) for place in places)

    def _decide(self, batch: Batch, command: _PendingCommit, keys: RemoteKeys) -> list[Result]:
        keys.registry = batch.registry
        try:
            return self._decide_with(keys, batch, command)
        finally:
            # Break the reference cycle of batch and keys: garbage collection of everything that
            # was read for the command would block all answers.
            keys.registry = None

    def _decide_with(self, keys: RemoteKeys, batch: Batch, command: _PendingCommit) -> list[Result]:
        jobs, question, member = command.jobs, command.question, command.request.member
        new = _require_ledger_may_sign(batch, member, jobs)
        guarded = {
            job.stream
            for job in jobs
            if type(job.command) in self._machines.machine_of(job.stream).guarded
        }
        results: list[Result]
        if question.chain:
            then: list[Callable[[object], Job]] = [lambda _, job=job: job for job in jobs[1:]]  # type: ignore[misc]
            results = list(batch.run_chain(jobs[0], then, guarded))
        else:
            results = batch.run_all(jobs, guarded)
        for result in results:
            if isinstance(result, DecidedDifferently):
                raise result
        places = tuple(
            (entry.record.stream, entry.record.seq, entry.record.hash) for entry in batch.entries
        )
        if places != question.places:
            problem = next((result for result in results if isinstance(result, MootError)), None)
            raise DecidedDifferently(keys.hashes, problem)
        # The machine owns the streams that begin with its commit.
        for stream in new & {stream for stream, *_ in places}:
            batch.change.put_cursor(OWNER, stream, member.number)
        return results

    def _read_jobs(self, question: wire.Commit) -> list[Job]:
        if not question.jobs:
            raise Malformed(f"1 to {wire.MOST_JOBS} jobs at once", code="bad_request")
        return [wire.unpack_job(sent, self._machines) for sent in question.jobs]

    def _require_recent(self, now: Millis) -> None:
        """Refuse a command whose time, the machine's estimate of ours, is too far off."""
        if abs(self._engine.clock() - now) > MAX_CLOCK_DIFFERENCE:
            raise Refused(
                "clock_differs",
                "the command's time differs too much from the keeper's clock",
                hint="try again",
            )

    # Turns and deltas -------------------------------------------------------------------------

    def _queue_for_turn(self, request: Request, question: wire.TakeTurn) -> None:
        def notify(has_turn: bool) -> None:
            def answer() -> wire.AnyAnswer:
                if question.brief and not has_turn:
                    return more_to_come(self._engine.clock())
                return msgspec.structs.replace(self._read_delta(question.follow), has_turn=has_turn)

            request.reply(answer_safely(answer))

        if question.streams:
            connection, number = request.connection, request.member.number
            self._turns.queue_for_turn(
                connection, number, question.streams, notify, early=question.early
            )
        else:  # it gives up its turn
            self._turns.release(request.connection)
            notify(False)

    def _answer_follow(self, request: Request, question: wire.CopyPosition) -> None:
        """Answer with a delta; in the background if it is long, as for a new machine."""
        with self._engine.store.read() as view:
            delta = None
            if not lacks_many_records(view, question):
                delta = read_delta(view, question, self._engine.clock())
        if delta is not None:
            request.reply(delta)
        else:
            request.answer_in_background(lambda: self._read_delta(question))

    def _read_delta(self, follow: wire.CopyPosition) -> wire.SyncDelta:
        with self._engine.store.read() as view:
            return read_delta(view, follow, self._engine.clock())

    # Answered by other threads ----------------------------------------------------------------

    def _keep_heartbeat(self, _member: Member, question: wire.SendHeartbeat) -> wire.Done:
        """Store a heartbeat if its agent signed it and its time is not in our future."""
        heartbeat = Heartbeat(*question.heartbeat)
        if len(heartbeat.raw) > MAX_HEARTBEAT_BYTES:  # every machine gets it with the delta
            raise Refused("bad_heartbeat", "the heartbeat is too long")
        registry = self._engine.registry()
        if not is_genuine_heartbeat(registry, heartbeat):
            raise Refused("bad_heartbeat", "the heartbeat is not signed by its agent")
        now = self._engine.clock()
        if heartbeat.at > now + MAX_CLOCK_DIFFERENCE:
            raise Refused(
                "clock_differs", "the heartbeat's time is in the future", hint="try again"
            )
        return wire.Done(self._engine.store_heartbeat(heartbeat))

    def _apply_timeouts(self, _member: Member, question: wire.ApplyTimeouts) -> wire.Done:
        self._engine.tick(question.stream)
        return wire.Done()

    def _make_checkpoint(
        self, _member: Member, question: wire.MakeCheckpoint
    ) -> wire.Done | wire.SyncDelta:
        made = self._engine.checkpoint()
        if question.follow is not None:
            return self._read_delta(question.follow)
        return wire.Done(made.checkpoint.number if made is not None else 0)

    def _store_piece(self, member: Member, question: wire.UploadPiece) -> wire.Done:
        return self._pieces.store_piece(member, question)

    def _read_piece(self, _member: Member, question: wire.DownloadPiece) -> wire.ArtifactPiece:
        is_erased = question.sha256 in self._engine.registry().erased
        return self._pieces.read_piece(question, is_erased)

    def _answer_membership(self, member: Member, question: MembershipQuestion) -> wire.AnyAnswer:
        return answer_membership_question(self._engine, self._members, member, question)


_BACKGROUND: Final[Mapping[type, Callable[..., wire.AnyAnswer]]] = {
    wire.SendHeartbeat: RequestHandler._keep_heartbeat,
    wire.ApplyTimeouts: RequestHandler._apply_timeouts,
    wire.MakeCheckpoint: RequestHandler._make_checkpoint,
    wire.UploadPiece: RequestHandler._store_piece,
    wire.DownloadPiece: RequestHandler._read_piece,
    wire.ListMembers: RequestHandler._answer_membership,
    wire.Leave: RequestHandler._answer_membership,
    wire.MoveSession: RequestHandler._answer_membership,
}


def _require_ledger_may_sign(batch: Batch, member: Member, jobs: list[Job]) -> set[str]:
    """Refuse jobs that the ledger does not sign for this machine; return the streams that begin.

    Most commands have neither, and then nothing is read.
    """
    owned = {job.stream for job in jobs if protocol_of(job.stream) in OWNED_PROTOCOLS}
    if not owned and all(job.actor != SYSTEM for job in jobs):
        return set()
    view = batch.change
    require_ledger_may_sign(
        jobs, batch.registry(), member, lambda stream: _is_owner(view, member, stream)
    )
    return {name for name in owned if view.head(name) is None}


def commit_group(engine: Engine, group: Sequence[SignedCommit[Any]]) -> None:
    """Commit all in one transaction, or one by one if that fails, and set each one's `error`.

    An error concerns only the commit that caused it. It is DecidedOtherwise if the keeper decided
    differently than the machine.
    """
    try:
        engine.commit_signed(group)
    except Exception as error:  # noqa: BLE001 - nothing was recorded; each gets its error
        if len(group) == 1 or _is_store_busy(error):
            for commit in group:
                commit.error = error
            return
        for commit in group:
            commit.error = None
            commit_group(engine, [commit])


def _is_owner(view: View, member: Member, stream: str) -> bool:
    return view.head(stream) is None or view.cursor(OWNER, stream) == member.number


def _is_store_busy(error: BaseException | None) -> bool:
    """Return whether another process has the ledger locked: then nothing was tried yet."""
    return isinstance(error, StoreFailed) and error.code == "store_busy"


def _may_wait(since: float) -> bool:
    return time.monotonic() - since < LONGEST_WAIT_SECONDS


def _retry_while_store_busy(find: Callable[[], wire.AnyAnswer]) -> wire.AnyAnswer:
    """Call `find`; while another process has the ledger locked, wait briefly and try again.

    One long wait would keep all other threads from reading.
    """
    began = time.monotonic()
    while True:
        try:
            with waiting_at_most(WAIT_SECONDS):
                return find()
        except StoreFailed as error:
            if not (_is_store_busy(error) and _may_wait(began)):
                raise
        time.sleep(PAUSE_SECONDS)


def reply_on_error(act: Callable[[], None], reply: Callable[[wire.Failed], None]) -> None:
    """Call `act`, which answers sooner or later; reply with the error if it raises one."""
    try:
        act()
    except Exception as error:  # noqa: BLE001 - the machine gets it; the keeper continues
        reply(_to_failed(error))


def answer_safely(answer: Callable[[], wire.AnyAnswer]) -> wire.AnyAnswer:
    """Return the answer, or the error as an answer."""
    try:
        return answer()
    except Exception as error:  # noqa: BLE001 - the machine gets it; the keeper continues
        return _to_failed(error)


def _to_failed(error: BaseException) -> wire.Failed:
    if not isinstance(error, MootError):
        error = MootError("internal_error", f"{type(error).__name__}: {error}")
    return wire.pack_error(error)
