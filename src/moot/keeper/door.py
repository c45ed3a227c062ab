"""The keeper's side of the door: one question of a machine, one answer.

Everything that a machine says is either signed, or an argument of a rule. What it decided is
decided again here; what it wants of the ledger's own key is looked up in `ledgers_part.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.errors import Malformed, MootError, Refused
from moot.core.ledger import Heartbeat, View
from moot.core.names import SYSTEM, protocol_of
from moot.core.record import Record
from moot.core.registry.commands import EraseArtifact
from moot.engine.batch import Batch, Result
from moot.engine.engine import Engine
from moot.engine.given_signatures import DecidedOtherwise, GivenKeys
from moot.engine.job import Job
from moot.engine.ledger_copy import another_history
from moot.engine.machines import Machines
from moot.engine.signed_commits import SignedCommit, SignedCommits
from moot.engine.signs_of_life import SEEN, is_genuine_heartbeat
from moot.keeper import questions as ask
from moot.keeper.homes import HOME
from moot.keeper.ledgers_part import WITH_A_HOME, require_may_ask
from moot.keeper.members import Member, MemberFile
from moot.keeper.membership import AboutMachines, answer_about_machines
from moot.keeper.turns import Turns
from moot.store.artifacts import CHUNK, MAX_BYTES, FileArtifacts, require_hash

MOST_RECORDS: Final = 1_000
MOST_BYTES: Final = 8 * 1024 * 1024
MOST_JOBS: Final = 1_000
# How old the time of a command may be: two exchanges and a person's slow line.
MOST_AGE: Final[Millis] = 5_000
MOST_UNFINISHED: Final = 16  # artifacts of one machine that are on their way


class Door:
    """Answers the questions of all machines; threads may share it."""

    def __init__(self, engine: Engine, artifacts: FileArtifacts, folder: Path) -> None:
        self._engine = engine
        self._artifacts = artifacts
        self._machines = Machines()
        self._turns = Turns()
        self._commits = SignedCommits(engine)
        self._folder = folder  # for artifacts on their way
        self._members = MemberFile(folder)

    def answer(self, member: Member, line: object, question: ask.AnyQuestion) -> ask.AnyAnswer:
        """One answer; `line` is who asks, among the lines of this moment."""
        handle = _HANDLERS.get(type(question))
        if handle is None:
            raise Malformed("this is not asked here", code="bad_request")
        return handle(self, member, line, question)

    def forget(self, line: object) -> None:
        """A line has ended, or was silent for too long: what it held is free."""
        self._turns.release(line)

    def keeps_turn(self, line: object) -> bool:
        """Is it still this line's turn, although it has recorded something?"""
        return self._turns.is_kept(line)

    def _follow(self, _member: Member, _line: object, question: ask.Follow) -> ask.News:
        return self._news(question)

    def _commit(
        self, member: Member, line: object, question: ask.Commit
    ) -> ask.Committed | ask.DecideAgain:
        jobs = self._read_jobs(question)
        streams = list(dict.fromkeys(job.stream for job in jobs))
        self._turns.wait(line, member.number, streams)
        try:
            self._require_recent(question.now)
            self._look_beforehand(member, jobs)
            keys = GivenKeys(self._engine.keys, dict(question.signed), frozenset(question.attended))
            news = self._commits.commit(
                SignedCommit(
                    streams,
                    lambda batch: self._decide(batch, jobs, question, keys),
                    keys,
                    question.now,
                    lambda view: self._tell(view, question),
                )
            )
        except DecidedOtherwise as otherwise:
            if self._are_recorded(question.places):  # asked again: the answer was lost
                return self._finish(line, question)
            # It lines up at once: the answer is what is new when its turn has come.
            has_turn = self._turns.take(line, member.number, streams)
            problem = otherwise.problem
            return ask.DecideAgain(
                self._news(question.follow),
                tuple(otherwise.hashes.items()),
                None if problem is None else ask.fail(problem),
                has_turn,
            )
        except BaseException as error:
            self._turns.release(line)
            if not isinstance(error, MootError) or not self._are_recorded(question.places):
                raise
            return self._finish(line, question)
        has_turn = question.keeps_turn and self._turns.keep(line)
        if not has_turn:
            self._turns.release(line)
        for job in jobs:
            if isinstance(job.command, EraseArtifact):  # what was recorded is done here as well
                self._artifacts.erase(job.command.sha256)
        return ask.Committed(news, has_turn)

    def _tell(self, view: View, question: ask.Commit) -> ask.News | None:
        """What is new to whoever committed this; a brief answer does without."""
        if not question.brief:
            return self._news_in(view, question.follow)
        _require_beginning(view, question.follow)
        return None

    def _finish(self, line: object, question: ask.Commit) -> ask.Committed:
        self._turns.release(line)
        return ask.Committed(self._news(question.follow))

    def _look_beforehand(self, member: Member, jobs: list[Job]) -> None:
        """What the ledger signs for a machine, and which streams begin there; most commands have
        neither, and then nothing is looked at."""
        with_home = {job.stream for job in jobs if protocol_of(job.stream) in WITH_A_HOME}
        if not with_home and all(job.actor != SYSTEM for job in jobs):
            return
        registry = self._engine.registry()  # before the look: the engine's turn comes first
        with self._engine.store.read() as view:
            require_may_ask(
                jobs, registry, member.custodian, lambda stream: _is_home(view, member, stream)
            )
            new = [name for name in sorted(with_home) if view.head(name) is None]
        if new:
            # Streams that begin with this commit belong to the machine that begins them. A claim
            # on one that has no events yet counts for nothing: the next machine replaces it.
            claimed = dict.fromkeys(new, member.number)
            self._engine.deliver(HOME, lambda _view: (None, claimed))

    def _are_recorded(self, places: tuple[ask.Place, ...]) -> bool:
        if not places:
            return False
        with self._engine.store.read() as view:
            return all(_holds(view, *place) for place in places)

    def _decide(
        self, batch: Batch, jobs: list[Job], question: ask.Commit, keys: GivenKeys
    ) -> list[Result]:
        keys.registry = batch.registry
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
        return results

    def _read_jobs(self, question: ask.Commit) -> list[Job]:
        if not 1 <= len(question.jobs) <= MOST_JOBS:
            raise Malformed(f"1 to {MOST_JOBS} jobs at once", code="bad_request")
        return [ask.read_job(sent, self._machines) for sent in question.jobs]

    def _require_recent(self, now: Millis) -> None:
        """The time of a command is the machine's guess of ours: not far off, and never ahead."""
        if abs(self._engine.clock() - now) > MOST_AGE:
            raise Refused(
                "clock_differs",
                "the command is dated by a clock that differs from the keeper's",
                hint="try again",
            )

    def _hold(self, member: Member, line: object, question: ask.Hold) -> ask.News:
        if len(question.streams) > MOST_JOBS:
            raise Malformed(f"at most {MOST_JOBS} streams at once", code="bad_request")
        has_turn = False
        if question.streams:
            has_turn = self._turns.take(line, member.number, question.streams, early=question.early)
        else:  # its turn is over before its time
            self._turns.release(line)
        return msgspec.structs.replace(self._news(question.follow), has_turn=has_turn)

    def _beat(self, _member: Member, _line: object, question: ask.Beat) -> ask.Done:
        """Kept if its agent signed it and it is not beyond our clock."""
        heartbeat = Heartbeat(*question.heartbeat)
        registry = self._engine.registry()
        if not is_genuine_heartbeat(registry, heartbeat):
            raise Refused("bad_heartbeat", "this sign of life is not signed by its agent")
        now = self._engine.clock()
        if heartbeat.at > now + MOST_AGE:
            raise Refused(
                "clock_differs", "this sign of life is dated in the future", hint="try again"
            )
        return ask.Done(self._engine.keep_heartbeat(heartbeat))

    def _settle(self, _member: Member, _line: object, question: ask.Settle) -> ask.Done:
        self._engine.tick(question.stream)
        return ask.Done()

    def _pin(self, _member: Member, _line: object, question: ask.Pin) -> ask.Done | ask.News:
        made = self._engine.checkpoint()
        if question.follow is not None:
            return self._news(question.follow)
        return ask.Done(made.checkpoint.number if made is not None else 0)

    def _give_artifact(self, member: Member, _line: object, question: ask.GiveArtifact) -> ask.Done:
        """Put a piece to its place; the whole is stored once its hash is the one that was named."""
        if self._artifacts.size(question.sha256) == question.size:
            return ask.Done(question.size)
        place = self._unfinished_place(member, question)
        with place.open("r+b" if place.exists() else "w+b") as file:
            file.seek(0, 2)
            if file.tell() != question.offset:
                return ask.Done(file.tell())  # go on from here
            file.write(question.piece)
            end = file.tell()
        if end < question.size:
            return ask.Done(end)
        try:
            with place.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != question.sha256:
                    raise Malformed("the bytes are not those of this artifact", code="bad_hash")
                file.seek(0)
                self._artifacts.put_stream(iter(lambda: file.read(CHUNK), b""), "")
        finally:
            place.unlink(missing_ok=True)
        return ask.Done(end)

    def _unfinished_place(self, member: Member, question: ask.GiveArtifact) -> Path:
        """Where the pieces go; Refused for more than a record may cite, or than fits here."""
        if not len(question.piece) <= question.size <= MAX_BYTES:
            raise Refused("artifact_too_large", f"an artifact has at most {MAX_BYTES} bytes")
        place = self._folder / f".{member.number}-{require_hash(question.sha256)}"
        unfinished = list(self._folder.glob(f".{member.number}-*"))
        if place not in unfinished and len(unfinished) >= MOST_UNFINISHED:
            oldest = min(unfinished, key=lambda file: file.stat().st_mtime_ns)
            oldest.unlink(missing_ok=True)  # whoever is still sending it begins again
        return place

    def _want_artifact(
        self, _member: Member, _line: object, question: ask.WantArtifact
    ) -> ask.Piece:
        if question.sha256 in self._engine.registry().erased:
            self._artifacts.erase(question.sha256)  # in case we died before we could
        size, piece = self._artifacts.piece(question.sha256, question.offset)
        return ask.Piece(size, piece)

    def _about_machines(
        self, member: Member, _line: object, question: AboutMachines
    ) -> ask.AnyAnswer:
        return answer_about_machines(self._engine, self._members, member, question)

    def _news(self, asked: ask.Follow) -> ask.News:
        with self._engine.store.read() as view:
            return self._news_in(view, asked)

    def _news_in(self, view: View, asked: ask.Follow) -> ask.News:
        records = _records_since(view, asked)
        sent, more = _within_bytes(records)
        reached = {stream: seq for stream, seq, *_ in sent}
        snapshots = (view.snapshot(stream) for stream in reached)
        return ask.News(
            tuple(sent),
            tuple(
                ask.send_snapshot(snapshot)
                for snapshot in snapshots
                if snapshot is not None and snapshot.seq <= reached[snapshot.stream]
            ),
            tuple(ask.send_heartbeat(beat) for beat in view.heartbeats(asked.beats)),
            view.newest_note(),
            self._engine.clock(),
            more or len(records) == MOST_RECORDS,
            _noted_signs(view, records[: len(sent)]),
        )


