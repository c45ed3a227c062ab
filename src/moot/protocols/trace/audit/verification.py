"""Verification of a trace: fifteen named checks in a fixed order, a profile, a verdict.

The first ten are the companion document's, in its order; the last five are what its own rules
and invariants ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from moot.core.machine import Recorded
from moot.protocols.trace.audit import checks as looks
from moot.protocols.trace.audit.report import (
    AuditCheck,
    AuditFacts,
    AuditFailure,
    AuditProblem,
    AuditReport,
    CheckStatus,
    judge_problem,
)
from moot.protocols.trace.audit.walk import TraceWalk
from moot.protocols.trace.model import AuditVerdict, Profile

MAX_LISTED: Final = 200


class NamedCheck(NamedTuple):
    """A row: the check's id, what it is about, what it counts, and the function that looks."""

    id: str
    about: str
    counts: str
    look: Callable[[TraceWalk, AuditFacts], Iterable[AuditProblem]]


# TRC-044: every verification makes all of them, in this order.
CHECKS: Final = (
    NamedCheck("CHK_SCHEMA_CONFORMANCE", "every event can be read", "events", looks.check_schema),
    NamedCheck(
        "CHK_EVENT_HASH_INTEGRITY", "every event has its hash", "events", looks.check_hashes
    ),
    NamedCheck(
        "CHK_CHAIN_CONTINUITY", "every event names the one before", "events", looks.check_chain
    ),
    NamedCheck("CHK_SIGNATURE_VALIDITY", "every signature holds", "events", looks.check_signatures),
    NamedCheck(
        "CHK_KEY_STATUS", "every key was valid and played its part", "events", looks.check_keys
    ),
    NamedCheck(
        "CHK_ARTIFACT_EXISTENCE", "cited bytes are there", "artifacts", looks.check_artifacts_exist
    ),
    NamedCheck(
        "CHK_ARTIFACT_HASH_MATCH",
        "cited bytes are unchanged",
        "artifacts",
        looks.check_artifacts_match,
    ),
    NamedCheck(
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claims rest on evidence", "claims", looks.check_claims
    ),
    NamedCheck(
        "CHK_ROLE_POLICY_CONFORMANCE",
        "roles and policy were kept",
        "events",
        looks.check_roles_and_policy,
    ),
    NamedCheck(
        "CHK_FINALIZATION_INTEGRITY",
        "one final bundle, complete",
        "claims",
        looks.check_finalization,
    ),
    NamedCheck(
        "CHK_EVENT_ORDERING", "what needs another came after it", "events", looks.check_ordering
    ),
    NamedCheck("CHK_STATE_REPLAY", "every step was allowed", "events", looks.check_replayed_states),
    NamedCheck(
        "CHK_SEPARATION_OF_DUTIES",
        "nobody judged their own work",
        "events",
        looks.check_separation_of_duties,
    ),
    NamedCheck(
        "CHK_EXECUTION_ARTIFACTS", "runs left input and output", "runs", looks.check_executions
    ),
    NamedCheck(
        "CHK_COMPLETENESS", "nothing is missing at the end", "events", looks.check_completeness
    ),
)


def audit_events(
    events: Iterable[Recorded[Any]], facts: AuditFacts, profile: Profile = Profile.DEFAULT
) -> AuditReport:
    return audit_walk(TraceWalk(facts.in_charge).go_through(events), facts, profile)


def audit_walk(
    walk: TraceWalk, facts: AuditFacts, profile: Profile = Profile.DEFAULT
) -> AuditReport:
    """The same for a walk that has already gone through the events, one by one as they came."""
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
    """What fails before what warns, then in order; long lists are cut, their count is not."""
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
