"""The questions of a machine and the keeper's answers: frozen values, packed with msgpack.

Tags are on the wire and keep their first name, so that machines and keepers of different versions
understand each other.
"""

# No postponed annotations: msgspec would compile each of them again in every hook.

import re
from functools import cache
from typing import Annotated, Any, Final

import msgspec

from moot.core import errors
from moot.core.clock import Millis
from moot.core.errors import Malformed, MootError, Refused
from moot.core.findings import Finding
from moot.core.ledger import Heartbeat, Snapshot
from moot.core.machine import Command, Machine
from moot.core.record import Record
from moot.engine.job import Job
from moot.engine.machines import Machines

# The protocol version; both sides compare it when they connect.
VERSION: Final = 1

# A store holds no larger numbers. One would fail every command of the same transaction.
Number = Annotated[int, msgspec.Meta(ge=0, le=2**62)]

# Checked before the items are decoded: a long list of empty items would block all other machines.
MOST_JOBS: Final = 1_000
MOST_RECORDS: Final = 50_000  # the records of that many jobs
_FewNames = Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_JOBS)]

_CODE: Final = r"[a-z0-9_]{1,60}"

SentRecord = tuple[str, Number, str, bytes, bytes]  # stream, seq, kid, body, signature
SentHeartbeat = tuple[str, Number, str, bytes, bytes]  # agent, at, kid, body, signature
SentSnapshot = tuple[str, Number, bytes, str, bytes, bytes]
AuthorNote = tuple[str, str, Number]  # agent, and stream and seq of the agent's newest event
RecordPosition = tuple[str, Number, bytes]  # stream, seq, hash
HeldKeys = tuple[tuple[str, bytes], ...]  # kid and signature


