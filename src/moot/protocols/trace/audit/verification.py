"""Verification of a trace: fifteen named checks in a fixed order, a profile, a verdict.

The first ten are the companion document's, in its order; the last five are what its own rules
and invariants ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple

from moot.core.machine import Recorded
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.replay import TraceWalk
from moot.protocols.trace.audit.report import (
    ArtifactPresence,
    AuditCheck,
    AuditFacts,
    AuditFailure,
    AuditProblem,
    AuditReport,
    CheckStatus,
    judge_problem,
)
from moot.protocols.trace.checks import CONFIDENCE
from moot.protocols.trace.model import AuditVerdict, Profile

# The checks of an audit. `verification.CHECKS` has them in order, with what each is about.

LOW_CONFIDENCE: Final = Decimal("0.5")
# The check that reports a broken rule of `rules.py`, and the code it reports it under.
_POLICY = ("role_policy", "policy_violation")
_ORDER = ("ordering", "ordering_violation")
_STATE = ("state", "state_violation")
_CLAIM = ("claims", "claim_unproven")
_FINAL = ("final", "finalization_invalid")
_DUTIES = ("duties", "duties_not_separated")
_INPUT = ("executions", "input_mismatch")
CHECK_OF_BREACH: Final[dict[str, tuple[str, str]]] = {
    "role_policy_violation": ("role_policy", "role_policy_violation"),
    "foreign_key": ("keys", "foreign_key"),
    "duties_not_separated": _DUTIES,
    "role_missing": _DUTIES,
    "bad_binding": _DUTIES,
    "trace_ended": _STATE,
    "wrong_state": _STATE,
    "wrong_number": _STATE,
    "wrong_attempt": _STATE,
    "task_differs": _STATE,
    "policy_differs": _STATE,
    "subject_differs": _STATE,
    "review_not_open": _STATE,
    "text_missing": _STATE,
    "bad_policy": _STATE,
    "bad_confidence": _STATE,
    "bad_output": ("executions", "execution_without_artifacts"),
    "output_required": ("executions", "execution_without_artifacts"),
    "report_required": ("executions", "execution_without_artifacts"),
    "exit_status": _STATE,
    "unknown_proposal": _ORDER,
    "unknown_intent": _ORDER,
    "unknown_execution": _ORDER,
    "other_execution": _ORDER,
    "unknown_claim": _ORDER,
    "intent_closed": _ORDER,
    "execution_running": _ORDER,
    "verification_running": _ORDER,
    "verification_not_started": _ORDER,
    "not_retryable": _ORDER,
    "proposal_not_approved": _POLICY,
    "approval_required": _POLICY,
    "approval_left_out": _POLICY,
    "intent_blocked": _POLICY,
    "risk_too_low": _POLICY,
    "bad_timeout": _POLICY,
    "attempts_exhausted": _POLICY,
    "fallback_not_allowed": _POLICY,
    "reservation_required": _POLICY,
    "too_many_open": _POLICY,
    "input_mismatch": _INPUT,
    "claim_unproven": _CLAIM,
    "unknown_evidence": _CLAIM,
    "artifact_missing": ("artifacts", "artifact_missing"),
    "claim_disputed": _FINAL,
    "nothing_claimed": _FINAL,
    "bundle_differs": _FINAL,
}

Problems = Iterator[AuditProblem]


def _broken_rules(walk: TraceWalk, check: str) -> Problems:
    for seq, finding in walk.breaches:
        place, code = CHECK_OF_BREACH.get(finding.code, _STATE)
        if place == check:
            yield AuditProblem(code, finding.message, seq)


def check_schema(_walk: TraceWalk, facts: AuditFacts) -> Problems:
    for seq, why in sorted(facts.unreadable.items()):
        yield AuditProblem("schema_invalid", why, seq)


def check_hashes(_walk: TraceWalk, facts: AuditFacts) -> Problems:
    for seq, why in sorted(facts.hashes.items()):
        yield AuditProblem("hash_mismatch", why, seq)


def check_chain(walk: TraceWalk, facts: AuditFacts) -> Problems:
    """TRC-019, TRC-020: positions 0, 1, 2, ...; each names the one before."""
    for seq, why in sorted(facts.chain.items()):
        yield AuditProblem("chain_break", why, seq)
    expected = 0
    for recorded in walk.events:
        while expected in facts.unreadable:
            expected += 1
        if recorded.seq != expected:
            yield AuditProblem(
                "chain_break", f"event {recorded.seq} stands where {expected} belongs", expected
            )
            return
        expected += 1


def check_signatures(walk: TraceWalk, facts: AuditFacts) -> Problems:
    """TRC-024, E-44: a missing signature is serious only where the document demands one."""
    for seq, why in sorted(facts.signatures.items()):
        yield AuditProblem("sig_invalid", why, seq)
    for recorded in walk.events:
        if recorded.seq in facts.unsigned:
            must = isinstance(recorded.event, did.MUST_BE_SIGNED)
            yield AuditProblem(
                "sig_missing" if must else "sig_absent", "no signature", recorded.seq
            )


def check_keys(walk: TraceWalk, facts: AuditFacts) -> Problems:
    """E-20: the key was valid at the time, and it was bound to the role."""
    for seq, why in sorted(facts.keys.items()):
        yield AuditProblem("key_revoked" if why == "revoked" else "key_unknown", f"key {why}", seq)
    yield from _broken_rules(walk, "keys")


def check_artifacts_exist(walk: TraceWalk, facts: AuditFacts) -> Problems:
    for sha256, seq in walk.cited.items():
        seen = facts.artifacts.get(sha256, ArtifactPresence.MISSING)
        if seen is ArtifactPresence.MISSING:
            yield AuditProblem("artifact_missing", "its bytes are not there", seq, sha256)
        elif seen is ArtifactPresence.ERASED:
            yield AuditProblem("artifact_erased", "it was erased", seq, sha256)
    for recorded in walk.claims.values():
        for sha256 in recorded.event.artifact_missing:
            if (
                facts.artifacts.get(sha256, ArtifactPresence.MISSING)
                is not ArtifactPresence.MISSING
            ):
                why = "its bytes were gone when it was claimed from"
                yield AuditProblem("artifact_missing", why, recorded.seq, sha256)


def check_artifacts_match(walk: TraceWalk, facts: AuditFacts) -> Problems:
    for sha256, seq in walk.cited.items():
        if facts.artifacts.get(sha256) is ArtifactPresence.DIFFERS:
            yield AuditProblem("artifact_hash_mismatch", "its bytes have another hash", seq, sha256)


def check_claims(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    """TRC-064, TRC-066: enough evidence from runs of this trace; disputes and doubts only warn."""
    for seq, sha256 in walk.unproven:
        yield AuditProblem("claim_unproven", "no run that had ended left it", seq, sha256)
    reported = {seq for seq, _ in walk.unproven}  # by the comparison of whole hashes
    broken = _broken_rules(walk, "claims")
    yield from (problem for problem in broken if problem.seq not in reported)
    standing = walk.state.claims
    for recorded in walk.challenges:
        name = recorded.event.claim_id
        code = "claim_disputed" if name in standing else "challenge_resolved"
        if name in walk.claims:
            yield AuditProblem(code, f"{name}: {recorded.event.reason[:120]}", recorded.seq)
    for claim in standing.values():
        recorded_claim = walk.claims[claim.id]
        confidence = recorded_claim.event.confidence
        if CONFIDENCE.match(confidence) and Decimal(confidence) < LOW_CONFIDENCE:
            yield AuditProblem(
                "low_confidence", f"{claim.id} is held at {confidence}", recorded_claim.seq
            )


def check_roles_and_policy(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    """TRC-062, TRC-063: who did it, with whose approval, and within the declared scopes."""
    yield from _broken_rules(walk, "role_policy")
    for recorded in walk.ended:
        event = recorded.event
        how = event.result if isinstance(event, did.ToolExecutionCompleted) else event.failure
        for path in how.undeclared:
            yield AuditProblem(
                "undeclared_write", f"{event.execution_id} changed {path[:120]}", recorded.seq
            )


def check_finalization(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    """TRC-023, TRC-042: one final statement, after all work, with every claim that stands."""
    yield from _broken_rules(walk, "final")
    for seq in walk.finals[1:]:
        yield AuditProblem("finalization_invalid", "a second final statement", seq)
    if walk.finals:
        return
    for recorded in walk.events:
        if isinstance(recorded.event, did.VerificationRunCompleted):
            yield AuditProblem(
                "finalization_invalid", "verified without a final statement", recorded.seq
            )
            return
    yield AuditProblem("finalization_incomplete", "there is no final statement yet")


def check_ordering(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    """TRC-021, TRC-022, TRC-023. A clock that went backwards is only a warning (E-24)."""
    yield from _broken_rules(walk, "ordering")
    before = None
    for recorded in walk.events:
        if before is not None and recorded.at < before:
            yield AuditProblem("clock_backwards", "earlier than the event before it", recorded.seq)
        before = recorded.at


def check_replayed_states(walk: TraceWalk, facts: AuditFacts) -> Problems:
    """TRC-017: every step was allowed where it was taken."""
    yield from _broken_rules(walk, "state")
    claimed = facts.stage
    if claimed is not None and claimed is not walk.state.stage:
        yield AuditProblem("state_differs", f"told {claimed}, replayed {walk.state.stage}")


def check_separation_of_duties(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    yield from _broken_rules(walk, "duties")


def check_executions(walk: TraceWalk, _facts: AuditFacts) -> Problems:
    """TRC-036, TRC-037, TRC-038, TRC-067: input and output of every run are on record."""
    yield from _broken_rules(walk, "executions")
    for recorded in (*walk.started.values(), *walk.ended):
        event = recorded.event
        cited = {ref.sha256 for ref in recorded.artifacts}
        starts = isinstance(event, did.ToolExecutionStarted)
        named = {event.input_artifact} if starts else {output.sha256 for output in event.outputs}
        if not named <= cited:
            yield AuditProblem(
                "execution_without_artifacts",
                f"{event.execution_id} names what it does not cite",
                recorded.seq,
            )
    for name in walk.state.running:
        yield AuditProblem("execution_unfinished", f"{name} has no end", walk.started[name].seq)


def check_completeness(walk: TraceWalk, facts: AuditFacts) -> Problems:
    """TRC-069: every event that the ledger holds was looked at."""
    count = len(walk.events) + len(facts.unreadable)
    if count != facts.events:
        yield AuditProblem("incomplete", f"{count} of {facts.events} events are here")
    elif walk.events and not facts.unreadable and walk.state.head != facts.head:
        yield AuditProblem("incomplete", "the last event is another one", walk.events[-1].seq)
    if facts.anchored is False:
        yield AuditProblem("not_anchored", "no checkpoint names the last event")


MAX_LISTED: Final = 200


class NamedCheck(NamedTuple):
    """A row: the check's id, what it is about, what it counts, and the function that looks."""

    id: str
    about: str
    counts: str
    look: Callable[[TraceWalk, AuditFacts], Iterable[AuditProblem]]


