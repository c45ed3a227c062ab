"""What a machine asks its keeper, and what comes back: frozen values, packed with msgpack."""

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

# The version of this protocol; both sides compare it when they connect.
VERSION: Final = 1

# More has no place in a store, and would make it fail for everybody whose command is in the group.
Number = Annotated[int, msgspec.Meta(ge=0, le=2**62)]

# Counted before any of it is read: a long list of nothing would keep everybody else waiting.
MOST_JOBS: Final = 1_000
MOST_RECORDS: Final = 50_000  # that so many jobs lead to
_FewNames = Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_JOBS)]

_CODE: Final = r"[a-z0-9_]{1,60}"

SentRecord = tuple[str, Number, str, bytes, bytes]  # stream, seq, kid, body, signature
SentHeartbeat = tuple[str, Number, str, bytes, bytes]  # agent, at, kid, body, signature
SentSnapshot = tuple[str, Number, bytes, str, bytes, bytes]
SentSign = tuple[str, str, Number]  # agent, and the stream and seq of an event of theirs
Place = tuple[str, Number, bytes]  # stream, seq, hash
HeldKeys = tuple[tuple[str, bytes], ...]  # kid and signature


class Question(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The base of all questions."""


class Hello(Question, frozen=True, tag="Greet"):
    """The first thing said on a connection: which machine this is, its secret, and its moot's
    version."""

    version: int
    machine: str
    secret: bytes
    program: str = ""


class Join(Question, frozen=True):
    """Or this, from a machine that was invited: the code stands behind an HMAC, never here. `held`:
    agents' keys of its key folder, if it has joined before (`joining.py`)."""

    version: int
    machine: str
    custodian: str
    repository: str
    invitation: str
    proof: bytes
    held: HeldKeys = ()


class Follow(Question, frozen=True):
    """What came after `position`? `last` is the hash of the record that is there; `note` the
    number of the newest checkpoint known; `beats` when signs of life were last asked for."""

    position: Number
    last: bytes
    note: Number
    beats: Number


class SentJob(msgspec.Struct, frozen=True, array_like=True):
    """A job: `engine/job.py`, with the command's name and fields."""

    stream: str
    name: str
    command: msgspec.Raw
    actor: str
    key: str | None
    role: str | None
    cause: str | None
    corr: str | None


class Commit(Question, frozen=True):
    """Record what these jobs lead to, at the time `now`: the bytes that were decided, signed.

    `places` are where the records will stand, and their hashes: so a question that is asked again
    because its answer was lost is known again. `attended` are the keys that a person has unlocked
    just now. In a chain all are recorded or none. `brief`: the answer need not tell what others
    did. `keeps_turn`: if it is the machine's turn, more is about to follow.
    """

    follow: Follow
    now: Number
    chain: bool
    jobs: Annotated[tuple[SentJob, ...], msgspec.Meta(max_length=MOST_JOBS)]
    signed: Annotated[tuple[tuple[bytes, bytes], ...], msgspec.Meta(max_length=MOST_RECORDS)]
    places: Annotated[tuple[Place, ...], msgspec.Meta(max_length=MOST_RECORDS)]
    attended: _FewNames = ()
    brief: bool = False
    keeps_turn: bool = False


class Hold(Question, frozen=True):
    """Let nobody else move these streams for a moment: what follows writes a file as well, or has
    been overtaken before. The answer is what is new once it is one's turn. With `early` it may come
    when one is next, to be read meanwhile; then one asks again, and has kept one's place. `brief`:
    such an early answer need not tell what is new, only that there is more: by then another
    process of the machine has fetched most of it."""

    streams: _FewNames
    follow: Follow
    early: bool = False
    brief: bool = False


class Beat(Question, frozen=True):
    """A sign of life, signed by its agent."""

    heartbeat: SentHeartbeat


class Settle(Question, frozen=True):
    """Apply what is overdue on a stream."""

    stream: str


class Pin(Question, frozen=True):
    """Make a checkpoint now; the answer is what is new since `follow`, and with it the
    checkpoint."""

    follow: Follow | None = None


class GiveArtifact(Question, frozen=True):
    """Send a piece of an artifact; the keeper has it once its last piece has come."""

    sha256: str
    size: Number
    offset: Number
    piece: bytes


class WantArtifact(Question, frozen=True):
    """A piece of an artifact."""

    sha256: str
    offset: Number


class WhoShares(Question, frozen=True):
    """Which machines share the ledger?"""


class Leave(Question, frozen=True):
    """Take this machine off, at its own word. Unless `now`, only whether the keeper would: an older
    one does not know the question, and then nothing is begun."""

    now: bool = True


class MoveSession(Question, frozen=True, tag="MoveHome"):
    """Let the machine `to`, None: this one, own a session. The first of `streams` is meant;
    the others belong to it."""

    streams: _FewNames
    to: str | None = None


AnyQuestion = (
    Hello
    | Join
    | Follow
    | Commit
    | Hold
    | Beat
    | Settle
    | Pin
    | GiveArtifact
    | WantArtifact
    | WhoShares
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
    """What the copy lacks, in order. `more`: it was too much for one answer. `seen`: where the
    keeper notes the newest event of each author; the same must stand in the copy, for a takeover
    cites it as the last sign of life, and both sides decide it. `has_turn`: whether what was
    queued for has come; an older keeper does not say, and answers only then."""

    records: tuple[SentRecord, ...]
    snapshots: tuple[SentSnapshot, ...]
    heartbeats: tuple[SentHeartbeat, ...]
    note: str | None
    now: Millis
    more: bool
    seen: tuple[SentSign, ...] | None = None
    has_turn: bool | None = None


class Committed(Answer, frozen=True):
    """It is durable; `delta` has the records, and what came before them, unless a brief
    answer was asked for. `has_turn`: it is still the machine's turn, for a moment."""

    delta: SyncDelta | None
    has_turn: bool = False


class Failed(Answer, frozen=True):
    """An error, as it was raised there."""

    kind: str
    code: str
    message: str
    hint: str
    findings: tuple[Finding, ...]


class DecideAgain(Answer, frozen=True):
    """The keeper decided otherwise. `hashes`: of the ledger's own records, by their bytes;
    `problem`: why it refused, if it did; `has_turn`: nobody else moves these streams for a moment,
    so that what is decided on this delta will hold."""

    delta: SyncDelta
    hashes: tuple[tuple[bytes, bytes], ...]
    problem: Failed | None = None
    has_turn: bool = False


class Done(Answer, frozen=True):
    """It was done; `at` is a time or a size, if there is one to tell."""

    at: int = 0


class Piece(Answer, frozen=True):
    size: int
    piece: bytes


class SharingMachine(msgspec.Struct, frozen=True, array_like=True):
    """A machine that shares the ledger, or did: `gone_at` is when it left or was taken off."""

    name: str
    custodian: str
    joined_at: Millis
    last_seen: Millis
    version: str
    gone_at: Millis | None
    has_left: bool = False


class Sharing(Answer, frozen=True):
    machines: tuple[SharingMachine, ...]


class SessionMoved(Answer, frozen=True, tag="HomeMoved"):
    """The streams that have a new owner; nothing, if it owned them already."""

    streams: tuple[str, ...]


AnyAnswer = (
    Welcome
    | Joined
    | SyncDelta
    | Committed
    | DecideAgain
    | Done
    | Piece
    | Sharing
    | SessionMoved
    | Failed
)

encode: Final = msgspec.msgpack.Encoder().encode
_answer_decoder: Final[msgspec.msgpack.Decoder[AnyAnswer]] = msgspec.msgpack.Decoder(AnyAnswer)


@cache
def _question_decoder() -> msgspec.msgpack.Decoder[AnyQuestion]:
    """Only a keeper needs it."""
    return msgspec.msgpack.Decoder(AnyQuestion)


def decode_question(data: bytes) -> AnyQuestion:
    try:
        return _question_decoder().decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"this is no question: {error}", code="bad_request") from None


def decode_answer(data: bytes) -> AnyAnswer:
    try:
        return _answer_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"the keeper's answer cannot be read: {error}", code="bad_answer") from None


