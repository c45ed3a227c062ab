"""Claims, challenges, the final statement and the verification."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.trace import commands as ask
from moot.protocols.trace.events import ClaimIssued
from moot.protocols.trace.model import MAX_CLAIMS, Stage
from moot.protocols.trace.policy import Policy

from .scene import AUDITOR, CRITIC, EXECUTOR, NOWHERE, PLANNER, Ledgered, Trace, intent, proposal


def left(trace: Trace) -> str:
    """What the first run left."""
    (found,) = [
        one.event for one in trace.history() if type(one.event).__name__ == "ToolExecutionCompleted"
    ][:1]
    sha256: str = found.outputs[0].sha256
    return sha256


@pytest.mark.requirement("TRC-039")
@pytest.mark.requirement("TRC-064")
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"text": ""}, "text_missing"),
        ({"confidence": ""}, "bad_confidence"),
        ({"confidence": "1.01"}, "bad_confidence"),
        ({"confidence": "-0.1"}, "bad_confidence"),
        ({"confidence": "sure"}, "bad_confidence"),
        ({"confidence": ".5"}, "bad_confidence"),
        ({"evidence": ()}, "claim_unproven"),
    ],
)
def test_a_claim_has_a_text_a_confidence_and_evidence(changed: dict[str, Any], code: str) -> None:
    trace = Trace().to("claiming")
    said = {"text": "it holds", "confidence": "0.5", "evidence": trace.cited(left(trace))}
    assert trace.refused(ask.IssueClaim(**{**said, **changed}), EXECUTOR) == code


@pytest.mark.parametrize("confidence", ["0", "1", "0.0", "1.00", "0.85", "0.000001"])
def test_confidence_is_from_0_to_1(confidence: str) -> None:
    trace = Trace().to("claiming")
    assert trace.claim(left(trace), confidence=confidence) == "c1"


@pytest.mark.requirement("TRC-064")
def test_a_policy_may_ask_for_more_evidence_and_counts_each_once() -> None:
    trace = Trace()
    trace.open(Policy(min_evidence=2))
    trace.approved()
    one = trace.ran("p1", output=b"one")
    assert trace.refused(trace.claiming(one), EXECUTOR) == "claim_unproven"
    twice = ask.IssueClaim(text="x", confidence="1", evidence=trace.cited(one) * 2)
    assert trace.refused(twice, EXECUTOR) == "claim_unproven"
    trace.claim(one, trace.ran("p1", "pytest", "b", output=b"two"))


def test_evidence_from_nowhere_is_refused() -> None:
    """Stored, but no run of this trace left it; or never stored at all."""
    trace = Trace().to("claiming")
    stored = trace.store(b"I wrote this myself").sha256
    for sha256 in (stored, NOWHERE, "not a hash"):
        assert trace.refused(trace.claiming(sha256), EXECUTOR) == "unknown_evidence"


def test_evidence_of_another_trace_is_refused() -> None:
    one = Ledgered().to("claiming")
    other = Ledgered(one.world, "trace/t2").to("executing")
    other.ran("p1", output=b"something else")
    assert other.refused(other.claiming(left(one)), EXECUTOR) == "unknown_evidence"


def test_evidence_whose_bytes_have_another_hash_is_refused() -> None:
    trace = Trace().to("claiming")
    changed = ask.Cited(left(trace), differs=True)
    command = ask.IssueClaim(text="x", confidence="1", evidence=(changed,))
    assert trace.refused(command, EXECUTOR) == "artifact_hash_mismatch"
    swapped = ask.Cited(left(trace), trace.store(b"other bytes"))
    command = ask.IssueClaim(text="x", confidence="1", evidence=(swapped,))
    assert trace.refused(command, EXECUTOR) == "artifact_hash_mismatch"


@pytest.mark.requirement("TRC-050")
def test_a_challenge_cites_only_what_is_stored() -> None:
    trace = Trace().to("auditing")
    sha256 = trace.history()[-1].event.evidence[0]
    for cited, code in (
        (ask.Cited(sha256), "artifact_missing"),
        (ask.Cited(sha256, differs=True), "artifact_hash_mismatch"),
    ):
        command = ask.ChallengeClaim(claim_id="c1", reason="weak", evidence=(cited,))
        assert trace.refused(command, CRITIC) == code


@pytest.mark.requirement("TRC-022")
def test_nothing_is_claimed_from_a_run_that_has_not_ended() -> None:
    trace = Trace().to("claiming")
    started = trace.start(trace.intend("p1", "pytest", "b"))
    running = trace.state.running[started].input_artifact
    assert trace.refused(trace.claiming(running), EXECUTOR) == "execution_running"
    for name in (started, "x9"):
        command = trace.claiming(left(trace), execution_ids=(name,))
        assert trace.refused(command, EXECUTOR) == "execution_running"
    trace.fail(started)
    assert trace.claim(running, execution_ids=(started,)) == "c1"


@pytest.mark.requirement("TRC-054")
def test_missing_bytes_at_claim_time_are_flagged_and_the_work_goes_on() -> None:
    trace = Ledgered().to("claiming")
    gone = left(trace)
    trace.world.artifacts.erase(gone)
    outcome = trace.world.engine.execute(trace.stream, trace.claiming(gone), EXECUTOR)
    assert [finding.code for finding in outcome.findings] == ["artifact_missing"]
    assert outcome.newest(ClaimIssued).event.artifact_missing == (gone,)
    assert trace.state.stage is Stage.AUDITING
    assert trace.state.claims["c1"].flagged
    trace.finish()


@pytest.mark.requirement("TRC-040")
@pytest.mark.parametrize(
    ("name", "reason", "code"),
    [
        ("c9", "weak", "unknown_claim"),
        ("", "weak", "unknown_claim"),
        ("c1", " ", "text_missing"),
    ],
)
def test_a_challenge_names_a_claim_and_a_reason(name: str, reason: str, code: str) -> None:
    trace = Trace().to("auditing")
    command = ask.ChallengeClaim(claim_id=name, reason=reason)
    assert trace.refused(command, CRITIC) == code
    trace.challenge("c1")


@pytest.mark.requirement("TRC-065")
@pytest.mark.requirement("TRC-041")
def test_an_open_challenge_blocks_the_final_statement_until_it_is_answered() -> None:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    final = ask.SignFinalStatement(statement="done")
    assert trace.refused(final, EXECUTOR) == "claim_disputed"
    better = trace.claim(left(trace), supersedes="c1", text="it holds for the parser")
    assert sorted(trace.state.claims) == [better]
    event = trace.run(final, EXECUTOR)
    assert [one.claim_id for one in event.claims] == [better]


@pytest.mark.requirement("TRC-065")
def test_a_withdrawn_claim_is_in_no_bundle() -> None:
    trace = Trace().to("auditing")
    kept = trace.claim(left(trace))
    trace.challenge("c1")
    trace.run(ask.WithdrawClaim(claim_id="c1", reason="too much said"), EXECUTOR)
    again = ask.WithdrawClaim(claim_id="c1")
    assert trace.refused(again, EXECUTOR) == "unknown_claim"
    event = trace.run(ask.SignFinalStatement(statement="done"), EXECUTOR)
    assert [one.claim_id for one in event.claims] == [kept]


def test_what_stands_no_more_is_not_superseded() -> None:
    trace = Trace().to("auditing")
    trace.claim(left(trace), supersedes="c1")
    for name in ("c1", "c9"):
        assert trace.refused(trace.claiming(left(trace), supersedes=name), EXECUTOR) == (
            "unknown_claim"
        )


@pytest.mark.requirement("TRC-065")
def test_nothing_is_finished_while_a_run_is_under_way_or_nothing_is_claimed() -> None:
    trace = Trace().to("auditing")
    started = trace.start(trace.intend("p1"))
    final = ask.SignFinalStatement(statement="done")
    assert trace.refused(final, EXECUTOR) == "execution_running"
    trace.complete(started)
    trace.run(ask.WithdrawClaim(claim_id="c1"), EXECUTOR)
    assert trace.refused(final, EXECUTOR) == "nothing_claimed"
    assert trace.refused(ask.SignFinalStatement(statement=""), EXECUTOR) == "text_missing"


@pytest.mark.requirement("TRC-042")
@pytest.mark.requirement("TRC-066")
def test_the_bundle_names_each_claim_by_its_one_event() -> None:
    trace = Ledgered().to("auditing")
    trace.claim(left(trace), text="and it is quick")
    event = trace.run(ask.SignFinalStatement(statement="done"), EXECUTOR)
    issued = {
        one.event.claim_id: (one.hash.hex(), one.actor.kid)
        for one in trace.history()
        if type(one.event).__name__ == "ClaimIssued"
    }
    assert {one.claim_id: one.event for one in event.claims} == {
        name: digest for name, (digest, _) in issued.items()
    }
    assert {kid for _, kid in issued.values()} == {trace.kid(EXECUTOR)}


@pytest.mark.requirement("TRC-023")
def test_after_the_final_statement_only_the_verification_follows() -> None:
    trace = Trace().to("auditing")
    trace.finish()
    asked: list[tuple[Any, str]] = [
        (ask.SignFinalStatement(statement="again"), EXECUTOR),
        (trace.claiming(left(trace)), EXECUTOR),
        (ask.WithdrawClaim(claim_id="c1"), EXECUTOR),
        (ask.ChallengeClaim(claim_id="c1", reason="late"), CRITIC),
        (intent("p1"), EXECUTOR),
        (proposal(), PLANNER),
    ]
    for command, actor in asked:
        assert trace.refused(command, actor) == "wrong_state"
    trace.verify()


@pytest.mark.requirement("TRC-043")
@pytest.mark.requirement("TRC-023")
def test_a_verification_is_started_after_the_final_statement_and_before_it_ends() -> None:
    trace = Trace().to("auditing")
    assert trace.refused(ask.StartVerification(), AUDITOR) == "wrong_state"
    trace.finish()
    assert trace.refused(trace.verified("v1"), AUDITOR) == "verification_not_started"
    name = trace.verifying()
    assert trace.refused(ask.StartVerification(), AUDITOR) == "verification_running"
    assert trace.refused(trace.verified("v2"), AUDITOR) == "verification_not_started"
    trace.run(trace.verified(name), AUDITOR)


@pytest.mark.requirement("TRC-046")
@pytest.mark.parametrize("status", ["", "ok", "PASS", "passed", "pass with warnings"])
def test_a_verdict_is_one_of_three(status: str) -> None:
    trace = Trace().to("auditing")
    trace.finish()
    assert trace.refused(trace.verified(trace.verifying(), status), AUDITOR) == "bad_verdict"


def test_a_profile_is_one_of_three() -> None:
    trace = Trace().to("auditing")
    trace.finish()
    assert trace.refused(ask.StartVerification(profile="lax"), AUDITOR) == "bad_profile"


@pytest.mark.requirement("TRC-047")
@pytest.mark.requirement("TRC-068")
def test_a_verdict_names_its_report_and_exactly_what_it_looked_at() -> None:
    trace = Ledgered().to("auditing")
    trace.finish()
    head = trace.history()[-1]
    started = trace.run(ask.StartVerification(), AUDITOR)
    assert (started.head, started.events) == (head.hash.hex(), head.seq + 1)
    good = trace.verified(started.run_id)
    said = {"run_id": started.run_id, "status": "pass", "head": good.head, "events": good.events}
    bare = ask.CompleteVerification(**said, report=None)
    assert trace.refused(bare, AUDITOR) == "report_required"
    for changed in ({"head": NOWHERE}, {"events": 3}):
        other = ask.CompleteVerification(**{**said, **changed}, report=good.report)
        assert trace.refused(other, AUDITOR) == "subject_differs"
    event = trace.run(good, AUDITOR)
    assert good.report is not None
    assert event.report_artifact == good.report.sha256
    assert trace.state.report == good.report.sha256


def test_there_is_an_end_to_how_many_claims_stand() -> None:
    trace = Trace().to("auditing")
    for _ in range(MAX_CLAIMS - 1):
        trace.claim(left(trace))
    assert trace.refused(trace.claiming(left(trace)), EXECUTOR) == "too_many_open"
    trace.claim(left(trace), supersedes="c1")


def test_a_full_bundle_fits_in_one_event() -> None:
    trace = Ledgered().to("auditing")
    evidence = left(trace)
    for _ in range(MAX_CLAIMS - 1):
        trace.world.engine.execute(trace.stream, trace.claiming(evidence), EXECUTOR)
    trace.finish()
    assert trace.state.final is not None
