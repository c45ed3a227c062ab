"""Operations that run intents, record runs that died, and let participants do the whole work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.runs.limits import (
    DEFAULT_LIMITS,
    RunResult,
    make_surroundings,
    read_participants,
    result_fields,
)
from moot.api.traces import tracing
from moot.api.traces.tracing import actor_in_role
from moot.core.findings import Finding
from moot.protocols.trace.events import ToolExecutionFailed
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role

if TYPE_CHECKING:
    from moot.api.runs.limits import Limits, RunWatcher, Terminal
    from moot.api.session import Session


class StoredOutput(msgspec.Struct, frozen=True):
    """An output of a run: stdout, stderr, or `changed`, the list of files that it changed."""

    sha256: str
    name: str
    size: int


class ExecutedIntent(msgspec.Struct, frozen=True):
    """A run that succeeded or failed. `interrupted` is the signal that interrupted Moot, if any."""

    trace: str
    execution: str
    exit_status: int | None
    failed: bool
    detail: str
    artifacts: tuple[StoredOutput, ...]
    state: str
    findings: tuple[Finding, ...]
    interrupted: int | msgspec.UnsetType = msgspec.UNSET


class RecoveredRuns(msgspec.Struct, frozen=True):
    """`recovered` are the runs that were now recorded as failed; `running` are still running."""

    trace: str
    recovered: tuple[str, ...]
    running: tuple[str, ...]


class TraceRun(RunResult, frozen=True):
    """How a run of participants ended: `stop` gives the reason, `standing` the trace's stage.

    `decision` names the record of its model calls and their cost.
    """

    trace: str
    decision: str | None


@operation("trace.exec", writes=True, runs_programs=True)
def execute(session: Session, trace: str, intent: str) -> ExecutedIntent:
    """Run an intent that may run (the executor), and store its input and output.

    Runs exactly the intended command, without a shell, in the session's worktree, within its
    timeout. It sees only the environment variables that the policy and the intent name. Its start
    is recorded first. An intent runs at most once, so a repeat is refused and needs no key.
    Refused, with nothing run, if a required approval or reservation is missing.
    """
    from moot.api.traces import running as execution

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    actor = actor_in_role(session, stream, Role.EXECUTOR)
    done = execution.execute(workspace, stream, intent, actor, session.env, session.place.worktree)
    return ExecutedIntent(
        trace=tracing.short_name(stream),
        execution=done.execution,
        exit_status=done.exit_status,
        failed=done.failed,
        detail=done.detail,
        artifacts=tuple(
            StoredOutput(output.ref.sha256, output.name, output.ref.size) for output in done.outputs
        ),
        state=str(workspace.engine.state(TRACE, stream).stage),
        findings=done.findings,
        interrupted=msgspec.UNSET if done.interrupted is None else done.interrupted,
    )


@operation("trace.recover", writes=True)
def recover(session: Session, trace: str) -> RecoveredRuns:
    """Record as failed every run that died with its process. Nothing is run again.

    Every operation that writes to a trace does this first. A repeat has nothing to record.
    """
    from moot.api.traces import running as execution

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    died = execution.recover(workspace, stream)
    return RecoveredRuns(
        trace=tracing.short_name(stream),
        recovered=tuple(outcome.newest(ToolExecutionFailed).event.execution_id for outcome in died),
        running=tuple(sorted(workspace.engine.state(TRACE, stream).running)),
    )


@operation("trace.run", writes=True, runs_programs=True)
def run(
    session: Session,
    trace: str,
    participants: Sequence[str],
    *,
    execute: bool = False,
    limits: Limits | None = None,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
) -> TraceRun:
    """Let participants propose, judge, intend and claim until the work is verified.

    Each of `participants` is NAME=SPEC (docs/how-to/write-a-participant.md); a session with a name
    may only bring its own. Their steps are signed with their keys, and the trace's own rules apply.
    A command that they intend runs only with `execute`, and only if the critic and the policy
    allow it. A participant called `human` is asked on `terminal`. A repeat continues from the
    trace's current stage.
    """
    from moot.api.runs.trace import ExecutionSite, run_trace

    specs = read_participants(session, participants)
    seats = make_surroundings(session, terminal, limits or DEFAULT_LIMITS)
    site = ExecutionSite(session.place.worktree, session.env) if execute else None
    finished = run_trace(
        session.workspace, trace, specs, seats, limits or DEFAULT_LIMITS, watch, site
    )
    return TraceRun(trace, finished.decision, **result_fields(finished))
