"""Answer one request of a machine, at the keeper.

Everything that a machine says is either signed, or an argument of a rule. What it decided is
decided again here; what it wants of the ledger's own key is looked up in `ledger_signing.py`.
Nobody waits in here: a command or a connection whose turn has not come is answered when it has, and
what takes long is answered by another thread.
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
from moot.engine.remote_signatures import DecidedOtherwise, GivenKeys
from moot.engine.signed_commits import SignedCommit, WorkingAhead, split_into_groups
from moot.engine.signs_of_life import is_genuine_heartbeat
from moot.hosts import messages as ask
from moot.hosts.ledger_signing import OWNED_PROTOCOLS, require_may_ask
from moot.hosts.members import Member, MemberFile
from moot.hosts.membership import AboutMachines, answer_about_machines
from moot.hosts.session_owner import OWNER
from moot.hosts.sync_delta import (
    ArtifactPieces,
    KnownBeginnings,
    empty_delta,
    is_far_behind,
    read_delta,
)
from moot.hosts.turns import Turns
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite.lock_waiting import waiting_at_most

# How old the time of a command may be: two exchanges and a person's slow connection.
MOST_AGE: Final[Millis] = 5_000
# If another process holds the ledger: how long it is waited for at a time, while nobody else is
# answered; and in all, which is less than a machine waits for an answer.
WAIT_SECONDS: Final = 0.25
LONGEST_WAIT_SECONDS: Final = 3.0
PAUSE_SECONDS: Final = 0.02  # between two tries of another thread
MOST_HEARTBEAT: Final = 1_024  # bytes; with the longest names it has less than half of them


class Request:
    """A question that is being answered. `connection` is who asks, among the connections of this
    moment; `reply` is called once, `answer_aside` instead of it if another thread is to find the
    answer."""

    def __init__(
        self,
        member: Member,
        connection: object,
        question: ask.AnyQuestion,
        reply: Callable[[ask.AnyAnswer], None],
        answer_aside: Callable[[Callable[[], ask.AnyAnswer]], None],
    ) -> None:
        self.member = member
        self.connection = connection
        self.question = question
        self.reply = reply
        self.answer_aside = answer_aside


class _Command:
    """A machine's command on its way into the ledger."""

    def __init__(self, request: Request, question: ask.Commit, jobs: list[Job]) -> None:
        self.request = request
        self.question = question
        self.jobs = jobs
        self.streams = list(dict.fromkeys(job.stream for job in jobs))
        self.came_at = time.monotonic()


