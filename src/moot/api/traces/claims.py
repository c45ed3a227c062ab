"""Claims about what runs show, challenges to them, and the statement that closes a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.api.traces import tracing
from moot.api.traces.tracing import stage_after, take_step, trace_of
from moot.core.findings import Finding
from moot.protocols.trace.commands import ChallengeClaim, SignFinalStatement, WithdrawClaim
from moot.protocols.trace.events import ClaimIssued, FinalStatementSigned
from moot.protocols.trace.model import Role

if TYPE_CHECKING:
    from moot.api.session import Session


class RecordedClaim(msgspec.Struct, frozen=True):
    """`evidence` are the hashes that it cites; those in `artifact_missing` are not stored here."""

    trace: str
    claim: str
    evidence: tuple[str, ...]
    artifact_missing: tuple[str, ...]
    state: str
    findings: tuple[Finding, ...]


class ClaimStep(msgspec.Struct, frozen=True):
    """A claim that was challenged or withdrawn."""

    trace: str
    claim: str
    state: str
    findings: tuple[Finding, ...]


class FinalStatement(msgspec.Struct, frozen=True):
    """`claims` are the claims in the signed statement: those neither withdrawn nor replaced."""

    trace: str
    claims: tuple[str, ...]
    state: str
    findings: tuple[Finding, ...]


@operation("trace.claim", writes=True)
def claim(
    session: Session,
    trace: str,
    text: str,
    confidence: str | float,
    evidence: Sequence[str],
    *,
    runs: Sequence[str] = (),
    supersedes: str | None = None,
    key: str | None = None,
) -> RecordedClaim:
    """Claim something that a finished run shows (the executor).

    `confidence` goes from 0 to 1. `evidence` names outputs such as x1/stdout, or hashes of stored
    files (8 digits are enough). `runs` names runs in addition to those whose outputs it cites.
    Refused for everyone but the executor, and without evidence that a run left.
    """
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    confidence_text = confidence if isinstance(confidence, str) else f"{confidence:g}"
    command = tracing.claim_command(
        workspace, stream, text, confidence_text, evidence, runs, supersedes
    )
    outcome = take_step(session, trace, Role.EXECUTOR, command, key)
    event = outcome.newest(ClaimIssued).event
    return RecordedClaim(
        trace=trace_of(outcome),
        claim=event.claim_id,
        evidence=event.evidence,
        artifact_missing=event.artifact_missing,
        state=stage_after(outcome),
        findings=outcome.findings,
    )


@operation("trace.withdraw", writes=True)
def withdraw(
    session: Session, trace: str, claim: str, *, reason: str = "", key: str | None = None
) -> ClaimStep:
    """Take back a claim (the executor). It stays on record as withdrawn."""
    command = WithdrawClaim(claim_id=claim, reason=reason)
    outcome = take_step(session, trace, Role.EXECUTOR, command, key)
    return ClaimStep(trace_of(outcome), claim, stage_after(outcome), outcome.findings)


@operation("trace.challenge", writes=True)
def challenge(
    session: Session,
    trace: str,
    claim: str,
    reason: str,
    *,
    evidence: Sequence[str] = (),
    key: str | None = None,
) -> ClaimStep:
    """Object to a claim (the critic). It must be replaced or withdrawn before the end.

    `evidence` is named as in `claim`. Refused for everyone but the critic, and after the end.
    """
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    cited = tuple(tracing.resolve_evidence(workspace, stream, named) for named in evidence)
    command = ChallengeClaim(claim_id=claim, reason=reason, evidence=cited)
    outcome = take_step(session, trace, Role.CRITIC, command, key)
    return ClaimStep(trace_of(outcome), claim, stage_after(outcome), outcome.findings)


@operation("trace.finalize", writes=True)
def finalize(
    session: Session, trace: str, statement: str, *, key: str | None = None
) -> FinalStatement:
    """Sign the final statement with every claim that stands (the executor).

    Refused while a claim is challenged or a run has not ended. Only the audit follows.
    """
    command = SignFinalStatement(statement=statement)
    outcome = take_step(session, trace, Role.EXECUTOR, command, key)
    signed = outcome.newest(FinalStatementSigned).event
    return FinalStatement(
        trace=trace_of(outcome),
        claims=tuple(bundled.claim_id for bundled in signed.claims),
        state=stage_after(outcome),
        findings=outcome.findings,
    )
