"""Who may record what, with which key, and who may not be one and the same."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.machine import Command, Event
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.registry_commands import rotate
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.lifecycle import ROLE_OF_EVENT
from moot.protocols.trace.model import Role
from moot.protocols.trace.policy import Policy
from moot.testing.world import CUSTODIAN

from .scene import AUDITOR, CRITIC, EXECUTOR, PARTS, PLANNER, Ledgered, Trace, intent, proposal

EVERYBODY = (*PARTS.values(), OPERATOR, SYSTEM)
IN_CHARGE = (OPERATOR, SYSTEM)


def everything(trace: Trace) -> dict[type[Event], Command]:
    """One command for each kind of event, as it would be asked in a trace under way."""
    run = trace.state.run
    ref = trace.store(b"x")
    return {
        did.SessionInitialized: ask.OpenTrace(task="again", roles=trace.bindings()),
        did.ProposalCreated: proposal(),
        did.ProposalReviewed: ask.ReviewProposal(
            proposal_id="p1", status="approved", rationale="good"
        ),
        did.ToolIntentSigned: intent("p1"),
        did.ToolIntentReviewed: ask.ReviewIntent(
            intent_id="i1", status="approved", rationale="good"
        ),
        did.ToolExecutionStarted: ask.StartExecution(intent_id="i1", input=ref),
        did.ToolExecutionCompleted: ask.CompleteExecution(execution_id="x1", outputs=()),
        did.ToolExecutionFailed: ask.FailExecution(execution_id="x1"),
        did.ClaimIssued: trace.claiming(ref.sha256),
        did.ClaimChallenged: ask.ChallengeClaim(claim_id="c1", reason="weak"),
        did.ClaimWithdrawn: ask.WithdrawClaim(claim_id="c1"),
        did.FinalStatementSigned: ask.SignFinalStatement(statement="done"),
        did.VerificationRunStarted: ask.StartVerification(),
        did.VerificationRunCompleted: ask.CompleteVerification(
            run_id=run.id if run else "v1", status="pass", report=ref, head="", events=0
        ),
        did.SessionAborted: ask.AbortTrace(reason="enough"),
        did.SessionFailed: ask.FailTrace(code="chain_break", detail="event 3"),
        did.KeyRotated: ask.RotateKey(role="critic", epoch=1, kid="0" * 32),
    }


# The norm that says whose event it is, and whose: written out here, and not read from the code.
NORM_OF_EVENT: dict[type[Event], tuple[str, Role]] = {
    did.ProposalCreated: ("TRC-002", Role.PLANNER),
    did.ToolIntentSigned: ("TRC-003", Role.EXECUTOR),
    did.ToolExecutionStarted: ("TRC-003", Role.EXECUTOR),
    did.ToolExecutionCompleted: ("TRC-003", Role.EXECUTOR),
    did.ToolExecutionFailed: ("TRC-003", Role.EXECUTOR),
    did.ClaimIssued: ("TRC-004", Role.EXECUTOR),
    did.ProposalReviewed: ("TRC-005", Role.CRITIC),
    did.ToolIntentReviewed: ("TRC-005", Role.CRITIC),
    did.VerificationRunStarted: ("TRC-007", Role.AUDITOR),
    did.VerificationRunCompleted: ("TRC-007", Role.AUDITOR),
}


@pytest.mark.requirement("TRC-062")
@pytest.mark.parametrize(
    "kind",
    [
        *(
            pytest.param(kind, marks=pytest.mark.requirement(norm))
            for kind, (norm, _role) in NORM_OF_EVENT.items()
        ),
        *(kind for kind in ROLE_OF_EVENT if kind not in NORM_OF_EVENT),
    ],
    ids=lambda kind: kind.__name__,
)
def test_only_the_designated_part_records_each_kind_of_event(kind: type[Event]) -> None:
    """The whole matrix of parts and events, in a trace where the order is right for most."""
    stages: dict[type[Event], str] = {
        did.SessionInitialized: "initialized",
        did.VerificationRunStarted: "auditing",
        did.VerificationRunCompleted: "auditing",
    }
    trace = Trace().to(stages.get(kind, "auditing"))
    if stages.get(kind) == "auditing":
        trace.finish()
    command = everything(trace)[kind]
    role = NORM_OF_EVENT[kind][1] if kind in NORM_OF_EVENT else ROLE_OF_EVENT[kind]
    may: tuple[str, ...] = IN_CHARGE if role is None else (PARTS[role],)
    if kind is did.KeyRotated:
        may = (*IN_CHARGE, CRITIC)
    for actor in EVERYBODY:
        if actor not in may:
            assert trace.refused(command, actor) == "role_policy_violation", actor


def test_the_matrix_names_every_event() -> None:
    assert set(ROLE_OF_EVENT) == set(did.EVENTS)


@pytest.mark.requirement("TRC-001")
@pytest.mark.parametrize("missing", list(Role))
def test_a_trace_without_one_of_the_four_parts_is_refused(missing: Role) -> None:
    trace = Trace()
    roles = tuple(one for one in trace.bindings() if one.role is not missing)
    command = ask.OpenTrace(task="t", roles=roles)
    assert trace.refused(command, SYSTEM) == "role_missing"


@pytest.mark.requirement("TRC-001")
def test_a_part_played_twice_is_refused() -> None:
    trace = Trace()
    trace.kids["lime-newt"] = "9" * 32
    twice = (*trace.bindings(), *trace.bindings(critic="lime-newt")[2:3])
    assert trace.refused(ask.OpenTrace(task="t", roles=twice), SYSTEM) == "role_missing"


@pytest.mark.parametrize(
    ("changed", "policy", "code"),
    [
        ({"critic": EXECUTOR}, Policy(), "duties_not_separated"),
        ({"auditor": EXECUTOR}, Policy(), "duties_not_separated"),
        ({"critic": EXECUTOR}, Policy(distinct_roles=False), "duties_not_separated"),
        ({"auditor": EXECUTOR}, Policy(distinct_roles=False), "duties_not_separated"),
        ({"planner": CRITIC}, Policy(), "duties_not_separated"),
        ({"planner": CRITIC}, Policy(distinct_roles=False), ""),
        ({"planner": EXECUTOR}, Policy(distinct_roles=False), ""),
        ({"auditor": CRITIC}, Policy(distinct_roles=False), ""),
    ],
)
def test_the_executor_judges_nothing_of_its_own(
    changed: dict[str, str], policy: Policy, code: str
) -> None:
    trace = Trace()
    command = ask.OpenTrace(task="t", roles=trace.bindings(**changed), policy=policy)
    if code:
        assert trace.refused(command, SYSTEM) == code
    else:
        assert trace.run(command, SYSTEM)


@pytest.mark.requirement("TRC-006")
def test_the_critic_challenges_claims_and_blocks_intents() -> None:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    name = trace.intend("p1")
    trace.consent(name, "blocked")
    assert trace.state.claims["c1"].challenged_at is not None
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_blocked"


@pytest.mark.requirement("TRC-045")
def test_a_verdict_that_the_auditors_bound_key_did_not_sign_is_refused() -> None:
    trace = Trace().to("auditing")
    trace.finish()
    trace.run(ask.StartVerification(profile="default"), AUDITOR)
    verdict = everything(trace)[did.VerificationRunCompleted]
    run, events = trace.state.run, len(trace.history())
    assert run is not None
    verdict = replace(verdict, head=run.head, events=run.events)
    bound = trace.kids[AUDITOR]
    trace.kids[AUDITOR] = "f" * 32
    assert trace.refused(verdict, AUDITOR) == "foreign_key"
    assert len(trace.history()) == events
    trace.kids[AUDITOR] = bound
    trace.run(verdict, AUDITOR)
    assert trace.history()[-1].actor.kid == bound


@pytest.mark.requirement("TRC-066")
def test_a_key_that_is_not_the_bound_one_plays_no_part() -> None:
    """A new session of the same name has to be recorded first: every claim has one key."""
    trace = Ledgered().to("claiming")
    fresh = trace.world.keys.make(EXECUTOR, "second")
    person = trace.world.keys.signers[OPERATOR][0]
    rotate(
        trace.world.engine,
        EXECUTOR,
        fresh,
        custodian=CUSTODIAN,
        reason="a new session",
        endorser=person,
    )
    evidence = [one.sha256 for one in trace.history()[-1].artifacts]
    command = trace.claiming(*evidence)
    assert trace.refused(command, EXECUTOR) == "foreign_key"

    agent = trace.world.engine.registry().agents[EXECUTOR]
    new = ask.RotateKey(role="executor", epoch=agent.epoch, kid=agent.kid, reason="new session")
    assert trace.refused(new, PLANNER) == "role_policy_violation"
    rotated = trace.run(new, OPERATOR)
    assert (rotated.role, rotated.new_kid) == (Role.EXECUTOR, agent.kid)
    trace.run(command, EXECUTOR)


def test_the_old_key_may_announce_the_new_one() -> None:
    trace = Trace().to("planning")
    event = trace.run(ask.RotateKey(role="critic", epoch=1, kid="a" * 32), CRITIC)
    assert event.old_kid == trace.kid(CRITIC)
    bound = trace.state.binding_of(Role.CRITIC)
    assert bound is not None
    assert bound.kid == "a" * 32


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ask.RotateKey(role="judge", epoch=1, kid="a" * 32), "bad_role"),
        (ask.RotateKey(role="critic", epoch=1, kid="nonsense"), "bad_key"),
    ],
)
def test_a_key_change_names_a_part_and_a_key(command: Any, code: str) -> None:
    assert Trace().to("planning").refused(command, OPERATOR) == code


def test_no_key_plays_two_parts_after_a_change() -> None:
    trace = Trace().to("planning")
    command = ask.RotateKey(role="critic", epoch=1, kid=trace.kid(AUDITOR))
    assert trace.refused(command, OPERATOR) == "duties_not_separated"


def test_an_agent_with_two_parts_changes_the_key_of_each() -> None:
    trace = Trace()
    trace.open(Policy(distinct_roles=False), planner=CRITIC)
    for role in ("planner", "critic"):
        trace.run(ask.RotateKey(role=role, epoch=1, kid="b" * 32), OPERATOR)
    assert {one.kid for one in trace.state.roles if one.agent == CRITIC} == {"b" * 32}
    same = ask.RotateKey(role="critic", epoch=1, kid="b" * 32)
    assert trace.refused(same, OPERATOR) == "duties_not_separated"


@pytest.mark.parametrize(
    "changed", [{"agent": "Not A Name"}, {"kid": ""}, {"kid": "x" * 32}, {"epoch": 0}]
)
def test_a_part_is_played_by_a_named_agent_with_a_key(changed: dict[str, Any]) -> None:
    trace = Trace()
    first, *rest = trace.bindings()
    roles = (replace(first, **changed), *rest)
    assert trace.refused(ask.OpenTrace(task="t", roles=roles), SYSTEM) == "bad_binding"


def test_a_person_may_be_the_critic() -> None:
    trace = Trace()
    trace.open(critic=OPERATOR)
    name = trace.propose()
    review = ask.ReviewProposal(proposal_id=name, status="approved", rationale="fine")
    trace.run(review, OPERATOR)
    assert trace.refused(proposal(), OPERATOR) == "role_policy_violation"


def test_a_part_named_wrongly_is_refused() -> None:
    trace = Trace().to("planning")
    before = len(trace.history())
    with pytest.raises(Exception, match="for the planner, not for the auditor"):
        trace.execute(proposal(), PLANNER, role="auditor")
    assert len(trace.history()) == before
    trace.execute(proposal(), PLANNER, role="planner")
    assert trace.history()[-1].actor.role == "planner"
