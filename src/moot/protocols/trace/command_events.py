"""The event that a command asks for, whether or not the rules will allow it.

This module computes ids, hashes, risk, who must agree and which artifacts are cited. It decides
nothing: the rules check the finished event, so that an audit can apply them in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.core.machine import Command, Draft, Event, fill_from
from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace import tool_checks
from moot.protocols.trace.model import (
    AuditVerdict,
    BundledClaim,
    Consent,
    ExecutionFailure,
    ExecutionResult,
    FailureKind,
    NamedOutput,
    Profile,
    Review,
    Role,
    State,
    encode_input,
    number_of_id,
    sha256_hex,
)
from moot.protocols.trace.policy import policy_hash as policy_hash
from moot.protocols.trace.tool_checks import step_of


def _draft_opening(_state: State, command: ask.OpenTrace) -> Draft:
    return Draft(
        fill_from(
            did.SessionInitialized,
            command,
            task_sha256=sha256_hex(command.task.encode("utf-8", "replace")),
            policy_sha256=policy_hash(command.policy),
        )
    )


def _draft_proposal(state: State, command: ask.CreateProposal) -> Draft:
    return Draft(
        fill_from(
            did.ProposalCreated,
            command,
            proposal_id=f"p{state.proposal_count + 1}",
            assumptions=command.assumptions or (),
            expected_evidence=command.expected_evidence or (),
        )
    )


def _draft_review(_state: State, command: ask.ReviewProposal) -> Draft:
    return Draft(fill_from(did.ProposalReviewed, command, status=Review(command.status)))


def _draft_intent(state: State, command: ask.SignIntent) -> Draft:
    limit = command.timeout_ms
    limit = state.policy.default_timeout_ms if limit is None else limit
    env = tuple(sorted(set(command.env)))
    try:
        data = encode_input(command.tool, command.command, command.cwd, env, limit)
    except Malformed:
        data = b""
    grade = tool_checks.assess_risk(state.policy, command.tool, command.command, command.risk)
    proposal = state.proposals.get(command.proposal_id)
    replaces = state.intents.get(command.supersedes or "")
    needs = tool_checks.approval_reasons(state.policy, proposal, command.tool, grade, replaces)
    event = fill_from(
        did.ToolIntentSigned,
        command,
        intent_id=f"i{state.intent_count + 1}",
        env=env,
        timeout_ms=limit,
        input_hash=command.input_hash or sha256_hex(data),
        declared_risk=command.risk,
        risk_class=grade,
        attempt=1,
        needs=needs,
    )
    return Draft(_with_attempt(state, event))


def _with_attempt(state: State, event: did.ToolIntentSigned) -> did.ToolIntentSigned:
    failing = state.failing.get(step_of(state, event))
    return replace(event, attempt=failing.failed + 1) if failing is not None else event


def _draft_consent(_state: State, command: ask.ReviewIntent) -> Draft:
    return Draft(fill_from(did.ToolIntentReviewed, command, status=Consent(command.status)))


def _draft_start(state: State, command: ask.StartExecution) -> Draft:
    event = fill_from(
        did.ToolExecutionStarted,
        command,
        execution_id=f"x{state.execution_count + 1}",
        input_artifact=command.input.sha256,
    )
    return Draft(event, (command.input,))


def _intent_and_input(state: State, name: str) -> tuple[str, str]:
    run = state.running.get(name)
    return (run.intent, run.input_artifact) if run is not None else ("", "")


def _outputs(stored: tuple[ask.Stored, ...]) -> tuple[NamedOutput, ...]:
    return tuple(NamedOutput(output.name, output.ref.sha256) for output in stored)


def _unique_refs(stored: tuple[ask.Stored, ...]) -> tuple[ArtifactRef, ...]:
    return tuple({output.ref.sha256: output.ref for output in stored}.values())


def _draft_completion(state: State, command: ask.CompleteExecution) -> Draft:
    intent, input_artifact = _intent_and_input(state, command.execution_id)
    event = did.ToolExecutionCompleted(
        execution_id=command.execution_id,
        intent_id=intent,
        input_artifact=input_artifact,
        outputs=_outputs(command.outputs),
        result=command.result or ExecutionResult(exit_status=0, duration_ms=0),
    )
    return Draft(event, _unique_refs(command.outputs))


def _draft_failure(state: State, command: ask.FailExecution) -> Draft:
    return _draft_failed_run(state, command, command.failure or _UNKNOWN_FAILURE, recovered=False)


_UNKNOWN_FAILURE: Final = ExecutionFailure(kind=FailureKind.DIED, detail="")


def _draft_recovery(state: State, command: ask.RecoverExecution) -> Draft:
    failure = ExecutionFailure(
        kind=FailureKind.DIED,
        detail="the process that ran it was gone before it could say how it ended",
        evidence=command.evidence,
    )
    return _draft_failed_run(state, command, failure, recovered=True)


def _draft_failed_run(
    state: State,
    command: ask.FailExecution | ask.RecoverExecution,
    failure: ExecutionFailure,
    *,
    recovered: bool,
) -> Draft:
    intent, input_artifact = _intent_and_input(state, command.execution_id)
    event = did.ToolExecutionFailed(
        execution_id=command.execution_id,
        intent_id=intent,
        input_artifact=input_artifact,
        outputs=_outputs(command.outputs),
        failure=failure,
        recovered=recovered,
    )
    return Draft(event, _unique_refs(command.outputs))


def _draft_claim(state: State, command: ask.IssueClaim) -> Draft:
    cited = {citation.sha256: citation for citation in command.evidence}
    event = fill_from(
        did.ClaimIssued,
        command,
        claim_id=f"c{state.claim_count + 1}",
        evidence=tuple(cited),
        artifact_missing=tuple(sha256 for sha256, evidence in cited.items() if not evidence.ref),
    )
    return Draft(event, _refs_of(cited))


def _draft_challenge(_state: State, command: ask.ChallengeClaim) -> Draft:
    cited = {citation.sha256: citation for citation in command.evidence}
    event = did.ClaimChallenged(
        claim_id=command.claim_id, reason=command.reason, evidence=tuple(cited)
    )
    return Draft(event, _refs_of(cited))


def _refs_of(cited: dict[str, ask.Cited]) -> tuple[ArtifactRef, ...]:
    return tuple(evidence.ref for evidence in cited.values() if evidence.ref is not None)


def _draft_final_statement(state: State, command: ask.SignFinalStatement) -> Draft:
    standing = sorted(state.claims.values(), key=lambda claim: number_of_id(claim.id))
    bundle = tuple(BundledClaim(claim.id, claim.event) for claim in standing)
    return Draft(did.FinalStatementSigned(statement=command.statement, claims=bundle))


def _draft_verification_start(state: State, command: ask.StartVerification) -> Draft:
    return Draft(
        did.VerificationRunStarted(
            run_id=f"v{state.run_count + 1}",
            profile=Profile(command.profile),
            head=state.head,
            events=state.events,
        )
    )


def _draft_verification_end(_state: State, command: ask.CompleteVerification) -> Draft:
    report = command.report
    event = fill_from(
        did.VerificationRunCompleted,
        command,
        status=AuditVerdict(command.status),
        report_artifact=report.sha256 if report is not None else "",
    )
    return Draft(event, (report, *command.pages) if report is not None else ())


def _draft_rotation(state: State, command: ask.RotateKey) -> Draft:
    role = Role(command.role)
    bound = state.binding_of(role)
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


def _draft_forgery(_state: State, command: ask.ReportForgery) -> Draft:
    return Draft(did.SessionFailed(code="sig_invalid", detail=command.detail))


def _as_asked(kind: type[Event]) -> tuple[type[Event], Callable[[State, Any], Draft]]:
    return kind, lambda _state, command: Draft(fill_from(kind, command))


DRAFTS: Final[dict[type[Command], tuple[type[Event], Callable[[State, Any], Draft]]]] = {
    ask.OpenTrace: (did.SessionInitialized, _draft_opening),
    ask.CreateProposal: (did.ProposalCreated, _draft_proposal),
    ask.ReviewProposal: (did.ProposalReviewed, _draft_review),
    ask.SignIntent: (did.ToolIntentSigned, _draft_intent),
    ask.ReviewIntent: (did.ToolIntentReviewed, _draft_consent),
    ask.StartExecution: (did.ToolExecutionStarted, _draft_start),
    ask.CompleteExecution: (did.ToolExecutionCompleted, _draft_completion),
    ask.FailExecution: (did.ToolExecutionFailed, _draft_failure),
    ask.RecoverExecution: (did.ToolExecutionFailed, _draft_recovery),
    ask.IssueClaim: (did.ClaimIssued, _draft_claim),
    ask.ChallengeClaim: (did.ClaimChallenged, _draft_challenge),
    ask.WithdrawClaim: _as_asked(did.ClaimWithdrawn),
    ask.SignFinalStatement: (did.FinalStatementSigned, _draft_final_statement),
    ask.StartVerification: (did.VerificationRunStarted, _draft_verification_start),
    ask.CompleteVerification: (did.VerificationRunCompleted, _draft_verification_end),
    ask.AbortTrace: _as_asked(did.SessionAborted),
    ask.FailTrace: _as_asked(did.SessionFailed),
    ask.RotateKey: (did.KeyRotated, _draft_rotation),
    ask.ReportForgery: (did.SessionFailed, _draft_forgery),
}
