"""Convening: seats, motives, issues, and who may call a session."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.engine.registry_commands import rotate
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.model import TemperatureReading
from moot.protocols.parliament.motives import choose_drafter
from moot.testing import World
from moot.testing.world import CUSTODIAN

from .scene import (
    AGENTS,
    PERSON,
    STREAM,
    ParliamentScenario,
    bill,
    convene,
    place,
    plans,
    statement,
)


def test_a_new_session_is_in_setup_with_its_defaults() -> None:
    scenario = ParliamentScenario(5)
    state = scenario.state
    assert state.parliament_id == "parl-20260218-001"
    assert state.status is SessionStatus.SETUP
    assert (state.round.number, state.bill, state.drafter) == (0, None, None)
    assert state.vote_history == ()
    assert state.constituent_issues == ("cost efficiency", "security", "innovation")


@pytest.mark.requirement("PAR-088")
def test_six_rounds_unless_said_otherwise() -> None:
    assert ParliamentScenario(3).state.max_rounds == 6
    assert ParliamentScenario(3, max_rounds=2).state.max_rounds == 2


@pytest.mark.requirement("PAR-093")
def test_seats_are_numbered_and_keep_their_names() -> None:
    seats = list(ParliamentScenario(3).state.seats_in_order())
    assert [seat.id for seat in seats] == ["rep_1", "rep_2", "rep_3"]
    assert seats[0].name == "Rep. Pragmatis"


@pytest.mark.requirement("PAR-094")
def test_a_seat_starts_with_one_temperature() -> None:
    for seat in ParliamentScenario(5).state.seats_in_order():
        assert 0 <= seat.temperature <= 100
        assert seat.temperature_history == (TemperatureReading(0, seat.temperature),)


@pytest.mark.requirement("PAR-095")
def test_satisfaction_has_a_place_for_each_motive() -> None:
    seat = ParliamentScenario(3).seat(1)
    assert dict(seat.scores_by_motive()) == {"cost efficiency": None, "time-to-market": None}


@pytest.mark.requirement("PAR-096")
@pytest.mark.requirement("PAR-097")
def test_nobody_is_quiet_and_nobody_has_voted_at_first() -> None:
    scenario = ParliamentScenario(3)
    for seat in scenario.state.seats_in_order():
        assert not seat.is_quiet
        assert seat.quiet_until_round is None
        assert seat.voting_record == ()


@pytest.mark.requirement("PAR-004")
@pytest.mark.parametrize(
    "name", ["parl-2026-001", "parl-20260218-01", "session", "Parl-20260218-001"]
)
def test_a_session_is_named_after_its_day(name: str) -> None:
    world = World()
    with pytest.raises(Refused) as refused:
        world.engine.execute(f"parliament/{name}", convene(), SYSTEM)
    assert place(refused.value) == ("PAR-004", "bad_id", None)
    with world.store.read() as view:
        assert view.head(f"parliament/{name}") is None


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"problem_statement": "  "}, "problem_required", "problem_statement"),
        ({"issues": ()}, "bad_issue", "issues"),
        ({"issues": ("security", " ")}, "bad_issue", "issues[1]"),
        ({"issues": ("security", "Security")}, "bad_issue", "issues[1]"),
        ({"issues": ("security", "beauty")}, "issue_unassigned", "issues[1]"),
        ({"seats": plans(1)}, "bad_seats", "seats"),
        (
            {"seats": (plans(1)[0], ask.SeatPlan("", ("security",), "x-1"))},
            "bad_seat_name",
            "seats[1].name",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", (), "x-1"))},
            "bad_motive",
            "seats[2].motives",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", ("a", "A"), "x-1"))},
            "bad_motive",
            "seats[2].motives[1]",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", ("a",), "No One"))},
            "bad_agent",
            "seats[2].agent",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", ("a",), "speaker"))},
            "bad_agent",
            "seats[2].agent",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", ("a",), AGENTS[0]))},
            "bad_agent",
            "seats[2].agent",
        ),
        (
            {"seats": (*plans(2), ask.SeatPlan("Rep. X", ("speed \U0001f680",), "x-1"))},
            "bad_motive",
            "seats[2].motives[0]",
        ),
        ({"max_rounds": 0}, "bad_rounds", "max_rounds"),
        ({"max_rounds": 1001}, "bad_rounds", "max_rounds"),
    ],
)
def test_a_session_that_cannot_work_is_not_convened(
    changes: dict[str, Any], code: str, where: str
) -> None:
    world = World()
    with pytest.raises(Refused) as refused:
        world.engine.execute(STREAM, convene(**changes), SYSTEM)
    assert (code, where) in [(one.code, one.where) for one in refused.value.findings]
    assert all(one.hint for one in refused.value.findings)
    with world.store.read() as view:
        assert view.head(STREAM) is None


def test_only_the_clerk_convenes_and_only_once() -> None:
    scenario = ParliamentScenario(3)
    assert scenario.refusal(convene(), AGENTS[0]).code == "not_the_clerk"
    assert scenario.refusal(convene(), SYSTEM).code == "already_convened"


def test_nothing_is_heard_before_a_session_was_convened() -> None:
    world = World()
    with pytest.raises(Refused) as refused:
        world.engine.execute(STREAM, ask.Begin(), SYSTEM)
    assert refused.value.code == "no_session"


def test_in_setup_a_seat_can_be_given_to_another_agent() -> None:
    scenario = ParliamentScenario(3)
    scenario.world.agent("late-comer")
    scenario.clerk(ask.BindSeat(seat="rep_2", agent="late-comer"))
    assert scenario.seat(2).agent == "late-comer"
    assert "teal-crane" not in scenario.state.holders
    taken = ask.BindSeat(seat="rep_1", agent="late-comer")
    assert place(scenario.refusal(taken, SYSTEM)) == ("S-02", "bad_agent", "agent")
    nobody = ask.BindSeat(seat="rep_9", agent="someone-else")
    assert place(scenario.refusal(nobody, SYSTEM)) == ("S-02", "bad_agent", "seat")
    scenario.clerk(ask.Begin())
    late = ask.BindSeat(seat="rep_1", agent="someone-else")
    assert scenario.refusal(late, SYSTEM).code == "wrong_phase"


def test_statements_wait_for_the_beginning() -> None:
    scenario = ParliamentScenario(3)
    assert scenario.refused(statement(1)) == ("C-22", "wrong_phase", "type")
    assert scenario.refused(bill()) == ("C-22", "wrong_phase", "type")


@pytest.mark.requirement("PAR-089")
def test_the_drafter_is_a_representative() -> None:
    scenario = ParliamentScenario(3).opened()
    for name in ("rep_9", "speaker"):
        error = scenario.refusal(ask.ChooseDrafter(seat=name), SYSTEM)
        assert place(error) == ("PAR-089", "bad_drafter", "seat")
    scenario.clerk(ask.ChooseDrafter(seat="rep_2"))
    assert scenario.state.drafter == "rep_2"
    assert scenario.state.status is SessionStatus.DRAFTING
    again = scenario.refusal(ask.ChooseDrafter(seat="rep_1"), SYSTEM)
    assert again.code == "drafter_in_office"


def test_without_a_word_the_seat_that_covers_most_issues_drafts() -> None:
    scenario = ParliamentScenario(3, issues=("innovation", "security"))
    found = choose_drafter(scenario.state)
    assert found is not None
    assert found.seat == "rep_2"  # the first of two that cover one each
    wide = (*plans(2), ask.SeatPlan("Rep. Wide", ("security", "innovation"), "cobalt-harbor"))
    assert choose_drafter(ParliamentScenario(3, seats=wide).opened().state) == (
        "rep_3",
        "speaks for 2 of 3 issues",
    )


def test_the_prime_ministers_guidance_names_the_drafter() -> None:
    scenario = ParliamentScenario(3).opened()
    scenario.decide("opening_guidance", "Let Rep. Innovatus draft it.")
    outcome = scenario.clerk(ask.ChooseDrafter())
    (event,) = (one.event for one in outcome.recorded)
    assert event == did.DrafterChosen(seat="rep_3", why="named by the prime minister")


def test_only_the_clerk_chooses() -> None:
    scenario = ParliamentScenario(3).opened()
    assert scenario.refusal(ask.ChooseDrafter(), PERSON).code == "not_the_clerk"


def test_what_waits_is_told_phase_by_phase() -> None:
    scenario = ParliamentScenario(3)
    assert [(due.who, due.what) for due in scenario.dues()] == [("clerk", "begin the session")]
    scenario.clerk(ask.Begin())
    assert [due.who for due in scenario.dues()] == list(AGENTS[:3])
    scenario.submit(statement(2))
    assert [due.who for due in scenario.dues()] == [AGENTS[0], AGENTS[2]]


def another_key(scenario: ParliamentScenario, name: str, new_holder: bool) -> None:
    keys = scenario.world.keys
    old, new = keys.signers[name][-1], keys.make(name, salt="next")
    rotate(
        scenario.world.engine,
        name,
        new,
        endorser=old,
        custodian=CUSTODIAN,
        reason="adopted",
        new_holder=new_holder,
    )


def test_anyone_who_takes_over_a_name_later_has_no_seat() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    another_key(scenario, "teal-crane", new_holder=True)
    assert scenario.refused(statement(2), "teal-crane")[1:] == ("not_seated", "from")
    unread = ask.ReportUnreadable(problem="no JSON")
    assert scenario.refusal(unread, "teal-crane").code == "not_seated"
    assert not scenario.seat(2).opened


def test_a_person_gives_a_seat_to_a_later_holder_of_its_name() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    later = ask.BindSeat(seat="rep_2", agent="teal-crane", epoch=2)
    assert scenario.refusal(ask.BindSeat(seat="rep_2", agent="teal-crane"), PERSON).code == (
        "wrong_phase"
    )
    another_key(scenario, "teal-crane", new_holder=True)
    for who in (SYSTEM, "teal-crane", AGENTS[0]):
        assert scenario.refusal(later, who).code == "wrong_phase"
    other = ask.BindSeat(seat="rep_1", agent="zinc-zebra", epoch=9)
    assert scenario.refusal(other, PERSON).code == "wrong_phase"
    scenario.run(later, PERSON)
    scenario.submit(statement(2))
    assert scenario.seat(2).opened


def test_the_same_holder_with_a_new_key_keeps_the_seat() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    another_key(scenario, "teal-crane", new_holder=False)
    scenario.submit(statement(2))
    assert scenario.seat(2).opened


def test_a_seat_is_given_to_one_holder_of_a_name() -> None:
    scenario = ParliamentScenario(3)
    another_key(scenario, "teal-crane", new_holder=True)
    scenario.clerk(ask.BindSeat(seat="rep_2", agent="teal-crane", epoch=2))
    assert scenario.seat(2).epoch == 2
    scenario.clerk(ask.Begin())
    scenario.submit(statement(2))
    assert scenario.seat(2).opened
