"""Passing work on, asking for help, and the receipts of both."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.checks import MAX_PENDING
from moot.protocols.presence.machine import MACHINE, RECEIPT_TRANSITIONS
from moot.protocols.presence.model import ReceiptKind, Urgency
from moot.protocols.presence.views import view_pending

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    ROOT,
    blocked,
    context,
    crew,
    handoff,
    owners,
    refusal,
    reserve,
    run,
    scene,
)

FIRST = "proto_20260218_001"


@pytest.mark.requirement("OPR-103")
def test_a_handoff_is_on_record_with_all_its_fields() -> None:
    crew(OTTER, CRANE).when(reserve("src/*")).when(handoff(scope="src/*")).then(
        did.HandoffSent(
            id=FIRST,
            project_root=ROOT,
            work="bb-7",
            to=CRANE,
            to_epoch=1,
            scope="src/*",
            key="src",
            subject="Parser",
            summary="half done",
            next_action="finish the lexer",
            requires_ack=True,
        )
    )


@pytest.mark.requirement("OPR-103")
def test_a_blocker_is_on_record_with_all_its_fields() -> None:
    crew(OTTER, CRANE).when(blocked(urgency="high")).then(
        did.BlockedSent(
            id=FIRST,
            project_root=ROOT,
            work="bb-7",
            to=CRANE,
            to_epoch=1,
            scope=None,
            subject="Schema",
            blocker="two schemas disagree",
            requested_action="say which one holds",
            urgency=Urgency.HIGH,
        )
    )


@pytest.mark.requirement("OPR-106")
def test_what_owes_an_acceptance_is_pending_until_it_is_accepted() -> None:
    scenario = crew(OTTER, CRANE).when(handoff(), blocked())
    assert [view.label for view in view_pending(scenario.state, CRANE)] == [
        "Passed to",
        "Needs input",
    ]
    assert [due.who for due in MACHINE.agenda(scenario.state, 0)] == [CRANE, CRANE]
    scenario.as_(CRANE).when(ask.MarkSeen(id=FIRST))
    assert [view.status for view in view_pending(scenario.state)] == ["seen", "sent"]
    scenario.when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))
    assert [view.id for view in view_pending(scenario.state)] == ["proto_20260218_002"]
    scenario.when(ask.Accept(id="proto_20260218_002"))
    assert view_pending(scenario.state) == ()


@pytest.mark.requirement("OPR-063")
def test_a_handoff_asks_for_an_acceptance_unless_it_says_otherwise() -> None:
    assert handoff().requires_ack
    scenario = crew(OTTER, CRANE).when(handoff(requires_ack=False))
    assert view_pending(scenario.state) == ()
    scenario.as_(CRANE).when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))


@pytest.mark.requirement("OPR-105")
def test_seen_and_accepted_are_recorded_once_for_each_agent() -> None:
    scenario = crew(OTTER, CRANE, HARBOR).when(handoff())
    scenario.as_(HARBOR).refused("not_addressed", ask.MarkSeen(id=FIRST))
    scenario.as_(CRANE).when(ask.MarkSeen(id=FIRST)).then(did.EventSeen(id=FIRST))
    scenario.when(ask.MarkSeen(id=FIRST)).then()
    scenario.when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))
    scenario.when(ask.Accept(id=FIRST)).then()
    scenario.when(ask.MarkSeen(id=FIRST)).then()  # accepted implies seen
    with scenario.world.store.read() as view:
        keys = [row.key for row in view.rows("presence.receipts")]
    assert set(keys) == {f"{FIRST} {CRANE} seen", f"{FIRST} {CRANE} accepted"}


def test_overlaps_can_be_marked_seen_but_not_accepted() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    refusal(scenario, reserve("src"), CRANE)
    scenario.as_(OTTER).when(ask.MarkSeen(id=FIRST)).then(did.EventSeen(id=FIRST))
    scenario.refused("ack_forbidden", ask.Accept(id=FIRST))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (handoff(subject=" "), "text_missing"),
        (handoff(summary=""), "text_missing"),
        (handoff(next_action=""), "text_missing"),
        (handoff(work=""), "work_required"),
        (handoff(work="two words"), "bad_work"),
        (handoff(scope="src/**"), "unsupported_glob"),
        (handoff(scope="../x"), "scope_outside"),
        (handoff(project_root="repo"), "bad_root"),
        (handoff(to="nobody-here"), "agent_not_found"),
        (handoff(to="Not A Name"), "agent_not_found"),
        (handoff(to=OTTER), "to_yourself"),
        (handoff(subject="s" * 201), "text_too_long"),
        (handoff(summary="s" * 8_001), "text_too_long"),
        (blocked(subject=""), "text_missing"),
        (blocked(blocker=""), "text_missing"),
        (blocked(requested_action="\n"), "text_missing"),
        (blocked(urgency="urgent"), "bad_urgency"),
        (blocked(work=""), "work_required"),
        (ask.Accept(id="proto_20260101_001"), "event_not_found"),
        (ask.MarkSeen(id="nonsense"), "event_not_found"),
    ],
)
def test_a_bad_message_is_refused_with_its_code_and_changes_nothing(
    command: Any, code: str
) -> None:
    crew(OTTER, CRANE).refused(code, command)


@pytest.mark.requirement("OPR-056")
def test_the_machine_itself_passes_nothing_on() -> None:
    for command in (handoff(to_epoch=1), blocked(to_epoch=1)):
        decision = MACHINE.decide(MACHINE.initial, command, context(SYSTEM))
        assert decision.refused
        assert decision.findings[0].code == "sender_required"


def test_only_the_receiver_may_accept() -> None:
    crew(OTTER, CRANE, HARBOR).when(handoff()).as_(HARBOR).refused(
        "ack_forbidden", ask.Accept(id=FIRST)
    ).as_(OTTER).refused("ack_forbidden", ask.Accept(id=FIRST))


def test_someone_who_never_joined_is_reached_if_the_caller_knows_them() -> None:
    scenario = scene().as_(OTTER).refused("agent_not_found", blocked(to="operator"))
    scenario.world.human("operator")
    scenario.when(blocked(to="operator", to_epoch=1))
    scenario.as_("operator").when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))


def test_an_agent_that_has_left_is_not_reached() -> None:
    scenario = crew(CRANE, OTTER).when(ask.Leave()).as_(OTTER)
    scenario.refused("agent_not_found", handoff(to=CRANE))


def test_accepting_moves_the_senders_exact_scope_under_a_new_number() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/*", "docs"), handoff(scope="src"))
    assert owners(scenario) == {"docs": OTTER, "src/*": OTTER}
    scenario.as_(CRANE).when(ask.Accept(id=FIRST)).then(
        did.EventAccepted(id=FIRST),
        did.ScopeHandedOver(
            was=1,
            fencing=3,
            key="src",
            scope="src/*",
            from_owner=OTTER,
            owner=CRANE,
            owner_epoch=1,
            because=FIRST,
        ),
    )
    assert owners(scenario) == {"docs": OTTER, "src/*": CRANE}
    scenario.as_(OTTER).refused(
        "release_forbidden", ask.Release(scopes=("src",), project_root=ROOT)
    )


def test_the_senders_narrower_scopes_inside_move_along() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"), reserve("src/a.py"), handoff(scope="src"))
    scenario.as_(CRANE).when(ask.Accept(id=FIRST))
    assert owners(scenario) == {"src": CRANE, "src/a.py": CRANE}


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([reserve("src/lib")], id="only a part of it is held"),
        pytest.param([reserve("src"), reserve("src/lib")], id="a wider scope is held as well"),
        pytest.param([], id="nothing is held"),
    ],
)
def test_nothing_moves_but_the_exact_scope(before: list[Any]) -> None:
    scope = "src/lib" if len(before) == 2 else "src"
    scenario = crew(OTTER, CRANE)
    if before:
        scenario.when(*before)
    held = owners(scenario)
    run(scenario, handoff(scope=scope), OTTER)
    outcome = run(scenario, ask.Accept(id=FIRST), CRANE)
    assert [type(one.event) for one in outcome.recorded] == [did.EventAccepted]
    assert [(one.code, one.severity) for one in outcome.findings] == [("nothing_moved", "warning")]
    assert owners(scenario) == held


def test_a_scope_released_meanwhile_does_not_move() -> None:
    scenario = crew(OTTER, CRANE).when(
        reserve("src"), handoff(scope="src"), ask.Release(scopes=("src",), project_root=ROOT)
    )
    scenario.as_(CRANE).when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))
    assert owners(scenario) == {}


def test_a_sender_who_does_not_hold_the_scope_is_reported_that_nothing_will_move() -> None:
    scenario = crew(OTTER, CRANE)
    outcome = run(scenario, handoff(scope="src"), OTTER)
    assert [one.code for one in outcome.findings] == ["nothing_to_move"]


def test_a_receiver_is_not_buried() -> None:
    scenario = crew(OTTER, CRANE)
    for _ in range(MAX_PENDING):
        run(scenario, blocked(), OTTER)
    scenario.refused("too_many_pending", blocked())


def test_receipts_go_forward_only() -> None:
    assert RECEIPT_TRANSITIONS[ReceiptKind.ACCEPTED] == {}
    assert did.EventSeen not in RECEIPT_TRANSITIONS[ReceiptKind.SEEN]
    scenario = crew(OTTER, CRANE, HARBOR).when(handoff()).as_(CRANE).when(ask.Accept(id=FIRST))
    scenario.when(ask.MarkSeen(id=FIRST)).then()
    scenario.as_(HARBOR).refused("not_addressed", ask.MarkSeen(id=FIRST))
    told = [message.accepted for message in scenario.state.recent if message.id == FIRST]
    assert told == [True]


def test_a_handoff_taken_up_by_the_wrong_agent_can_still_be_accepted_by_the_right_one() -> None:
    scenario = crew(OTTER, CRANE, HARBOR).when(reserve("src"), handoff(scope="src"))
    scenario.as_(HARBOR).refused("ack_forbidden", ask.Accept(id=FIRST))
    scenario.as_(CRANE).when(ask.Accept(id=FIRST))
    assert owners(scenario) == {"src": CRANE}