# TRC-044: every verification makes all of them, in this order.
CHECKS: Final = (
    NamedCheck("CHK_SCHEMA_CONFORMANCE", "every event can be read", "events", check_schema),
    NamedCheck("CHK_EVENT_HASH_INTEGRITY", "every event has its hash", "events", check_hashes),
    NamedCheck("CHK_CHAIN_CONTINUITY", "every event names the one before", "events", check_chain),
    NamedCheck("CHK_SIGNATURE_VALIDITY", "every signature holds", "events", check_signatures),
    NamedCheck("CHK_KEY_STATUS", "every key was valid and played its part", "events", check_keys),
    NamedCheck("CHK_ARTIFACT_EXISTENCE", "cited bytes are there", "artifacts",
               check_artifacts_exist),
    NamedCheck("CHK_ARTIFACT_HASH_MATCH", "cited bytes are unchanged", "artifacts",
               check_artifacts_match),
    NamedCheck("CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claims rest on evidence", "claims", check_claims),
    NamedCheck("CHK_ROLE_POLICY_CONFORMANCE", "roles and policy were kept", "events",
               check_roles_and_policy),
    NamedCheck("CHK_FINALIZATION_INTEGRITY", "one final bundle, complete", "claims",
               check_finalization),
    NamedCheck("CHK_EVENT_ORDERING", "what needs another came after it", "events", check_ordering),
    NamedCheck("CHK_STATE_REPLAY", "every step was allowed", "events", check_replayed_states),
    NamedCheck("CHK_SEPARATION_OF_DUTIES", "nobody judged their own work", "events",
               check_separation_of_duties),
    NamedCheck("CHK_EXECUTION_ARTIFACTS", "runs left input and output", "runs", check_executions),
    NamedCheck("CHK_COMPLETENESS", "nothing is missing at the end", "events", check_completeness),
)  # fmt: skip


