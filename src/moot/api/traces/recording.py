"""What all steps of a trace have in common: which trace, who acts, what is recorded first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.names import SYSTEM

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.machine import Command
    from moot.engine.job import JobOutcome
    from moot.protocols.trace.model import Role


def take_step(
    session: Session, trace: str, role: Role, command: Command, key: str | None
) -> JobOutcome:
    """Record a step of the part `role`. A run that died with its process is recorded first."""
    from moot.flows.trace import execution, tracing

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    actor = actor_in_role(session, stream, role)
    execution.recover(workspace, stream)
    return tracing.execute_step(workspace, stream, command, actor, key=key)


def actor_in_role(session: Session, stream: str, role: Role) -> str:
    """The name that the session acts under, else that of whoever plays the part.

    A session with another's name is refused by the trace's own rules, which put that on record.
    """
    from moot.flows.trace import tracing
    from moot.protocols.trace.machine import MACHINE as TRACE

    if session.acting:
        return session.actor()
    return session.actor(tracing.agent_in_role(session.workspace.engine.state(TRACE, stream), role))


def actor_in_charge(session: Session) -> str:
    """A person who acts under their name, else the workspace itself. The rules refuse agents."""
    return session.actor() if session.acting else SYSTEM


def stage_after(outcome: JobOutcome) -> str:
    from moot.protocols.trace.machine import MACHINE as TRACE

    return str(TRACE.require_state(outcome.state).stage)


def trace_of(outcome: JobOutcome) -> str:
    """`t1` of the trace that an outcome is about."""
    from moot.flows.trace import tracing

    return tracing.short_name(outcome.stream)