def send_job(job: Job) -> SentJob:
    command = msgspec.Raw(msgspec.msgpack.encode(job.command))
    name = type(job.command).__name__
    return SentJob(job.stream, name, command, job.actor, job.key, job.role, job.cause, job.corr)


def read_job(sent: SentJob, machines: Machines) -> Job:
    """The job; Malformed if the stream's protocol knows no such command, or its fields are odd."""
    machine = machines.machine_of(sent.stream)
    kind = _commands_by_name(machine).get(sent.name)
    if kind is None:
        raise Malformed(f"{machine.name} knows no {sent.name}", code="unknown_command")
    try:
        command: Any = msgspec.msgpack.decode(sent.command, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"{sent.name}: {error}", code="bad_request") from None
    return Job(sent.stream, command, sent.actor, sent.key, sent.role, sent.cause, sent.corr)


@cache
def _commands_by_name(machine: Machine[Any]) -> dict[str, type[Command]]:
    return {kind.__name__: kind for kind in machine.commands}


def send_record(record: Record) -> SentRecord:
    return record.stream, record.seq, record.kid, record.raw, record.signature


def send_heartbeat(heartbeat: Heartbeat) -> SentHeartbeat:
    return heartbeat.agent, heartbeat.at, heartbeat.kid, heartbeat.raw, heartbeat.signature


def send_snapshot(snapshot: Snapshot) -> SentSnapshot:
    sent = snapshot
    return sent.stream, sent.seq, sent.hash, sent.machine, sent.state, sent.signature


def fail(error: MootError) -> Failed:
    return Failed(type(error).__name__, error.code, str(error), error.hint, error.findings)


def raise_failure(failed: Failed) -> MootError:
    """The same error as it was raised at the keeper."""
    kind = getattr(errors, failed.kind, MootError)
    if not (isinstance(kind, type) and issubclass(kind, MootError)):
        kind = MootError
    error: MootError = kind.__new__(kind)
    # It is printed as it is, unlike the sentences.
    code = failed.code if re.fullmatch(_CODE, failed.code) else "bad_answer"
    MootError.__init__(error, code, failed.message, hint=failed.hint, findings=failed.findings)
    return error


def require_same_version(keepers: int, machines: int) -> None:
    """Refused (`another_version`) if the two speak different versions."""
    if keepers != machines:
        older = "the keeper" if keepers < machines else "this machine"
        raise Refused(
            "another_version",
            f"the keeper speaks version {keepers} of the door, this machine {machines}",
            hint=f"update moot on the older side: {older}",
        )
