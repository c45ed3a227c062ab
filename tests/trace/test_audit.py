"""The audit: every check finds what it is for, alone; profiles and verdicts judge it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.machine import Draft, Event, Recorded
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.report import (
    GRADES,
    PROFILES,
    ArtifactPresence,
    AuditFacts,
    AuditReport,
    CheckStatus,
    report_document,
)
from moot.protocols.trace.audit.verification import (
    CHECK_OF_BREACH,
    CHECKS,
    audit_events,
    list_cited_artifacts,
)
from moot.protocols.trace.model import (
    AuditVerdict,
    BundledClaim,
    ExecutionResult,
    HeldReservation,
    Profile,
    Review,
    Stage,
)
from moot.protocols.trace.policy import Policy, Risk
from moot.protocols.trace.rules import GUARDS, RULES

from .scene import AUDITOR, CRITIC, EXECUTOR, NOWHERE, PLANNER, Ledgered, Trace

Events = list[Recorded[Any]]
TEN = (
    "CHK_SCHEMA_CONFORMANCE",
    "CHK_EVENT_HASH_INTEGRITY",
    "CHK_CHAIN_CONTINUITY",
    "CHK_SIGNATURE_VALIDITY",
    "CHK_KEY_STATUS",
    "CHK_ARTIFACT_EXISTENCE",
    "CHK_ARTIFACT_HASH_MATCH",
    "CHK_CLAIM_EVIDENCE_SUFFICIENCY",
    "CHK_ROLE_POLICY_CONFORMANCE",
    "CHK_FINALIZATION_INTEGRITY",
)
FIVE = (
    "CHK_EVENT_ORDERING",
    "CHK_STATE_REPLAY",
    "CHK_SEPARATION_OF_DUTIES",
    "CHK_EXECUTION_ARTIFACTS",
    "CHK_COMPLETENESS",
)


def facts_of(events: Events, /, **more: Any) -> AuditFacts:
    said: dict[str, Any] = {
        "trace": "trace/t1",
        "head": events[-1].hash.hex() if events else "",
        "events": len(events),
        "artifacts": dict.fromkeys(list_cited_artifacts(events), ArtifactPresence.PRESENT),
        **more,
    }
    return AuditFacts(**said)


def finished(policy: Policy | None = None) -> Trace:
    trace = Trace()
    trace.open(policy or Policy())
    trace.approved()
    evidence = trace.ran("p1")
    trace.claim(evidence)
    trace.finish()
    return trace


def judged(trace: Trace, profile: Profile = Profile.DEFAULT, **more: Any) -> AuditReport:
    return audit_events(trace.history(), facts_of(trace.history(), **more), profile)


def failing(report: AuditReport) -> dict[str, set[str]]:
    """Checks that did not pass, with their codes."""
    return {
        check.id: {failure.code for failure in check.failures}
        for check in report.checks
        if check.status is not CheckStatus.PASS
    }


@pytest.mark.requirement("TRC-044")
def test_the_checks_stand_in_their_fixed_order() -> None:
    assert tuple(row.id for row in CHECKS) == (*TEN, *FIVE)
    report = judged(finished())
    assert tuple(check.id for check in report.checks) == (*TEN, *FIVE)
    assert all(check.evidence and check.about for check in report.checks)


@pytest.mark.requirement("TRC-044")
@pytest.mark.parametrize("profile", list(Profile))
def test_a_clean_trace_passes_under_every_profile(profile: Profile) -> None:
    report = judged(finished(), profile)
    assert failing(report) == {}
    assert report.verdict is AuditVerdict.PASS
    assert (report.first_bad, report.last_trusted) == (None, report.events - 1)


@pytest.mark.requirement("TRC-068")
def test_a_report_names_exactly_what_it_looked_at_and_is_the_same_each_time() -> None:
    trace = finished()
    document = report_document(judged(trace))
    assert document["trace"] == "trace/t1"
    assert document["head"] == trace.history()[-1].hash.hex()
    assert document["events"] == len(trace.history())
    assert document == report_document(judged(trace))
    assert [check["id"] for check in document["checks"]] == [*TEN, *FIVE]


# One scene for each kind of failure: what is put down (allowed or not), and which facts are found.
# Each is seen by exactly the check that is for it: without that check it would pass.


def _forced(trace: Trace, event: Event, actor: str, *refs: ArtifactRef) -> Trace:
    trace.record(Draft(event, refs), actor)
    return trace


def _reviewed_by_the_planner() -> Trace:
    trace = Trace().to("reviewing")
    event = did.ProposalReviewed(proposal_id="p1", status=Review.APPROVED, rationale="mine")
    return _end(_forced(trace, event, PLANNER))


def _end(trace: Trace) -> Trace:
    trace.claim(trace.ran("p1"))
    trace.finish()
    return trace


def _run_without_consent() -> Trace:
    trace = Trace().to("executing")
    name = trace.intend("p1", risk="high")
    command = trace.starting(name)
    event = did.ToolExecutionStarted(
        execution_id="x1", intent_id=name, input_artifact=command.input.sha256
    )
    _forced(trace, event, EXECUTOR, command.input)
    trace.claim(trace.complete("x1"))
    trace.finish()
    return trace


def _run_though_blocked() -> Trace:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    command = trace.starting(name)
    trace.consent(name, "blocked")
    event = did.ToolExecutionStarted(
        execution_id="x1", intent_id=name, input_artifact=command.input.sha256
    )
    _forced(trace, event, EXECUTOR, command.input)
    trace.claim(trace.complete("x1"))
    trace.finish()
    return trace


def _risk_played_down() -> Trace:
    """The recorded class is lower than the policy's, and so the critic was never asked."""
    trace = Trace().to("executing")
    asked = trace.decide(
        ask.SignIntent(
            proposal_id="p1", tool="rm", command=("rm", "x"), risk="low", justification="tidy"
        ),
        EXECUTOR,
    )
    lowered = replace(asked.drafts[0].event, risk_class=Risk.LOW, needs=())
    _forced(trace, lowered, EXECUTOR)
    trace.consent("i1")
    trace.claim(trace.complete(trace.start("i1")))
    trace.finish()
    return trace


