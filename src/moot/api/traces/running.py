"""Running an approved intent: on record before it runs, its outputs stored before they are cited.

    lock -> reserved? -> start on record -> reserved still? -> look -> run -> look again
         -> blot out secrets -> store -> end on record

A process that is killed in between leaves an execution without an end; the next command on that
trace records it as failed (`recover`) and never runs it again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from moot.api.traces import guarded_execution, tracing
from moot.core import secrets
from moot.core.canonical import canonical
from moot.core.errors import Refused, StoreFailed
from moot.core.findings import Finding, Severity
from moot.core.record import ArtifactRef
from moot.engine.job import NO_LINK, Link
from moot.keys.running_names import is_held
from moot.protocols.trace.commands import (
    CompleteExecution,
    FailExecution,
    RecoverExecution,
    StartExecution,
    Stored,
)
from moot.protocols.trace.events import ToolExecutionStarted, ToolIntentSigned
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import (
    MEDIA_TYPE,
    ExecutionFailure,
    ExecutionResult,
    FailureKind,
    HeldReservation,
    Role,
    encode_input,
    sha256_hex,
)
from moot.system import footprint, programs
from moot.system.footprint import FileChange
from moot.system.running import (
    CapturedOutput,
    ProgramNotStarted,
    ProgramResult,
    RunOrder,
    allowed_environment,
    kill_leftover,
    kill_tagged,
    run_program,
    start_mark_of,
)

if TYPE_CHECKING:
    from moot.core.secrets import SecretPattern
    from moot.engine.job import JobOutcome
    from moot.store.artifacts import Artifacts
    from moot.workspace.workspace import Workspace


TEXT: Final = "text/plain"
BYTES: Final = "application/octet-stream"
CHANGES: Final = "application/vnd.moot.changes+json"
# More names than these do not fit into one event; the artifact `changed` lists them all.
MOST_NAMED: Final = 200
NAMED_BYTES: Final = 12_000
# Read beyond the limit, so that no secret is cut in half before it is found.
EDGE: Final = 32_768


class RunObservations(NamedTuple):
    """What is known after a run, apart from how it ended; the names are those of the record."""

    duration_ms: int = 0
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""


class OutputStore(NamedTuple):
    """Where outputs go, what is blotted out of them, and how much of each is stored."""

    artifacts: Artifacts
    hidden: tuple[SecretPattern, ...]
    most_bytes: int


def store_outputs(
    store: OutputStore, ran: ProgramResult, changes: list[FileChange], remarks: tuple[str, ...]
) -> tuple[tuple[Stored, ...], RunObservations]:
    """Store what a run printed and the list of what it changed, without the secrets in them."""
    outputs = (("stdout", ran.stdout), ("stderr", ran.stderr))
    redacted = [*secrets.find_secrets(store.hidden, [change.path for change in changes])]
    changes = [
        change._replace(path=secrets.redact_text(store.hidden, change.path)) for change in changes
    ]
    stored = []
    for name, output in outputs:
        data, secret_names = _redact_and_cut(store, output)
        redacted += secret_names
        stored.append(Stored(name, store.artifacts.put(data, _media_type(data))))
    rows = [
        {"declared": change.declared, "how": change.how, "path": change.path} for change in changes
    ]
    document = canonical({"changes": rows, "remarks": list(remarks)})
    stored.append(Stored("changed", store.artifacts.put(document, CHANGES)))
    observations = RunObservations(
        duration_ms=ran.nanos // 1_000_000,
        changed=_first_names(change.path for change in changes),
        undeclared=_first_names(change.path for change in changes if not change.declared),
        redacted=tuple(dict.fromkeys(redacted)),
        truncated=tuple(name for name, output in outputs if output.size > store.most_bytes),
        watched="; ".join(remarks) or "declared files and git",
    )
    return tuple(stored), observations


def _redact_and_cut(store: OutputStore, output: CapturedOutput) -> tuple[bytes, tuple[str, ...]]:
    """Secrets are blotted out before the cut, which could leave half of one, not to be found.

    For the same reason the last bytes of what reading itself has cut are not stored.
    """
    clean = secrets.redact_bytes(store.hidden, output.beginning)
    sure = len(clean.data) - EDGE if output.truncated else len(clean.data)
    return clean.data[: max(0, min(store.most_bytes, sure))], clean.found


def _first_names(paths: Iterable[str]) -> tuple[str, ...]:
    """As many as fit into an event; the artifact has all."""
    names: list[str] = []
    bytes_left = NAMED_BYTES
    for path in paths:
        bytes_left -= len(path.encode("utf-8", "backslashreplace"))
        if bytes_left < 0 or len(names) == MOST_NAMED:
            return (*names, "...")
        names.append(path)
    return tuple(names)


def _media_type(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BYTES
    return TEXT


# The lock of an execution is taken before its start is on record, so one whose lock nobody holds
# has lost the process that ran it. A note names the command's own process, with its beginning, and
# all it starts carries the tag: what is left of it can be ended without hitting another one.

FOLDER: Final = "running"


class _Note(msgspec.Struct, frozen=True):
    pid: int
    mark: str


class RunLock:
    """One execution of this process: held from before its start until after its end."""

    def __init__(self, workspace: Path, stream: str, intent: str) -> None:
        self._place = _place(workspace, stream, intent)
        self._lock = FileLock(self._place, mode=0o600)
        self.tag = _tag(self._place)

    def __enter__(self) -> RunLock:
        try:
            self._place.parent.mkdir(exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise Refused(
                "already_running",
                "another process runs this intent right now",
                hint="wait for it to end; `moot trace status TRACE` shows how it went",
            ) from None
        except OSError as error:
            raise StoreFailed(
                "unwritable_folder",
                f"{self._place.parent}: {error.strerror or error}",
                hint="check space and permissions of the .moot folder",
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the note before the lock, so that the next process finds neither."""
        with suppress(OSError):
            _note(self._place).unlink(missing_ok=True)
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
        self._lock.release()

    def note_process(self, pid: int) -> None:
        """The command has a process now."""
        with suppress(OSError):
            _note(self._place).write_bytes(msgspec.json.encode(_Note(pid, start_mark_of(pid))))


