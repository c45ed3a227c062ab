"""A trace in cases easily forgotten: what is told, what waits, what was once there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.core.machine import Command, Draft
from moot.core.names import OPERATOR
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.report import ArtifactPresence
from moot.protocols.trace.machine import agenda
from moot.protocols.trace.model import (
    ExecutionResult,
    State,
    add_artifacts,
    holds_artifact,
    number_of_id,
)
from moot.protocols.trace.policy import Policy, Risk, ToolRule, parse_policy
from moot.protocols.trace.tool_checks import risk_by_policy
from moot.protocols.trace.views import view_status

from .scene import AUDITOR, BAD, CRITIC, EXECUTOR, NOWHERE, Trace, intent
from .test_audit import failing, finished, judged
from .test_forged_events import judge

LONG = "z" * 60


def codes(trace: Trace, command: Command, actor: str) -> set[str]:
    return {finding.code for finding in trace.decide(command, actor).findings}


def test_the_next_step_names_the_proposal_if_only_one_is_approved() -> None:
    trace = Trace().to("executing")
    rejected = trace.propose()
    trace.review(rejected, "rejected")
    (due,) = agenda(trace.state, 0)
    assert due.hint.startswith("moot trace intend TRACE p1 --tool")
    trace.approved("make")
    (due,) = agenda(trace.state, 0)
    assert due.hint.startswith("moot trace intend TRACE PROPOSAL --tool")


def test_a_challenge_of_what_was_never_claimed_is_no_answered_one() -> None:
    trace = Trace().to("auditing")
    trace.record(Draft(did.ClaimChallenged(claim_id="c9", reason="weak", evidence=())), CRITIC)
    assert "CHK_CLAIM_EVIDENCE_SUFFICIENCY" not in failing(judged(trace))


@pytest.mark.parametrize(
    ("name", "number"),
    [("i1", 1), ("i0", 0), ("i", 0), ("", 0), ("i" + "9" * 15, 10**15 - 1), ("i" + "9" * 16, 0)],
)
def test_the_number_of_an_id(name: str, number: int) -> None:
    assert number_of_id(name) == number


def test_marks_are_found_only_where_one_begins() -> None:
    pages = add_artifacts((), ["00" * 7 + "01" + "00" * 24, "02" + "00" * 31])
    assert holds_artifact(pages, "00" * 7 + "01" + "ff" * 24)
    assert not holds_artifact(pages, "01" + "02" + "00" * 30)
    assert not holds_artifact(pages, "00" * 6 + "0102" + "00" * 24)


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("planning", "not while the trace is planning"),
        ("final", "not while the trace is auditing, after the final statement"),
    ],
)
def test_what_comes_too_early_or_too_late_is_told_where_the_trace_stands(
    stage: str, told: str
) -> None:
    trace = finished() if stage == "final" else Trace().to(stage)
    given = ask.IssueClaim(text="x", confidence="1", evidence=())
    (finding,) = trace.decide(given, EXECUTOR).findings
    assert (finding.code, finding.message) == ("wrong_state", told)


def test_what_fails_is_listed_before_what_warns() -> None:
    trace = finished()
    given, left = (ref.sha256 for record in trace.history()[4:6] for ref in record.artifacts)
    seen = {given: ArtifactPresence.ERASED, left: ArtifactPresence.MISSING}
    (check,) = (
        check
        for check in judged(trace, artifacts=seen).checks
        if check.id == "CHK_ARTIFACT_EXISTENCE"
    )
    assert [(one.code, one.event) for one in check.failures] == [
        ("artifact_missing", 5),
        ("artifact_erased", 4),
    ]


def test_a_failure_was_seen_by_anyone_who_ran_it_unless_it_says_otherwise() -> None:
    """A record that does not say it was recovered was not."""
    trace = Trace().to("executing")
    trace.fail(trace.start(trace.intend("p1")))
    told = msgspec.to_builtins(trace.history()[-1].event)
    told.pop("recovered", None)
    assert msgspec.convert(told, did.ToolExecutionFailed).recovered is False


@pytest.mark.parametrize(("scope", "typed"), [("src/a", ":/src/a"), ("port:3000", "port:3000")])
def test_the_hint_of_a_missing_reservation_can_be_typed_from_any_folder(
    scope: str, typed: str
) -> None:
    trace = Trace().open(Policy(require_reservation=True))
    name = trace.intend(trace.approved(), writes=(scope,))
    (finding,) = trace.decide(trace.starting(name), EXECUTOR).findings
    assert finding.message == f"{scope} is not reserved for the executor"
    assert typed in finding.hint.replace("`", " ").split()
    assert f":/{typed}" not in finding.hint


def test_of_a_long_path_that_was_not_declared_the_beginning_is_told() -> None:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    result = ExecutionResult(exit_status=0, duration_ms=1, undeclared=("x" * 121,))
    outputs = (ask.Stored("stdout", trace.store(b"x")),)
    trace.run(ask.CompleteExecution(execution_id=started, outputs=outputs, result=result), EXECUTOR)
    messages = [one.message for one in judged(trace).failures() if one.code == "undeclared_write"]
    assert messages == [f"x1 changed {'x' * 120}"]


def test_nothing_waits_before_a_trace_begins_or_after_it_ended() -> None:
    trace = Trace()
    assert agenda(trace.state, 0) == ()
    trace.open()
    assert [due.what for due in agenda(trace.state, 0)] == ["propose"]
    trace.run(ask.AbortTrace(reason="nobody needs it"), OPERATOR)
    assert agenda(trace.state, 0) == ()


def test_what_a_challenge_names_must_be_there_too() -> None:
    trace = Trace().to("auditing")
    event = did.ClaimChallenged(claim_id="c1", reason="weak", evidence=(NOWHERE,))
    trace.record(Draft(event), CRITIC)
    (check,) = (
        check
        for check in judged(trace, artifacts={}).checks
        if check.id == "CHK_ARTIFACT_EXISTENCE"
    )
    assert (NOWHERE, 7) in [(one.artifact, one.event) for one in check.failures]


def test_a_run_that_goes_on_keeps_nobody_from_claiming_what_others_left() -> None:
    trace = Trace().to("claiming")
    left = trace.history()[-1].event.outputs[0].sha256
    started = trace.start(trace.intend("p1", "pytest", "again"))
    assert codes(trace, trace.claiming(left), EXECUTOR) == set()
    assert codes(trace, trace.claiming(left, execution_ids=("x1",)), EXECUTOR) == set()
    decision = trace.decide(trace.claiming(left, execution_ids=(started,)), EXECUTOR)
    assert [one.message for one in decision.findings] == [f"{started} is still running"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x1", "x1 has ended before"),
        ("x2", "no run 'x2' was started"),
        ("x0", "no run 'x0' was started"),
        (LONG, f"no run '{'z' * 40}' was started"),
    ],
)
def test_only_a_run_that_goes_on_can_end(name: str, told: str) -> None:
    trace = Trace().to("claiming")
    end = ask.FailExecution(execution_id=name, failure=BAD)
    assert told in [one.message for one in trace.decide(end, EXECUTOR).findings]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (ask.ReviewIntent(intent_id="i1", status="blocked", rationale="x"), "i1 was run or"),
        (ask.ReviewIntent(intent_id="i2", status="blocked", rationale="x"), "there is no intent"),
        (ask.ChallengeClaim(claim_id="c1", reason="x"), "c1 stands no more"),
        (ask.ChallengeClaim(claim_id="c3", reason="x"), "there is no claim 'c3'"),
        (
            ask.ReviewProposal(proposal_id="p1", status="blocked", rationale="x"),
            "p1 has been superseded",
        ),
        (
            ask.ReviewProposal(proposal_id="p3", status="blocked", rationale="x"),
            "there is no proposal 'p3'",
        ),
    ],
)
def test_what_was_once_there_is_told_from_what_never_was(command: Command, told: str) -> None:
    trace = Trace().to("auditing")
    trace.claim(trace.history()[5].event.outputs[0].sha256, supersedes="c1")
    trace.propose(supersedes="p1")
    messages = [one.message for one in trace.decide(command, CRITIC).findings]
    assert any(message.startswith(told) for message in messages), messages


def test_a_new_trace_has_seen_nothing() -> None:
    state = Trace().open().state
    counts = (
        *(state.proposal_count, state.intent_count, state.execution_count, state.completed),
        *(state.failures, state.exhausted, state.claim_count, state.run_count),
    )
    assert set(counts) == {0}
    assert (state.final, state.run, state.verdict, state.report) == (None, None, None, None)
    assert (State().events, State().since, State().last_at) == (0, 0, 0)


def test_of_a_long_task_an_agenda_tells_the_beginning() -> None:
    trace = Trace()
    trace.run(ask.OpenTrace(task="x" * 121, roles=trace.bindings()), OPERATOR)
    assert [due.subject for due in agenda(trace.state, 0)] == ["x" * 120]
    trace.propose(objective="x" * 121)
    trace.review("p1", "blocked")
    subjects = {due.what: due.subject for due in agenda(trace.state, 0)}
    assert subjects["revise a blocked proposal"] == "p1: " + "x" * 120
    verified = Trace()
    verified.run(ask.OpenTrace(task="x" * 121, roles=verified.bindings()), OPERATOR)
    verified.claim(verified.ran(verified.approved()))
    verified.finish()
    assert [due.subject for due in agenda(verified.state, 0)] == ["x" * 120]
    run = verified.verifying()
    assert [due.subject for due in agenda(verified.state, 0)] == [run]
    other = replace(verified.verified(run), run_id=LONG)
    told = [one.message for one in verified.decide(other, AUDITOR).findings]
    assert told == [f"no verification '{'z' * 40}' is under way"]


def test_a_bad_policy_says_the_place_once() -> None:
    with pytest.raises(Malformed) as caught:
        parse_policy('{"max_attempts": 0}')
    assert caught.value.where == "max_attempts"
    assert str(caught.value) == "max_attempts: 0 is not within 1 to 100"
    with pytest.raises(Malformed) as caught:
        parse_policy('{"no_such_key": 1}')
    assert "no_such_key" in str(caught.value)


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("git push --force", Risk.HIGH),
        ("git push origin --force", Risk.HIGH),
        ("git -C . push origin --force", Risk.HIGH),
        ("git push origin", Risk.LOW),
        ("git --force push", Risk.LOW),
        ("hub push --force", Risk.LOW),
    ],
)
def test_a_rule_of_several_words_fits_them_in_their_order(command: str, risk: Risk) -> None:
    rule = ToolRule(tool="forced", risk=Risk.HIGH, commands=(("git", "push", "--force"),))
    words = tuple(command.split())
    assert risk_by_policy(Policy(tools=(rule,)), words[0], words) is risk


def test_an_intent_that_runs_is_told_by_its_run() -> None:
    trace = Trace().to("executing")
    trace.intend("p1", "pytest", "a")
    started = trace.start(trace.intend("p1", "pytest", "b"))
    late = ask.ReviewIntent(intent_id="i2", status="blocked", rationale="too late")
    assert [one.message for one in trace.decide(late, CRITIC).findings] == [
        f"i2 is running as {started}"
    ]
    trace.complete(started)
    (finding,) = trace.decide(late, CRITIC).findings
    assert finding.message.startswith("i2 was run or superseded before")


def test_an_intent_in_place_of_a_blocked_one_needs_the_critic() -> None:
    trace = Trace().to("executing")
    trace.consent(trace.intend("p1"), "blocked")
    event: Any = trace.decide(intent("p1", supersedes="i1"), EXECUTOR).drafts[0].event
    assert [str(reason) for reason in event.needs] == ["supersedes-a-blocked-intent"]
    assert judge(trace, event) == []
    assert judge(trace, replace(event, needs=())) == ["approval_left_out"]


def test_a_status_says_what_the_verification_found() -> None:
    trace = finished()
    before = view_status(trace.state, "t1", 0)
    assert (before.verdict, before.final, before.because) == (None, True, None)
    trace.verify("fail")
    after = view_status(trace.state, "t1", 0)
    assert (after.verdict, after.because) == ("fail", "verification_failed")
