"""What is exactly as much as a trace allows is taken, one more is not; and how much is told."""

from __future__ import annotations

from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from moot.core.errors import Malformed
from moot.core.machine import Command
from moot.core.record import MAX_BODY_BYTES
from moot.core.secrets import SecretPattern
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.machine import agenda
from moot.protocols.trace.model import (
    FailingStep,
    HeldReservation,
    State,
    add_artifacts,
    holds_artifact,
)
from moot.protocols.trace.policy import Policy, Risk, ToolRule, find_problems, parse_policy
from moot.protocols.trace.tool_checks import risk_by_policy
from moot.protocols.trace.views import describe_event, parse_event

from .scene import CRITIC, EXECUTOR, OK, PLANNER, Trace, intent, proposal
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


def test_a_page_of_marks_holds_1024_of_them() -> None:
    hashes = [f"{number:064x}"[::-1] for number in range(1, 1_026)]
    pages = add_artifacts((), hashes)
    assert [len(page) for page in pages] == [8_192, 8]
    assert all(holds_artifact(pages, sha256) for sha256 in hashes)
    assert not holds_artifact(pages, "f" * 64)
    assert not holds_artifact(pages, hashes[0][:62])
    assert add_artifacts((), [hashes[0] + "00"]) == ()