def _within_bytes(records: Sequence[Record]) -> tuple[list[ask.SentRecord], bool]:
    """As many as one answer holds; at least one."""
    sent: list[ask.SentRecord] = []
    size = 0
    for record in records:
        size += len(record.raw)
        if sent and size > MOST_BYTES:
            return sent, True
        sent.append(ask.send_record(record))
    return sent, False


def _noted_signs(view: View, records: Sequence[Record]) -> tuple[ask.SentSign, ...]:
    """Where the newest event of each author is noted."""
    authors = sorted({record.body.actor.id for record in records})
    noted = ((author, view.row(SEEN, author)) for author in authors)
    return tuple((author, row.stream, row.seq) for author, row in noted if row is not None)


def _is_home(view: View, member: Member, stream: str) -> bool:
    return view.head(stream) is None or view.cursor(HOME, stream) == member.number


def _holds(view: View, stream: str, seq: int, record_hash: bytes) -> bool:
    record = next(view.records(stream, after=seq - 1), None)
    return record is not None and (record.seq, record.hash) == (seq, record_hash)


def _records_since(view: View, asked: ask.Follow) -> list[Record]:
    """What came after a machine's copy; Tampered unless that copy is a beginning of what we have,
    which the record shows that stands where the copy ends."""
    if asked.position == 0:
        return view.records_after(0, MOST_RECORDS)
    records = view.records_after(asked.position - 1, MOST_RECORDS + 1)
    _require_last(records, asked)
    return records[1:]