def _intent_changed(**other: Any) -> Trace:
    """One thing about a risky intent is recorded otherwise; the critic agreed all the same."""
    trace = Trace().to("executing")
    asked = trace.decide(
        ask.SignIntent(
            proposal_id="p1", tool="rm", command=("rm", "x"), risk="low", justification="tidy"
        ),
        EXECUTOR,
    )
    _forced(trace, replace(asked.drafts[0].event, **other), EXECUTOR)
    trace.consent("i1")
    trace.claim(trace.complete(trace.start("i1")))
    trace.finish()
    return trace


def _opened_with(**other: Any) -> Trace:
    trace = Trace()
    event = trace.decide(ask.OpenTrace(task="t", roles=trace.bindings()), SYSTEM).drafts[0].event
    _forced(trace, replace(event, **other), SYSTEM)
    trace.approved()
    return _end(trace)


def _report_that_is_nowhere() -> Trace:
    """Named by the auditor, stored by nobody."""
    trace = finished()
    trace.run(ask.StartVerification(profile="default"), AUDITOR)
    run = trace.state.run
    assert run is not None
    event = did.VerificationRunCompleted(
        run_id=run.id,
        status=AuditVerdict.PASS,
        report_artifact=NOWHERE,
        head=run.head,
        events=run.events,
    )
    return _forced(trace, event, AUDITOR)


def _not_reserved() -> Trace:
    trace = Trace()
    trace.open(Policy(require_reservation=True))
    trace.approved()
    name = trace.intend("p1", writes=("src",))
    ref = trace.input_of(name)
    event = did.ToolExecutionStarted(
        execution_id="x1",
        intent_id=name,
        input_artifact=ref.sha256,
        reservations=(HeldReservation("docs", 1),),
    )
    _forced(trace, event, EXECUTOR, ref)
    trace.claim(trace.complete("x1"))
    trace.finish()
    return trace


