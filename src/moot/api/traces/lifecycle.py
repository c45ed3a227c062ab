"""Operations that open and abort traces, and bind a role to its agent's new key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.traces import tracing
from moot.api.traces.tracing import actor_in_charge, stage_after, trace_of
from moot.core.errors import Malformed
from moot.core.findings import Finding
from moot.engine.registry_commands import find_agent
from moot.protocols.trace.commands import AbortTrace, RotateKey
from moot.protocols.trace.events import KeyRotated
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role
from moot.protocols.trace.policy import DEFAULT_POLICY, parse_policy

if TYPE_CHECKING:
    from moot.api.session import Session


class NewTrace(msgspec.Struct, frozen=True):
    """`trace` is its short name, such as t1; `id` is the name of its stream in the ledger."""

    trace: str
    id: str
    roles: dict[str, str]
    findings: tuple[Finding, ...]


class RotatedRole(msgspec.Struct, frozen=True):
    """`key` is the id of the key that `agent` now uses in this role."""

    trace: str
    role: str
    agent: str
    key: str
    state: str
    findings: tuple[Finding, ...]


class AbortedTrace(msgspec.Struct, frozen=True):
    trace: str
    state: str
    findings: tuple[Finding, ...]


@operation("trace.new", writes=True)
def new(
    session: Session,
    task: str,
    *,
    planner: str,
    executor: str,
    critic: str,
    auditor: str,
    policy: bytes | None = None,
    follows: str | None = None,
    key: str | None = None,
) -> NewTrace:
    """Begin a trace: a task, and four agents for its four parts.

    `policy` is the trace's rules as JSON (docs/traces.md; None: the safer ones),
    `follows` an earlier trace that this one continues. Refused if an agent opens it, if a name
    is not registered, or if two roles have the same agent and the policy does not allow that.
    """
    workspace = session.workspace
    roles = {
        Role.PLANNER: planner,
        Role.EXECUTOR: executor,
        Role.CRITIC: critic,
        Role.AUDITOR: auditor,
    }
    rules = DEFAULT_POLICY if policy is None else parse_policy(policy)
    earlier = None if follows is None else tracing.require_trace(workspace, follows)
    actor = actor_in_charge(session)
    outcome = tracing.open_trace(workspace, task, roles, actor, rules, earlier, key)
    return NewTrace(
        trace=trace_of(outcome),
        id=outcome.stream,
        roles={str(role): agent for role, agent in roles.items()},
        findings=outcome.findings,
    )


@operation("trace.rotate", writes=True)
def rotate(
    session: Session, trace: str, role: str, *, reason: str = "", key: str | None = None
) -> RotatedRole:
    """Let a part be played under its agent's new key, after that key was rotated.

    For people, not for the four agents. Refused if the role already uses that key.
    """
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    agent_name = tracing.agent_in_role(workspace.engine.state(TRACE, stream), _read_role(role))
    agent = find_agent(workspace.engine, agent_name)
    command = RotateKey(role=role, epoch=agent.epoch, kid=agent.kid, reason=reason)
    outcome = workspace.engine.execute(stream, command, actor_in_charge(session), key=key)
    event = outcome.newest(KeyRotated).event
    return RotatedRole(
        trace=trace_of(outcome),
        role=role,
        agent=event.agent,
        key=event.new_kid,
        state=stage_after(outcome),
        findings=outcome.findings,
    )


def _read_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        hint = f"one of {', '.join(Role)}"
        raise Malformed(f"{text!r} is no part of a trace", code="bad_role", hint=hint) from None


@operation("trace.abort", writes=True)
def abort(session: Session, trace: str, reason: str, *, key: str | None = None) -> AbortedTrace:
    """Stop a trace for good; the reason stays on record. For people, not for its four agents."""
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    command = AbortTrace(reason=reason)
    outcome = workspace.engine.execute(stream, command, actor_in_charge(session), key=key)
    return AbortedTrace(trace_of(outcome), stage_after(outcome), outcome.findings)