def is_running(workspace: Path, stream: str, intent: str) -> bool:
    """Does a live process still run this?"""
    return is_held(_place(workspace, stream, intent))


def end_leftovers(workspace: Path, stream: str, intent: str) -> tuple[str, ...]:
    """End what is left of an execution whose runner is gone, and say what was seen."""
    place = _place(workspace, stream, intent)
    seen = ["the process that ran it is gone"]
    try:
        note = msgspec.json.decode(_note(place).read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        seen.append("it is not known whether its command had begun")
    else:
        killed = kill_leftover(note.pid, note.mark)
        seen.append(
            f"its command, process {note.pid}, was still there and was ended"
            if killed
            else f"its command, process {note.pid}, is gone too"
        )
    if kill_tagged(_tag(place)):
        seen.append("what it had started was still there and was ended")
    for file in (_note(place), place):
        with suppress(OSError):
            file.unlink(missing_ok=True)
    return tuple(seen)


def _place(workspace: Path, stream: str, intent: str) -> Path:
    """A name made of the ids' hash: no id becomes a path."""
    name = hashlib.sha256(f"{stream}\n{intent}".encode()).hexdigest()[:32]
    return workspace / FOLDER / f"{name}.lock"


def _tag(place: Path) -> str:
    """Of this workspace only: another may have a trace and an intent of the same names."""
    return hashlib.sha256(os.fsencode(os.path.realpath(place))).hexdigest()[:32]


def _note(place: Path) -> Path:
    return place.with_suffix(".json")


_LOST: Final = "the reservation of {} was lost before it could run"


class EndedRun(NamedTuple):
    """An execution that has ended; `outputs` by name, all stored."""

    execution: str
    failed: bool
    exit_status: int | None
    detail: str
    outputs: tuple[Stored, ...]
    findings: tuple[Finding, ...]
    interrupted: int | None = None


def execute(
    workspace: Workspace,
    stream: str,
    intent_id: str,
    actor: str,
    env: Mapping[str, str],
    root: Path,
) -> EndedRun:
    """Execute a command only after it was approved: run the intent in the worktree `root`.

    Its proposal must be approved, and the intent itself where it is risky or goes beyond that.
    Refused, with nothing run, if the rules do not allow it (`approval_required` and others of
    `protocols/trace/rules.py`, asked when its start is put on record).
    """
    recover(workspace, stream)
    intent = tracing.read_intent(workspace, stream, intent_id)
    state = workspace.engine.state(MACHINE, stream)
    folder = _folder(root, intent.cwd)
    granted = allowed_environment(env, (*state.policy.environment, *intent.env))
    hidden = (*state.policy.secrets, *secrets.patterns_of_variables(granted, intent.env))
    executable = programs.find_program(intent.command[0], folder, granted)
    with RunLock(workspace.path, stream, intent_id) as held:
        execution, reserved = _start(workspace, stream, intent, actor, root, executable)
        lost = guarded_execution.lost_scopes(workspace, reserved, actor)
        if lost:
            return _not_started(workspace, stream, execution, actor, _LOST.format(", ".join(lost)))
        before = footprint.take_footprint(root, intent.writes)
        order = RunOrder(
            words=intent.command,
            folder=folder,
            env=granted,
            seconds=intent.timeout_ms / 1_000,
            most_bytes=state.policy.max_output_bytes + EDGE,
            program=executable.path,
            tag=held.tag,
        )
        try:
            ran = run_program(order, held.note_process)
        except ProgramNotStarted as problem:
            return _not_started(workspace, stream, execution, actor, str(problem))
        after = footprint.take_footprint(root, intent.writes)
        changes = footprint.compare_footprints(root, intent.writes, before, after)
        remarks = tuple(dict.fromkeys((*before.remarks, *after.remarks)))
        store = OutputStore(workspace.artifacts, hidden, state.policy.max_output_bytes)
        outputs, observations = store_outputs(store, ran, changes, remarks)
        done = _end(workspace, stream, execution, actor, ran, outputs, observations)
        lost = guarded_execution.lost_scopes(workspace, reserved, actor)
        return done._replace(findings=(*done.findings, *_reservation_remarks(lost)))


def recover(workspace: Workspace, stream: str, link: Link = NO_LINK) -> list[JobOutcome]:
    """TRC-061: record as failed what died with its process on this trace. Nothing is run again.

    The executor's own act: where its key is not at hand it stays due, and holds up nobody.
    """
    state = workspace.engine.state(MACHINE, stream)
    if not state.running or state.ended:
        return []
    executor = tracing.agent_in_role(state, Role.EXECUTOR)
    recorded = []
    for started in sorted(state.running.values(), key=lambda started: started.since):
        if not is_running(workspace.path, stream, started.intent):
            evidence = end_leftovers(workspace.path, stream, started.intent)
            command = RecoverExecution(execution_id=started.id, evidence=evidence)
            with suppress(Refused):
                recorded.append(tracing.execute_step(workspace, stream, command, executor, link))
    return recorded


def _folder(root: Path, cwd: str) -> Path:
    """Where it runs: below the root, by where it really is."""
    folder, top = os.path.realpath(root / cwd), os.path.realpath(root)
    if folder != top and not folder.startswith(top.rstrip(os.sep) + os.sep):
        raise Refused(
            "outside_project",
            f"{cwd} leads out of the project",
            hint="intend it again with a --cwd below the project's root",
        )
    if not os.path.isdir(folder):
        raise Refused(
            "no_folder",
            f"{cwd} is no folder",
            hint="make it, or intend it again with another --cwd",
        )
    return Path(folder)


def _start(
    workspace: Workspace,
    stream: str,
    intent: ToolIntentSigned,
    actor: str,
    root: Path,
    executable: programs.Program,
) -> tuple[str, tuple[HeldReservation, ...]]:
    reserved = guarded_execution.require_reservations(workspace, intent.writes, actor, root)
    data = encode_input(intent.tool, intent.command, intent.cwd, intent.env, intent.timeout_ms)
    command = StartExecution(
        intent_id=intent.intent_id,
        input=ArtifactRef(sha256_hex(data), len(data), MEDIA_TYPE),
        reservations=reserved,
        program=footprint.printable_name(executable.path),
        program_sha256=executable.sha256,
    )
    tracing.rehearse(workspace, stream, command, actor)  # what is refused leaves no file behind
    workspace.artifacts.put(data, MEDIA_TYPE)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    return outcome.newest(ToolExecutionStarted).event.execution_id, reserved


def _not_started(
    workspace: Workspace, stream: str, execution: str, actor: str, why: str
) -> EndedRun:
    failure = ExecutionFailure(kind=FailureKind.NOT_STARTED, detail=why)
    command = FailExecution(execution_id=execution, failure=failure)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    return EndedRun(execution, True, None, why, (), outcome.findings)


def _end(
    workspace: Workspace,
    stream: str,
    execution: str,
    actor: str,
    ran: ProgramResult,
    outputs: tuple[Stored, ...],
    observations: RunObservations,
) -> EndedRun:
    kind, detail = describe_ending(ran)
    command: CompleteExecution | FailExecution
    about: dict[str, Any] = observations._asdict()
    if kind is None:
        result = ExecutionResult(exit_status=0, **about)
        command = CompleteExecution(execution_id=execution, outputs=outputs, result=result)
    else:
        failure = ExecutionFailure(kind=kind, detail=detail, exit_status=ran.exit_status, **about)
        command = FailExecution(execution_id=execution, failure=failure, outputs=outputs)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    findings = (*outcome.findings, *_remarks(ran, observations))
    return EndedRun(
        execution, kind is not None, ran.exit_status, detail, outputs, findings, ran.interrupted
    )


def describe_ending(ran: ProgramResult) -> tuple[FailureKind | None, str]:
    """None if it ended well; else the kind of failure, and what to say of it."""
    if ran.interrupted is not None:
        return FailureKind.STOPPED, f"we were interrupted by signal {ran.interrupted}"
    if ran.timed_out:
        return FailureKind.TIMEOUT, "its time was up; it was killed with all it had started"
    if ran.signal is not None:
        return FailureKind.SIGNAL, f"ended by signal {ran.signal}"
    if ran.exit_status:
        return FailureKind.EXIT, f"exit status {ran.exit_status}"
    return None, "exit status 0"


def _remarks(ran: ProgramResult, observations: RunObservations) -> Iterable[Finding]:
    """What a reader should know of a run that is on record already."""
    if observations.undeclared:
        yield _remark(
            "undeclared_write",
            f"changed without having been declared: {', '.join(observations.undeclared)}",
            "declare it with --writes in a new intent, or undo it",
        )
    if observations.truncated:
        yield _remark(
            "output_truncated",
            f"only the beginning of {' and '.join(observations.truncated)} was kept",
            "let the command print less, or raise max_output_bytes in the policy",
        )
    if ran.left_running:
        yield _remark(
            "left_running",
            "processes that the command had left running were killed",
            "let the command wait for what it starts",
        )


def _reservation_remarks(lost: list[str]) -> Iterable[Finding]:
    """What was written may have met another's work."""
    if lost:
        yield _remark(
            "reservation_lost",
            f"no longer reserved when it ended: {', '.join(lost)}",
            "ask the agent that holds it now: `moot scope list`",
        )


def _remark(code: str, message: str, hint: str) -> Finding:
    return Finding(rule="TRC-034", code=code, message=message, severity=Severity.WARNING, hint=hint)