def _undeclared_write() -> Trace:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    ref = trace.store(b"out")
    trace.run(
        ask.CompleteExecution(
            execution_id=started,
            outputs=(ask.Stored("stdout", ref),),
            result=ExecutionResult(exit_status=0, duration_ms=1, undeclared=("src/secret.py",)),
        ),
        EXECUTOR,
    )
    trace.claim(ref.sha256)
    trace.finish()
    return trace


def _claim_from_nowhere() -> Trace:
    trace = Trace().to("claiming")
    ref = trace.store(b"I wrote this myself")
    event = did.ClaimIssued(claim_id="c1", text="x", confidence="1", evidence=(ref.sha256,))
    _forced(trace, event, EXECUTOR, ref)
    trace.finish()
    return trace


def _too_little_evidence() -> Trace:
    trace = Trace()
    trace.open(Policy(min_evidence=2))
    trace.approved()
    sha256 = trace.ran("p1")
    event = did.ClaimIssued(claim_id="c1", text="x", confidence="1", evidence=(sha256,))
    _forced(trace, event, EXECUTOR, trace.store(b"all well\n"))
    trace.finish()
    return trace


def _one_artifact_twice() -> Trace:
    """The command drops repeats; an event that was made otherwise may hold them."""
    trace = Trace()
    trace.open(Policy(min_evidence=2))
    trace.approved()
    sha256 = trace.ran("p1")
    event = did.ClaimIssued(claim_id="c1", text="x", confidence="1", evidence=(sha256, sha256))
    _forced(trace, event, EXECUTOR, trace.store(b"all well\n"))
    trace.finish()
    return trace


def _disputed() -> Trace:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    return trace


def _resolved() -> Trace:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    trace.claim(trace.ran("p1"), supersedes="c1")
    trace.finish()
    return trace


def _doubtful() -> Trace:
    trace = Trace().to("claiming")
    trace.claim(trace.ran("p1"), confidence="0.3")
    trace.finish()
    return trace


def _final_in_spite_of_a_dispute() -> Trace:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    event = trace.decide(ask.SignFinalStatement(statement="done"), EXECUTOR)
    assert event.refused
    standing = tuple(BundledClaim(one.id, one.event) for one in trace.state.claims.values())
    return _forced(trace, did.FinalStatementSigned(statement="done", claims=standing), EXECUTOR)


def _other_bundle() -> Trace:
    trace = Trace().to("auditing")
    bundle = (BundledClaim("c1", NOWHERE),)
    return _forced(trace, did.FinalStatementSigned(statement="done", claims=bundle), EXECUTOR)


def _claim_after_the_final_statement() -> Trace:
    trace = finished()
    sha256 = trace.state.claims["c1"].id and trace.history()[-2].event.evidence[0]
    event = did.ClaimIssued(claim_id="c2", text="more", confidence="1", evidence=(sha256,))
    return _forced(trace, event, EXECUTOR, trace.store(b"all well\n"))


def _second_final_statement() -> Trace:
    trace = finished()
    return _forced(trace, trace.history()[-1].event, EXECUTOR)


def _started_without_an_intent() -> Trace:
    trace = Trace().to("claiming")
    ref = trace.store(b"x")
    event = did.ToolExecutionStarted(execution_id="x2", intent_id="i7", input_artifact=ref.sha256)
    _forced(trace, event, EXECUTOR, ref)
    trace.complete("x2")
    trace.claim(ref.sha256)
    trace.finish()
    return trace


def _verified_without_a_start() -> Trace:
    trace = finished()
    report = trace.store(b"{}")
    state = trace.state
    event = did.VerificationRunCompleted(
        run_id="v1",
        status=AuditVerdict.PASS,
        report_artifact=report.sha256,
        head=state.head,
        events=state.events,
    )
    return _forced(trace, event, AUDITOR, report)


