"""Run an approved intent: record its start first, and store its outputs before they are cited.

    lock -> check reservations -> record start -> check reservations -> footprint -> run
         -> footprint -> redact secrets -> store outputs -> record end

If the process is killed in between, the execution has no end; the next command on that trace
records it as failed (`recover`) and never runs it again.
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
# An event names at most so many changed files; the artifact `changed` lists all of them.
MOST_NAMED: Final = 200
NAMED_BYTES: Final = 12_000
# Bytes to read beyond the limit, so that no secret is cut in half before redaction.
EDGE: Final = 32_768


class RunObservations(NamedTuple):
    """What was observed of a run, except how it ended; the field names are the record's."""

    duration_ms: int = 0
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""


class OutputStore(NamedTuple):
    """Where outputs are stored, which secrets are redacted, and the size limit of each output."""

    artifacts: Artifacts
    hidden: tuple[SecretPattern, ...]
    most_bytes: int


def store_outputs(
    store: OutputStore, ran: ProgramResult, changes: list[FileChange], remarks: tuple[str, ...]
) -> tuple[tuple[Stored, ...], RunObservations]:
    """Store a run's output and the list of files it changed, with secrets redacted."""
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
    """Redact secrets before cutting: half a secret would no longer match its pattern.

    For the same reason, drop the last bytes of an output that was truncated while reading.
    """
    clean = secrets.redact_bytes(store.hidden, output.beginning)
    complete_bytes = len(clean.data) - EDGE if output.truncated else len(clean.data)
    return clean.data[: max(0, min(store.most_bytes, complete_bytes))], clean.found


def _first_names(paths: Iterable[str]) -> tuple[str, ...]:
    """Return as many paths as fit into an event; the artifact has them all."""
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


# The lock is taken before the start is recorded, so if an execution's lock is free, its runner has
# exited. A note file holds the command's pid and start time, and all its child processes carry the
# tag, so that leftovers can be killed without hitting another process.

FOLDER: Final = "running"


class _Note(msgspec.Struct, frozen=True):
    pid: int
    mark: str


class RunLock:
    """The lock of one execution, held from before its start is recorded until after its end."""

    def __init__(self, workspace: Path, stream: str, intent: str) -> None:
        self._place = _place(workspace, stream, intent)
        self._lock = FileLock(self._place, mode=0o600)
        self.tag = _run_tag(self._place)

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
            _note_file(self._place).unlink(missing_ok=True)
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
        self._lock.release()

    def note_process(self, pid: int) -> None:
        """Write down the command's process, so that `end_leftovers` can find it after a crash."""
        with suppress(OSError):
            _note_file(self._place).write_bytes(msgspec.json.encode(_Note(pid, start_mark_of(pid))))


def is_running(workspace: Path, stream: str, intent: str) -> bool:
    """Return whether a live process still runs this intent."""
    return is_held(_place(workspace, stream, intent))


