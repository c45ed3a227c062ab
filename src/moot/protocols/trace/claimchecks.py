"""Checks on claims, the final statement and verifications (TRC-022, TRC-039 to TRC-047)."""

from __future__ import annotations

import re
from typing import Final

from moot.protocols.trace import shelf
from moot.protocols.trace.checks import HASH, Breaches, Told
from moot.protocols.trace.model import MAX_CLAIMS, State, number

CONFIDENCE: Final = re.compile(r"(0(\.[0-9]{1,6})?|1(\.0{1,6})?)\Z")


def bad_confidence(told: Told) -> Breaches:
    if not CONFIDENCE.match(told.event.confidence):
        yield f"{told.event.confidence[:40]!r} is not within 0 and 1", "confidence"


def too_little_evidence(told: Told) -> Breaches:
    """TRC-064: at least one; a repeated reference counts once."""
    least = told.state.policy.min_evidence
    if len(set(told.event.evidence)) < least:
        yield f"{len(set(told.event.evidence))} given, {least} needed", "evidence"


def unknown_evidence(told: Told) -> Breaches:
    """What is cited was left by a run of this trace that has ended."""
    state = told.state
    early = {run.input_artifact: run.id for run in state.running.values()}
    for sha256 in dict.fromkeys(told.event.evidence):
        if HASH.match(sha256) and shelf.holds(state.shelf, sha256):
            continue
        if sha256 not in early:
            yield f"no run of this trace left {sha256[:12]!r}", "evidence"


def running_evidence(told: Told) -> Breaches:
    """TRC-022: what is still running proves nothing."""
    state, event = told.state, told.event
    for run in state.running.values():
        cited = run.input_artifact in event.evidence
        if run.id in event.execution_ids or (cited and not _left(state, run.input_artifact)):
            yield f"{run.id} is still running", "evidence"
    for name in event.execution_ids:
        if not 0 < number(name) <= state.execution_count:
            yield f"no run {name[:40]!r} was started", "execution_ids"


def _left(state: State, sha256: str) -> bool:
    return shelf.holds(state.shelf, sha256)


def missing_artifact(told: Told) -> Breaches:
    """E-05: accepted and flagged; the verification will fail."""
    for sha256 in told.event.artifact_missing:
        yield f"the bytes of {sha256[:12]} are gone; the verification will fail", "evidence"


def unknown_claim(told: Told) -> Breaches:
    name, state = told.event.claim_id, told.state
    if name not in state.claims:
        yield claim_gone(state, name), "claim_id"


def supersedes_unknown_claim(told: Told) -> Breaches:
    name = told.event.supersedes
    if name is not None and name not in told.state.claims:
        yield claim_gone(told.state, name), "supersedes"


def claim_gone(state: State, name: str) -> str:
    over = 0 < number(name) <= state.claim_count
    return f"{name} stands no more" if over else f"there is no claim {name[:40]!r}"


def too_many_claims(told: Told) -> Breaches:
    if len(told.state.claims) >= MAX_CLAIMS and told.event.supersedes is None:
        yield f"{MAX_CLAIMS} claims stand", None


def open_challenge(told: Told) -> Breaches:
    """TRC-065, E-27."""
    for claim in told.state.challenged():
        yield f"{claim.id} is challenged", claim.id


def still_running(told: Told) -> Breaches:
    for name in sorted(told.state.running, key=number):
        yield f"{name} is running", name


def nothing_claimed(told: Told) -> Breaches:
    if not told.state.claims:
        yield "", "claims"


def other_bundle(told: Told) -> Breaches:
    """TRC-042: every claim that stands, by its one event, and no other."""
    due = {one.id: one.event for one in told.state.claims.values()}
    said = {one.claim_id: one.event for one in told.event.claims}
    if said != due or len(told.event.claims) != len(due):
        yield "", "claims"


def already_verifying(told: Told) -> Breaches:
    if told.state.run is not None:
        yield f"{told.state.run.id} has not ended", "run_id"


def other_subject(told: Told) -> Breaches:
    """TRC-068: a run is about exactly what stood when it began."""
    if (told.event.head, told.event.events) != (told.state.head, told.state.events):
        yield "", "head"


def not_verifying(told: Told) -> Breaches:
    """TRC-043."""
    run = told.state.run
    if run is None or run.id != told.event.run_id:
        yield f"no verification {told.event.run_id[:40]!r} is under way", "run_id"


def other_run(told: Told) -> Breaches:
    run = told.state.run
    if run is not None and (told.event.head, told.event.events) != (run.head, run.events):
        yield f"{run.id} is about {run.events} events", "head"


def no_report(told: Told) -> Breaches:
    """TRC-047."""
    if not HASH.match(told.event.report_artifact):
        yield "", "report_artifact"