class RequestHandler:
    """Answers the questions of all machines, for one thread: `receive` takes each, `step` acts on
    all that have come. What is answered aside may use the engine at the same time."""

    def __init__(self, engine: Engine, artifacts: FileArtifacts, folder: Path) -> None:
        self._engine = engine
        self._pieces = ArtifactPieces(artifacts, folder)
        self._members = MemberFile(folder)
        self._machines = Machines()
        self._turns = Turns()
        self._beginnings = KnownBeginnings()
        self._commands: list[_Command] = []  # whose turn has come
        self._put_off: list[_Command] = []  # the same, while another process holds the ledger
        self._working_ahead = WorkingAhead(engine.store)

    def receive(self, request: Request) -> None:
        """Take a question; it is answered now, by `step`, or later."""
        reply_if_it_fails(lambda: self._receive(request), request.reply)

    def _receive(self, request: Request) -> None:
        question = request.question
        if isinstance(question, ask.Commit):
            self._take_command(request, question)
        elif isinstance(question, ask.Hold):
            self._line_up(request, question)
        elif isinstance(question, ask.Follow):
            self._answer_follow(request, question)
        else:
            answer = _ASIDE.get(type(question))
            if answer is None:
                raise Malformed("this is not asked here", code="bad_request")
            request.answer_aside(
                lambda: _wait_in_pieces(lambda: answer(self, request.member, question))
            )

    def step(self) -> float:
        """Record what has come, and answer all whose turn has come; when to look again."""
        self._turns.look()
        self._commands, self._put_off = self._put_off + self._commands, []
        while self._turns.tell_all() or self._commands:
            commands, self._commands = self._commands, []
            with waiting_at_most(WAIT_SECONDS):
                self._record(commands)
        return time.monotonic() if self._put_off else self._turns.ends_at()

    def forget(self, connection: object) -> None:
        """A connection has ended, or was silent for too long: what it held is free."""
        self._put_off = [
            command for command in self._put_off if command.request.connection is not connection
        ]
        self._turns.release(connection)

    def keeps_turn(self, connection: object) -> bool:
        """Is it still this connection's turn, although it has recorded something?"""
        return self._turns.is_kept(connection)

    def close(self) -> None:
        self._working_ahead.close()

    # Commands ---------------------------------------------------------------------------------

    def _take_command(self, request: Request, question: ask.Commit) -> None:
        command = _Command(request, question, self._read_jobs(question))
        self._turns.wait(
            request.connection,
            request.member.number,
            command.streams,
            lambda _has_come: self._commands.append(command),
        )

    def _record(self, commands: list[_Command]) -> None:
        """Decide them again and commit them, those on different streams together. Everybody is
        answered as soon as theirs is durable."""
        commits: dict[SignedCommit[ask.SyncDelta | None], _Command] = {}
        for command in commands:
            try:
                commits[self._prepare(command)] = command
            except Exception as error:  # noqa: BLE001 - only who caused it is told
                self._fail(command, error)
        for group in split_into_groups(commits):
            if self._put_off:
                self._put_off += (commits[one] for one in group)
                continue
            commit_group(self._engine, group)
            for one in group:
                self._answer_command(commits[one], one)
        if commits:
            self._working_ahead.note_written(len(commits))
            with suppress(Exception):  # everybody is answered; the next commit tries again
                self._engine.pin_if_due()

    def _prepare(self, command: _Command) -> SignedCommit[ask.SyncDelta | None]:
        question = command.question
        self._require_recent(question.now)
        keys = GivenKeys(self._engine.keys, dict(question.signed), frozenset(question.attended))
        return SignedCommit(
            command.streams,
            lambda batch: self._decide(batch, command, keys),
            keys,
            question.now,
            lambda view: self._tell(view, question),
        )

    def _answer_command(
        self, command: _Command, commit: SignedCommit[ask.SyncDelta | None]
    ) -> None:
        try:
            if _is_held_elsewhere(commit.error) and _may_wait(command.came_at):
                self._put_off.append(command)
            elif isinstance(commit.error, DecidedOtherwise):
                self._decide_again(command, commit.error)
            elif commit.error is not None:
                self._fail(command, commit.error)
            else:
                command.request.reply(self._finish(command, commit.told))
        except Exception as error:  # noqa: BLE001 - as in `receive`
            command.request.reply(_as_answer(error))

    def _decide_again(self, command: _Command, otherwise: DecidedOtherwise) -> None:
        """It queues at once: the answer is what is new when its turn has come."""
        question, request = command.question, command.request
        if self._are_recorded(question.places):  # asked again: the answer was lost
            self._answer_again(command)
            return
        problem = otherwise.problem

        def tell(has_turn: bool) -> None:
            def answer() -> ask.AnyAnswer:
                hashes = tuple(otherwise.hashes.items())
                failed = None if problem is None else ask.fail(problem)
                return ask.DecideAgain(self._read_delta(question.follow), hashes, failed, has_turn)

            request.reply(answer_safely(answer))

        self._turns.take(request.connection, request.member.number, command.streams, tell)

    def _fail(self, command: _Command, error: BaseException) -> None:
        """Nothing of it was recorded, unless it was before, and its answer was lost."""
        self._turns.release(command.request.connection)
        try:
            if isinstance(error, MootError) and self._are_recorded(command.question.places):
                self._answer_again(command)
                return
        except Exception as further:  # noqa: BLE001 - as in `receive`
            error = further
        command.request.reply(_as_answer(error))

    def _answer_again(self, command: _Command) -> None:
        self._turns.release(command.request.connection)
        command.request.reply(ask.Committed(self._read_delta(command.question.follow)))

    def _finish(self, command: _Command, delta: ask.SyncDelta | None) -> ask.Committed:
        connection = command.request.connection
        has_turn = command.question.keeps_turn and self._turns.keep(connection)
        if not has_turn:
            self._turns.release(connection)
        for job in command.jobs:
            if isinstance(job.command, EraseArtifact):  # what was recorded is done here as well
                self._pieces.erase(job.command.sha256)
        return ask.Committed(delta, has_turn)

    def _tell(self, view: View, question: ask.Commit) -> ask.SyncDelta | None:
        """Return what is new to the machine that committed this; None for a brief answer."""
        if not question.brief:
            return read_delta(view, question.follow, self._engine.clock())
        self._beginnings.require(view, question.follow)
        return None

    def _are_recorded(self, places: tuple[ask.Place, ...]) -> bool:
        if not places:
            return False
        with self._engine.store.read() as view:
            return all(holds_event(view, *place) for place in places)

    def _decide(self, batch: Batch, command: _Command, keys: GivenKeys) -> list[Result]:
        keys.registry = batch.registry
        try:
            return self._decide_with(keys, batch, command)
        finally:
            # Else batch and keys would keep each other, with all that was read for the command,
            # until Python looks for garbage; and nobody is answered while it does.
            keys.registry = None

    def _decide_with(self, keys: GivenKeys, batch: Batch, command: _Command) -> list[Result]:
        jobs, question, member = command.jobs, command.question, command.request.member
        new = _require_its_part(batch, member, jobs)
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
            if isinstance(result, DecidedOtherwise):
                raise result
        places = tuple(
            (entry.record.stream, entry.record.seq, entry.record.hash) for entry in batch.entries
        )
        if places != question.places:
            problem = next((one for one in results if isinstance(one, MootError)), None)
            raise DecidedOtherwise(keys.hashes, problem)
        # Streams that begin with this commit belong to the machine that begins them.
        for stream in new & {stream for stream, *_ in places}:
            batch.change.put_cursor(OWNER, stream, member.number)
        return results

    def _read_jobs(self, question: ask.Commit) -> list[Job]:
        if not question.jobs:
            raise Malformed(f"1 to {ask.MOST_JOBS} jobs at once", code="bad_request")
        return [ask.read_job(sent, self._machines) for sent in question.jobs]

    def _require_recent(self, now: Millis) -> None:
        """The time of a command is the machine's guess of ours: not far off, either way."""
        if abs(self._engine.clock() - now) > MOST_AGE:
            raise Refused(
                "clock_differs",
                "the command is dated by a clock that differs from the keeper's",
                hint="try again",
            )

    # Turns and deltas -------------------------------------------------------------------------

    def _line_up(self, request: Request, question: ask.Hold) -> None:
        def tell(has_turn: bool) -> None:
            def answer() -> ask.AnyAnswer:
                if question.brief and not has_turn:
                    return empty_delta(self._engine.clock())
                return msgspec.structs.replace(self._read_delta(question.follow), has_turn=has_turn)

            request.reply(answer_safely(answer))

        if question.streams:
            connection, number = request.connection, request.member.number
            self._turns.take(connection, number, question.streams, tell, early=question.early)
        else:  # its turn is over before its time
            self._turns.release(request.connection)
            tell(False)

    def _answer_follow(self, request: Request, question: ask.Follow) -> None:
        """Another thread answers a machine that lacks much, as one that has just joined."""
        with self._engine.store.read() as view:
            delta = None
            if not is_far_behind(view, question):
                delta = read_delta(view, question, self._engine.clock())
        if delta is not None:
            request.reply(delta)
        else:
            request.answer_aside(lambda: self._read_delta(question))

    def _read_delta(self, follow: ask.Follow) -> ask.SyncDelta:
        with self._engine.store.read() as view:
            return read_delta(view, follow, self._engine.clock())

    # Answered by other threads ----------------------------------------------------------------

    def _beat(self, _member: Member, question: ask.Beat) -> ask.Done:
        """Kept if its agent signed it and it is not beyond our clock."""
        heartbeat = Heartbeat(*question.heartbeat)
        if len(heartbeat.raw) > MOST_HEARTBEAT:  # every machine is sent it with the delta
            raise Refused("bad_heartbeat", "this sign of life is longer than any can be")
        registry = self._engine.registry()
        if not is_genuine_heartbeat(registry, heartbeat):
            raise Refused("bad_heartbeat", "this sign of life is not signed by its agent")
        now = self._engine.clock()
        if heartbeat.at > now + MOST_AGE:
            raise Refused(
                "clock_differs", "this sign of life is dated in the future", hint="try again"
            )
        return ask.Done(self._engine.keep_heartbeat(heartbeat))

    def _settle(self, _member: Member, question: ask.Settle) -> ask.Done:
        self._engine.tick(question.stream)
        return ask.Done()

    def _pin(self, _member: Member, question: ask.Pin) -> ask.Done | ask.SyncDelta:
        made = self._engine.checkpoint()
        if question.follow is not None:
            return self._read_delta(question.follow)
        return ask.Done(made.checkpoint.number if made is not None else 0)

    def _take_piece(self, member: Member, question: ask.GiveArtifact) -> ask.Done:
        return self._pieces.take(member, question)

    def _give_piece(self, _member: Member, question: ask.WantArtifact) -> ask.Piece:
        is_erased = question.sha256 in self._engine.registry().erased
        return self._pieces.give(question, is_erased)

    def _about_machines(self, member: Member, question: AboutMachines) -> ask.AnyAnswer:
        return answer_about_machines(self._engine, self._members, member, question)


