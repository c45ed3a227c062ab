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
    Check,
    Facts,
    Failure,
    Problem,
    Report,
    Status,
    judge,
)
from moot.protocols.trace.audit.walk import Walk
from moot.protocols.trace.model import Profile, Verdict

MAX_TOLD: Final = 200


class Named(NamedTuple):
    """A row: the check's id, what it is about, what it counts, and the function that looks."""

    id: str
    about: str
    counts: str
    look: Callable[[Walk, Facts], Iterable[Problem]]


# TRC-044: every verification makes all of them, in this order.
CHECKS: Final = (
    Named("CHK_SCHEMA_CONFORMANCE", "every event can be read", "events", looks.schema),
    Named("CHK_EVENT_HASH_INTEGRITY", "every event has its hash", "events", looks.hashes),
    Named("CHK_CHAIN_CONTINUITY", "every event names the one before", "events", looks.chain),
    Named("CHK_SIGNATURE_VALIDITY", "every signature holds", "events", looks.signatures),
    Named("CHK_KEY_STATUS", "every key was valid and played its part", "events", looks.keys),
    Named("CHK_ARTIFACT_EXISTENCE", "cited bytes are there", "artifacts", looks.artifacts_exist),
    Named(
        "CHK_ARTIFACT_HASH_MATCH", "cited bytes are unchanged", "artifacts", looks.artifacts_match
    ),
    Named("CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claims rest on evidence", "claims", looks.claims),
    Named("CHK_ROLE_POLICY_CONFORMANCE", "roles and policy were kept", "events", looks.role_policy),
    Named("CHK_FINALIZATION_INTEGRITY", "one final bundle, complete", "claims", looks.finalization),
    Named("CHK_EVENT_ORDERING", "what needs another came after it", "events", looks.ordering),
    Named("CHK_STATE_REPLAY", "every step was allowed", "events", looks.replayed),
    Named("CHK_SEPARATION_OF_DUTIES", "nobody judged their own work", "events", looks.duties),
    Named("CHK_EXECUTION_ARTIFACTS", "runs left input and output", "runs", looks.executions),
    Named("CHK_COMPLETENESS", "nothing is missing at the end", "events", looks.completeness),
)


def audit(
    events: Iterable[Recorded[Any]], facts: Facts, profile: Profile = Profile.DEFAULT
) -> Report:
    return judged(Walk(facts.in_charge).through(events), facts, profile)


def judged(walk: Walk, facts: Facts, profile: Profile = Profile.DEFAULT) -> Report:
    """The same for a walk that has already gone through the events, one by one as they came."""
    counted = _count_subjects(walk)
    checks = tuple(_run_check(row, walk, facts, profile, counted) for row in CHECKS)
    first = _first_bad_event(checks)
    last = first - 1 if first is not None else len(walk.events) - 1
    return Report(
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


def cited_in(events: Iterable[Recorded[Any]]) -> tuple[str, ...]:
    """The hashes of all artifacts that a trace names: what `Facts.artifacts` should cover."""
    return tuple(Walk(frozenset()).through(events).cited)


def _run_check(
    row: Named, walk: Walk, facts: Facts, profile: Profile, counted: dict[str, int]
) -> Check:
    failures = [judge(row.id, problem, profile) for problem in row.look(walk, facts)]
    outcome = f"{len(failures)} found" if failures else "nothing found"
    return Check(
        id=row.id,
        about=row.about,
        status=_worst_status(failures),
        evidence=f"{counted[row.counts]} {row.counts}: {outcome}",
        failures=tuple(_worst_first(failures)),
    )


def _worst_first(failures: list[Failure]) -> list[Failure]:
    """What fails before what warns, then in order; long lists are cut, their count is not."""
    ordered = sorted(
        failures, key=lambda failure: (failure.status is not Status.FAIL, failure.event or 0)
    )
    return ordered[:MAX_TOLD]


def _worst_status(failures: list[Failure]) -> Status:
    if any(failure.status is Status.FAIL for failure in failures):
        return Status.FAIL
    return Status.WARNING if failures else Status.PASS


def _verdict_of(checks: tuple[Check, ...]) -> Verdict:
    if any(check.status is Status.FAIL for check in checks):
        return Verdict.FAIL
    warned = any(check.status is Status.WARNING for check in checks)
    return Verdict.WARNINGS if warned else Verdict.PASS


def _first_bad_event(checks: tuple[Check, ...]) -> int | None:
    failed = (
        failure for check in checks for failure in check.failures if failure.status is Status.FAIL
    )
    return min((failure.event for failure in failed if failure.event is not None), default=None)


def _count_subjects(walk: Walk) -> dict[str, int]:
    return {
        "events": len(walk.events),
        "artifacts": len(walk.cited),
        "claims": len(walk.claims),
        "runs": len(walk.started),
    }
