"""Operations that lead from bills and critiques to traces, and from traces to mail.

A repeated call finds the step that was taken before, so these operations need no key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.bridges.steps import BridgeStep, name_of_asker, require_own_name, step_fields
from moot.api.operation import operation
from moot.core.errors import Malformed
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session


class TraceStep(BridgeStep, frozen=True):
    """The trace in which the proposal waits for its critic."""

    trace: str


class AckStep(BridgeStep, frozen=True):
    """`held` are the scopes that `holder`, who did the work, has not released yet."""

    held: tuple[Quoted, ...]
    holder: str


class WaitingTask(msgspec.Struct, frozen=True):
    """What waits for an agent, and in which stream."""

    where: str
    what: str
    subject: Quoted


class ResumedStep(BridgeStep, frozen=True):
    """What else waits for the agent that resumed."""

    waits: tuple[WaitingTask, ...]


# To a trace ---------------------------------------------------------------------------------------


@operation("flow.approval_to_trace", writes=True, as_ledger=True)
def approval_to_trace(
    session: Session,
    parliament: str,
    *,
    tools: tuple[str, ...],
    planner: str | None = None,
    executor: str | None = None,
    critic: str | None = None,
    auditor: str | None = None,
    evidence: tuple[str, ...] = (),
    supersede: str | None = None,
) -> TraceStep:
    """Begin provable work from an approved bill: a trace, and the planner's proposal in it.

    `parliament` is its folder or its id. The acting agent is the planner and signs. Nothing runs
    before the critic has approved too. With `supersede` the proposal replaces the one in that
    trace, whose parts stay the same.
    """
    from moot.api.bridges import approval_to_trace as flow
    from moot.protocols.trace.model import Role

    actor = require_own_name(session, planner)
    agents_by_role = {Role.EXECUTOR: executor, Role.CRITIC: critic, Role.AUDITOR: auditor}
    missing = [role.value for role, name in agents_by_role.items() if not name]
    if supersede is None and missing:
        raise Malformed(
            f"no agent is named as {', '.join(missing)}",
            code="parts_required",
            hint="--executor, --critic and --auditor are needed",
        )
    parts = {Role.PLANNER: actor, **{role: name or "" for role, name in agents_by_role.items()}}
    work = flow.WorkPlan(parts, tuple(tools), tuple(evidence), supersede=supersede)
    taken = flow.approval_to_trace(session.workspace, parliament, actor, work)
    return TraceStep(*step_fields(taken), trace=taken.step.target.id)


@operation("flow.critique_to_challenge", writes=True, as_ledger=True)
def critique_to_challenge(
    session: Session, message: str, *, trace: str | None = None, agent: str | None = None
) -> BridgeStep:
    """Challenge a claim for the reason that a CRITIQUE gives; only the trace's critic may.

    `trace` names it if the critique's target does not (no_claim_named).
    """
    from moot.api.bridges import to_mail

    actor = require_own_name(session, agent)
    taken = to_mail.critique_to_challenge(session.workspace, message, actor, trace)
    return BridgeStep(*step_fields(taken))


@operation("flow.resume_to_work", writes=True, as_ledger=True)
def resume_to_work(session: Session, event: str) -> ResumedStep:
    """Bind the parts of an adopted name in open traces to its new key; only a person may.

    `event` is the id of the event that adopted the name. Runs that died with their process are
    recorded as failed and never run again. Refused if no part is bound to an earlier key.
    """
    from moot.api.bridges import handovers

    person = session.person("giving a part to another key")
    resumed = handovers.resume_to_work(session.workspace, event, person)
    waits = tuple(WaitingTask(where, due.what, Quoted(due.subject)) for where, due in resumed.dues)
    return ResumedStep(*step_fields(resumed.step), waits=waits)


@operation("flow.resume_to_seat", writes=True, as_ledger=True)
def resume_to_seat(session: Session, event: str) -> BridgeStep:
    """Give an adopted name its seats in open parliaments back; only a person may."""
    from moot.api.bridges import handovers

    person = session.person("giving a seat to another")
    return BridgeStep(*step_fields(handovers.resume_to_seat(session.workspace, event, person)))


# To mail and people -------------------------------------------------------------------------------


@operation("flow.challenge_to_critique", writes=True, as_ledger=True)
def challenge_to_critique(session: Session, trace: str, claim: str) -> BridgeStep:
    """Tell the agent that made a claim, by mail, that it was challenged and why."""
    from moot.api.bridges import to_mail

    asker = name_of_asker(session)
    taken = to_mail.challenge_to_critique(session.workspace, trace, claim, asker)
    return BridgeStep(*step_fields(taken))


@operation("flow.report_to_info", writes=True, as_ledger=True)
def report_to_info(session: Session, trace: str) -> BridgeStep:
    """Tell everyone who has a part in a trace what its verification found."""
    from moot.api.bridges import to_mail

    taken = to_mail.report_to_info(session.workspace, trace, name_of_asker(session))
    return BridgeStep(*step_fields(taken))


@operation("flow.done_to_ack", writes=True, as_ledger=True)
def done_to_ack(
    session: Session, trace: str, *, message: str | None = None, agent: str | None = None
) -> AckStep:
    """Acknowledge the message that asked for verified work, as Completed.

    `message` defaults to the one that this path began with. Only its receiver may do this
    (not_addressed), and only after the work was verified (not_verified).
    """
    from moot.api.bridges import to_mail as flow

    actor = require_own_name(session, agent)
    taken = flow.done_to_ack(session.workspace, trace, actor, message)
    holder, scopes = flow.list_held_scopes(session.workspace, trace)
    return AckStep(*step_fields(taken), held=tuple(map(Quoted, scopes)), holder=holder)


@operation("flow.timeout_to_operator", writes=True, as_ledger=True)
def timeout_to_operator(session: Session, debate: str) -> BridgeStep:
    """Tell the people here that a debate waits for them because a turn timed out."""
    from moot.api.bridges import handovers as flow

    return BridgeStep(
        *step_fields(flow.timeout_to_operator(session.workspace, debate, name_of_asker(session)))
    )


@operation("flow.takeover_to_info", writes=True, as_ledger=True)
def takeover_to_info(session: Session, event: str) -> BridgeStep:
    """Tell an agent that its scope was taken over, and what can no longer run there."""
    from moot.api.bridges import handovers

    taken = handovers.takeover_to_info(session.workspace, event, name_of_asker(session))
    return BridgeStep(*step_fields(taken))