_ASIDE: Final[Mapping[type, Callable[..., ask.AnyAnswer]]] = {
    ask.Beat: RequestHandler._beat,
    ask.Settle: RequestHandler._settle,
    ask.Pin: RequestHandler._pin,
    ask.GiveArtifact: RequestHandler._take_piece,
    ask.WantArtifact: RequestHandler._give_piece,
    ask.WhoShares: RequestHandler._about_machines,
    ask.Leave: RequestHandler._about_machines,
    ask.MoveSession: RequestHandler._about_machines,
}


def _require_its_part(batch: Batch, member: Member, jobs: list[Job]) -> set[str]:
    """Refused if the ledger signs no such thing for this machine. Returns the streams that begin
    with these jobs; most commands have neither, and then nothing is looked at."""
    owned = {job.stream for job in jobs if protocol_of(job.stream) in OWNED_PROTOCOLS}
    if not owned and all(job.actor != SYSTEM for job in jobs):
        return set()
    view = batch.change
    require_may_ask(jobs, batch.registry(), member, lambda stream: _is_owner(view, member, stream))
    return {name for name in owned if view.head(name) is None}


def commit_group(engine: Engine, group: Sequence[SignedCommit[Any]]) -> None:
    """One transaction for all; if that fails, one for each: only who caused it is told. An error
    of one is DecidedOtherwise if it came out different here."""
    try:
        engine.commit_signed(group)
    except Exception as error:  # noqa: BLE001 - nothing was recorded, and each is told
        if len(group) == 1 or _is_held_elsewhere(error):
            for one in group:
                one.error = error
            return
        for one in group:
            one.error = None
            commit_group(engine, [one])


