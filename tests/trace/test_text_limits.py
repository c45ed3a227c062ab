"""Texts of every command: broken ones, too long ones, too many; and ends that do not fit."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.machine import Command, Draft, Event
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.verification import audit_events
from moot.protocols.trace.model import ExecutionResult, HeldReservation, Role
from moot.protocols.trace.rules import WORDING_RULES

from .scene import AUDITOR, BAD, CRITIC, EXECUTOR, NOWHERE, OK, PLANNER, Trace, intent, proposal
from .test_audit import facts_of, failing

BROKEN = "half a \ud83d letter"
LONG = "x" * 17_000


def said(trace: Trace, text: str) -> dict[type[Command], tuple[Command, str]]:
    """Every command with `text` in one of its places, and who asks it."""
    ref = trace.store(b"x")
    named = replace(ref, media_type=text)
    failure = replace(BAD, detail=text)
    return {
        ask.OpenTrace: (ask.OpenTrace(task=text, roles=trace.bindings()), SYSTEM),
        ask.CreateProposal: (proposal(objective=text), PLANNER),
        ask.ReviewProposal: (
            ask.ReviewProposal(proposal_id="p1", status="blocked", rationale=text),
            CRITIC,
        ),
        ask.SignIntent: (intent("p1", justification=text), EXECUTOR),
        ask.ReviewIntent: (
            ask.ReviewIntent(intent_id="i1", status="approved", rationale=text),
            CRITIC,
        ),
        ask.StartExecution: (ask.StartExecution(intent_id="i1", input=named), EXECUTOR),
        ask.CompleteExecution: (
            ask.CompleteExecution(execution_id="x1", outputs=(ask.Stored(text, ref),), result=OK),
            EXECUTOR,
        ),
        ask.FailExecution: (ask.FailExecution(execution_id="x1", failure=failure), EXECUTOR),
        ask.RecoverExecution: (
            ask.RecoverExecution(execution_id="x1", evidence=(text,)),
            EXECUTOR,
        ),
        ask.IssueClaim: (trace.claiming(ref.sha256, text=text), EXECUTOR),
        ask.ChallengeClaim: (ask.ChallengeClaim(claim_id="c1", reason=text), CRITIC),
        ask.WithdrawClaim: (ask.WithdrawClaim(claim_id="c1", reason=text), EXECUTOR),
        ask.SignFinalStatement: (ask.SignFinalStatement(statement=text), EXECUTOR),
        ask.StartVerification: (ask.StartVerification(profile=text), AUDITOR),
        ask.CompleteVerification: (
            ask.CompleteVerification(run_id="v1", status="pass", report=ref, head=text, events=1),
            AUDITOR,
        ),
        ask.AbortTrace: (ask.AbortTrace(reason=text), OPERATOR),
        ask.FailTrace: (ask.FailTrace(code="x", detail=text), OPERATOR),
        ask.RotateKey: (
            ask.RotateKey(role="critic", epoch=1, kid="a" * 32, reason=text),
            OPERATOR,
        ),
        ask.ReportForgery: (ask.ReportForgery(kid="a" * 32, detail=text), OPERATOR),
    }


def many(trace: Trace) -> dict[type[Command], tuple[Command, str]]:
    """Every command that takes a list, with more than it may hold."""
    ref = trace.store(b"x")
    stored = tuple(ask.Stored(f"o{count}", ref) for count in range(300))
    cited = tuple(ask.Cited(f"{count:064x}") for count in range(300))
    held = tuple(HeldReservation(f"s{count}", 1) for count in range(501))
    return {
        ask.OpenTrace: (ask.OpenTrace(task="t", roles=trace.bindings() * 126), SYSTEM),
        ask.CreateProposal: (proposal(*["t"] * 65), PLANNER),
        ask.ReviewProposal: (
            ask.ReviewProposal(
                proposal_id="p1", status="blocked", rationale="x", conditions=("x",) * 501
            ),
            CRITIC,
        ),
        ask.SignIntent: (intent("p1", writes=("x",) * 129), EXECUTOR),
        ask.StartExecution: (
            ask.StartExecution(intent_id="i1", input=ref, reservations=held),
            EXECUTOR,
        ),
        ask.CompleteExecution: (
            ask.CompleteExecution(execution_id="x1", outputs=stored, result=OK),
            EXECUTOR,
        ),
        ask.FailExecution: (
            ask.FailExecution(execution_id="x1", failure=BAD, outputs=stored),
            EXECUTOR,
        ),
        ask.RecoverExecution: (
            ask.RecoverExecution(execution_id="x1", evidence=("x",), outputs=stored),
            EXECUTOR,
        ),
        ask.IssueClaim: (ask.IssueClaim(text="x", confidence="1", evidence=cited), EXECUTOR),
        ask.ChallengeClaim: (
            ask.ChallengeClaim(claim_id="c1", reason="x", evidence=cited),
            CRITIC,
        ),
        ask.CompleteVerification: (
            ask.CompleteVerification(
                run_id="v1",
                status="pass",
                report=ref,
                head="",
                events=1,
                failure_codes=("x",) * 501,
            ),
            AUDITOR,
        ),
    }


def ready(kind: type[Command]) -> Trace:
    """A trace in which `kind` may be asked at all."""
    if kind is ask.OpenTrace:
        return Trace()
    trace = Trace().to("auditing")
    if kind in (ask.StartVerification, ask.CompleteVerification):
        trace.finish()
    return trace


@pytest.mark.parametrize("kind", WORDING_RULES, ids=lambda kind: kind.__name__)
def test_a_broken_text_is_refused_in_every_command(kind: type[Command]) -> None:
    trace = ready(kind)
    assert trace.refused(*said(trace, BROKEN)[kind]) == "unreadable_text"


@pytest.mark.parametrize("kind", WORDING_RULES, ids=lambda kind: kind.__name__)
def test_a_long_text_is_refused_in_every_command(kind: type[Command]) -> None:
    trace = ready(kind)
    assert trace.refused(*said(trace, LONG)[kind]) == "text_too_long"


def test_every_command_with_a_list_is_tried() -> None:
    lists = {
        kind
        for kind in WORDING_RULES
        if any("tuple" in str(kind.__annotations__[name]) for name in kind.__annotations__)
    }
    assert set(many(Trace())) == lists


@pytest.mark.parametrize("kind", list(many(Trace())), ids=lambda kind: kind.__name__)
def test_too_many_at_once_are_refused_in_every_command(kind: type[Command]) -> None:
    trace = ready(kind)
    assert "too_many_items" in {
        finding.code for finding in trace.decide(*many(trace)[kind]).findings
    }


# Recorded by someone who numbered, ended or verified as they liked: an audit sees each.


def forced(trace: Trace, event: Event, actor: str) -> dict[str, set[str]]:
    trace.record(Draft(event), actor)
    report = audit_events(trace.history(), facts_of(trace.history()))
    return failing(report)


def drafted(trace: Trace, command: Command, actor: str) -> Any:
    decision = trace.decide(command, actor)
    assert not decision.refused, decision.findings
    return decision.drafts[0].event


@pytest.mark.parametrize(
    ("field", "stage"),
    [
        ("proposal_id", "reviewing"),
        ("intent_id", "executing"),
        ("execution_id", "executing"),
        ("claim_id", "claiming"),
        ("run_id", "auditing"),
    ],
)
def test_an_id_out_of_order_is_seen(field: str, stage: str) -> None:
    trace = Trace().to(stage)
    if field == "execution_id":
        trace.intend("p1")
    if field == "run_id":
        trace.finish()
    asked: dict[str, tuple[Any, str]] = {
        "proposal_id": (proposal, PLANNER),
        "intent_id": (lambda: intent("p1"), EXECUTOR),
        "execution_id": (lambda: trace.starting("i1"), EXECUTOR),
        "claim_id": (
            lambda: trace.claiming(trace.history()[-1].event.outputs[0].sha256),
            EXECUTOR,
        ),
        "run_id": (ask.StartVerification, AUDITOR),
    }
    command, actor = asked[field]
    event = drafted(trace, command(), actor)
    wrong = replace(event, **{field: getattr(event, field)[0] + "7"})
    assert "state_violation" in forced(trace, wrong, actor)["CHK_STATE_REPLAY"]


@pytest.mark.parametrize("well", [True, False])
def test_an_end_of_another_intent_or_input_is_seen(well: bool) -> None:
    for changed in ({"intent_id": "i9"}, {"input_artifact": NOWHERE}):
        trace = Trace().to("executing")
        name = trace.start(trace.intend("p1"))
        out = (ask.Stored("stdout", trace.store(b"x")),)
        command: Any = (
            ask.CompleteExecution(execution_id=name, outputs=out, result=OK)
            if well
            else ask.FailExecution(execution_id=name, failure=BAD)
        )
        event = replace(drafted(trace, command, EXECUTOR), **changed)
        found = forced(trace, event, EXECUTOR)
        assert found["CHK_EVENT_ORDERING"] == {"ordering_violation"}


def test_outputs_of_a_failed_run_have_names_of_their_own_too() -> None:
    trace = Trace().to("executing")
    name = trace.start(trace.intend("p1"))
    same = ask.Stored("stdout", trace.store(b"x"))
    command = ask.FailExecution(execution_id=name, failure=BAD, outputs=(same, same))
    assert trace.refused(command, EXECUTOR) == "bad_output"


def test_a_verification_of_something_else_is_seen() -> None:
    trace = Trace().to("auditing")
    trace.finish()
    event = drafted(trace, ask.StartVerification(), AUDITOR)
    assert forced(trace, replace(event, events=2), AUDITOR) == {
        "CHK_STATE_REPLAY": {"state_violation"}
    }


def test_a_key_change_from_a_key_that_was_not_bound_is_seen() -> None:
    trace = Trace().to("planning")
    event = did.KeyRotated(
        role=Role.CRITIC, agent=CRITIC, epoch=1, old_kid="0" * 32, new_kid="1" * 32, reason=""
    )
    assert forced(trace, event, SYSTEM)["CHK_KEY_STATUS"] == {"foreign_key"}


def test_a_failure_has_a_code() -> None:
    trace = Trace().to("planning")
    assert trace.refused(ask.FailTrace(code=" ", detail="x"), SYSTEM) == "text_missing"


@pytest.mark.parametrize("differs", [True, False])
def test_a_challenge_does_not_cite_changed_bytes(differs: bool) -> None:
    trace = Trace().to("auditing")
    ref = None if differs else trace.store(b"other")
    cited = (ask.Cited(NOWHERE, ref, differs),)
    command = ask.ChallengeClaim(claim_id="c1", reason="weak", evidence=cited)
    assert trace.refused(command, CRITIC) == "artifact_hash_mismatch"


@pytest.mark.parametrize("name", ["i9", "", "p1"])
def test_only_an_open_intent_is_superseded(name: str) -> None:
    trace = Trace().to("executing")
    assert trace.refused(intent("p1", supersedes=name), EXECUTOR) == "unknown_intent"


def test_what_was_run_is_reviewed_no_more() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    trace.start(name)
    late = ask.ReviewIntent(intent_id=name, status="blocked", rationale="too late")
    assert trace.refused(late, CRITIC) == "intent_closed"


def test_a_result_is_never_read_as_a_failure() -> None:
    """What is not 0 was told as a failure when it was written; an audit says so too."""
    trace = Trace().to("executing")
    name = trace.start(trace.intend("p1"))
    out = (ask.Stored("stdout", trace.store(b"x")),)
    event = drafted(
        trace, ask.CompleteExecution(execution_id=name, outputs=out, result=OK), EXECUTOR
    )
    odd = replace(event, result=ExecutionResult(exit_status=3, duration_ms=1))
    assert "state_violation" in forced(trace, odd, EXECUTOR)["CHK_STATE_REPLAY"]
