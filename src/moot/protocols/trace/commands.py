"""The commands of a trace. Facts from outside arrive as data: stored artifacts, held reservations,
missing bytes, a process that has exited. The machine gives the ids.
"""

from __future__ import annotations

import msgspec

from moot.core.machine import Command
from moot.core.record import ArtifactRef
from moot.protocols.trace.model import (
    ExecutionFailure,
    ExecutionResult,
    HeldReservation,
    RoleBinding,
)
from moot.protocols.trace.policy import FIRST_POLICY, Policy


class Stored(msgspec.Struct, frozen=True):
    """An output of a run by name, stored before it is cited."""

    name: str
    ref: ArtifactRef


class Cited(msgspec.Struct, frozen=True):
    """Evidence for a claim, as the artifact store shows it.

    `ref` is None if the bytes are not there (`gone`), or are there and do not have this hash
    (`differs`).
    """

    sha256: str
    ref: ArtifactRef | None = None
    differs: bool = False


class OpenTrace(Command, frozen=True):
    """Begin a trace: the task, the four roles with their keys, and the policy."""

    task: str
    roles: tuple[RoleBinding, ...]
    policy: Policy = FIRST_POLICY
    follows: str | None = None


class CreateProposal(Command, frozen=True):
    """Propose how to do the task. An empty list says that there is none; None leaves it out."""

    objective: str
    required_tools: tuple[str, ...]
    assumptions: tuple[str, ...] | None = None
    expected_evidence: tuple[str, ...] | None = None
    supersedes: str | None = None
    fallback_for: str | None = None


class ReviewProposal(Command, frozen=True):
    """Review a proposal: approved, conditional, rejected or blocked; and why."""

    proposal_id: str
    status: str
    rationale: str
    risk_assessment: str = ""
    conditions: tuple[str, ...] = ()


class SignIntent(Command, frozen=True):
    """Say exactly what you are going to run, under which proposal, how risky it is and why.

    `input_hash` is computed if it is left out, and must match if it is given. `timeout_ms` None
    means the policy's. A retry names the failed intent in `retry_of`.
    """

    proposal_id: str
    tool: str
    command: tuple[str, ...]
    risk: str
    justification: str
    cwd: str = "."
    env: tuple[str, ...] = ()
    timeout_ms: int | None = None
    writes: tuple[str, ...] = ()
    input_hash: str | None = None
    supersedes: str | None = None
    retry_of: str | None = None


class ReviewIntent(Command, frozen=True):
    """Approve an intent, or block it; and say why."""

    intent_id: str
    status: str
    rationale: str


class StartExecution(Command, frozen=True):
    """Begin to run an intent: its input is stored, and its write scopes are reserved."""

    intent_id: str
    input: ArtifactRef
    reservations: tuple[HeldReservation, ...] = ()
    program: str = ""
    program_sha256: str = ""


class CompleteExecution(Command, frozen=True):
    """Record that a run ended well: its outputs are stored."""

    execution_id: str
    outputs: tuple[Stored, ...]
    result: ExecutionResult | None = None


class FailExecution(Command, frozen=True):
    """Record that a run failed, and how."""

    execution_id: str
    failure: ExecutionFailure | None = None
    outputs: tuple[Stored, ...] = ()


class RecoverExecution(Command, frozen=True):
    """Record as failed a run whose process has exited. `evidence` says what shows that."""

    execution_id: str
    evidence: tuple[str, ...]
    outputs: tuple[Stored, ...] = ()


class IssueClaim(Command, frozen=True):
    """Claim something, how surely, and on which stored artifacts of finished runs it rests."""

    text: str
    confidence: str
    evidence: tuple[Cited, ...]
    execution_ids: tuple[str, ...] = ()
    supersedes: str | None = None


class ChallengeClaim(Command, frozen=True):
    """Say why the evidence of a claim is weak or contradicts it."""

    claim_id: str
    reason: str
    evidence: tuple[Cited, ...] = ()


class WithdrawClaim(Command, frozen=True):
    """Take back a claim of yours."""

    claim_id: str
    reason: str = ""


class SignFinalStatement(Command, frozen=True):
    """Close the work with all standing claims; after it only the verification follows."""

    statement: str


class StartVerification(Command, frozen=True):
    """Begin to verify everything recorded so far."""

    profile: str = "default"


class CompleteVerification(Command, frozen=True):
    """Record the result of the verification; the stored report names what it is about.

    `pages` are readable forms of the same report, also stored and cited.
    """

    run_id: str
    status: str
    report: ArtifactRef | None
    head: str
    events: int
    failure_codes: tuple[str, ...] = ()
    pages: tuple[ArtifactRef, ...] = ()


class AbortTrace(Command, frozen=True):
    """Stop the trace for good. For people, and the workspace itself."""

    reason: str


class FailTrace(Command, frozen=True):
    """Mark the trace as failed: its integrity cannot be restored."""

    code: str
    detail: str


class RotateKey(Command, frozen=True):
    """Change the key of a role: signed by the old key, or by a person if that is lost."""

    role: str
    epoch: int
    kid: str
    reason: str = ""


class ReportForgery(Command, frozen=True):
    """Report an invalid signature in the name of `kid`."""

    kid: str
    detail: str


COMMANDS = (
    *(OpenTrace, CreateProposal, ReviewProposal, SignIntent, ReviewIntent, StartExecution),
    *(CompleteExecution, FailExecution, RecoverExecution, IssueClaim, ChallengeClaim),
    *(WithdrawClaim, SignFinalStatement, StartVerification, CompleteVerification, AbortTrace),
    *(FailTrace, RotateKey, ReportForgery),
)