def _second_end() -> Trace:
    trace = Trace().to("claiming")
    ended = trace.history()[-1]
    trace.record(Draft(ended.event, ended.artifacts), EXECUTOR)
    trace.claim(ended.event.outputs[0].sha256)
    trace.finish()
    return trace


def _clock_backwards() -> Trace:
    trace = Trace().to("claiming")
    trace.now -= 1
    trace.claim(trace.history()[-1].event.outputs[0].sha256)
    trace.finish()
    return trace


def _claim_while_executing() -> Trace:
    trace = Trace().to("executing")
    failed = trace.start(trace.intend("p1"))
    given = trace.state.running[failed].input_artifact
    trace.fail(failed)
    event = did.ClaimIssued(claim_id="c1", text="x", confidence="1", evidence=(given,))
    _forced(trace, event, EXECUTOR, trace.input_of("i1"))
    trace.ran("p1", "pytest", "b")
    trace.claim(given)
    trace.finish()
    return trace


def _id_left_out() -> Trace:
    trace = Trace().to("planning")
    event = trace.decide(ask.CreateProposal(**PROPOSAL), PLANNER).drafts[0].event
    _forced(trace, replace(event, proposal_id="p5"), PLANNER)
    trace.review("p5")
    trace.claim(trace.ran("p5"))
    trace.finish()
    return trace


PROPOSAL: dict[str, Any] = {
    "objective": "x",
    "required_tools": ("pytest",),
    "assumptions": (),
    "expected_evidence": (),
}


def _one_agent_everywhere() -> Trace:
    trace = Trace()
    event = trace.decide(ask.OpenTrace(task="t", roles=trace.bindings()), SYSTEM).drafts[0].event
    same = trace.bindings(critic=EXECUTOR)
    _forced(trace, replace(event, roles=same), SYSTEM)
    trace.propose()
    event = did.ProposalReviewed(proposal_id="p1", status=Review.APPROVED, rationale="mine")
    return _end(_forced(trace, event, EXECUTOR))


def _start_without_its_input() -> Trace:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    ref = trace.input_of(name)
    event = did.ToolExecutionStarted(execution_id="x1", intent_id=name, input_artifact=ref.sha256)
    _forced(trace, event, EXECUTOR)
    trace.claim(trace.complete("x1"))
    trace.finish()
    return trace


def _no_output() -> Trace:
    trace = Trace().to("executing")
    name = trace.start(trace.intend("p1"))
    run = trace.state.running[name]
    event = did.ToolExecutionCompleted(
        execution_id=name,
        intent_id=run.intent,
        input_artifact=run.input_artifact,
        outputs=(),
        result=ExecutionResult(exit_status=0, duration_ms=1),
    )
    _forced(trace, event, EXECUTOR)
    trace.claim(run.input_artifact)
    trace.finish()
    return trace


def _another_input() -> Trace:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    ref = trace.store(b'{"command":["rm"]}')
    event = did.ToolExecutionStarted(execution_id="x1", intent_id=name, input_artifact=ref.sha256)
    _forced(trace, event, EXECUTOR, ref)
    trace.claim(trace.complete("x1"))
    trace.finish()
    return trace


def _unfinished() -> Trace:
    trace = Trace().to("auditing")
    trace.start(trace.intend("p1", "pytest", "b"))
    return trace


def _foreign_key() -> Trace:
    trace = Trace().to("executing")
    trace.kids[EXECUTOR] = "f" * 32
    event = trace.decide(INTENT, CRITIC)
    assert event.refused
    bound = Trace().to("executing")
    made = bound.decide(INTENT, EXECUTOR).drafts[0]
    trace.record(made, EXECUTOR)
    trace.kids[EXECUTOR] = bound.kids[EXECUTOR]
    trace.claim(trace.complete(trace.start("i1")))
    trace.finish()
    return trace


