"""Nine states, eight ways between them, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.lifecycle import ACCEPTED, ROLE_OF_EVENT, TRANSITIONS
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import ENDED, ExecutionFailure, FailureKind, Stage
from moot.protocols.trace.policy import OnForgery, Policy

from .scene import AUDITOR, CRITIC, EXECUTOR, PLANNER, Ledgered, Trace, intent, proposal
from .test_roles import everything

OPEN = ("planning", "reviewing", "executing", "claiming", "auditing")


@pytest.mark.requirement("TRC-008")
def test_there_are_nine_states() -> None:
    assert [str(stage) for stage in Stage] == [
        *("initialized", "planning", "reviewing", "executing", "claiming", "auditing"),
        *("completed", "failed", "aborted"),
    ]
    assert set(TRANSITIONS) == set(ACCEPTED) == set(Stage)
    assert all(not TRANSITIONS[stage] and not ACCEPTED[stage] for stage in ENDED)


@pytest.mark.requirement("TRC-009")
def test_the_first_event_leads_to_planning() -> None:
    trace = Trace()
    assert trace.stage() is Stage.INITIALIZED
    trace.open()
    assert trace.stage() is Stage.PLANNING


@pytest.mark.requirement("TRC-010")
@pytest.mark.requirement("TRC-026")
def test_a_proposal_leads_to_reviewing_and_there_may_be_several() -> None:
    trace = Trace().to("planning")
    trace.propose()
    assert trace.stage() is Stage.REVIEWING
    trace.propose("make")
    assert sorted(trace.state.proposals) == ["p1", "p2"]
    assert trace.stage() is Stage.REVIEWING


@pytest.mark.requirement("TRC-011")
@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ("approved", Stage.EXECUTING),
        ("conditional", Stage.EXECUTING),
        ("rejected", Stage.REVIEWING),
        ("blocked", Stage.REVIEWING),
    ],
)
def test_an_approval_leads_to_executing(status: str, stage: Stage) -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", status)
    assert trace.stage() is stage


def test_after_a_rejection_new_proposals_are_welcome() -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", "rejected")
    trace.approved()
    assert trace.stage() is Stage.EXECUTING


@pytest.mark.requirement("TRC-012")
def test_a_finished_run_leads_to_claiming() -> None:
    trace = Trace().to("executing")
    trace.ran("p1")
    assert trace.stage() is Stage.CLAIMING


@pytest.mark.requirement("TRC-012")
def test_failures_lead_to_claiming_only_when_the_attempts_are_used_up() -> None:
    trace = Trace().to("executing")
    last = None
    for stage in (Stage.EXECUTING, Stage.EXECUTING, Stage.CLAIMING):
        last = trace.intend("p1", retry_of=last)
        trace.fail(trace.start(last))
        assert trace.stage() is stage
    assert trace.refused(intent("p1", retry_of=last), EXECUTOR) == "attempts_exhausted"
    assert trace.refused(intent("p1"), EXECUTOR) == "attempts_exhausted"


@pytest.mark.requirement("TRC-012")
@pytest.mark.requirement("TRC-048")
def test_nothing_is_claimed_while_something_runs() -> None:
    """E-08: two at once; the state waits for both."""
    trace = Trace().to("executing")
    one, two = trace.intend("p1", "pytest", "a"), trace.intend("p1", "pytest", "b")
    first, second = trace.start(one), trace.start(two)
    trace.complete(first)
    assert trace.stage() is Stage.EXECUTING
    trace.fail(second)
    assert trace.stage() is Stage.CLAIMING


@pytest.mark.requirement("TRC-013")
def test_a_claim_leads_to_auditing() -> None:
    trace = Trace().to("claiming")
    trace.claim(trace.history()[-1].artifacts[0].sha256)
    assert trace.stage() is Stage.AUDITING


@pytest.mark.requirement("TRC-014")
@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ("pass", Stage.COMPLETED),
        ("pass-with-warnings", Stage.COMPLETED),
        ("fail", Stage.FAILED),
    ],
)
def test_the_verdict_ends_the_trace(status: str, stage: Stage) -> None:
    trace = Trace().to("auditing")
    trace.finish()
    trace.verify(status)
    assert trace.stage() is stage
    assert trace.state.because == ("verification_failed" if status == "fail" else "")


@pytest.mark.requirement("TRC-015")
@pytest.mark.parametrize("stage", OPEN)
def test_broken_integrity_fails_a_trace_in_every_state(stage: str) -> None:
    trace = Trace().to(stage)
    trace.run(ask.FailTrace(code="hash_mismatch", detail="event 1"), SYSTEM)
    assert trace.stage() is Stage.FAILED
    assert trace.state.because == "hash_mismatch"


@pytest.mark.requirement("TRC-016")
@pytest.mark.parametrize("stage", OPEN)
def test_a_person_aborts_in_every_state(stage: str) -> None:
    trace = Trace().to(stage)
    assert trace.refused(ask.AbortTrace(reason="  "), OPERATOR) == "text_missing"
    trace.run(ask.AbortTrace(reason="no longer needed"), OPERATOR)
    assert trace.stage() is Stage.ABORTED


@pytest.mark.requirement("TRC-017")
def test_a_claim_while_planning_is_refused() -> None:
    trace = Trace().to("planning")
    assert trace.refused(trace.claiming(trace.store(b"x").sha256), EXECUTOR) == "wrong_state"


@pytest.mark.requirement("TRC-017")
@pytest.mark.parametrize("stage", ["initialized", *OPEN])
def test_what_a_state_does_not_accept_is_refused(stage: str) -> None:
    """Every command of the right part, in every state: refused for the state if it is not due."""
    trace = Trace().to(stage)
    parts = {"planner": PLANNER, "executor": EXECUTOR, "critic": CRITIC, "auditor": AUDITOR}
    for kind, command in everything(trace).items():
        if kind in ACCEPTED[Stage(stage)] or (
            stage == "initialized" and ROLE_OF_EVENT[kind] is not None
        ):
            continue
        role = ROLE_OF_EVENT[kind]
        actor = OPERATOR if role is None else parts[role]
        assert trace.refused(command, actor) == "wrong_state", kind


def test_before_it_is_opened_nobody_plays_a_part() -> None:
    assert Trace().refused(proposal(), PLANNER) == "role_policy_violation"


@pytest.mark.requirement("TRC-018")
def test_only_a_verification_completes_a_trace() -> None:
    reaches = [
        (stage, kind)
        for stage, ways in TRANSITIONS.items()
        for kind, to in ways.items()
        if to is Stage.COMPLETED
    ]
    assert reaches == [(Stage.AUDITING, did.VerificationRunCompleted)]
    trace = Trace().to("auditing")
    trace.finish()
    assert trace.stage() is Stage.AUDITING


@pytest.mark.requirement("TRC-052")
@pytest.mark.parametrize("end", ["completed", "failed", "aborted"])
def test_after_the_end_nothing_more_is_recorded(end: str) -> None:
    trace = Trace().to("completed") if end == "completed" else Trace().to("auditing")
    if end == "failed":
        trace.run(ask.FailTrace(code="chain_break", detail=""), SYSTEM)
    if end == "aborted":
        trace.run(ask.AbortTrace(reason="enough"), OPERATOR)
    for command in everything(trace).values():
        for actor in (PLANNER, EXECUTOR, CRITIC, AUDITOR, OPERATOR, SYSTEM):
            assert trace.refused(command, actor) == "trace_ended"


@pytest.mark.requirement("TRC-053")
def test_a_forged_signature_of_a_participant_fails_the_trace() -> None:
    trace = Trace().to("executing")
    forged = ask.ReportForgery(kid=trace.kid(EXECUTOR), detail="a claim with a false signature")
    assert trace.refused(forged, SYSTEM, records=1) == "sig_invalid"
    assert trace.stage() is Stage.FAILED
    assert trace.state.because == "sig_invalid"
    assert trace.refused(intent("p1"), EXECUTOR) == "trace_ended"


@pytest.mark.requirement("TRC-053")
@pytest.mark.parametrize("policy", [Policy(), Policy(on_invalid_signature=OnForgery.REJECT)])
def test_a_forgery_by_a_stranger_or_under_another_policy_is_only_refused(policy: Policy) -> None:
    trace = Trace()
    trace.open(policy)
    known = policy.on_invalid_signature is OnForgery.REJECT
    kid = trace.kid(EXECUTOR) if known else "0" * 32
    assert trace.refused(ask.ReportForgery(kid=kid, detail="x"), SYSTEM) == "sig_invalid"
    assert trace.stage() is Stage.PLANNING


@pytest.mark.requirement("TRC-055")
def test_after_a_failure_another_way_may_be_proposed_if_the_policy_allows_it() -> None:
    trace = Trace().to("executing")
    failed = trace.intend("p1")
    trace.fail(trace.start(failed))
    assert trace.propose("make", fallback_for=failed) == "p2"
    assert trace.stage() is Stage.EXECUTING
    assert trace.refused(proposal("make", fallback_for="i9"), PLANNER) == "unknown_intent"


@pytest.mark.requirement("TRC-055")
def test_a_fallback_is_for_a_failed_intent_only() -> None:
    """What was superseded, is open, runs or went well has not failed, though something has."""
    trace = Trace().to("executing")
    trace.fail(trace.start(trace.intend("p1")))
    superseded = trace.intend("p1", "pytest", "b")
    still_open = trace.intend("p1", "pytest", "b", supersedes=superseded)
    well = trace.intend("p1", "pytest", "c")
    trace.complete(trace.start(well))
    running = trace.intend("p1", "pytest", "d")
    trace.start(running)
    for name in (superseded, still_open, well, running):
        assert trace.refused(proposal("make", fallback_for=name), PLANNER) == "unknown_intent"


@pytest.mark.requirement("TRC-055")
def test_a_policy_may_forbid_fallbacks() -> None:
    trace = Trace()
    trace.open(Policy(allow_fallback=False))
    trace.approved()
    trace.propose()
    failed = trace.intend("p1")
    trace.fail(trace.start(failed))
    for command in (proposal("make", fallback_for=failed), proposal("make")):
        assert trace.refused(command, PLANNER) == "fallback_not_allowed"


@pytest.mark.requirement("TRC-061")
def test_after_a_crash_a_run_can_only_be_ended() -> None:
    """A second process sees what the ledger holds and goes on at the next valid step."""
    trace = Ledgered().to("executing")
    name = trace.intend("p1")
    started = trace.start(name)
    trace.world.engine = trace.world.another_engine()
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_closed"
    lost = ask.RecoverExecution(execution_id=started, evidence=())
    assert trace.refused(lost, EXECUTOR) == "evidence_missing"
    event = trace.run(
        ask.RecoverExecution(execution_id=started, evidence=("process 4711 is not running",)),
        EXECUTOR,
    )
    assert event.recovered
    assert event.failure == ExecutionFailure(
        kind=FailureKind.DIED,
        detail=event.failure.detail,
        evidence=("process 4711 is not running",),
    )
    again = ask.RecoverExecution(execution_id=started, evidence=("gone",))
    assert trace.refused(again, EXECUTOR) == "unknown_execution"


@pytest.mark.requirement("TRC-059")
def test_a_fresh_process_has_the_head_of_the_ledger() -> None:
    trace = Ledgered().to("auditing")
    head, events = trace.state.head, trace.state.events
    trace.world.engine = trace.world.another_engine()
    assert (trace.state.head, trace.state.events) == (head, events)
    assert head == trace.history()[-1].hash.hex()


def test_running_something_and_finishing_rest_on_a_proved_history() -> None:
    assert {ask.StartExecution, ask.SignFinalStatement} <= MACHINE.guarded


@pytest.mark.parametrize(
    ("stage", "who", "what"),
    [
        ("planning", PLANNER, "propose"),
        ("reviewing", CRITIC, "review a proposal"),
        ("executing", EXECUTOR, "say what you will run"),
        ("claiming", EXECUTOR, "claim what was found"),
        ("auditing", EXECUTOR, "finish with a final statement"),
    ],
)
def test_the_agenda_names_who_is_next(stage: str, who: str, what: str) -> None:
    trace = Trace().to(stage)
    (due,) = MACHINE.agenda(trace.state, 0)
    assert (due.who, due.what) == (who, what)
    assert due.hint.startswith("moot trace ")


def test_the_agenda_follows_intents_runs_challenges_and_the_verification() -> None:
    trace = Trace().to("auditing")

    def due() -> list[tuple[str, str]]:
        return [(one.who, one.what) for one in MACHINE.agenda(trace.state, 0)]

    risky = trace.intend("p1", "sudo", "make")
    assert due() == [(CRITIC, "review an intent")]
    trace.consent(risky)
    assert due() == [(EXECUTOR, "run an intent")]
    started = trace.start(risky)
    assert due() == [(EXECUTOR, "a run is under way")]
    trace.fail(started)
    blocked = trace.intend("p1")
    trace.consent(blocked, "blocked")
    assert due() == [(EXECUTOR, "revise a blocked intent")]
    trace.fail(trace.start(consented(trace, trace.intend("p1", supersedes=blocked))))
    trace.challenge("c1")
    assert due() == [(EXECUTOR, "answer a challenge")]
    trace.run(ask.WithdrawClaim(claim_id="c1"), EXECUTOR)
    assert due() == [(EXECUTOR, "claim what was found")]
    trace.claim(trace.history()[5].artifacts[0].sha256)
    second = trace.propose()
    trace.review(second, "blocked")
    assert (PLANNER, "revise a blocked proposal") in due()
    trace.finish()
    assert due() == [(AUDITOR, "verify")]
    trace.verifying()
    assert due() == [(AUDITOR, "complete the verification")]


def consented(trace: Trace, name: str) -> str:
    trace.consent(name)
    return name


def test_opening_twice_is_refused() -> None:
    trace = Trace().to("planning")
    again: Any = ask.OpenTrace(task="x", roles=trace.bindings())
    assert trace.refused(again, SYSTEM) == "wrong_state"


def test_a_trace_says_what_it_is_about() -> None:
    trace = Trace()
    empty = ask.OpenTrace(task=" ", roles=trace.bindings())
    assert trace.refused(empty, SYSTEM) == "text_missing"
    assert (
        trace.refused(ask.OpenTrace(task="half \ud800", roles=trace.bindings()), SYSTEM)
        == "unreadable_text"
    )
