"""Active, stale, evicted: to the millisecond, and explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.clock import MINUTE, to_text
from moot.core.machine import SignOfLife
from moot.engine.job import Job
from moot.protocols.presence.liveness import (
    MAX_STALE_MILLIS,
    STALE_VARIABLE,
    format_span,
    judge_liveness,
    judge_sign,
    longer_stale_time,
    read_stale_minutes,
)
from moot.protocols.presence.model import DEFAULT_STALE_MILLIS, STREAM, Liveness, State
from moot.protocols.presence.views import Observation, observe_liveness, view_agent
from moot.testing import Scenario

from .scene import CRANE, NOON, OTTER, crew, join, minutes, reserve, run, scene, take_over

BOUNDARIES = [
    pytest.param(0, Liveness.ACTIVE),
    pytest.param(minutes(15) - 1, Liveness.ACTIVE, marks=pytest.mark.requirement("OPR-026")),
    pytest.param(
        minutes(15),
        Liveness.STALE,
        marks=[pytest.mark.requirement("OPR-021"), pytest.mark.requirement("OPR-027")],
    ),
    pytest.param(minutes(30) - 1, Liveness.STALE, marks=pytest.mark.requirement("OPR-027")),
    pytest.param(
        minutes(30),
        Liveness.EVICTED,
        marks=[pytest.mark.requirement("OPR-022"), pytest.mark.requirement("OPR-028")],
    ),
    pytest.param(-1, Liveness.ACTIVE, id="seen in the future"),
    pytest.param(-minutes(600), Liveness.ACTIVE, id="seen far in the future"),
]


@pytest.mark.parametrize(("age", "expected"), BOUNDARIES)
def test_a_boundary_belongs_to_the_later_state(age: int, expected: Liveness) -> None:
    assert judge_liveness(NOON - age, NOON, DEFAULT_STALE_MILLIS).liveness is expected


@given(st.integers(1, MAX_STALE_MILLIS), st.integers(-MAX_STALE_MILLIS, 4 * MAX_STALE_MILLIS))
def test_the_two_thresholds_hold_for_every_stale_time(stale: int, age: int) -> None:
    verdict = judge_liveness(NOON - age, NOON, stale)
    assert (verdict.liveness is Liveness.ACTIVE) == (age < stale)
    assert (verdict.liveness is Liveness.EVICTED) == (age >= 2 * stale)
    assert verdict.stale_at == NOON - age + stale


def test_no_sign_of_life_at_all_is_evicted() -> None:
    verdict = judge_liveness(None, NOON, DEFAULT_STALE_MILLIS)
    assert verdict.liveness is Liveness.EVICTED
    assert "no sign of life" in verdict.because


@pytest.mark.requirement("OPR-029")
def test_liveness_is_derived_and_changes_without_a_write() -> None:
    scenario = crew(OTTER)
    before = scenario.history()
    for age, expected in ((0, "active"), (15, "stale"), (30, "evicted")):
        moment = Observation(scenario.world.clock.now + minutes(age))
        assert view_agent(scenario.state, OTTER, moment).liveness == expected
    patient = Observation(scenario.world.clock.now + minutes(30), stale_millis=minutes(60))
    assert view_agent(scenario.state, OTTER, patient).liveness == "active"
    assert scenario.history() == before


def test_an_evicted_agent_that_beats_again_is_active_again() -> None:
    scenario = crew(OTTER)
    world = scenario.world
    world.clock.forward(minutes=45)
    assert _alive(scenario, OTTER) is Liveness.EVICTED
    world.engine.beat(OTTER)
    assert _alive(scenario, OTTER) is Liveness.ACTIVE


def _alive(scenario: Scenario[State], name: str) -> Liveness:
    engine = scenario.world.engine
    moment = Observation(scenario.world.clock.now, engine.signs([name]))
    return observe_liveness(scenario.state, name, moment).liveness


def test_joining_is_itself_a_sign_of_life() -> None:
    scenario = scene().as_(OTTER).when(join())
    assert (
        observe_liveness(scenario.state, OTTER, Observation(scenario.world.clock.now)).liveness
        is Liveness.ACTIVE
    )


def test_being_registered_is_a_first_sign_of_life() -> None:
    scenario = scene().as_(OTTER)
    world = scenario.world
    world.clock.forward(minutes=10)
    since = {name: one.since for name, one in world.engine.registry().agents.items()}
    shown = view_agent(scenario.state, OTTER, Observation(world.clock.now, registered=since))
    assert shown.liveness == "active"
    assert "its registration" in shown.because
    assert view_agent(scenario.state, CRANE, Observation(world.clock.now)).liveness == "evicted"


def test_the_later_of_heartbeat_and_act_counts() -> None:
    beat = SignOfLife(NOON, heartbeat="{}", signature="00")
    assert judge_sign(beat, NOON - 1, NOON, DEFAULT_STALE_MILLIS).seen_by == "a signed heartbeat"
    assert judge_sign(beat, NOON + 1, NOON, DEFAULT_STALE_MILLIS).last_seen_at == NOON + 1
    assert judge_sign(None, NOON, NOON, DEFAULT_STALE_MILLIS).last_seen_at == NOON


def test_an_act_in_the_same_commit_counts_before_it_is_indexed() -> None:
    scenario = crew(OTTER, CRANE)
    scenario.world.clock.forward(minutes=40)
    jobs = [Job(STREAM, reserve("src"), OTTER), Job(STREAM, take_over("src"), CRANE)]
    first, second = scenario.world.engine.execute_all(jobs)
    assert getattr(second, "code", None) == "reservation_conflict"
    assert getattr(first, "code", None) is None


@pytest.mark.requirement("OPR-020")
@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5), ("7.5", 7.5), (" 20 ", 20), (".5", 0.5), ("0.001", 0.001)],
)
def test_the_variable_gives_the_stale_time(text: str, expected: float) -> None:
    assert STALE_VARIABLE == "BB_AGENT_STALE_MINUTES"
    assert read_stale_minutes(text) == (minutes(expected), None)


@pytest.mark.requirement("OPR-020")
@pytest.mark.parametrize("text", [None, "", "  "])
def test_who_has_set_none_goes_by_the_workspaces_which_is_fifteen_minutes(text: str | None) -> None:
    wish, remark = read_stale_minutes(text)
    assert (wish, remark) == (None, None)
    assert longer_stale_time(wish, State().stale_millis) == minutes(15)
    assert longer_stale_time(wish, minutes(1)) == minutes(1)
    assert longer_stale_time(minutes(5), minutes(1)) == minutes(5)
    assert longer_stale_time(minutes(1), minutes(5)) == minutes(5)


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "0",
        "-1",
        "1e9",
        "inf",
        "nan",
        "15 min",
        "１５",
        "1_0",
        "0.0000001",
        "9" * 400,
        "1\n2",
    ],
)
def test_a_bad_value_is_the_default_and_a_warning(text: str) -> None:
    millis, remark = read_stale_minutes(text)
    assert millis == DEFAULT_STALE_MILLIS == 15 * MINUTE
    assert remark is not None
    assert (remark.rule, remark.code, remark.severity) == ("B-19", "bad_stale_minutes", "warning")


@given(st.text())
def test_any_value_at_all_leaves_the_guard_standing(text: str) -> None:
    millis, _remark = read_stale_minutes(text)
    assert 0 < longer_stale_time(millis, DEFAULT_STALE_MILLIS) <= MAX_STALE_MILLIS


def test_the_longer_of_the_two_patiences_counts() -> None:
    assert longer_stale_time(minutes(5), minutes(15)) == minutes(15)
    assert longer_stale_time(minutes(60), minutes(15)) == minutes(60)


def test_a_verdict_names_the_facts_it_rests_on() -> None:
    scenario = crew(OTTER)
    scenario.world.clock.forward(minutes=14, seconds=59, millis=999)
    shown = view_agent(scenario.state, OTTER, Observation(scenario.world.clock.now))
    at = to_text(scenario.world.clock.now - minutes(15) + 1)
    assert shown.liveness == "active"
    assert shown.last_seen_at == at
    assert shown.because == (
        f"last seen 14 min 59 s ago (a signed event, {at});"
        " stale after 15 min, evicted after 30 min"
    )


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "0 s"),
        (999, "0.999 s"),
        (59_999, "59.999 s"),
        (minutes(15), "15 min"),
        (minutes(65), "1 h 5 min"),
        (minutes(60 * 49), "2 d 1 h"),
    ],
)
def test_spans_of_time_read_plainly(millis: int, text: str) -> None:
    assert format_span(millis) == text


@pytest.mark.requirement("OPR-007")
@pytest.mark.requirement("OPR-008")
def test_both_identities_of_a_session_are_its_one_name() -> None:
    scenario = crew(OTTER)
    run(scenario, join(session_key="s-1"), OTTER)
    shown = view_agent(scenario.state, OTTER, Observation(scenario.world.clock.now))
    assert shown.session_agent_id == shown.logical_agent_id == shown.agent == OTTER
