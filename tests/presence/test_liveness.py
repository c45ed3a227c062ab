"""Active, stale, evicted: to the millisecond, and explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.clock import MINUTE, to_text
from moot.core.machine import Sign
from moot.engine.job import Job
from moot.protocols.presence.liveness import (
    MAX_STALE,
    STALE_VARIABLE,
    effective_stale,
    judge,
    judge_sign,
    span,
    stale_from_text,
)
from moot.protocols.presence.model import DEFAULT_STALE, STREAM, Liveness, State
from moot.protocols.presence.views import Moment, agent, liveness_of

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
    assert judge(NOON - age, NOON, DEFAULT_STALE).liveness is expected


@given(st.integers(1, MAX_STALE), st.integers(-MAX_STALE, 4 * MAX_STALE))
def test_the_two_thresholds_hold_for_every_stale_time(stale: int, age: int) -> None:
    verdict = judge(NOON - age, NOON, stale)
    assert (verdict.liveness is Liveness.ACTIVE) == (age < stale)
    assert (verdict.liveness is Liveness.EVICTED) == (age >= 2 * stale)
    assert verdict.stale_at == NOON - age + stale


def test_no_sign_of_life_at_all_is_evicted() -> None:
    verdict = judge(None, NOON, DEFAULT_STALE)
    assert verdict.liveness is Liveness.EVICTED
    assert "no sign of life" in verdict.because


@pytest.mark.requirement("OPR-029")
def test_liveness_is_derived_and_changes_without_a_write() -> None:
    scenario = crew(OTTER)
    before = scenario.history()
    for age, expected in ((0, "active"), (15, "stale"), (30, "evicted")):
        moment = Moment(scenario.world.clock.now + minutes(age))
        assert agent(scenario.state, OTTER, moment).liveness == expected
    patient = Moment(scenario.world.clock.now + minutes(30), stale_millis=minutes(60))
    assert agent(scenario.state, OTTER, patient).liveness == "active"
    assert scenario.history() == before


def test_an_evicted_agent_that_beats_again_is_active_again() -> None:
    scenario = crew(OTTER)
    world = scenario.world
    world.clock.forward(minutes=45)
    assert _alive(scenario, OTTER) is Liveness.EVICTED
    world.engine.beat(OTTER)
    assert _alive(scenario, OTTER) is Liveness.ACTIVE


def _alive(scenario, name):  # type: ignore[no-untyped-def]
    engine = scenario.world.engine
    moment = Moment(scenario.world.clock.now, engine.signs([name]))
    return liveness_of(scenario.state, name, moment).liveness


def test_joining_is_itself_a_sign_of_life() -> None:
    scenario = scene().as_(OTTER).when(join())
    assert (
        liveness_of(scenario.state, OTTER, Moment(scenario.world.clock.now)).liveness
        is Liveness.ACTIVE
    )


def test_being_registered_is_a_first_sign_of_life() -> None:
    scenario = scene().as_(OTTER)
    world = scenario.world
    world.clock.forward(minutes=10)
    since = {name: one.since for name, one in world.engine.registry().agents.items()}
    shown = agent(scenario.state, OTTER, Moment(world.clock.now, registered=since))
    assert shown.liveness == "active"
    assert "its registration" in shown.because
    assert agent(scenario.state, CRANE, Moment(world.clock.now)).liveness == "evicted"


def test_the_later_of_heartbeat_and_act_counts() -> None:
    beat = Sign(NOON, heartbeat="{}", signature="00")
    assert judge_sign(beat, NOON - 1, NOON, DEFAULT_STALE).seen_by == "a signed heartbeat"
    assert judge_sign(beat, NOON + 1, NOON, DEFAULT_STALE).last_seen_at == NOON + 1
    assert judge_sign(None, NOON, NOON, DEFAULT_STALE).last_seen_at == NOON


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
    assert stale_from_text(text) == (minutes(expected), None)


@pytest.mark.requirement("OPR-020")
@pytest.mark.parametrize("text", [None, "", "  "])
def test_who_has_set_none_goes_by_the_workspaces_which_is_fifteen_minutes(text: str | None) -> None:
    wish, remark = stale_from_text(text)
    assert (wish, remark) == (None, None)
    assert effective_stale(wish, State().stale_millis) == minutes(15)
    assert effective_stale(wish, minutes(1)) == minutes(1)
    assert effective_stale(minutes(5), minutes(1)) == minutes(5)
    assert effective_stale(minutes(1), minutes(5)) == minutes(5)


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
    millis, remark = stale_from_text(text)
    assert millis == DEFAULT_STALE == 15 * MINUTE
    assert remark is not None
    assert (remark.rule, remark.code, remark.severity) == ("B-19", "bad_stale_minutes", "warning")


@given(st.text())
def test_any_value_at_all_leaves_the_guard_standing(text: str) -> None:
    millis, _remark = stale_from_text(text)
    assert 0 < effective_stale(millis, DEFAULT_STALE) <= MAX_STALE


def test_the_longer_of_the_two_patiences_counts() -> None:
    assert effective_stale(minutes(5), minutes(15)) == minutes(15)
    assert effective_stale(minutes(60), minutes(15)) == minutes(60)


def test_a_verdict_names_the_facts_it_rests_on() -> None:
    scenario = crew(OTTER)
    scenario.world.clock.forward(minutes=14, seconds=59, millis=999)
    shown = agent(scenario.state, OTTER, Moment(scenario.world.clock.now))
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
    assert span(millis) == text


@pytest.mark.requirement("OPR-007")
@pytest.mark.requirement("OPR-008")
def test_both_identities_of_a_session_are_its_one_name() -> None:
    scenario = crew(OTTER)
    run(scenario, join(session_key="s-1"), OTTER)
    shown = agent(scenario.state, OTTER, Moment(scenario.world.clock.now))
    assert shown.session_agent_id == shown.logical_agent_id == shown.agent == OTTER
