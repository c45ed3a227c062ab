"""Intents and runs: exactly what, how risky, with whose consent, once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.record import ArtifactRef
from moot.protocols.trace import commands as ask
from moot.protocols.trace.model import (
    MAX_FAILING,
    MAX_INTENTS,
    ApprovalReason,
    ExecutionResult,
    HeldReservation,
    NamedOutput,
    Stage,
)
from moot.protocols.trace.policy import Policy, Risk, ToolRule

from .scene import BAD, CRITIC, EXECUTOR, NOWHERE, OK, PLANNER, Ledgered, Trace, intent

_NORMALISED = pytest.mark.requirement("TRC-032")
RUNNERS = ("busybox", "dash", "ksh", "nice", "script", "setsid", "stdbuf", "time", "watch")


@pytest.mark.requirement("TRC-031")
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"justification": " "}, "text_missing"),
        ({"risk": ""}, "risk_missing"),
        pytest.param({"input_hash": "abc"}, "input_mismatch", marks=_NORMALISED),
        pytest.param({"input_hash": NOWHERE}, "input_mismatch", marks=_NORMALISED),
        ({"tool": ""}, "text_missing"),
        ({"timeout_ms": 0}, "bad_timeout"),
        ({"timeout_ms": 10**9}, "bad_timeout"),
        ({"env": ("TOKEN=1",)}, "bad_variable"),
    ],
)
def test_an_intent_names_its_input_risk_and_reason(changed: dict[str, Any], code: str) -> None:
    assert Trace().to("executing").refused(intent("p1", **changed), EXECUTOR) == code


@pytest.mark.requirement("TRC-031")
@pytest.mark.parametrize("words", [(), ("",), ("pytest", "\0")])
def test_an_intent_names_a_command(words: tuple[str, ...]) -> None:
    command = ask.SignIntent(
        proposal_id="p1", tool="pytest", command=words, risk="low", justification="x"
    )
    assert Trace().to("executing").refused(command, EXECUTOR) == "command_missing"


@pytest.mark.requirement("TRC-032")
def test_the_same_input_has_the_same_hash() -> None:
    trace = Trace().to("executing")
    one = trace.run(intent("p1", env=("B", "A", "B"), justification="first"), EXECUTOR)
    two = trace.run(intent("p1", env=("A", "B"), justification="second"), EXECUTOR)
    other = trace.run(intent("p1", cwd="docs"), EXECUTOR)
    assert one.input_hash == two.input_hash != other.input_hash


@pytest.mark.requirement("TRC-035")
@pytest.mark.parametrize("name", ["", "p9", "x", "p-1", "p01"])
def test_an_intent_belongs_to_a_proposal(name: str) -> None:
    assert Trace().to("executing").refused(intent(name), EXECUTOR) == "unknown_proposal"


@pytest.mark.parametrize(
    ("tool", "words", "said", "risk"),
    [
        ("pytest", ("pytest",), "low", Risk.LOW),
        ("pytest", ("pytest",), "high", Risk.HIGH),
        ("pytest", ("pytest",), "harmless", Risk.CRITICAL),
        ("pytest", ("rm", "-rf", "."), "low", Risk.CRITICAL),
        ("pytest", ("./pytest",), "low", Risk.CRITICAL),
        ("pytest", ("pytest.exe",), "low", Risk.LOW),
        ("python -m pytest", ("python", "-m", "pytest", "-q"), "low", Risk.MEDIUM),
        ("rm", ("rm", "x"), "low", Risk.HIGH),
        ("git", ("git", "status"), "low", Risk.LOW),
        ("git", ("git", "push"), "low", Risk.HIGH),
        ("/usr/bin/sudo", ("/usr/bin/sudo", "ls"), "low", Risk.CRITICAL),
        ("sh", ("sh", "-c", "ls"), "medium", Risk.HIGH),
        # A word in between, another case, a program that only runs the next one: no way around.
        ("git", ("git", "-C", ".", "push"), "low", Risk.HIGH),
        ("RM", ("RM", "x"), "low", Risk.HIGH),
        ("Sudo.EXE", ("Sudo.EXE", "ls"), "low", Risk.CRITICAL),
        *((name, (name, "ls"), "low", Risk.HIGH) for name in RUNNERS),
    ],
)
def test_the_risk_is_the_larger_of_what_is_said_and_the_policys(
    tool: str, words: tuple[str, ...], said: str, risk: Risk
) -> None:
    trace = Trace().to("executing")
    event = trace.run(intent("p1", *words, tool=tool, risk=said), EXECUTOR)
    assert event.risk_class is risk


def test_a_word_in_between_never_lowers_a_risk() -> None:
    trace = Trace()
    tests = ToolRule(tool="tests", risk=Risk.LOW, commands=(("make", "test"),))
    trace.open(Policy(default_risk=Risk.HIGH, tools=(tests,)))
    trace.approved("make")
    for words, risk in ((("make", "test"), Risk.LOW), (("make", "deploy", "test"), Risk.HIGH)):
        assert trace.run(intent("p1", *words, tool="make"), EXECUTOR).risk_class is risk


def test_a_policy_names_risks_and_the_commands_of_a_tool() -> None:
    tests = ToolRule(tool="tests", risk=Risk.MEDIUM, commands=(("make", "test"), ("pytest",)))
    trace = Trace()
    trace.open(Policy(tools=(tests,), default_risk=Risk.HIGH))
    trace.approved("tests", "ls")
    for words, risk in (
        (("make", "test", "-j"), Risk.MEDIUM),
        (("pytest",), Risk.MEDIUM),
        (("make", "clean"), Risk.CRITICAL),
    ):
        event = trace.run(intent("p1", *words, tool="tests"), EXECUTOR)
        assert event.risk_class is risk
    assert trace.run(intent("p1", "ls", tool="ls"), EXECUTOR).risk_class is Risk.HIGH


@pytest.mark.requirement("TRC-063")
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"risk": "high"}, ApprovalReason.RISK),
        ({"risk": "critical"}, ApprovalReason.RISK),
        ({"risk": "who knows"}, ApprovalReason.RISK),
        ({"tool": "make", "words": ("make",)}, ApprovalReason.OUTSIDE),
    ],
)
def test_what_is_risky_or_not_proposed_waits_for_the_critic(
    changed: dict[str, Any], why: ApprovalReason
) -> None:
    trace = Trace().to("executing")
    words = changed.pop("words", ())
    name = trace.intend("p1", *words, **changed)
    assert why in trace.state.intents[name].needs
    assert trace.refused(trace.starting(name), EXECUTOR) == "approval_required"
    trace.consent(name)
    assert trace.start(name) == "x1"


@pytest.mark.requirement("TRC-063")
def test_under_a_conditional_proposal_every_intent_waits_for_the_critic() -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", "conditional")
    name = trace.intend("p1")
    assert trace.state.intents[name].needs == (ApprovalReason.CONDITIONAL,)
    assert trace.refused(trace.starting(name), EXECUTOR) == "approval_required"
    trace.consent(name)
    trace.start(name)


@pytest.mark.requirement("TRC-063")
def test_a_policy_may_ask_for_consent_to_everything() -> None:
    trace = Trace()
    trace.open(Policy(approval_required_from=Risk.LOW))
    trace.approved()
    assert trace.refused(trace.starting(trace.intend("p1")), EXECUTOR) == "approval_required"


@pytest.mark.requirement("TRC-033")
@pytest.mark.requirement("TRC-057")
def test_a_blocked_intent_runs_only_as_a_new_one_that_is_approved() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    trace.consent(name, "blocked")
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_blocked"
    again = ask.ReviewIntent(intent_id=name, status="approved", rationale="after all")
    assert trace.refused(again, CRITIC) == "review_not_open"
    revised = trace.intend("p1", "pytest", "tests/one", supersedes=name)
    assert trace.state.intents[revised].needs == (ApprovalReason.BLOCKED,)
    assert trace.refused(trace.starting(revised), EXECUTOR) == "approval_required"
    trace.consent(revised)
    assert trace.start(revised) == "x1"
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_closed"


def test_an_approval_may_be_taken_back_by_a_block() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1", risk="high")
    trace.consent(name)
    trace.consent(name, "blocked")
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_blocked"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ask.ReviewIntent(intent_id="i9", status="approved", rationale="x"), "unknown_intent"),
        (ask.ReviewIntent(intent_id="i1", status="conditional", rationale="x"), "bad_verdict"),
        (ask.ReviewIntent(intent_id="i1", status="approved", rationale=""), "text_missing"),
    ],
)
def test_a_review_of_an_intent_has_a_subject_a_verdict_and_a_reason(
    command: Any, code: str
) -> None:
    trace = Trace().to("executing")
    trace.intend("p1")
    assert trace.refused(command, CRITIC) == code


@pytest.mark.parametrize(
    "words",
    [
        ("curl", "-H", "Authorization: Bearer abcdefghijklmnop0123"),
        ("deploy", "--password", "hunter2hunter2"),
        ("deploy", "--token=abcdef123456"),
        ("env", "API_KEY=abcdef123456", "make"),
        ("aws", "AKIAABCDEFGHIJKLMNOP"),
        ("git", "clone", "ftp://me:secretword@files.example/x"),
        ("echo", "-----BEGIN RSA PRIVATE KEY-----\nabc"),
    ],
)
def test_a_secret_in_the_input_is_refused_when_it_is_intended(words: tuple[str, ...]) -> None:
    trace = Trace().to("executing")
    assert trace.refused(intent("p1", *words), EXECUTOR) == "secret_in_input"


@pytest.mark.requirement("TRC-021")
@pytest.mark.requirement("TRC-034")
@pytest.mark.parametrize("name", ["", "i1", "i99", "p1", "i0"])
def test_nothing_runs_without_an_intent(name: str) -> None:
    trace = Trace().to("executing")
    command = ask.StartExecution(intent_id=name, input=trace.store(b"x"))
    assert trace.refused(command, EXECUTOR) == "unknown_intent"


@pytest.mark.requirement("TRC-034")
def test_a_start_does_not_name_an_intent_that_was_never_given() -> None:
    trace = Trace().to("executing")
    trace.intend("p1")
    for name in ("i2", "i99", "i0"):
        command = msgspec.structs.replace(trace.starting("i1"), intent_id=name)
        assert trace.refused(command, EXECUTOR) == "unknown_intent"
    assert trace.run(trace.starting("i1"), EXECUTOR).intent_id == "i1"


@pytest.mark.requirement("TRC-034")
def test_a_start_names_its_intent_and_its_stored_input() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    command = trace.starting(name)
    event = trace.run(command, EXECUTOR)
    assert (event.execution_id, event.intent_id) == ("x1", name)
    assert event.input_artifact == command.input.sha256
    assert trace.history()[-1].artifacts == (command.input,)


@pytest.mark.requirement("TRC-038")
def test_what_is_run_is_what_was_intended() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    other = ask.StartExecution(intent_id=name, input=trace.store(b'{"command":["rm"]}'))
    assert trace.refused(other, EXECUTOR) == "input_mismatch"


@pytest.mark.requirement("TRC-058")
def test_an_intent_runs_once_and_a_retry_is_a_new_one() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    command = trace.starting(name)
    started = trace.run(command, EXECUTOR).execution_id
    assert trace.refused(command, EXECUTOR) == "intent_closed"
    trace.fail(started)
    assert trace.refused(command, EXECUTOR) == "intent_closed"
    retry = trace.run(intent("p1", "pytest", "-x", retry_of=name), EXECUTOR)
    assert (retry.intent_id, retry.attempt) == ("i2", 2)
    assert trace.start(retry.intent_id) == "x2"
    kinds = [type(one.event).__name__ for one in trace.history()]
    assert kinds.count("ToolExecutionFailed") == 1


@pytest.mark.requirement("TRC-058")
@pytest.mark.parametrize("name", ["i1", "i9", "x1"])
def test_only_a_failed_intent_is_retried(name: str) -> None:
    trace = Trace().to("claiming")
    assert trace.refused(intent("p1", retry_of=name), EXECUTOR) == "not_retryable"


def test_a_retry_stays_under_its_proposal() -> None:
    trace = Trace().to("executing")
    failed = trace.intend("p1")
    trace.fail(trace.start(failed))
    other = trace.approved()
    assert trace.refused(intent(other, retry_of=failed), EXECUTOR) == "not_retryable"


def test_attempts_cannot_be_had_by_signing_ahead() -> None:
    """Intents signed before the failures are held to the same bound when they start."""
    trace = Trace()
    trace.open(Policy(max_attempts=2))
    trace.approved()
    ahead = [trace.intend("p1") for _ in range(3)]
    for name in ahead[:2]:
        trace.fail(trace.start(name))
    assert trace.refused(trace.starting(ahead[2]), EXECUTOR) == "attempts_exhausted"


def test_success_forgets_the_failures_of_a_step() -> None:
    trace = Trace().to("executing")
    failed = trace.intend("p1")
    trace.fail(trace.start(failed))
    trace.complete(trace.start(trace.intend("p1", retry_of=failed)))
    assert not trace.state.failing
    assert trace.run(intent("p1"), EXECUTOR).attempt == 1


@pytest.mark.requirement("TRC-036")
@pytest.mark.requirement("TRC-050")
def test_nothing_is_cited_that_is_not_stored() -> None:
    trace = Ledgered().to("executing")
    name = trace.intend("p1")
    real = trace.starting(name)
    trace.world.artifacts.erase(real.input.sha256)
    assert trace.refused(real, EXECUTOR) == "artifact_missing"
    started = trace.start(name)
    gone = ask.Stored("stdout", ArtifactRef(NOWHERE, 3, "text/plain"))
    command = ask.CompleteExecution(execution_id=started, outputs=(gone,), result=OK)
    assert trace.refused(command, EXECUTOR) == "artifact_missing"
    trace.complete(started)
    event = trace.history()[-1].event
    assert all(trace.world.artifacts.has(one.sha256) for one in event.outputs)
    assert trace.world.artifacts.has(event.input_artifact)


@pytest.mark.requirement("TRC-036")
def test_a_finished_run_leaves_an_output() -> None:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    nothing = ask.CompleteExecution(execution_id=started, outputs=(), result=OK)
    assert trace.refused(nothing, EXECUTOR) == "output_required"
    same = ask.Stored("stdout", trace.store(b"a"))
    twice = ask.CompleteExecution(execution_id=started, outputs=(same, same), result=OK)
    assert trace.refused(twice, EXECUTOR) == "bad_output"


@pytest.mark.requirement("TRC-037")
def test_an_end_says_how_it_went_and_there_is_one() -> None:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    out = (ask.Stored("stdout", trace.store(b"a")),)
    untold = ask.CompleteExecution(execution_id=started, outputs=out)
    assert trace.refused(untold, EXECUTOR) == "result_missing"
    assert trace.refused(ask.FailExecution(execution_id=started), EXECUTOR) == "failure_missing"
    bad = ask.CompleteExecution(
        execution_id=started, outputs=out, result=ExecutionResult(exit_status=2, duration_ms=1)
    )
    assert trace.refused(bad, EXECUTOR) == "exit_status"
    trace.complete(started)
    for end in (
        ask.FailExecution(execution_id=started, failure=BAD),
        ask.CompleteExecution(execution_id=started, outputs=out, result=OK),
        ask.FailExecution(execution_id="x9", failure=BAD),
    ):
        assert trace.refused(end, EXECUTOR) == "unknown_execution"


def test_a_failed_run_may_leave_outputs_too() -> None:
    trace = Trace().to("executing")
    started = trace.start(trace.intend("p1"))
    ref = trace.store(b"half")
    event = trace.run(
        ask.FailExecution(execution_id=started, failure=BAD, outputs=(ask.Stored("stdout", ref),)),
        EXECUTOR,
    )
    assert event.outputs == (NamedOutput("stdout", ref.sha256),)


def test_a_policy_may_ask_for_reservations() -> None:
    trace = Trace()
    trace.open(Policy(require_reservation=True))
    trace.approved()
    name = trace.intend("p1", writes=("src/a", "docs"))
    for held in (
        (),
        (HeldReservation("src/a", 3),),
        (HeldReservation("src/a", 3), HeldReservation("docs", 0)),
    ):
        assert trace.refused(trace.starting(name, *held), EXECUTOR) == "reservation_required"
    event = trace.run(
        trace.starting(name, HeldReservation("docs", 4), HeldReservation("src/a", 3)), EXECUTOR
    )
    assert {one.fencing for one in event.reservations} == {3, 4}


@pytest.mark.requirement("TRC-048")
def test_several_proposals_and_intents_stand_side_by_side() -> None:
    trace = Trace().to("executing")
    other = trace.approved("make")
    one, two = trace.intend("p1"), trace.intend(other, "make")
    assert sorted(trace.state.intents) == [one, two]
    first, second = trace.start(two), trace.start(one)
    trace.complete(second)
    trace.complete(first)
    assert trace.state.stage is Stage.CLAIMING
    assert trace.state.completed == 2


def test_a_trace_never_moves_back() -> None:
    trace = Trace().to("auditing")
    other = trace.approved("make")
    trace.fail(trace.start(trace.intend(other, "make")))
    assert trace.state.stage is Stage.AUDITING


def test_there_is_an_end_to_how_many_are_open() -> None:
    trace = Trace().to("executing")
    for _ in range(MAX_INTENTS):
        trace.intend("p1")
    assert trace.refused(intent("p1"), EXECUTOR) == "too_many_open"
    trace.intend("p1", supersedes="i1")


def test_there_is_an_end_to_how_many_run_at_once() -> None:
    trace = Trace().to("executing")
    for count in range(MAX_INTENTS + 1):
        event = trace.run(intent("p1", "pytest", str(count)), EXECUTOR)
        ref = ArtifactRef(event.input_hash, 1, "text/plain")
        start = ask.StartExecution(intent_id=event.intent_id, input=ref)
        if count < MAX_INTENTS:
            trace.run(start, EXECUTOR)
    assert trace.refused(start, EXECUTOR) == "too_many_open"


def test_a_revised_proposal_begins_with_fresh_attempts() -> None:
    trace = Trace().to("executing")
    trace.fail(trace.start(trace.intend("p1")))
    revised = trace.approved(supersedes="p1")
    assert not trace.state.failing
    assert trace.run(intent(revised), EXECUTOR).attempt == 1


def test_there_is_an_end_to_how_many_steps_may_fail() -> None:
    trace = Trace().to("executing")
    for count in range(MAX_FAILING):
        words = ("pytest", str(count))
        event = trace.run(intent("p1", *words), EXECUTOR)
        ref = ArtifactRef(event.input_hash, 1, "text/plain")
        start = ask.StartExecution(intent_id=event.intent_id, input=ref)
        trace.fail(trace.run(start, EXECUTOR).execution_id)
    assert trace.refused(intent("p1", "pytest", "new"), EXECUTOR) == "too_many_open"
    assert trace.run(intent("p1", "pytest", "1"), EXECUTOR).attempt == 2


def test_the_planner_intends_nothing() -> None:
    assert Trace().to("executing").refused(intent("p1"), PLANNER) == "role_policy_violation"
