"""Whole stories over a real ledger, each with the verdict it deserves."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.trace import commands as ask
from moot.protocols.trace.audit.report import ArtifactPresence, AuditFacts, AuditReport
from moot.protocols.trace.audit.verification import audit_events, list_cited_artifacts
from moot.protocols.trace.model import AuditVerdict, Profile, Stage

from .scene import AUDITOR, EXECUTOR, PLANNER, Ledgered, intent


def verdict(trace: Ledgered, profile: Profile = Profile.DEFAULT) -> AuditReport:
    """As an auditor would: the events, and what the artifact store shows."""
    events = trace.history()
    blobs = trace.world.artifacts
    seen = {
        one: ArtifactPresence.PRESENT if blobs.has(one) else ArtifactPresence.MISSING
        for one in list_cited_artifacts(events)
    }
    registry = trace.world.engine.registry()
    keys = {agent.kid for agent in registry.agents.values() if agent.kind != "agent"}
    keys.add(trace.world.keys.signers[SYSTEM][0].kid)
    facts = AuditFacts(
        trace=trace.stream,
        head=events[-1].hash.hex(),
        events=len(events),
        artifacts=seen,
        in_charge=frozenset(keys),
        stage=trace.state.stage,
    )
    return audit_events(events, facts, profile)


def closed(trace: Ledgered) -> AuditReport:
    """Finish, verify and record what was found."""
    trace.finish()
    name = trace.verifying()
    report = verdict(trace)
    trace.run(trace.verified(name, str(report.verdict)), AUDITOR)
    return report


def test_from_the_task_to_a_verified_end() -> None:
    trace = Ledgered()
    trace.open()
    trace.approved()
    trace.claim(trace.ran("p1"))
    assert closed(trace).verdict is AuditVerdict.PASS
    assert trace.state.stage is Stage.COMPLETED
    assert verdict(trace).verdict is AuditVerdict.PASS


def test_turned_down_revised_and_approved_on_conditions() -> None:
    trace = Ledgered()
    trace.open()
    trace.review(trace.propose("rm"), "rejected")
    trace.review(trace.propose("make"), "blocked")
    revised = trace.propose("pytest", supersedes="p2")
    trace.review(revised, "conditional")
    name = trace.intend(revised)
    assert trace.refused(trace.starting(name), EXECUTOR) == "approval_required"
    trace.consent(name)
    trace.claim(trace.complete(trace.start(name)))
    assert closed(trace).verdict is AuditVerdict.PASS


@pytest.mark.requirement("TRC-058")
def test_failed_tried_again_and_done_another_way() -> None:
    trace = Ledgered().to("executing")
    last = None
    for _ in range(3):
        last = trace.intend("p1", retry_of=last)
        trace.fail(trace.start(last))
    assert trace.state.stage is Stage.CLAIMING
    assert trace.refused(intent("p1", retry_of=last), EXECUTOR) == "attempts_exhausted"
    other = trace.approved("make", fallback_for=last)
    trace.claim(trace.ran(other, "make", "test"))
    assert closed(trace).verdict is AuditVerdict.PASS
    assert trace.state.failures == 3


def test_a_failure_may_itself_be_claimed() -> None:
    trace = Ledgered().to("executing")
    last = None
    for _ in range(3):
        last = trace.intend("p1", retry_of=last)
        trace.fail(trace.start(last))
    given: Any = trace.history()[-1].event
    trace.claim(given.input_artifact, text="it cannot be built here")
    assert closed(trace).verdict is AuditVerdict.PASS


def test_challenged_revised_and_told() -> None:
    trace = Ledgered().to("auditing")
    trace.challenge("c1")
    final = ask.SignFinalStatement(statement="done")
    assert trace.refused(final, EXECUTOR) == "claim_disputed"
    trace.claim(trace.ran("p1", "pytest", "more"), supersedes="c1")
    report = closed(trace)
    assert report.verdict is AuditVerdict.WARNINGS
    assert [one.code for one in report.failures()] == ["challenge_resolved"]
    assert trace.state.stage is Stage.COMPLETED


def test_evidence_that_is_gone_fails_the_trace_and_a_new_one_may_name_it() -> None:
    trace = Ledgered().to("claiming")
    gone = trace.history()[-1].artifacts[0].sha256
    trace.world.artifacts.erase(gone)
    trace.claim(gone)
    report = closed(trace)
    assert (report.verdict, report.failed_codes()) == (AuditVerdict.FAIL, ("artifact_missing",))
    assert trace.state.stage is Stage.FAILED
    after = Ledgered(trace.world, "trace/t2")
    roles = after.bindings()
    event = after.run(ask.OpenTrace(task="again", roles=roles, follows="trace/t1"), OPERATOR)
    assert event.follows == "trace/t1"


def test_aborted_in_the_middle_with_a_run_in_flight() -> None:
    trace = Ledgered().to("executing")
    started = trace.start(trace.intend("p1"))
    trace.run(ask.AbortTrace(reason="the task is no longer needed"), OPERATOR)
    gone = ask.RecoverExecution(execution_id=started, evidence=("gone",))
    assert trace.refused(gone, EXECUTOR) == "trace_ended"
    report = verdict(trace)
    codes = {one.code for one in report.failures()}
    assert codes == {"finalization_incomplete", "execution_unfinished"}
    assert verdict(trace, Profile.STRICT).verdict is AuditVerdict.FAIL


@pytest.mark.requirement("TRC-061")
def test_a_process_died_and_another_goes_on() -> None:
    trace = Ledgered().to("executing")
    name = trace.intend("p1")
    started = trace.start(name)
    trace.world.engine = trace.world.another_engine()
    trace.run(ask.RecoverExecution(execution_id=started, evidence=("pid 7 is gone",)), EXECUTOR)
    trace.claim(trace.complete(trace.start(trace.intend("p1", retry_of=name))))
    assert closed(trace).verdict is AuditVerdict.PASS


def test_two_traces_at_once_do_not_touch_each_other() -> None:
    one = Ledgered().to("executing")
    other = Ledgered(one.world, "trace/t2").to("planning")
    one.claim(one.ran("p1"))
    assert other.state.stage is Stage.PLANNING
    assert other.refused(intent("p1"), PLANNER) == "role_policy_violation"
    assert closed(one).verdict is AuditVerdict.PASS
    assert other.state.events == 1