def _is_owner(view: View, member: Member, stream: str) -> bool:
    return view.head(stream) is None or view.cursor(OWNER, stream) == member.number


def _is_held_elsewhere(error: BaseException | None) -> bool:
    """Nothing was tried yet: another process holds the ledger."""
    return isinstance(error, StoreFailed) and error.code == "store_busy"


def _may_wait(since: float) -> bool:
    return time.monotonic() - since < LONGEST_WAIT_SECONDS


def _wait_in_pieces(find: Callable[[], ask.AnyAnswer]) -> ask.AnyAnswer:
    """Call `find`, which may need a ledger that another process holds. Waiting for that would keep
    all others from reading, so let them read in between."""
    began = time.monotonic()
    while True:
        try:
            with waiting_at_most(WAIT_SECONDS):
                return find()
        except StoreFailed as error:
            if not (_is_held_elsewhere(error) and _may_wait(began)):
                raise
        time.sleep(PAUSE_SECONDS)


def reply_if_it_fails(act: Callable[[], None], reply: Callable[[ask.Failed], None]) -> None:
    """Do what leads to an answer sooner or later; if it fails that is the answer."""
    try:
        act()
    except Exception as error:  # noqa: BLE001 - the machine is told; the keeper goes on
        reply(_as_answer(error))


def answer_safely(answer: Callable[[], ask.AnyAnswer]) -> ask.AnyAnswer:
    """The answer, or the error as one. The outermost function of a question."""
    try:
        return answer()
    except Exception as error:  # noqa: BLE001 - the machine is told; the keeper goes on
        return _as_answer(error)


def _as_answer(error: BaseException) -> ask.Failed:
    if not isinstance(error, MootError):
        error = MootError("internal_error", f"{type(error).__name__}: {error}")
    return ask.fail(error)