INTENT = ask.SignIntent(
    proposal_id="p1", tool="pytest", command=("pytest",), risk="low", justification="x"
)

Scene = tuple[str, str, Callable[[], Trace], dict[str, Any]]
SCENES: dict[str, Scene] = {
    "an event cannot be read": (
        "CHK_SCHEMA_CONFORMANCE", "schema_invalid", finished, {"unreadable": {2: "no payload"}},
    ),
    "a byte was changed": (
        "CHK_EVENT_HASH_INTEGRITY", "hash_mismatch", finished, {"hashes": {2: "another hash"}},
    ),
    "an event was taken out": (
        "CHK_CHAIN_CONTINUITY", "chain_break", finished, {"chain": {2: "another predecessor"}},
    ),
    "a signature was forged": (
        "CHK_SIGNATURE_VALIDITY", "sig_invalid", finished, {"signatures": {2: "does not hold"}},
    ),
    "a claim is not signed": (
        "CHK_SIGNATURE_VALIDITY", "sig_missing", finished, {"unsigned": frozenset({6})},
    ),
    "a review is not signed": (
        "CHK_SIGNATURE_VALIDITY", "sig_absent", finished, {"unsigned": frozenset({2})},
    ),
    "a revoked key signed": ("CHK_KEY_STATUS", "key_revoked", finished, {"keys": {2: "revoked"}}),
    "an unknown key signed": ("CHK_KEY_STATUS", "key_unknown", finished, {"keys": {2: "unknown"}}),
    "a key that plays no part signed": ("CHK_KEY_STATUS", "foreign_key", _foreign_key, {}),
    "an artifact is gone": ("CHK_ARTIFACT_EXISTENCE", "artifact_missing", finished, {"lost": 1}),
    "an artifact was erased": (
        "CHK_ARTIFACT_EXISTENCE", "artifact_erased", finished, {"erased": 1},
    ),
    "an artifact was swapped": (
        "CHK_ARTIFACT_HASH_MATCH", "artifact_hash_mismatch", finished, {"swapped": 1},
    ),
    "a claim cites what no run left": (
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claim_unproven", _claim_from_nowhere, {},
    ),
    "a claim cites too little": (
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claim_unproven", _too_little_evidence, {},
    ),
    "a claim cites one artifact twice": (
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claim_unproven", _one_artifact_twice, {},
    ),
    "a challenge was answered": (
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY", "challenge_resolved", _resolved, {},
    ),
    "a claim is doubtful": ("CHK_CLAIM_EVIDENCE_SUFFICIENCY", "low_confidence", _doubtful, {}),
    "the planner reviewed": (
        "CHK_ROLE_POLICY_CONFORMANCE", "role_policy_violation", _reviewed_by_the_planner, {},
    ),
    "a risky run without consent": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation", _run_without_consent, {},
    ),
    "a run though it was blocked": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation", _run_though_blocked, {},
    ),
    "a risk that was played down": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation", _risk_played_down, {},
    ),
    "a risk that was recorded lower": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation",
        lambda: _intent_changed(risk_class=Risk.MEDIUM), {},
    ),
    "a consent that was left out": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation", lambda: _intent_changed(needs=()), {},
    ),
    "an attempt that was not the first": (
        "CHK_STATE_REPLAY", "state_violation", lambda: _intent_changed(attempt=2), {},
    ),
    "another task than its hash": (
        "CHK_STATE_REPLAY", "state_violation", lambda: _opened_with(task_sha256=NOWHERE), {},
    ),
    "another policy than its hash": (
        "CHK_STATE_REPLAY", "state_violation", lambda: _opened_with(policy_sha256=NOWHERE), {},
    ),
    "a report that is nowhere": (
        "CHK_ARTIFACT_EXISTENCE", "artifact_missing", _report_that_is_nowhere, {"lost": 1},
    ),
    "a run without its reservation": (
        "CHK_ROLE_POLICY_CONFORMANCE", "policy_violation", _not_reserved, {},
    ),
    "a write that was not declared": (
        "CHK_ROLE_POLICY_CONFORMANCE", "undeclared_write", _undeclared_write, {},
    ),
    "a bundle of something else": (
        "CHK_FINALIZATION_INTEGRITY", "finalization_invalid", _other_bundle, {},
    ),
    "no final statement": (
        "CHK_FINALIZATION_INTEGRITY", "finalization_incomplete",
        lambda: Trace().to("auditing"), {},
    ),
    "a run without an intent": (
        "CHK_EVENT_ORDERING", "ordering_violation", _started_without_an_intent, {},
    ),
    "a verification without a start": (
        "CHK_EVENT_ORDERING", "ordering_violation", _verified_without_a_start, {},
    ),
    "a run that ends twice": ("CHK_EVENT_ORDERING", "ordering_violation", _second_end, {}),
    "a clock that went backwards": ("CHK_EVENT_ORDERING", "clock_backwards", _clock_backwards, {}),
    "a claim while executing": ("CHK_STATE_REPLAY", "state_violation", _claim_while_executing, {}),
    "a number that was left out": ("CHK_STATE_REPLAY", "state_violation", _id_left_out, {}),
    "a state that was only told": (
        "CHK_STATE_REPLAY", "state_differs", finished, {"stage": Stage.COMPLETED},
    ),
    "one agent judges itself": (
        "CHK_SEPARATION_OF_DUTIES", "duties_not_separated", _one_agent_everywhere, {},
    ),
    "a start that does not cite its input": (
        "CHK_EXECUTION_ARTIFACTS", "execution_without_artifacts", _start_without_its_input, {},
    ),
    "a run that left nothing": (
        "CHK_EXECUTION_ARTIFACTS", "execution_without_artifacts", _no_output, {},
    ),
    "another input than intended": (
        "CHK_EXECUTION_ARTIFACTS", "input_mismatch", _another_input, {},
    ),
    "the end was cut off": ("CHK_COMPLETENESS", "incomplete", finished, {"events": 9}),
    "the last event is another": ("CHK_COMPLETENESS", "incomplete", finished, {"head": NOWHERE}),
    "no checkpoint names the end": (
        "CHK_COMPLETENESS", "not_anchored", finished, {"anchored": False},
    ),
}  # fmt: skip
# Seen together with another: a disputed or unfinished trace has no final statement either.
TOGETHER: dict[str, tuple[str, str, Callable[[], Trace]]] = {
    "a claim is disputed": ("CHK_CLAIM_EVIDENCE_SUFFICIENCY", "claim_disputed", _disputed),
    "final in spite of a dispute": (
        "CHK_CLAIM_EVIDENCE_SUFFICIENCY",
        "claim_disputed",
        _final_in_spite_of_a_dispute,
    ),
    "a run has no end": ("CHK_EXECUTION_ARTIFACTS", "execution_unfinished", _unfinished),
    "a claim after the final statement": (
        "CHK_STATE_REPLAY",
        "state_violation",
        _claim_after_the_final_statement,
    ),
}


