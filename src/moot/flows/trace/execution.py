"""Running an approved intent: on record before it runs, its outputs stored before they are cited.

    lock -> reserved? -> start on record -> reserved still? -> look -> run -> look again
         -> blot out secrets -> store -> end on record

Whoever is killed in between leaves an execution without an end; the next command on that trace
records it as failed (`recover`) and never runs it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.core import secrets
from moot.core.errors import Refused
from moot.core.findings import Finding, Severity
from moot.core.record import ArtifactRef
from moot.engine.job import NO_LINK, Link
from moot.flows.trace import guarded_execution, run_lock, tracing
from moot.flows.trace.outputs import EDGE, OutputStore, RunObservations, store_outputs
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
    ExecutionFailure,
    ExecutionResult,
    FailureKind,
    HeldReservation,
    Role,
)
from moot.protocols.trace.tool_input import MEDIA_TYPE, encode_input, sha256_hex
from moot.system import footprint, program
from moot.system.running import (
    ProgramNotStarted,
    ProgramResult,
    RunOrder,
    allowed_environment,
    run_program,
)

if TYPE_CHECKING:
    from moot.engine.job import JobOutcome
    from moot.workspace.workspace import Workspace

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
    `protocols/trace/tool_rules.py`, asked when its start is put on record).
    """
    recover(workspace, stream)
    intent = tracing.read_intent(workspace, stream, intent_id)
    state = workspace.engine.state(MACHINE, stream)
    folder = _folder(root, intent.cwd)
    granted = allowed_environment(env, (*state.policy.environment, *intent.env))
    hidden = (*state.policy.secrets, *secrets.patterns_of_variables(granted, intent.env))
    executable = program.find_program(intent.command[0], folder, granted)
    with run_lock.RunLock(workspace.path, stream, intent_id) as held:
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
        if not run_lock.is_running(workspace.path, stream, started.intent):
            evidence = run_lock.end_leftovers(workspace.path, stream, started.intent)
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
            hint="intend it anew with a --cwd below the project's root",
        )
    if not os.path.isdir(folder):
        raise Refused(
            "no_folder", f"{cwd} is no folder", hint="make it, or intend it anew with another --cwd"
        )
    return Path(folder)


def _start(
    workspace: Workspace,
    stream: str,
    intent: ToolIntentSigned,
    actor: str,
    root: Path,
    executable: program.Program,
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
            "compare notes with whoever holds it now: `moot scope list`",
        )


def _remark(code: str, message: str, hint: str) -> Finding:
    return Finding(rule="TRC-034", code=code, message=message, severity=Severity.WARNING, hint=hint)
