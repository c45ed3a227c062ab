"""What is exactly as much as a trace allows is taken, one more is not; and how much is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from immutables import Map
from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.core.machine import Command, Draft
from moot.core.names import OPERATOR
from moot.core.record import MAX_BODY_BYTES
from moot.core.secrets import SecretPattern
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.agenda import agenda
from moot.protocols.trace.audit.report import ArtifactPresence
from moot.protocols.trace.codec import parse_event
from moot.protocols.trace.left_artifacts import add_artifacts, holds_artifact
from moot.protocols.trace.model import (
    ExecutionResult,
    FailingStep,
    HeldReservation,
    State,
    number_of_id,
)
from moot.protocols.trace.policy import Policy, Risk, ToolRule, find_problems, parse_policy
from moot.protocols.trace.risk import risk_by_policy
from moot.protocols.trace.views import describe_event

from .scene import AUDITOR, BAD, CRITIC, EXECUTOR, NOWHERE, OK, PLANNER, Trace, intent, proposal
from .test_audit import failing, finished, judged

DAY_MS = 86_400_000


def tools(count: int, name: str = "t") -> tuple[ToolRule, ...]:
    return tuple(ToolRule(tool=f"{name}{number}", risk=Risk.LOW) for number in range(count))


def secrets(*rows: tuple[str, str]) -> tuple[SecretPattern, ...]:
    return tuple(SecretPattern(name, expression) for name, expression in rows)


@pytest.mark.parametrize(
    ("name", "allowed", "too_much", "told"),
    [
        ("tools", tools(200), tools(201), "tools: more than 200"),
        ("tools", tools(1, "x" * 199), tools(1, "x" * 200), f"tools: '{'x' * 40}' is no name"),
        (
            "tools",
            (ToolRule(tool="t", risk=Risk.LOW, commands=(("x" * 200,),)),),
            (ToolRule(tool="t", risk=Risk.LOW, commands=(("x" * 201,),)),),
            f"tools: '{'x' * 40}' is no command",
        ),
        ("environment", ("A",) * 200, ("A",) * 201, "environment: more than 200 names"),
        (
            "environment",
            ("A" * 128,),
            ("A" * 129,),
            f"environment: '{'A' * 40}' is no name of a variable",
        ),
        (
            "secrets",
            secrets(*[("x", "a")] * 64),
            secrets(*[("x", "a")] * 65),
            "secrets: more than 64 patterns",
        ),
        ("secrets", secrets(("x" * 48, "a")), secrets(("x" * 49, "a")), f"'{'x' * 40}' is no name"),
        ("secrets", secrets(("x", "a" * 300)), secrets(("x", "a" * 301)), "1 to 300 characters"),
        ("max_attempts", 1, 0, "0 is not within 1 to 100"),
        ("max_attempts", 100, 101, "101 is not within 1 to 100"),
        ("min_evidence", 1, 0, "0 is not within 1 to 100"),
        ("min_evidence", 100, 101, "101 is not within 1 to 100"),
        ("max_timeout_ms", DAY_MS, DAY_MS + 1, f"not within 1000 to {DAY_MS}"),
        ("default_timeout_ms", 1, 0, "0 is not within 1 to 3600000"),
        ("default_timeout_ms", 3_600_000, 3_600_001, "not within 1 to 3600000"),
        ("max_output_bytes", 1_024, 1_023, "1023 is not within 1024 to 1073741824"),
        ("max_output_bytes", 1 << 30, (1 << 30) + 1, "not within 1024 to 1073741824"),
    ],
)
def test_a_policy_as_large_as_it_may_be(
    name: str, allowed: object, too_much: object, told: str
) -> None:
    assert find_problems(replace(Policy(), **{name: allowed})) == ()
    (problem,) = find_problems(replace(Policy(), **{name: too_much}))
    assert problem.startswith(name)
    assert told in problem


def test_a_trace_waits_for_a_run_a_second_at_least() -> None:
    assert find_problems(Policy(max_timeout_ms=1_000, default_timeout_ms=1_000)) == ()
    (problem,) = find_problems(Policy(max_timeout_ms=999, default_timeout_ms=999))
    assert problem == f"max_timeout_ms: 999 is not within 1000 to {DAY_MS}"


def test_what_a_policy_says_by_itself() -> None:
    policy = parse_policy(b"{}")
    assert (policy.default_timeout_ms, policy.max_timeout_ms) == (600_000, 3_600_000)
    assert (policy.max_output_bytes, policy.require_reservation) == (8_388_608, False)


@pytest.mark.parametrize("program", ["python3.8", "python3.19"])
def test_every_python_of_these_years_is_an_interpreter(program: str) -> None:
    policy = parse_policy(b"{}")
    assert risk_by_policy(policy, program, (program, "x.py")) is Risk.MEDIUM
    for other in ("python3.7", "python3.20"):
        assert risk_by_policy(policy, other, (other, "x.py")) is Risk.LOW


@pytest.mark.parametrize(
    ("read", "most"),
    [
        (parse_policy, 16_384),
        (lambda text: parse_event("session_aborted", text), MAX_BODY_BYTES),
    ],
)
def test_a_file_as_long_as_it_may_be(read: Any, most: int) -> None:
    text = '{"reason":"x"}' if most == MAX_BODY_BYTES else "{}"
    assert read(text.ljust(most)) == read(text)
    with pytest.raises(Malformed, match=f"larger than {most} bytes") as caught:
        read(text.ljust(most + 1))
    assert caught.value.code == "too_large"


def codes(trace: Trace, command: Command, actor: str) -> set[str]:
    return {finding.code for finding in trace.decide(command, actor).findings}


@pytest.mark.parametrize("sign", ["x", "é"])
def test_a_text_as_long_as_it_may_be(sign: str) -> None:
    trace = Trace().to("planning")
    bytes_of_one = len(sign.encode())
    most = proposal(objective=sign * (16_384 // bytes_of_one))
    assert codes(trace, most, PLANNER) == set()
    longer = replace(most, objective=most.objective + "x")
    assert codes(trace, longer, PLANNER) == {"text_too_long"}


def test_all_texts_together_as_long_as_they_may_be() -> None:
    """Each text counts four bytes more, for what stands around it in an event."""
    trace = Trace().to("executing")
    given = ask.ReviewProposal(proposal_id="p1", status="blocked", rationale="seen")
    rest = 40_000 - len("p1blockedseen") - 4 * 7 - 2 * 16_000  # seven texts: one is empty
    most = replace(given, conditions=("x" * 16_000, "x" * 16_000, "x" * rest))
    assert codes(trace, most, CRITIC) == set()
    longer = replace(given, conditions=("x" * 16_000, "x" * 16_000, "x" * (rest + 1)))
    (finding,) = trace.decide(longer, CRITIC).findings
    assert (finding.code, finding.message) == ("text_too_long", f"{40_001 - 4 * 7} bytes of text")


def listed(trace: Trace, field: str, count: int) -> tuple[Command, str]:
    ref = trace.store(b"x")
    names = tuple(f"n{number}" for number in range(count))
    cited = tuple(ask.Cited(f"{number:064x}") for number in range(count))
    held = tuple(HeldReservation(name, 1) for name in names)
    stored = tuple(ask.Stored(name, ref) for name in names)
    review = ask.ReviewProposal(proposal_id="p1", status="blocked", rationale="x", conditions=names)
    commands: dict[str, tuple[Command, str]] = {
        "required_tools": (proposal(*names), PLANNER),
        "writes": (intent("p1", writes=names), EXECUTOR),
        "env": (intent("p1", env=names), EXECUTOR),
        "conditions": (review, CRITIC),
        "reservations": (
            ask.StartExecution(intent_id="i1", input=ref, reservations=held),
            EXECUTOR,
        ),
        "outputs": (
            ask.CompleteExecution(execution_id="x1", outputs=stored, result=OK),
            EXECUTOR,
        ),
        "evidence": (ask.IssueClaim(text="x", confidence="1", evidence=cited), EXECUTOR),
    }
    return commands[field]


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ("required_tools", 64),
        ("writes", 128),
        ("env", 64),
        ("conditions", 500),
        ("reservations", 500),
        ("outputs", 256),
        ("evidence", 256),
    ],
)
def test_a_list_as_long_as_it_may_be(field: str, most: int) -> None:
    trace = Trace().to("auditing")
    assert "too_many_items" not in codes(trace, *listed(trace, field, most))
    found = trace.decide(*listed(trace, field, most + 1)).findings
    (told,) = (finding for finding in found if finding.code == "too_many_items")
    assert (told.message, told.where) == (f"{most + 1} given, {most} allowed", field)


def test_a_line_of_the_story_has_300_characters() -> None:
    assert describe_event(did.SessionAborted(reason="x" * 300)) == "x" * 300
    assert describe_event(did.SessionAborted(reason="x" * 301)) == "x" * 300


LONG = "z" * 60


@pytest.mark.parametrize(
    ("command", "actor", "told"),
    [
        (
            ask.ChallengeClaim(claim_id=LONG, reason="weak"),
            CRITIC,
            f"there is no claim '{'z' * 40}'",
        ),
        (
            ask.ReviewProposal(proposal_id=LONG, status="approved", rationale="x"),
            CRITIC,
            f"there is no proposal '{'z' * 40}'",
        ),
        (
            ask.ReviewIntent(intent_id=LONG, status="approved", rationale="x"),
            CRITIC,
            f"there is no intent '{'z' * 40}'",
        ),
        (
            ask.ReviewProposal(proposal_id="p1", status=LONG, rationale="x"),
            CRITIC,
            f"'{'z' * 40}' is none of approved, conditional, rejected, blocked",
        ),
        (intent("p1", retry_of=LONG), EXECUTOR, f"'{'z' * 40}' is no failed intent of p1"),
        (intent("p1", env=(f"{LONG}=",)), EXECUTOR, f"'{'z' * 40}' is no name of a variable"),
        (
            proposal(fallback_for=LONG),
            PLANNER,
            f"'{'z' * 40}' is no intent whose step has failed last",
        ),
        (
            ask.FailExecution(execution_id=LONG, failure=None),
            EXECUTOR,
            "failure is required",
        ),
        (
            ask.IssueClaim(text="x", confidence=LONG, evidence=()),
            EXECUTOR,
            f"'{'z' * 40}' is not within 0 and 1",
        ),
        (
            ask.IssueClaim(text="x", confidence="1", evidence=(), execution_ids=(LONG,)),
            EXECUTOR,
            f"no run '{'z' * 40}' was started",
        ),
        (
            ask.IssueClaim(text="x", confidence="1", evidence=(ask.Cited(LONG),)),
            EXECUTOR,
            f"no run of this trace left '{'z' * 12}'",
        ),
    ],
)
def test_of_a_long_name_a_refusal_tells_the_beginning(
    command: Command, actor: str, told: str
) -> None:
    decision = Trace().to("auditing").decide(command, actor)
    assert decision.refused
    assert told in [finding.message for finding in decision.findings]


def test_of_two_keys_the_first_eight_characters_tell_them_apart() -> None:
    trace = Trace().to("planning")
    before = trace.kid(CRITIC)
    trace.kids[CRITIC] = "b" * 32
    (finding,) = trace.decide(
        ask.ReviewProposal(proposal_id="p1", status="approved", rationale="x"), CRITIC
    ).findings[:1]
    assert finding.message.endswith(f"under another key ({before[:8]}, not {'b' * 8})")


def test_an_objective_is_kept_as_far_as_it_is_shown() -> None:
    trace = Trace().to("planning")
    trace.propose(objective="x" * 201)
    assert trace.state.proposals["p1"].objective == "x" * 200
    assert trace.history()[-1].event.objective == "x" * 201
    (due,) = (due for due in agenda(trace.state, 0) if due.what == "review a proposal")
    assert due.subject == "p1: " + "x" * 120


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


def crowd(state: State, name: str, count: int) -> State:
    """As many as this at once, all like the first."""
    items: Map[str, Any] = getattr(state, name)
    (first,) = items.values()
    many = {f"{first.id[0]}{number}": first for number in range(1, count + 1)}
    return replace(state, **{name: Map(many)})


@pytest.mark.parametrize(
    ("name", "most", "told"),
    [
        ("proposals", 500, "500 proposals stand"),
        ("intents", 256, "256 intents are open"),
        ("running", 256, "256 runs are under way"),
        ("claims", 400, "400 claims stand"),
    ],
)
def test_so_many_may_be_open_at_once(name: str, most: int, told: str) -> None:
    trace = Trace().to("auditing")
    given = trace.intend("p1")
    if name == "running":
        trace.start(given)
        given = trace.intend("p1")
    asked: dict[str, tuple[Command, str]] = {
        "proposals": (proposal(), PLANNER),
        "intents": (intent("p1"), EXECUTOR),
        "running": (trace.starting(given), EXECUTOR),
        "claims": (trace.claiming(trace.history()[5].event.outputs[0].sha256), EXECUTOR),
    }
    before = trace.state
    trace.state = crowd(before, name, most - 1)
    assert codes(trace, *asked[name]) == set()
    trace.state = crowd(before, name, most)
    (finding,) = trace.decide(*asked[name]).findings
    assert (finding.code, finding.message) == ("too_many_open", told)


def test_so_many_steps_may_have_failed() -> None:
    trace = Trace().to("executing")
    failing = {f"p1 {number}": FailingStep(1, "i1") for number in range(999)}
    trace.state = replace(trace.state, failing=Map(failing))
    assert codes(trace, intent("p1"), EXECUTOR) == set()
    trace.state = replace(trace.state, failing=Map({**failing, "p1 999": FailingStep(1, "i1")}))
    (finding,) = trace.decide(intent("p1"), EXECUTOR).findings
    assert finding.message == "1000 steps have failed and not yet gone well"


@pytest.mark.parametrize(
    ("timeout_ms", "is_allowed"), [(0, False), (1, True), (3_600_000, True), (3_600_001, False)]
)
def test_a_run_may_take_from_a_millisecond_to_what_the_policy_says(
    timeout_ms: int, is_allowed: bool
) -> None:
    decision = Trace().to("executing").decide(intent("p1", timeout_ms=timeout_ms), EXECUTOR)
    assert decision.refused is not is_allowed
    told = {"not within 1 ms and 3600000 ms"}
    assert {one.message for one in decision.findings} == (set() if is_allowed else told)


@pytest.mark.parametrize(("confidence", "is_low"), [("0.5", False), ("0.499999", True)])
def test_less_than_a_half_is_a_low_confidence(confidence: str, is_low: bool) -> None:
    trace = Trace().to("claiming")
    trace.claim(trace.history()[-1].event.outputs[0].sha256, confidence=confidence)
    trace.finish()
    assert bool(failing(judged(trace))) is is_low


def test_a_check_lists_its_first_200_findings_and_counts_all() -> None:
    trace = finished()
    (check,) = (
        check
        for check in judged(trace, signatures=dict.fromkeys(range(201), "no good")).checks
        if check.id == "CHK_SIGNATURE_VALIDITY"
    )
    assert [one.event for one in check.failures] == list(range(200))
    assert check.evidence == "8 events: 201 found"


@pytest.mark.parametrize(
    ("name", "number"),
    [("i1", 1), ("i0", 0), ("i", 0), ("", 0), ("i" + "9" * 15, 10**15 - 1), ("i" + "9" * 16, 0)],
)
def test_the_number_of_an_id(name: str, number: int) -> None:
    assert number_of_id(name) == number


def test_a_page_of_marks_holds_1024_of_them() -> None:
    hashes = [f"{number:064x}"[::-1] for number in range(1, 1_026)]
    pages = add_artifacts((), hashes)
    assert [len(page) for page in pages] == [8_192, 8]
    assert all(holds_artifact(pages, sha256) for sha256 in hashes)
    assert not holds_artifact(pages, "f" * 64)
    assert not holds_artifact(pages, hashes[0][:62])
    assert add_artifacts((), [hashes[0] + "00"]) == ()


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


def test_a_failure_was_seen_by_whoever_ran_it_unless_it_says_otherwise() -> None:
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