def audit_events(
    events: Iterable[Recorded[Any]], facts: AuditFacts, profile: Profile = Profile.DEFAULT
) -> AuditReport:
    return audit_walk(TraceWalk(facts.in_charge).go_through(events), facts, profile)


def audit_walk(
    walk: TraceWalk, facts: AuditFacts, profile: Profile = Profile.DEFAULT
) -> AuditReport:
    """Audit a walk that has already taken all events."""
    counted = _count_subjects(walk)
    checks = tuple(_run_check(row, walk, facts, profile, counted) for row in CHECKS)
    first = _first_bad_event(checks)
    last = first - 1 if first is not None else len(walk.events) - 1
    return AuditReport(
        trace=facts.trace,
        head=facts.head,
        events=facts.events,
        profile=profile,
        verdict=_verdict_of(checks),
        stage=walk.state.stage,
        first_bad=first,
        last_trusted=last if last >= 0 else None,
        checks=checks,
    )


def list_cited_artifacts(events: Iterable[Recorded[Any]]) -> tuple[str, ...]:
    """The hashes of all artifacts that a trace names: what `AuditFacts.artifacts` should cover."""
    return tuple(TraceWalk(frozenset()).go_through(events).cited)


def _run_check(
    row: NamedCheck, walk: TraceWalk, facts: AuditFacts, profile: Profile, counted: dict[str, int]
) -> AuditCheck:
    failures = [judge_problem(row.id, problem, profile) for problem in row.look(walk, facts)]
    outcome = f"{len(failures)} found" if failures else "nothing found"
    return AuditCheck(
        id=row.id,
        about=row.about,
        status=_worst_status(failures),
        evidence=f"{counted[row.counts]} {row.counts}: {outcome}",
        failures=tuple(_worst_first(failures)),
    )


