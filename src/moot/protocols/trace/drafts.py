"""The event that a command asks for, whether or not the rules will allow it.

Everything that can be worked out is worked out here: ids, hashes, risk, who must agree, which
artifacts are cited. Nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.core.machine import Command, Draft, Event
from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace import risk
from moot.protocols.trace.inputs import hash_of, input_bytes
from moot.protocols.trace.model import (
    Bundled,
    Consent,
    Failure,
    FailureKind,
    Output,
    Profile,
    Result,
    Review,
    Role,
    State,
    Verdict,
    number,
)
from moot.protocols.trace.policy import hash_of as policy_hash
from moot.protocols.trace.toolchecks import step_of


def _opened(_state: State, command: ask.OpenTrace) -> Draft:
    return Draft(
        did.SessionInitialized(
            task=command.task,
            task_sha256=hash_of(command.task.encode("utf-8", "replace")),
            roles=command.roles,
            policy=command.policy,
            policy_sha256=policy_hash(command.policy),
            follows=command.follows,
        )
    )


def _proposed(state: State, command: ask.CreateProposal) -> Draft:
    return Draft(
        did.ProposalCreated(
            proposal_id=f"p{state.proposal_count + 1}",
            objective=command.objective,
            assumptions=command.assumptions or (),
            required_tools=command.required_tools,
            expected_evidence=command.expected_evidence or (),
            supersedes=command.supersedes,
            fallback_for=command.fallback_for,
        )
    )


def _reviewed(_state: State, command: ask.ReviewProposal) -> Draft:
    return Draft(
        did.ProposalReviewed(
            proposal_id=command.proposal_id,
            status=Review(command.status),
            rationale=command.rationale,
            risk_assessment=command.risk_assessment,
            conditions=command.conditions,
        )
    )


def _intended(state: State, command: ask.SignIntent) -> Draft:
    limit = command.timeout_ms
    limit = state.policy.default_timeout_ms if limit is None else limit
    env = tuple(sorted(set(command.env)))
    try:
        data = input_bytes(command.tool, command.command, command.cwd, env, limit)
    except Malformed:
        data = b""
    grade = risk.risk_of(state.policy, command.tool, command.command, command.risk)
    proposal = state.proposals.get(command.proposal_id)
    replaces = state.intents.get(command.supersedes or "")
    needs = risk.approval_reasons(state.policy, proposal, command.tool, grade, replaces)
    event = did.ToolIntentSigned(
        intent_id=f"i{state.intent_count + 1}",
        proposal_id=command.proposal_id,
        tool=command.tool,
        command=command.command,
        cwd=command.cwd,
        env=env,
        timeout_ms=limit,
        writes=command.writes,
        input_hash=command.input_hash or hash_of(data),
        declared_risk=command.risk,
        risk_class=grade,
        justification=command.justification,
        attempt=1,
        needs=needs,
        supersedes=command.supersedes,
        retry_of=command.retry_of,
    )
    return Draft(_counted(state, event))


def _counted(state: State, event: did.ToolIntentSigned) -> did.ToolIntentSigned:
    failing = state.failing.get(step_of(state, event))
    return replace(event, attempt=failing.failed + 1) if failing is not None else event


def _consented(_state: State, command: ask.ReviewIntent) -> Draft:
    return Draft(
        did.ToolIntentReviewed(
            intent_id=command.intent_id,
            status=Consent(command.status),
            rationale=command.rationale,
        )
    )


def _started(state: State, command: ask.StartExecution) -> Draft:
    event = did.ToolExecutionStarted(
        execution_id=f"x{state.execution_count + 1}",
        intent_id=command.intent_id,
        input_artifact=command.input.sha256,
        reservations=command.reservations,
        program=command.program,
        program_sha256=command.program_sha256,
    )
    return Draft(event, (command.input,))


def _ends(state: State, name: str) -> tuple[str, str]:
    run = state.running.get(name)
    return (run.intent, run.input_artifact) if run is not None else ("", "")


def _outputs(stored: tuple[ask.Stored, ...]) -> tuple[Output, ...]:
    return tuple(Output(one.name, one.ref.sha256) for one in stored)


def _refs(stored: tuple[ask.Stored, ...]) -> tuple[ArtifactRef, ...]:
    return tuple({one.ref.sha256: one.ref for one in stored}.values())


def _completed(state: State, command: ask.CompleteExecution) -> Draft:
    intent, given = _ends(state, command.execution_id)
    event = did.ToolExecutionCompleted(
        execution_id=command.execution_id,
        intent_id=intent,
        input_artifact=given,
        outputs=_outputs(command.outputs),
        result=command.result or Result(exit_status=0, duration_ms=0),
    )
    return Draft(event, _refs(command.outputs))


def _failed(state: State, command: ask.FailExecution) -> Draft:
    return _failure(state, command, command.failure or _UNTOLD, recovered=False)


_UNTOLD: Final = Failure(kind=FailureKind.DIED, detail="")


def _recovered(state: State, command: ask.RecoverExecution) -> Draft:
    failure = Failure(
        kind=FailureKind.DIED,
        detail="the process that ran it was gone before it could say how it ended",
        evidence=command.evidence,
    )
    return _failure(state, command, failure, recovered=True)


def _failure(
    state: State,
    command: ask.FailExecution | ask.RecoverExecution,
    failure: Failure,
    *,
    recovered: bool,
) -> Draft:
    intent, given = _ends(state, command.execution_id)
    event = did.ToolExecutionFailed(
        execution_id=command.execution_id,
        intent_id=intent,
        input_artifact=given,
        outputs=_outputs(command.outputs),
        failure=failure,
        recovered=recovered,
    )
    return Draft(event, _refs(command.outputs))


def _claimed(state: State, command: ask.IssueClaim) -> Draft:
    cited = {one.sha256: one for one in command.evidence}
    event = did.ClaimIssued(
        claim_id=f"c{state.claim_count + 1}",
        text=command.text,
        confidence=command.confidence,
        evidence=tuple(cited),
        execution_ids=command.execution_ids,
        supersedes=command.supersedes,
        artifact_missing=tuple(one.sha256 for one in cited.values() if one.ref is None),
    )
    return Draft(event, tuple(one.ref for one in cited.values() if one.ref is not None))


def _challenged(_state: State, command: ask.ChallengeClaim) -> Draft:
    cited = {one.sha256: one for one in command.evidence}
    event = did.ClaimChallenged(
        claim_id=command.claim_id, reason=command.reason, evidence=tuple(cited)
    )
    return Draft(event, tuple(one.ref for one in cited.values() if one.ref is not None))


def _withdrawn(_state: State, command: ask.WithdrawClaim) -> Draft:
    return Draft(did.ClaimWithdrawn(claim_id=command.claim_id, reason=command.reason))


def _finished(state: State, command: ask.SignFinalStatement) -> Draft:
    standing = sorted(state.claims.values(), key=lambda one: number(one.id))
    bundle = tuple(Bundled(one.id, one.event) for one in standing)
    return Draft(did.FinalStatementSigned(statement=command.statement, claims=bundle))


def _verifying(state: State, command: ask.StartVerification) -> Draft:
    return Draft(
        did.VerificationRunStarted(
            run_id=f"v{state.run_count + 1}",
            profile=Profile(command.profile),
            head=state.head,
            events=state.events,
        )
    )


def _verified(_state: State, command: ask.CompleteVerification) -> Draft:
    report = command.report
    event = did.VerificationRunCompleted(
        run_id=command.run_id,
        status=Verdict(command.status),
        report_artifact=report.sha256 if report is not None else "",
        head=command.head,
        events=command.events,
        failure_codes=command.failure_codes,
    )
    return Draft(event, (report, *command.pages) if report is not None else ())


def _aborted(_state: State, command: ask.AbortTrace) -> Draft:
    return Draft(did.SessionAborted(reason=command.reason))


def _marked_failed(_state: State, command: ask.FailTrace) -> Draft:
    return Draft(did.SessionFailed(code=command.code, detail=command.detail))


def _rotated(state: State, command: ask.RotateKey) -> Draft:
    role = Role(command.role)
    bound = state.holder(role)
    return Draft(
        did.KeyRotated(
            role=role,
            agent=bound.agent if bound is not None else "",
            epoch=command.epoch,
            old_kid=bound.kid if bound is not None else "",
            new_kid=command.kid,
            reason=command.reason,
        )
    )


def _forged(_state: State, command: ask.ReportForgery) -> Draft:
    return Draft(did.SessionFailed(code="sig_invalid", detail=command.detail))


DRAFTS: Final[dict[type[Command], tuple[type[Event], Callable[[State, Any], Draft]]]] = {
    ask.OpenTrace: (did.SessionInitialized, _opened),
    ask.CreateProposal: (did.ProposalCreated, _proposed),
    ask.ReviewProposal: (did.ProposalReviewed, _reviewed),
    ask.SignIntent: (did.ToolIntentSigned, _intended),
    ask.ReviewIntent: (did.ToolIntentReviewed, _consented),
    ask.StartExecution: (did.ToolExecutionStarted, _started),
    ask.CompleteExecution: (did.ToolExecutionCompleted, _completed),
    ask.FailExecution: (did.ToolExecutionFailed, _failed),
    ask.RecoverExecution: (did.ToolExecutionFailed, _recovered),
    ask.IssueClaim: (did.ClaimIssued, _claimed),
    ask.ChallengeClaim: (did.ClaimChallenged, _challenged),
    ask.WithdrawClaim: (did.ClaimWithdrawn, _withdrawn),
    ask.SignFinalStatement: (did.FinalStatementSigned, _finished),
    ask.StartVerification: (did.VerificationRunStarted, _verifying),
    ask.CompleteVerification: (did.VerificationRunCompleted, _verified),
    ask.AbortTrace: (did.SessionAborted, _aborted),
    ask.FailTrace: (did.SessionFailed, _marked_failed),
    ask.RotateKey: (did.KeyRotated, _rotated),
    ask.ReportForgery: (did.SessionFailed, _forged),
}