class Question(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The base of all questions."""


class Hello(Question, frozen=True, tag="Greet"):
    """Opens a connection: the machine, its secret, and its version of moot (`program`)."""

    version: int
    machine: str
    secret: bytes
    program: str = ""


class Join(Question, frozen=True):
    """Opens the connection of an invited machine. `proof` is an HMAC by the code, which is not sent
    itself. `held`: signatures by keys of its key folder, if it has joined before (`joining.py`)."""

    version: int
    machine: str
    custodian: str
    repository: str
    invitation: str
    proof: bytes
    held: HeldKeys = ()


class CopyPosition(Question, frozen=True, tag="Follow"):
    """Asks for what the copy lacks, by how far it is: its newest `position` and the hash of that
    record, its newest checkpoint (`note`), and since when it wants heartbeats (`beats`)."""

    position: Number
    last: bytes
    note: Number
    beats: Number


class SentJob(msgspec.Struct, frozen=True, array_like=True):
    """A job (`engine/job.py`), with its command as name and packed fields."""

    stream: str
    name: str
    command: msgspec.Raw
    actor: str
    key: str | None
    role: str | None
    cause: str | None
    corr: str | None


class Commit(Question, frozen=True):
    """Asks the keeper to record the events of these jobs, decided and signed at the time `now`.

    `places` are the positions and hashes of the records: with them the keeper recognises a question
    that is sent again because its answer was lost. `attended` are the keys that a person unlocked
    just now. A chain is recorded as a whole or not at all. `brief`: the answer may leave out other
    machines' records. `keeps_turn`: during its turn the machine wants to commit more.
    """

    follow: CopyPosition
    now: Number
    chain: bool
    jobs: Annotated[tuple[SentJob, ...], msgspec.Meta(max_length=MOST_JOBS)]
    signed: Annotated[tuple[tuple[bytes, bytes], ...], msgspec.Meta(max_length=MOST_RECORDS)]
    places: Annotated[tuple[RecordPosition, ...], msgspec.Meta(max_length=MOST_RECORDS)]
    attended: _FewNames = ()
    brief: bool = False
    keeps_turn: bool = False


class TakeTurn(Question, frozen=True, tag="Hold"):
    """Asks for a turn: a moment in which only this machine moves these streams.

    A commit needs one if it writes a file as well, or was overtaken before. The answer comes with
    the turn and has the records that are new by then. With `early` it may come when the machine is
    next: it reads them meanwhile and asks again, without losing its place. `brief`: such an early
    answer may be empty, since another process of the machine has fetched most of it by then.
    """

    streams: _FewNames
    follow: CopyPosition
    early: bool = False
    brief: bool = False


class SendHeartbeat(Question, frozen=True, tag="Beat"):
    """Delivers a heartbeat, signed by its agent."""

    heartbeat: SentHeartbeat


class ApplyTimeouts(Question, frozen=True, tag="Settle"):
    """Asks the keeper to apply what is overdue on a stream."""

    stream: str


class MakeCheckpoint(Question, frozen=True, tag="Pin"):
    """Asks for a checkpoint now; the answer has it, and the records since `follow`."""

    follow: CopyPosition | None = None


class UploadPiece(Question, frozen=True, tag="GiveArtifact"):
    """Sends a piece of an artifact; the keeper stores the artifact after its last piece."""

    sha256: str
    size: Number
    offset: Number
    piece: bytes


class DownloadPiece(Question, frozen=True, tag="WantArtifact"):
    """Asks for a piece of an artifact."""

    sha256: str
    offset: Number


class ListMembers(Question, frozen=True, tag="WhoShares"):
    """Asks which machines share the ledger."""


class Leave(Question, frozen=True):
    """Asks the keeper to remove this machine. Without `now` it only asks whether the keeper could:
    an older keeper does not know the question."""

    now: bool = True


class MoveSession(Question, frozen=True, tag="MoveHome"):
    """Asks to make the machine `to` (None: this one) the owner of a session: the first of
    `streams`. The others belong to that session."""

    streams: _FewNames
    to: str | None = None


AnyQuestion = (
    Hello
    | Join
    | CopyPosition
    | Commit
    | TakeTurn
    | SendHeartbeat
    | ApplyTimeouts
    | MakeCheckpoint
    | UploadPiece
    | DownloadPiece
    | ListMembers
    | Leave
    | MoveSession
)


class Answer(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The base of all answers."""


class Welcome(Answer, frozen=True):
    version: int
    keeper: str
    now: Millis


class Joined(Answer, frozen=True):
    """The secret of a new machine, and the ledger's trust file."""

    secret: bytes
    trust: bytes


class SyncDelta(Answer, frozen=True, tag="News"):
    """What the copy lacks, in order. `more`: the rest did not fit into this answer.

    `seen`: the newest event that the keeper noted for each author. The copy must have the same: a
    takeover cites it as the last sign of life, and both sides decide the takeover. `has_turn`:
    whether the turn has come; an older keeper leaves it out and answers only then.
    """

    records: tuple[SentRecord, ...]
    snapshots: tuple[SentSnapshot, ...]
    heartbeats: tuple[SentHeartbeat, ...]
    note: str | None
    now: Millis
    more: bool
    seen: tuple[AuthorNote, ...] | None = None
    has_turn: bool | None = None


class Committed(Answer, frozen=True):
    """The commit is durable. `delta` has the records and those before them, unless a brief answer
    was asked for. `has_turn`: the machine keeps its turn for a moment."""

    delta: SyncDelta | None
    has_turn: bool = False


class Failed(Answer, frozen=True):
    """An error that was raised at the keeper."""

    kind: str
    code: str
    message: str
    hint: str
    findings: tuple[Finding, ...]


class DecideAgain(Answer, frozen=True):
    """The keeper decided differently, so the machine decides again on this delta. `hashes`: bytes
    of a record that the ledger signs -> its hash; `problem`: why the keeper refused, if it did;
    `has_turn`: the machine has its turn, so that no other commit can overtake the next try."""

    delta: SyncDelta
    hashes: tuple[tuple[bytes, bytes], ...]
    problem: Failed | None = None
    has_turn: bool = False


class Done(Answer, frozen=True):
    """Success. `at` is a time or a size, for questions that ask for one."""

    at: int = 0


class ArtifactPiece(Answer, frozen=True, tag="Piece"):
    size: int
    piece: bytes


class MemberInfo(msgspec.Struct, frozen=True, array_like=True):
    """A machine that shares or shared the ledger: `gone_at` is when it left or was removed."""

    name: str
    custodian: str
    joined_at: Millis
    last_seen: Millis
    version: str
    gone_at: Millis | None
    has_left: bool = False


class MemberList(Answer, frozen=True, tag="Sharing"):
    machines: tuple[MemberInfo, ...]


class SessionMoved(Answer, frozen=True, tag="HomeMoved"):
    """The streams that have a new owner; empty if the machine owned them already."""

    streams: tuple[str, ...]


AnyAnswer = (
    Welcome
    | Joined
    | SyncDelta
    | Committed
    | DecideAgain
    | Done
    | ArtifactPiece
    | MemberList
    | SessionMoved
    | Failed
)

encode: Final = msgspec.msgpack.Encoder().encode
_answer_decoder: Final[msgspec.msgpack.Decoder[AnyAnswer]] = msgspec.msgpack.Decoder(AnyAnswer)


@cache
def _question_decoder() -> msgspec.msgpack.Decoder[AnyQuestion]:
    """Build it on first use: only a keeper needs it."""
    return msgspec.msgpack.Decoder(AnyQuestion)


def decode_question(data: bytes) -> AnyQuestion:
    try:
        return _question_decoder().decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"the request cannot be read: {error}", code="bad_request") from None


