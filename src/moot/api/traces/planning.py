"""Operations on proposals and intents, and the critic's reviews of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.traces.tracing import stage_after, take_step, trace_of
from moot.core.clock import SECOND
from moot.core.findings import Finding
from moot.protocols.trace.commands import CreateProposal, ReviewIntent, ReviewProposal, SignIntent
from moot.protocols.trace.events import ProposalCreated, ToolIntentSigned
from moot.protocols.trace.model import Role

if TYPE_CHECKING:
    from moot.api.session import Session


class RecordedProposal(msgspec.Struct, frozen=True):
    trace: str
    proposal: str
    state: str
    findings: tuple[Finding, ...]


class ReviewedProposal(msgspec.Struct, frozen=True):
    trace: str
    proposal: str
    verdict: str
    state: str
    findings: tuple[Finding, ...]


class SignedIntent(msgspec.Struct, frozen=True):
    """`needs_approval` lists why the critic must approve it first; if empty, it may run now."""

    trace: str
    intent: str
    risk: str
    input_hash: str
    needs_approval: tuple[str, ...]
    state: str
    findings: tuple[Finding, ...]


class ReviewedIntent(msgspec.Struct, frozen=True):
    trace: str
    intent: str
    verdict: str
    state: str
    findings: tuple[Finding, ...]


@operation("trace.propose", writes=True)
def propose(
    session: Session,
    trace: str,
    objective: str,
    *,
    tools: Sequence[str],
    assumptions: Sequence[str] = (),
    expected_evidence: Sequence[str] = (),
    fallback_for: str | None = None,
    supersedes: str | None = None,
    key: str | None = None,
) -> RecordedProposal:
    """Propose how to do the task (the planner).

    `fallback_for` names the failed intent that it works around, `supersedes` the proposal that it
    replaces. Refused for everyone but the planner, and after the final statement.
    """
    command = CreateProposal(
        objective=objective,
        required_tools=tuple(tools),
        assumptions=tuple(assumptions),
        expected_evidence=tuple(expected_evidence),
        supersedes=supersedes,
        fallback_for=fallback_for,
    )
    outcome = take_step(session, trace, Role.PLANNER, command, key)
    proposal = outcome.newest(ProposalCreated).event.proposal_id
    return RecordedProposal(trace_of(outcome), proposal, stage_after(outcome), outcome.findings)


@operation("trace.review", writes=True)
def review(
    session: Session,
    trace: str,
    proposal: str,
    verdict: str,
    rationale: str,
    *,
    conditions: Sequence[str] = (),
    risk_assessment: str = "",
    key: str | None = None,
) -> ReviewedProposal:
    """Judge a proposal (the critic): approved, conditional, rejected or blocked.

    conditional: each of its intents also needs the critic's approval; blocked: until revised.
    Refused for everyone but the critic, and for a proposal that has its final review.
    """
    command = ReviewProposal(
        proposal_id=proposal,
        status=verdict,
        rationale=rationale,
        risk_assessment=risk_assessment,
        conditions=tuple(conditions),
    )
    outcome = take_step(session, trace, Role.CRITIC, command, key)
    return ReviewedProposal(
        trace_of(outcome), proposal, verdict, stage_after(outcome), outcome.findings
    )


@operation("trace.intend", writes=True)
def intend(
    session: Session,
    trace: str,
    proposal: str,
    command: Sequence[str],
    *,
    tool: str,
    risk: str,
    why: str,
    writes: Sequence[str] = (),
    cwd: str = ".",
    env: Sequence[str] = (),
    timeout_seconds: float | None = None,
    retry_of: str | None = None,
    supersedes: str | None = None,
    key: str | None = None,
) -> SignedIntent:
    """Say exactly what is going to run, and why (the executor). Nothing runs yet.

    There is no shell: `command` is the program and its arguments. `writes` are the files or
    folders that it will change, `env` the variables that it may see in addition to the policy's,
    `cwd` its folder, relative to the project's root. A `risk` (low, medium, high, critical) below
    the policy's is raised to it. Refused without an approved proposal that names the tool.
    """
    millis = None if timeout_seconds is None else max(1, round(timeout_seconds * SECOND))
    intent = SignIntent(
        proposal_id=proposal,
        tool=tool,
        command=tuple(command),
        risk=risk,
        justification=why,
        cwd=cwd,
        env=tuple(env),
        timeout_ms=millis,
        writes=tuple(writes),
        supersedes=supersedes,
        retry_of=retry_of,
    )
    outcome = take_step(session, trace, Role.EXECUTOR, intent, key)
    event = outcome.newest(ToolIntentSigned).event
    return SignedIntent(
        trace=trace_of(outcome),
        intent=event.intent_id,
        risk=str(event.risk_class),
        input_hash=event.input_hash,
        needs_approval=tuple(map(str, event.needs)),
        state=stage_after(outcome),
        findings=outcome.findings,
    )


@operation("trace.review_intent", writes=True)
def review_intent(
    session: Session,
    trace: str,
    intent: str,
    verdict: str,
    rationale: str,
    *,
    key: str | None = None,
) -> ReviewedIntent:
    """Approve an intent, or block it (the critic). A blocked one is never run.

    Refused for everyone but the critic, and for an intent that has run.
    """
    command = ReviewIntent(intent_id=intent, status=verdict, rationale=rationale)
    outcome = take_step(session, trace, Role.CRITIC, command, key)
    return ReviewedIntent(
        trace_of(outcome), intent, verdict, stage_after(outcome), outcome.findings
    )