def end_leftovers(workspace: Path, stream: str, intent: str) -> tuple[str, ...]:
    """Kill what is left of an execution whose runner has exited, and describe what was found."""
    place = _place(workspace, stream, intent)
    seen = ["the process that ran it is gone"]
    try:
        note = msgspec.json.decode(_note_file(place).read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        seen.append("it is not known whether its command had begun")
    else:
        killed = kill_leftover(note.pid, note.mark)
        seen.append(
            f"its command, process {note.pid}, was still there and was ended"
            if killed
            else f"its command, process {note.pid}, is gone too"
        )
    if kill_tagged(_run_tag(place)):
        seen.append("what it had started was still there and was ended")
    for file in (_note_file(place), place):
        with suppress(OSError):
            file.unlink(missing_ok=True)
    return tuple(seen)


def _place(workspace: Path, stream: str, intent: str) -> Path:
    """Return the lock file, named by a hash so that no id becomes part of a path."""
    name = hashlib.sha256(f"{stream}\n{intent}".encode()).hexdigest()[:32]
    return workspace / FOLDER / f"{name}.lock"


def _run_tag(place: Path) -> str:
    """Return a tag unique to this workspace: another may have the same trace and intent names."""
    return hashlib.sha256(os.fsencode(os.path.realpath(place))).hexdigest()[:32]


def _note_file(place: Path) -> Path:
    return place.with_suffix(".json")


_RESERVATION_LOST: Final = "the reservation of {} was lost before it could run"


class EndedRun(NamedTuple):
    """An execution that has ended, with its stored outputs."""

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
    """Run an approved intent in the worktree `root`.

    Its proposal must be approved, and so must the intent if it is risky or exceeds the proposal.
    Refused, with nothing run, if the rules do not allow it (`approval_required` and others of
    `protocols/trace/rules.py`, which are checked when its start is recorded).
    """
    recover(workspace, stream)
    intent = tracing.read_intent(workspace, stream, intent_id)
    state = workspace.engine.state(MACHINE, stream)
    folder = _working_folder(root, intent.cwd)
    granted = allowed_environment(env, (*state.policy.environment, *intent.env))
    hidden = (*state.policy.secrets, *secrets.patterns_of_variables(granted, intent.env))
    executable = programs.find_program(intent.command[0], folder, granted)
    with RunLock(workspace.path, stream, intent_id) as held:
        execution, reserved = _start(workspace, stream, intent, actor, root, executable)
        lost = guarded_execution.lost_scopes(workspace, reserved, actor)
        if lost:
            return _record_not_started(
                workspace, stream, execution, actor, _RESERVATION_LOST.format(", ".join(lost))
            )
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
            return _record_not_started(workspace, stream, execution, actor, str(problem))
        after = footprint.take_footprint(root, intent.writes)
        changes = footprint.compare_footprints(root, intent.writes, before, after)
        remarks = tuple(dict.fromkeys((*before.remarks, *after.remarks)))
        store = OutputStore(workspace.artifacts, hidden, state.policy.max_output_bytes)
        outputs, observations = store_outputs(store, ran, changes, remarks)
        done = _record_end(workspace, stream, execution, actor, ran, outputs, observations)
        lost = guarded_execution.lost_scopes(workspace, reserved, actor)
        return done._replace(findings=(*done.findings, *_reservation_remarks(lost)))


def recover(workspace: Workspace, stream: str, link: Link = NO_LINK) -> list[JobOutcome]:
    """TRC-061: record as failed every run whose process died. Runs nothing again.

    Needs the executor's key: without it the record is left for later, and the caller continues.
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


def _working_folder(root: Path, cwd: str) -> Path:
    """Return the real path of the working folder; Refused if it is outside the root."""
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
    tracing.rehearse(workspace, stream, command, actor)  # a refusal leaves no file behind
    workspace.artifacts.put(data, MEDIA_TYPE)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    return outcome.newest(ToolExecutionStarted).event.execution_id, reserved


def _record_not_started(
    workspace: Workspace, stream: str, execution: str, actor: str, why: str
) -> EndedRun:
    failure = ExecutionFailure(kind=FailureKind.NOT_STARTED, detail=why)
    command = FailExecution(execution_id=execution, failure=failure)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    return EndedRun(execution, True, None, why, (), outcome.findings)


def _record_end(
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
    observed: dict[str, Any] = observations._asdict()
    if kind is None:
        result = ExecutionResult(exit_status=0, **observed)
        command = CompleteExecution(execution_id=execution, outputs=outputs, result=result)
    else:
        failure = ExecutionFailure(
            kind=kind, detail=detail, exit_status=ran.exit_status, **observed
        )
        command = FailExecution(execution_id=execution, failure=failure, outputs=outputs)
    outcome = tracing.execute_step(workspace, stream, command, actor)
    findings = (*outcome.findings, *_run_remarks(ran, observations))
    return EndedRun(
        execution, kind is not None, ran.exit_status, detail, outputs, findings, ran.interrupted
    )


def describe_ending(ran: ProgramResult) -> tuple[FailureKind | None, str]:
    """Return the kind of failure (None if it succeeded) and a description."""
    if ran.interrupted is not None:
        return FailureKind.STOPPED, f"we were interrupted by signal {ran.interrupted}"
    if ran.timed_out:
        return FailureKind.TIMEOUT, "its time was up; it was killed with all it had started"
    if ran.signal is not None:
        return FailureKind.SIGNAL, f"ended by signal {ran.signal}"
    if ran.exit_status:
        return FailureKind.EXIT, f"exit status {ran.exit_status}"
    return None, "exit status 0"


def _run_remarks(ran: ProgramResult, observations: RunObservations) -> Iterable[Finding]:
    """Yield warnings about a run that is already recorded."""
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
    """Warn that another agent may have written to the same scopes during the run."""
    if lost:
        yield _remark(
            "reservation_lost",
            f"no longer reserved when it ended: {', '.join(lost)}",
            "ask the agent that holds it now: `moot scope list`",
        )


def _remark(code: str, message: str, hint: str) -> Finding:
    return Finding(rule="TRC-034", code=code, message=message, severity=Severity.WARNING, hint=hint)
