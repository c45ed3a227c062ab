"""Checks on claims, the final statement and verifications."""

from __future__ import annotations

import re
from typing import Final

from moot.protocols.trace import events as did
from moot.protocols.trace import left_artifacts
from moot.protocols.trace.case import EventCase
from moot.protocols.trace.checks import HASH, Breaches
from moot.protocols.trace.model import MAX_CLAIMS, State, number_of_id

CONFIDENCE: Final = re.compile(r"(0(\.[0-9]{1,6})?|1(\.0{1,6})?)\Z")


def bad_confidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    if not CONFIDENCE.match(case.event.confidence):
        yield f"{case.event.confidence[:40]!r} is not within 0 and 1", "confidence"


def too_little_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-064: at least one; a repeated reference counts once."""
    least = case.state.policy.min_evidence
    if len(set(case.event.evidence)) < least:
        yield f"{len(set(case.event.evidence))} given, {least} needed", "evidence"


def unknown_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """T-05: cited is only what a run of this trace has left."""
    state = case.state
    early = {run.input_artifact: run.id for run in state.running.values()}
    for sha256 in dict.fromkeys(case.event.evidence):
        if HASH.match(sha256) and left_artifacts.holds_artifact(state.shelf, sha256):
            continue
        if sha256 not in early:
            yield f"no run of this trace left {sha256[:12]!r}", "evidence"


def running_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-022: a run that has not ended proves nothing yet."""
    state, event = case.state, case.event
    for run in state.running.values():
        cited = run.input_artifact in event.evidence
        if run.id in event.execution_ids or (cited and not _was_left(state, run.input_artifact)):
            yield f"{run.id} is still running", "evidence"
    for name in event.execution_ids:
        if not 0 < number_of_id(name) <= state.execution_count:
            yield f"no run {name[:40]!r} was started", "execution_ids"


def _was_left(state: State, sha256: str) -> bool:
    return left_artifacts.holds_artifact(state.shelf, sha256)


def missing_artifact(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-054, E-05: accepted with a warning, so that work can go on; the verification fails."""
    for sha256 in case.event.artifact_missing:
        yield f"the bytes of {sha256[:12]} are gone; the verification will fail", "evidence"


def unknown_claim(case: EventCase[did.ClaimChallenged | did.ClaimWithdrawn]) -> Breaches:
    name, state = case.event.claim_id, case.state
    if name not in state.claims:
        yield describe_missing_claim(state, name), "claim_id"


def supersedes_unknown_claim(case: EventCase[did.ClaimIssued]) -> Breaches:
    name = case.event.supersedes
    if name is not None and name not in case.state.claims:
        yield describe_missing_claim(case.state, name), "supersedes"


def describe_missing_claim(state: State, name: str) -> str:
    over = 0 < number_of_id(name) <= state.claim_count
    return f"{name} stands no more" if over else f"there is no claim {name[:40]!r}"


def too_many_claims(case: EventCase[did.ClaimIssued]) -> Breaches:
    if len(case.state.claims) >= MAX_CLAIMS and case.event.supersedes is None:
        yield f"{MAX_CLAIMS} claims stand", None


def open_challenge(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    """TRC-065, E-27: no work is finished while a claim is challenged."""
    for claim in case.state.challenged_claims():
        yield f"{claim.id} is challenged", claim.id


def still_running(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    for name in sorted(case.state.running, key=number_of_id):
        yield f"{name} is running", name


def nothing_claimed(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    if not case.state.claims:
        yield "", "claims"


def bundle_differs(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    """TRC-042: the bundle is every claim that stands, by its event, and no other."""
    standing = {claim.id: claim.event for claim in case.state.claims.values()}
    bundled = {claim.claim_id: claim.event for claim in case.event.claims}
    if bundled != standing or len(case.event.claims) != len(standing):
        yield "", "claims"


def already_verifying(case: EventCase[did.VerificationRunStarted]) -> Breaches:
    if case.state.run is not None:
        yield f"{case.state.run.id} has not ended", "run_id"


def subject_differs(case: EventCase[did.VerificationRunStarted]) -> Breaches:
    """TRC-068: a run is about exactly what stood when it began."""
    if (case.event.head, case.event.events) != (case.state.head, case.state.events):
        yield "", "head"


def not_verifying(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    """TRC-043: only a verification that was started is completed."""
    run = case.state.run
    if run is None or run.id != case.event.run_id:
        yield f"no verification {case.event.run_id[:40]!r} is under way", "run_id"


def report_subject_differs(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    run = case.state.run
    if run is not None and (case.event.head, case.event.events) != (run.head, run.events):
        yield f"{run.id} is about {run.events} events", "head"


def no_report(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    """TRC-047: a verdict without its stored report could not be checked."""
    if not HASH.match(case.event.report_artifact):
        yield "", "report_artifact"
