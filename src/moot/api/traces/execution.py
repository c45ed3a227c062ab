"""Intents are run, runs that died are recorded, and participants may do the whole work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from moot.agents.cost import Cost
from moot.api.operation import operation
from moot.api.traces.recording import actor_in_role
from moot.core.findings import Finding
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.agents.human import Terminal
    from moot.agents.watch import Watch
    from moot.api.session import Session
    from moot.flows.runs.run_debate import Limits


class StoredOutput(msgspec.Struct, frozen=True):
    """What a run left, by name: stdout, stderr, or `changed`, a list of the files it changed."""

    sha256: str
    name: str
    size: int


class ExecutedIntent(msgspec.Struct, frozen=True):
    """A run that has ended, well or not. `interrupted` is the signal that ended us, if one did."""

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
    """`recovered` are the runs recorded as failed just now; `running` those that still go on."""

    trace: str
    recovered: tuple[str, ...]
    running: tuple[str, ...]


class TraceRun(msgspec.Struct, frozen=True):
    """How a run of participants ended: `stop` says why, `standing` where the trace is now.

    `decision` is where its calls and their cost are on record.
    """

    trace: str
    decision: str | None
    stop: str
    detail: Quoted
    turns: int
    waits_for: tuple[str, ...]
    cost: Cost
    standing: dict[str, Any]


@operation("trace.exec", writes=True, runs_programs=True)
def execute(session: Session, trace: str, intent: str) -> ExecutedIntent:
    """Run an intent that may run (the executor), and store its input and output.

    Exactly the intended command, without a shell, in the session's worktree, with those variables
    of the session's environment that the policy and the intent name, within its time. It is on
    record before it runs. An intent runs at most once, so a repeat is refused and needs no key.
    Refused, with nothing run, if it needs an approval or a reservation that is not there.
    """
    from moot.flows.trace import execution, tracing
    from moot.protocols.trace.model import Role

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
        state=str(workspace.engine.state(stream).stage),
        findings=done.findings,
        interrupted=msgspec.UNSET if done.interrupted is None else done.interrupted,
    )


@operation("trace.recover", writes=True)
def recover(session: Session, trace: str) -> RecoveredRuns:
    """Record as failed every run that died with its process. Nothing is run again.

    Every operation that writes to a trace does this first. A repeat finds nothing left to record.
    """
    from moot.flows.trace import execution, tracing

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    died = execution.recover(workspace, stream)
    return RecoveredRuns(
        trace=tracing.short_name(stream),
        recovered=tuple(outcome.recorded[-1].event.execution_id for outcome in died),
        running=tuple(sorted(workspace.engine.state(stream).running)),
    )


@operation("trace.run", writes=True, runs_programs=True)
def run(
    session: Session,
    trace: str,
    participants: Sequence[str],
    *,
    execute: bool = False,
    limits: Limits | None = None,
    watch: Watch | None = None,
    terminal: Terminal | None = None,
) -> TraceRun:
    """Let participants propose, judge, intend and claim until the work is verified.

    Each of `participants` is NAME=SPEC (docs/participants.md); a session with a name may only bring
    its own. What they say is signed by their keys and judged by the trace's own rules. A command
    that they intend runs only with `execute`, and only if the critic and the policy let it.
    `terminal` is where a participant called `human` is asked. A repeat goes on where the trace
    stands.
    """
    from moot.agents.seats import Room
    from moot.agents.spec import read_named
    from moot.flows.runs.run_debate import USUAL
    from moot.flows.runs.run_trace import run_trace
    from moot.flows.runs.runnable_trace import ExecutionSite

    specs = read_named(participants)
    for name in specs if session.acting else ():
        session.actor(name)
    finished = run_trace(
        session.workspace,
        trace,
        specs,
        Room(session.folder, session.env, terminal),
        limits or USUAL,
        watch,
        ExecutionSite(session.place.worktree, session.env) if execute else None,
    )
    ended = finished.ended
    return TraceRun(
        trace=trace,
        decision=finished.decision,
        stop=str(ended.stop),
        detail=Quoted(ended.detail),
        turns=ended.turns,
        waits_for=ended.waits_for,
        cost=ended.cost,
        standing=finished.standing,
    )
