"""A path: its steps, what each rule refuses, and what waits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.machine import Command
from moot.core.names import OPERATOR
from moot.protocols.path import model as ask
from moot.protocols.path import model as did
from moot.protocols.path.flows import FLOWS, GUARD_EVENTS
from moot.protocols.path.machine import ITEMS, MACHINE, PATHS, STEPS
from moot.protocols.path.model import (
    MAX_STEPS,
    MAX_TITLE,
    MadeThing,
    PlayedPart,
    ResultStanding,
    SourceRecord,
    Stage,
    StepTarget,
)
from moot.protocols.path.rules import RULES
from moot.protocols.path.views import describe_step

from .scene import (
    BILL,
    DEBATE,
    MESSAGE,
    SESSION,
    STREAM,
    TO_DEBATE,
    TO_TRACE,
    begun,
    by_machine,
    fail,
    finish,
    path,
    step,
    to_parliament,
    to_trace,
)


@pytest.mark.requirement("XPR-02")
def test_a_step_names_its_target_before_it_is_made_and_is_done_once() -> None:
    scenario = begun().when(step())
    assert scenario.state.steps_in_order()[0].target == TO_DEBATE
    scenario.refused("other_target", step(target=StepTarget("debate/d2", "d2")))
    scenario.when(step(asked_by="teal-crane"))  # cut short, and gone on with
    assert [(one.number, one.target) for one in scenario.state.steps_in_order()] == [(1, TO_DEBATE)]
    scenario.when(finish(SESSION))
    assert scenario.state.steps_in_order()[0].stage is Stage.DONE
    scenario.refused("step_done", step())
    scenario.refused("step_done", finish(SESSION))
    scenario.refused("step_done", fail())


@pytest.mark.requirement("XPR-04", "XPR-08")
def test_what_was_cut_short_obeys_the_rules_again() -> None:
    scenario = begun().when(to_parliament(), to_trace())
    scenario.refused("not_settled", to_parliament(standing=ResultStanding(reached=True, thin=True)))
    same = (PlayedPart("executor", "amber-otter"), PlayedPart("critic", "amber-otter"))
    scenario.refused("two_parts", to_trace(parts=same))
    lone = (PlayedPart("critic", "teal-crane"),)
    scenario.refused("lone_approver", to_trace(parts=lone, approvers=("teal-crane",)))


@pytest.mark.requirement("XPR-02", "XPR-06")
def test_a_failed_step_is_tried_again_with_the_same_target() -> None:
    scenario = begun().when(step(), fail())
    found = scenario.state.steps_in_order()[0]
    assert (found.stage, found.why) == (Stage.FAILED, "taken")
    scenario.refused("other_target", step(target=StepTarget("debate/d2", "d2")))
    scenario.when(step(), finish(SESSION))
    assert scenario.state.steps_in_order()[0].made == (SESSION,)
    assert len(scenario.state.steps) == 1


@pytest.mark.requirement("XPR-02")
def test_an_id_that_another_took_is_replaced_on_record() -> None:
    other = StepTarget("debate/d2", "d2")
    move = ask.MoveStep(flow="blocked-to-debate", source=MESSAGE, target=other)
    scenario = begun().refused("step_not_found", move).when(step(), move)
    assert scenario.state.steps_in_order()[0].target == other
    strange = ask.MoveStep(flow="blocked-to-debate", source=MESSAGE, target=TO_TRACE)
    scenario.refused("bad_join", strange)


@pytest.mark.requirement("XPR-05")
@pytest.mark.parametrize("command", [step(), finish(SESSION), fail()])
def test_only_the_machine_writes_a_path(command: Command) -> None:
    scenario = begun().when(step())
    scenario.actor = "amber-otter"
    scenario.refused("not_the_machine", command)
    alone = path()
    begin = ask.BeginPath(title="x", origin="amber-otter", source=MESSAGE)
    alone.refused("not_the_machine", begin)


@pytest.mark.requirement("XPR-05")
def test_anyone_who_asked_is_named() -> None:
    nobody = ask.BeginPath(title="x", origin=" ", source=MESSAGE)
    by_machine(path()).refused("text_required", nobody)
    begun().refused("text_required", step(asked_by=""))


@pytest.mark.requirement("XPR-01")
@pytest.mark.parametrize(
    "source",
    [
        SourceRecord("mail/x", 0, "not a hash", "x-1"),
        SourceRecord("mail/x", -1, "a" * 64, "x-1"),
        SourceRecord("", 0, "a" * 64, "x-1"),
        SourceRecord("mail/x", 0, "a" * 64, ""),
    ],
)
def test_a_step_comes_from_a_record(source: SourceRecord) -> None:
    begun().refused("bad_source", step(source=source))
    by_machine(path()).refused("bad_source", ask.BeginPath(title="x", origin="x", source=source))


@pytest.mark.requirement("XPR-03")
@pytest.mark.parametrize("kind", sorted(GUARD_EVENTS))
def test_no_flow_makes_an_approval_a_reservation_or_a_verification(kind: str) -> None:
    scenario = begun().when(to_trace())
    guard = MadeThing(kind, "trace/t1", 3, "p1")
    made = (MadeThing("session", "trace/t1", 0, "t1"), guard)
    scenario.refused("guard_lowered", finish(*made, flow="approval-to-trace", source=BILL))


@pytest.mark.requirement("XPR-03")
def test_no_row_of_the_table_lists_a_guard() -> None:
    assert all(not flow.makes & GUARD_EVENTS for flow in FLOWS.values())
    assert all(flow.purpose and flow.target not in flow.sources for flow in FLOWS.values())


@pytest.mark.requirement("XPR-04")
@pytest.mark.parametrize(
    "standing",
    [
        None,
        ResultStanding(reached=False),
        ResultStanding(reached=True, thin=True),
        ResultStanding(reached=True, provisional=True),
        ResultStanding(reached=True, errors=1),
    ],
)
def test_an_unsure_result_leads_nowhere(standing: ResultStanding | None) -> None:
    begun().refused("not_settled", to_parliament(standing=standing))


@pytest.mark.requirement("XPR-04", "FLO-06")
def test_a_deadlock_is_no_agreement() -> None:
    agreed = to_parliament(flow="deadlock-to-parliament", standing=ResultStanding(reached=True))
    scenario = begun().refused("not_settled", agreed)
    scenario.when(
        to_parliament(flow="deadlock-to-parliament", standing=ResultStanding(reached=False))
    )


def parts(executor: str, critic: str) -> tuple[PlayedPart, ...]:
    return (PlayedPart("executor", executor), PlayedPart("critic", critic))


@pytest.mark.requirement("XPR-08")
def test_nobody_runs_and_approves() -> None:
    same = parts("teal-crane", "teal-crane")
    scenario = begun().refused("two_parts", to_trace(parts=same))
    scenario.when(to_trace(parts=parts("teal-crane", "coral-finch")))


@pytest.mark.requirement("XPR-08")
def test_nobody_decides_alone_and_then_approves() -> None:
    roles = parts("teal-crane", "coral-finch")
    scenario = begun()
    scenario.refused("lone_approver", to_trace(parts=roles, approvers=("coral-finch",)))
    scenario.when(to_trace(parts=roles, approvers=("coral-finch", "amber-otter")))


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("unknown_flow", step(flow="by-magic")),
        ("bad_join", step(source=DEBATE)),
        ("bad_join", step(target=TO_TRACE)),
        ("bad_join", step(target=StepTarget("debate/x", ""))),
        ("step_not_found", finish(SESSION)),
        ("step_not_found", fail()),
        ("path_begun", ask.BeginPath(title="x", origin="y", source=MESSAGE)),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(code: str, command: Command) -> None:
    begun().refused(code, command)


def test_nothing_happens_before_a_path_is_begun() -> None:
    by_machine(path()).refused("path_not_found", step())


def test_texts_have_their_bounds() -> None:
    long = ask.BeginPath(title="x" * (MAX_TITLE + 1), origin="x", source=MESSAGE)
    by_machine(path()).refused("text_too_long", long)
    begun().when(step()).refused("text_required", fail(why=" "))


def test_a_step_that_made_nothing_or_something_else_is_not_done() -> None:
    scenario = begun().when(step())
    scenario.refused("nothing_made", finish())
    scenario.refused("bad_join", finish(MadeThing("proposal", "debate/d1", 0, "d1")))


def test_a_path_has_a_limited_number_of_steps() -> None:
    scenario = begun()
    for number in range(MAX_STEPS):
        scenario.when(step(source=SourceRecord("mail/x", number, "a" * 64, f"x-{number}")))
    scenario.refused("path_full", step())


def test_an_unknown_command_is_refused() -> None:
    class Strange(Command, frozen=True):
        pass

    context: Any = None
    decision = MACHINE.decide(MACHINE.initial, Strange(), context)
    assert (decision.refused, decision.findings[0].code) == (True, "unknown_command")


@pytest.mark.requirement("XPR-06")
def test_what_is_not_done_is_due_and_says_why() -> None:
    scenario = begun()
    assert dues(scenario) == []
    scenario.when(step())
    assert dues(scenario) == [(OPERATOR, "go on", "moot flow blocked-to-debate pay-7-1")]
    scenario.when(fail())
    assert dues(scenario) == [
        (OPERATOR, "try again", "moot flow blocked-to-debate pay-7-1 (taken)")
    ]
    assert scenario.world.engine.open_streams() == [STREAM]
    scenario.when(step(), finish(SESSION))
    assert dues(scenario) == []
    assert scenario.world.engine.open_streams() == []


def dues(scenario: Any) -> list[tuple[str, str, str]]:
    found = scenario.world.engine.agenda([STREAM])
    return [(due.who, due.what, due.hint) for _, due in found]


@pytest.mark.requirement("XPR-01", "XPR-02")
def test_a_path_is_found_by_its_sources_and_by_what_was_made() -> None:
    scenario = begun().when(step(), finish(SESSION))
    with scenario.world.store.read() as view:
        assert [row.key for row in view.rows(PATHS)] == ["p-0123456789ab"]
        keys = [row.key for row in view.rows(ITEMS)]
        assert keys == ["d1", "debate/d1", "pay-7-1"]
        assert view.row(STEPS, "blocked-to-debate mail/pay-7#0") is not None


def test_a_step_reads_as_plain_data() -> None:
    scenario = begun().when(step(), finish(SESSION))
    assert scenario.state.origin == "amber-otter"
    view = describe_step(scenario.state.steps_in_order()[0])
    assert (view.number, view.stage) == (1, "done")
    assert view.made[0].id == "d1"
    data = msgspec.to_builtins(view)
    assert list(data) == [
        *("number", "flow", "stage", "source", "target", "asked_by", "since", "made", "why")
    ]
    assert (data["stage"], data["made"][0]["id"]) == ("done", "d1")


def test_every_rule_is_used_by_a_command_and_has_a_hint() -> None:
    assert set(RULES) == set(ask.COMMANDS)
    assert all(rule.hint and rule.sentence for rows in RULES.values() for rule in rows)
    assert set(MACHINE.type_of) == set(did.EVENTS)