def _require_beginning(view: View, asked: ask.Follow) -> None:
    """The same without what came after."""
    if asked.position:
        _require_last(view.records_after(asked.position - 1, 1), asked)


def _require_last(records: Sequence[Record], asked: ask.Follow) -> None:
    if not records or records[0].hash != asked.last:
        raise another_history(
            "the keeper's ledger lacks events that this machine has seen"
            if not records
            else "the keeper's ledger holds other events than this machine has seen"
        )


_HANDLERS: Final[Mapping[type, Callable[..., ask.AnyAnswer]]] = {
    ask.Follow: Door._follow,
    ask.Commit: Door._commit,
    ask.Hold: Door._hold,
    ask.Beat: Door._beat,
    ask.Settle: Door._settle,
    ask.Pin: Door._pin,
    ask.GiveArtifact: Door._give_artifact,
    ask.WantArtifact: Door._want_artifact,
    ask.WhoShares: Door._about_machines,
    ask.Leave: Door._about_machines,
    ask.MoveHome: Door._about_machines,
}


def answer_safely(answer: Callable[[], ask.AnyAnswer]) -> ask.AnyAnswer:
    """The answer, or the error as one. The outermost function of a question."""
    try:
        return answer()
    except MootError as error:
        return ask.fail(error)
    except Exception as error:  # noqa: BLE001 - the machine is told; the keeper goes on
        return ask.fail(MootError("internal_error", f"{type(error).__name__}: {error}"))