def seen(trace: Trace, found: dict[str, Any], profile: Profile = Profile.DEFAULT) -> AuditReport:
    said, events = dict(found), trace.history()
    artifacts = dict.fromkeys(list_cited_artifacts(events), ArtifactPresence.PRESENT)
    last = list(artifacts)[-1]
    for word, state in (
        ("lost", ArtifactPresence.MISSING),
        ("erased", ArtifactPresence.ERASED),
        ("swapped", ArtifactPresence.DIFFERS),
    ):
        if said.pop(word, None):
            artifacts[last] = state
    if "unreadable" in said:
        events = [one for one in events if one.seq not in said["unreadable"]]
        said.setdefault("head", trace.history()[-1].hash.hex())
        said.setdefault("events", len(trace.history()))
    return audit_events(events, facts_of(events, **{"artifacts": artifacts, **said}), profile)


# Scenes that show what becomes of a norm of the document that was broken.
NORM_OF_SCENE = {
    "the end was cut off": "TRC-019",
    "an event was taken out": "TRC-020",
    "a run without an intent": "TRC-021",
    "a claim is not signed": "TRC-024",
    "another input than intended": "TRC-038",
    "an artifact is gone": "TRC-054",
    "a claim cites one artifact twice": "TRC-064",
    "a run that left nothing": "TRC-067",
    "a byte was changed": "TRC-069",
}
OTHER_SCENES = [one for one in SCENES if one not in NORM_OF_SCENE]


