"""The events of a trace. The record itself has who and when: its actor, key and time.

The first twelve are the document's own, by its names; the last five are ours (`EXTENSIONS`):
reviews of intents, withdrawn claims, abort, failure and changed keys have no name in the
document. Every one is signed, not only the six that must be (E-44).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from moot.core.machine import Event
from moot.protocols.trace.model import (
    ApprovalReason,
    AuditVerdict,
    BundledClaim,
    Consent,
    ExecutionFailure,
    ExecutionResult,
    HeldReservation,
    NamedOutput,
    Profile,
    Review,
    Role,
    RoleBinding,
)
from moot.protocols.trace.policy import Policy, Risk


class SessionInitialized(Event, frozen=True):
    """The task, the agent and key of each role, and the policy; none of these changes later."""

    task: str
    task_sha256: str
    roles: tuple[RoleBinding, ...]
    policy: Policy
    policy_sha256: str
    follows: str | None = None


class ProposalCreated(Event, frozen=True):
    proposal_id: str
    objective: str
    assumptions: tuple[str, ...]
    required_tools: tuple[str, ...]
    expected_evidence: tuple[str, ...]
    supersedes: str | None = None
    fallback_for: str | None = None


class ProposalReviewed(Event, frozen=True):
    proposal_id: str
    status: Review
    rationale: str
    risk_assessment: str = ""
    conditions: tuple[str, ...] = ()


class ToolIntentSigned(Event, frozen=True):
    """`risk_class` is the larger of `declared_risk` and the policy's; `needs` says why the
    critic must agree, and is empty if it need not. `attempt` counts the tries of this step."""

    intent_id: str
    proposal_id: str
    tool: str
    command: tuple[str, ...]
    cwd: str
    env: tuple[str, ...]
    timeout_ms: int
    writes: tuple[str, ...]
    input_hash: str
    declared_risk: str
    risk_class: Risk
    justification: str
    attempt: int
    needs: tuple[ApprovalReason, ...] = ()
    supersedes: str | None = None
    retry_of: str | None = None


class ToolExecutionStarted(Event, frozen=True):
    """`program` is the file that the command's first word resolves to, with its hash."""

    execution_id: str
    intent_id: str
    input_artifact: str
    reservations: tuple[HeldReservation, ...] = ()
    program: str = ""
    program_sha256: str = ""


class ToolExecutionCompleted(Event, frozen=True):
    execution_id: str
    intent_id: str
    input_artifact: str
    outputs: tuple[NamedOutput, ...]
    result: ExecutionResult


class ToolExecutionFailed(Event, frozen=True):
    execution_id: str
    intent_id: str
    input_artifact: str
    outputs: tuple[NamedOutput, ...]
    failure: ExecutionFailure
    recovered: bool = False


# Either end of a run. This is only a type alias, not an event.
ExecutionEnded: TypeAlias = ToolExecutionCompleted | ToolExecutionFailed


class ClaimIssued(Event, frozen=True):
    """`confidence` is decimal text such as 0.85; `artifact_missing` are cited artifacts that were
    recorded by an execution and whose bytes were gone when the claim was made (E-05)."""

    claim_id: str
    text: str
    confidence: str
    evidence: tuple[str, ...]
    execution_ids: tuple[str, ...] = ()
    supersedes: str | None = None
    artifact_missing: tuple[str, ...] = ()


class ClaimChallenged(Event, frozen=True):
    claim_id: str
    reason: str
    evidence: tuple[str, ...] = ()


class FinalStatementSigned(Event, frozen=True):
    statement: str
    claims: tuple[BundledClaim, ...]


class VerificationRunStarted(Event, frozen=True):
    """What is verified: everything up to `head`, `events` of them."""

    run_id: str
    profile: Profile
    head: str
    events: int


class VerificationRunCompleted(Event, frozen=True):
    run_id: str
    status: AuditVerdict
    report_artifact: str
    head: str
    events: int
    failure_codes: tuple[str, ...] = ()


class ToolIntentReviewed(Event, frozen=True):
    intent_id: str
    status: Consent
    rationale: str


class ClaimWithdrawn(Event, frozen=True):
    claim_id: str
    reason: str


class SessionAborted(Event, frozen=True):
    reason: str


class SessionFailed(Event, frozen=True):
    """`code` is one of the failure codes, such as signature_invalid."""

    code: str
    detail: str


class KeyRotated(Event, frozen=True):
    """From here on a new key signs for `role`, and the old one no longer does."""

    role: Role
    agent: str
    epoch: int
    old_kid: str
    new_kid: str
    reason: str


# Must be signed, by the document's own words (TRC-024).
MUST_BE_SIGNED: Final = (
    *(ProposalCreated, ToolIntentSigned, ClaimIssued, ClaimChallenged, FinalStatementSigned),
    VerificationRunCompleted,
)
# The document's own twelve (TRC-025).
NATIVE: Final = (
    *(SessionInitialized, ProposalCreated, ProposalReviewed, ToolIntentSigned),
    *(ToolExecutionStarted, ToolExecutionCompleted, ToolExecutionFailed, ClaimIssued),
    *(ClaimChallenged, FinalStatementSigned, VerificationRunStarted, VerificationRunCompleted),
)
# Ours.
EXTENSIONS: Final = (
    *(ToolIntentReviewed, ClaimWithdrawn, SessionAborted, SessionFailed, KeyRotated),
)
EVENTS: Final = (*NATIVE, *EXTENSIONS)