def _worst_first(failures: list[AuditFailure]) -> list[AuditFailure]:
    """Sort failures before warnings, then by event; long lists are cut, their count is not."""
    ordered = sorted(
        failures, key=lambda failure: (failure.status is not CheckStatus.FAIL, failure.event or 0)
    )
    return ordered[:MAX_LISTED]


def _worst_status(failures: list[AuditFailure]) -> CheckStatus:
    if any(failure.status is CheckStatus.FAIL for failure in failures):
        return CheckStatus.FAIL
    return CheckStatus.WARNING if failures else CheckStatus.PASS


def _verdict_of(checks: tuple[AuditCheck, ...]) -> AuditVerdict:
    if any(check.status is CheckStatus.FAIL for check in checks):
        return AuditVerdict.FAIL
    warned = any(check.status is CheckStatus.WARNING for check in checks)
    return AuditVerdict.WARNINGS if warned else AuditVerdict.PASS


def _first_bad_event(checks: tuple[AuditCheck, ...]) -> int | None:
    failed = (
        failure
        for check in checks
        for failure in check.failures
        if failure.status is CheckStatus.FAIL
    )
    return min((failure.event for failure in failed if failure.event is not None), default=None)


def _count_subjects(walk: TraceWalk) -> dict[str, int]:
    return {
        "events": len(walk.events),
        "artifacts": len(walk.cited),
        "claims": len(walk.claims),
        "runs": len(walk.started),
    }