@pytest.mark.parametrize(
    "name",
    [
        *(
            pytest.param(name, marks=pytest.mark.requirement(norm))
            for name, norm in NORM_OF_SCENE.items()
        ),
        *(one for one in OTHER_SCENES if one != "an event cannot be read"),
    ],
)
def test_each_failure_is_seen_by_its_check_and_by_no_other(name: str) -> None:
    """So removing any one check would let something pass."""
    check, code, scene, found = SCENES[name]
    assert failing(seen(scene(), found)) == {check: {code}}


def test_an_unreadable_event_is_told_as_such() -> None:
    check, code, scene, found = SCENES["an event cannot be read"]
    report = seen(scene(), found)
    assert failing(report)[check] == {code}
    assert "CHK_CHAIN_CONTINUITY" not in failing(report)
    assert report.first_bad == 2


@pytest.mark.requirement("TRC-023")
@pytest.mark.requirement("TRC-065")
@pytest.mark.parametrize("name", TOGETHER)
def test_what_comes_together_is_told_together(name: str) -> None:
    check, code, scene = TOGETHER[name]
    found = failing(seen(scene(), {}))
    assert code in found[check]
    rest = {"CHK_FINALIZATION_INTEGRITY"} | ({"CHK_STATE_REPLAY"} & {check})
    assert set(found) - {check} <= rest


def _verified_without_a_final_statement() -> Trace:
    trace = Trace().to("auditing")
    state, report = trace.state, trace.store(b"{}")
    subject: dict[str, Any] = {"head": state.head, "events": state.events}
    started = did.VerificationRunStarted(run_id="v1", profile=Profile.DEFAULT, **subject)
    ended = did.VerificationRunCompleted(
        run_id="v1", status=AuditVerdict.PASS, report_artifact=report.sha256, **subject
    )
    return _forced(_forced(trace, started, AUDITOR), ended, AUDITOR, report)


@pytest.mark.requirement("TRC-023")
@pytest.mark.parametrize("scene", [_second_final_statement, _verified_without_a_final_statement])
def test_there_is_one_final_statement_no_more_and_no_less(scene: Callable[[], Trace]) -> None:
    report = seen(scene(), {})
    assert failing(report)["CHK_FINALIZATION_INTEGRITY"] == {"finalization_invalid"}
    assert report.verdict is AuditVerdict.FAIL


def test_every_code_and_every_check_has_its_scene() -> None:
    scenes = [(check, code) for check, code, *_ in (*SCENES.values(), *TOGETHER.values())]
    assert {check for check, _ in scenes} == {row.id for row in CHECKS}
    assert {code for _, code in scenes} == set(GRADES)


def test_every_rule_belongs_to_a_check() -> None:
    codes = {rule.code for rule in GUARDS} | {rule.code for rows in RULES.values() for rule in rows}
    assert codes == set(CHECK_OF_BREACH)
    assert {code for _, code in CHECK_OF_BREACH.values()} <= set(GRADES)


@pytest.mark.parametrize("name", SCENES)
def test_a_failure_fails_and_a_warning_warns(name: str) -> None:
    _check, code, scene, found = SCENES[name]
    for profile in Profile:
        due = PROFILES[profile].get(code, GRADES[code].usual)
        verdict = seen(scene(), found, profile).verdict
        assert verdict is (
            AuditVerdict.FAIL if due is CheckStatus.FAIL else AuditVerdict.WARNINGS
        ), profile


