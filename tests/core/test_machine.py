"""The shape all protocols share: decisions, dues, event types, reading events back."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import StoreFailed
from moot.core.findings import Finding, Severity
from moot.core.machine import (
    Command,
    Decision,
    Draft,
    Due,
    Event,
    KeyClass,
    Machine,
    VerifiedActor,
    accept,
    decide_by_findings,
    make_remark,
    refusal,
    refuse,
    to_snake_case,
)
from moot.core.record import ArtifactRef


class LampLit(Event, frozen=True):
    room: str
    lumens: int = 0


class Light(Command, frozen=True):
    room: str


class Dim(Command, frozen=True):
    room: str


LIT = LampLit(room="hall")
WRONG = Finding(rule="T-1", code="wrong", message="no")
ODD = make_remark("T-2", "odd", "hm")


def machine(**parts: Any) -> Machine[int]:
    whole: dict[str, Any] = {
        "name": "lamp",
        "version": 1,
        "initial": 0,
        "events": (LampLit,),
        "commands": (Light, Dim),
        "decide": lambda *_: accept(),
        "evolve": lambda state, _: state,
    }
    return Machine(**{**whole, **parts})


def test_accepting_carries_events_as_drafts_and_remarks() -> None:
    cited = Draft(LIT, (ArtifactRef("a" * 64, 1, "text/plain"),))
    assert accept(LIT, cited, findings=[ODD]) == Decision((Draft(LIT), cited), (ODD,), False)


def test_a_refusal_may_leave_events_on_record() -> None:
    assert refuse([WRONG], LIT) == Decision((Draft(LIT),), (WRONG,), True)


def test_a_plain_refusal_records_nothing() -> None:
    decision = refusal("T-1", "wrong", "no", hint="do otherwise")
    assert decision.refused
    assert decision.drafts == ()
    assert (decision.findings[0].rule, decision.findings[0].hint) == ("T-1", "do otherwise")


def test_judging_refuses_for_errors_and_accepts_with_remarks() -> None:
    assert decide_by_findings([ODD, WRONG], LIT) == refuse([ODD, WRONG])
    assert decide_by_findings([ODD], LIT) == accept(LIT, findings=[ODD])
    assert decide_by_findings([], LIT) == accept(LIT)


def test_a_remark_is_a_warning() -> None:
    assert ODD.severity is Severity.WARNING


@pytest.mark.parametrize(("by", "overdue"), [(None, False), (99, True), (100, True), (101, False)])
def test_a_due_is_overdue_from_its_limit_on(by: int | None, overdue: bool) -> None:
    assert Due(who="a", what="b", by=by).is_overdue(100) is overdue


def test_an_actor_is_unattended_by_default() -> None:
    actor = VerifiedActor("amber-otter", 1, "0" * 32, KeyClass.HUMAN)
    assert actor == VerifiedActor("amber-otter", 1, "0" * 32, KeyClass.HUMAN, None, attended=False)


def test_a_due_has_no_holder_and_no_creditor_by_default() -> None:
    due = Due(who="amber-otter", what="answer")
    assert (due.epoch, due.instead, due.owed_to, due.owed_to_epoch) == (0, None, "", 0)


def test_overdue_commands_come_from_the_agenda_unless_the_machine_knows_better() -> None:
    dues = (
        Due(who="a", what="x", by=5, command=Light(room="early")),
        Due(who="a", what="x", by=50, command=Light(room="late")),
        Due(who="a", what="x", by=None, command=Light(room="never")),
        Due(who="a", what="x", by=5, command=None),
    )
    usual = machine(agenda=lambda _state, _now: dues)
    assert tuple(usual.timeouts(0, 10)) == (Light(room="early"),)
    quick = machine(agenda=lambda _state, _now: dues, timeouts=lambda _state, _now: ())
    assert tuple(quick.timeouts(0, 10)) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ErrandAsked", "errand_asked"),
        ("A", "a"),
        ("Lit", "lit"),
        ("LampLitAgain", "lamp_lit_again"),
    ],
)
def test_event_types_are_class_names_in_snake_case(name: str, text: str) -> None:
    assert to_snake_case(name) == text


def test_events_are_found_by_type_and_types_by_event() -> None:
    lamp = machine()
    assert lamp.type_of[LampLit] == "lamp.lamp_lit"
    assert lamp.read_event("lamp.lamp_lit", {"room": "hall"}) == LIT


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("lamp.lamp_broken", {}),
        ("other.lamp_lit", {"room": "hall"}),
        ("lamp.lamp_lit", {}),
        ("lamp.lamp_lit", {"room": 5}),
        ("lamp.lamp_lit", {"room": "hall", "lumens": "many"}),
    ],
)
def test_a_record_of_a_newer_program_is_reported_as_such(kind: str, data: dict[str, Any]) -> None:
    with pytest.raises(StoreFailed) as caught:
        machine().read_event(kind, data)
    assert caught.value.code == "newer_record"
    assert caught.value.hint == "update moot"


def test_a_state_of_another_machine_is_not_read_as_its_own() -> None:
    assert machine().require_state(3) == 3
    with pytest.raises(TypeError, match="lamp"):
        machine().require_state("lit")
