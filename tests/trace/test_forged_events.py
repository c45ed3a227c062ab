"""Events that no command of ours makes: every reader of a trace judges them by the same rules."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.findings import check_all
from moot.core.machine import Event
from moot.core.names import OPERATOR
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.lifecycle import TRANSITIONS, TraceActor, case_of
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import BundledClaim, Profile, Stage, State
from moot.protocols.trace.policy import Risk
from moot.protocols.trace.rules import RULES

from .scene import AUDITOR, CRITIC, NOWHERE, Trace

WHO = TraceActor(AUDITOR, 1, "k", in_charge=False)


def judge(trace: Trace, event: Event) -> list[str]:
    return judge_in(trace.state, event, WHO)


def judge_in(state: State, event: Event, who: TraceActor) -> list[str]:
    found = check_all(RULES[type(event)], case_of(state, event, who))
    return [finding.code for finding in found]


def at_first(trace: Trace, kind: type[Event]) -> tuple[State, Any]:
    """The first event of this kind, and the state that it met."""
    state = MACHINE.initial
    for recorded in trace.history():
        if type(recorded.event) is kind:
            return state, recorded.event
        state = MACHINE.evolve(state, recorded)
    raise AssertionError(kind)


@pytest.mark.parametrize(
    ("kind", "changes", "code"),
    [
        pytest.param(did.SessionInitialized, {"task_sha256": NOWHERE}, "task_differs"),
        pytest.param(did.SessionInitialized, {"policy_sha256": NOWHERE}, "policy_differs"),
        pytest.param(
            did.ToolIntentSigned,
            {"attempt": 2},
            "wrong_attempt",
            marks=pytest.mark.requirement("TRC-012"),
        ),
        pytest.param(
            did.ToolExecutionCompleted,
            {"intent_id": "i9"},
            "other_execution",
            marks=pytest.mark.requirement("TRC-037"),
        ),
        pytest.param(did.ToolExecutionCompleted, {"input_artifact": NOWHERE}, "other_execution"),
    ],
)
def test_an_event_with_one_value_of_another_is_told(
    kind: type[Event], changes: dict[str, Any], code: str
) -> None:
    state, event = at_first(Trace().to("auditing"), kind)
    assert judge_in(state, event, WHO) == []
    assert judge_in(state, msgspec.structs.replace(event, **changes), WHO) == [code]


@pytest.mark.requirement("TRC-063")
def test_an_intent_hides_neither_its_risk_nor_who_must_agree() -> None:
    trace = Trace().open()
    trace.intend(trace.approved("rm"), "rm", "-rf", "build")
    state, event = at_first(trace, did.ToolIntentSigned)
    assert judge_in(state, event, WHO) == []
    assert event.needs
    harmless = msgspec.structs.replace(event, risk_class=Risk.LOW)
    assert "risk_too_low" in judge_in(state, harmless, WHO)
    alone = msgspec.structs.replace(event, needs=())
    assert set(judge_in(state, alone, WHO)) == {"approval_left_out"}


@pytest.mark.requirement("TRC-066")
def test_a_key_is_rotated_from_the_one_that_plays_the_part() -> None:
    trace = Trace().to("planning")
    trace.run(ask.RotateKey(role="critic", epoch=1, kid="a" * 32), CRITIC)
    state, event = at_first(trace, did.KeyRotated)
    person = TraceActor(OPERATOR, 1, trace.kid(OPERATOR), in_charge=True)
    assert judge_in(state, event, person) == []
    assert judge_in(state, msgspec.structs.replace(event, old_kid="b" * 32), person) == [
        "foreign_key"
    ]


@pytest.mark.requirement("TRC-042")
def test_a_bundle_is_every_claim_that_stands_and_no_other() -> None:
    trace = Trace().to("auditing")
    standing = tuple(BundledClaim(one.id, one.event) for one in trace.state.claims.values())
    stranger = BundledClaim("c9", "a" * 64)
    assert standing

    def sign(*claims: BundledClaim) -> did.FinalStatementSigned:
        return did.FinalStatementSigned(statement="it is so", claims=claims)

    assert judge(trace, sign(*standing)) == []
    for claims in ((), (*standing, stranger), (*standing, standing[0]), (stranger,)):
        assert judge(trace, sign(*claims)) == ["bundle_differs"]


@pytest.mark.requirement("TRC-068")
@pytest.mark.parametrize(("more", "code"), [(0, []), (1, ["subject_differs"])])
def test_a_verification_is_about_all_that_stands(more: int, code: list[str]) -> None:
    trace = Trace().to("auditing")
    state = trace.state
    number = f"v{state.run_count + 1}"
    started = did.VerificationRunStarted(number, Profile.DEFAULT, state.head, state.events + more)
    assert judge(trace, started) == code


@pytest.mark.parametrize("ending", [did.SessionFailed, did.SessionAborted])
def test_a_trace_may_fail_or_be_given_up_until_it_ends(ending: type[Event]) -> None:
    final = {Stage.COMPLETED, Stage.FAILED, Stage.ABORTED}
    assert {stage for stage in Stage if ending in TRANSITIONS[stage]} == set(Stage) - final
    assert MACHINE.version == 1, "snapshots of another version are not read"