def test_the_profiles_differ() -> None:
    disputed = _disputed()
    assert judged(disputed, Profile.STRICT).verdict is AuditVerdict.FAIL
    assert judged(disputed, Profile.DEFAULT).verdict is AuditVerdict.WARNINGS
    careless = _run_without_consent()
    assert judged(careless, Profile.DEFAULT).verdict is AuditVerdict.FAIL
    assert judged(careless, Profile.LENIENT).verdict is AuditVerdict.WARNINGS


@pytest.mark.parametrize(
    "code",
    [
        *("hash_mismatch", "chain_break", "sig_invalid", "sig_missing", "key_revoked"),
        *("artifact_missing", "artifact_hash_mismatch", "state_violation", "incomplete"),
    ],
)
def test_no_profile_softens_integrity(code: str) -> None:
    assert all(PROFILES[p].get(code, GRADES[code].usual) is CheckStatus.FAIL for p in Profile)


@pytest.mark.requirement("TRC-069")
@pytest.mark.parametrize("position", range(8))
def test_the_first_bad_and_the_last_trusted_event_are_named(position: int) -> None:
    trace = finished()
    report = judged(trace, hashes={position: "another hash", 7: "another hash"})
    assert report.first_bad == position
    assert report.last_trusted == (position - 1 if position else None)


@pytest.mark.requirement("TRC-069")
def test_events_out_of_place_are_seen_by_their_positions() -> None:
    events = finished().history()
    facts = facts_of(events)
    for moved in (
        [*events[:3], *events[4:]],
        [*events[:3], events[4], events[3], *events[5:]],
        [*events[:3], events[2], *events[3:]],
        events[1:],
    ):
        report = audit_events(moved, facts)
        assert "CHK_CHAIN_CONTINUITY" in failing(report)
        assert report.verdict is AuditVerdict.FAIL


def test_nothing_at_all_is_no_trace() -> None:
    report = audit_events([], AuditFacts(trace="trace/t1", head="", events=3))
    assert report.verdict is AuditVerdict.FAIL
    assert report.last_trusted is None


@pytest.mark.requirement("TRC-054")
def test_a_claim_made_without_its_bytes_fails_even_if_they_are_back() -> None:
    trace = Trace().to("claiming")
    sha256 = trace.history()[-1].event.outputs[0].sha256
    command = ask.IssueClaim(text="x", confidence="1", evidence=(ask.Cited(sha256),))
    trace.run(command, EXECUTOR)
    trace.finish()
    report = judged(trace)
    assert failing(report) == {"CHK_ARTIFACT_EXISTENCE": {"artifact_missing"}}
    assert report.verdict is AuditVerdict.FAIL


def test_people_are_known_by_their_keys_if_these_are_given() -> None:
    """A name proves little: an actor named operator is in charge only with a person's key."""
    trace = finished()
    keys = frozenset({trace.kid(SYSTEM)})
    assert judged(trace, in_charge=keys).verdict is AuditVerdict.PASS
    report = judged(trace, in_charge=frozenset({"0" * 32}))
    assert failing(report) == {"CHK_ROLE_POLICY_CONFORMANCE": {"role_policy_violation"}}


def test_a_flood_of_failures_is_cut_but_counted() -> None:
    trace = finished()
    report = judged(trace, signatures=dict.fromkeys(range(1_000), "bad"))
    (check,) = [one for one in report.checks if one.id == "CHK_SIGNATURE_VALIDITY"]
    assert len(check.failures) == 200
    assert "1000 found" in check.evidence


def test_what_was_really_recorded_passes_its_own_audit() -> None:
    trace = Ledgered().to("completed")
    report = judged(trace)
    assert report.verdict is AuditVerdict.PASS
    assert report.stage is Stage.COMPLETED