def decode_answer(data: bytes) -> AnyAnswer:
    try:
        return _answer_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"the keeper's answer cannot be read: {error}", code="bad_answer") from None


def pack_job(job: Job) -> SentJob:
    command = msgspec.Raw(msgspec.msgpack.encode(job.command))
    name = type(job.command).__name__
    return SentJob(job.stream, name, command, job.actor, job.key, job.role, job.cause, job.corr)


def unpack_job(sent: SentJob, machines: Machines) -> Job:
    """Return the job; Malformed if the stream's protocol has no such command or such fields."""
    machine = machines.machine_of(sent.stream)
    kind = _commands_by_name(machine).get(sent.name)
    if kind is None:
        raise Malformed(f"{machine.name} has no command {sent.name}", code="unknown_command")
    try:
        command: Any = msgspec.msgpack.decode(sent.command, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"{sent.name}: {error}", code="bad_request") from None
    return Job(sent.stream, command, sent.actor, sent.key, sent.role, sent.cause, sent.corr)


@cache
def _commands_by_name(machine: Machine[Any]) -> dict[str, type[Command]]:
    return {kind.__name__: kind for kind in machine.commands}


def pack_record(record: Record) -> SentRecord:
    return record.stream, record.seq, record.kid, record.raw, record.signature


def pack_heartbeat(heartbeat: Heartbeat) -> SentHeartbeat:
    return heartbeat.agent, heartbeat.at, heartbeat.kid, heartbeat.raw, heartbeat.signature


def pack_snapshot(snapshot: Snapshot) -> SentSnapshot:
    sent = snapshot
    return sent.stream, sent.seq, sent.hash, sent.machine, sent.state, sent.signature


def pack_error(error: MootError) -> Failed:
    return Failed(type(error).__name__, error.code, str(error), error.hint, error.findings)


def unpack_error(failed: Failed) -> MootError:
    """Rebuild the error that was raised at the keeper."""
    kind = getattr(errors, failed.kind, MootError)
    if not (isinstance(kind, type) and issubclass(kind, MootError)):
        kind = MootError
    error: MootError = kind.__new__(kind)
    # The code is printed unescaped, unlike the sentences: accept only code characters.
    code = failed.code if re.fullmatch(_CODE, failed.code) else "bad_answer"
    MootError.__init__(error, code, failed.message, hint=failed.hint, findings=failed.findings)
    return error


def require_same_version(keepers: int, machines: int) -> None:
    """Raise Refused (`another_version`) if the protocol versions differ."""
    if keepers != machines:
        older = "the keeper" if keepers < machines else "this machine"
        raise Refused(
            "another_version",
            f"protocol version mismatch: keeper {keepers}, this machine {machines}",
            hint=f"update moot on {older}, which is older",
        )
