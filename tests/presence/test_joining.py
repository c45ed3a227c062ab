"""Joining, names, and what a session that starts is told to do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.names import AGENT
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.adoption import (
    AdoptionCandidate,
    RecommendationReason,
    recommend_adoption,
    recommend_register,
    recommend_start,
)
from moot.protocols.presence.agent_names import (
    ADJECTIVES,
    NOUNS,
    is_adjective_noun,
    make_fresh_name,
    make_name,
)
from moot.protocols.presence.model import ResumeReason
from moot.protocols.presence.views import Observation, view_agent, view_members

from .scene import CRANE, OTHER_WORKTREE, OTTER, ROOT, crew, join, run, scene


def test_joining_says_where_and_on_what() -> None:
    scenario = (
        scene()
        .as_(OTTER)
        .when(join(worktree=OTHER_WORKTREE, branch="topic", work="bb-7", session_key="claude-1"))
    )
    scenario.then(
        did.AgentJoined(
            project_root=ROOT,
            worktree=OTHER_WORKTREE,
            branch="topic",
            work="bb-7",
            session_key="claude-1",
        )
    )
    shown = view_agent(scenario.state, OTTER, Observation(scenario.world.clock.now))
    assert (shown.worktree, shown.branch, shown.work) == (OTHER_WORKTREE, "topic", "bb-7")


def test_a_tools_session_finds_its_agent() -> None:
    scenario = crew(CRANE, OTTER).as_(OTTER).when(join(session_key="claude-1"))
    with scenario.world.store.read() as view:
        row = view.row("presence.sessions", "claude-1")
        assert view.row("presence.sessions", "claude-2") is None
    assert row is not None
    assert b"amber-otter" in row.value


def test_acting_is_enough_to_be_here() -> None:
    scenario = scene().as_(OTTER).when(ask.Reserve(scopes=("src",), project_root=ROOT))
    assert [one.agent for one in view_members(scenario.state, Observation(0))] == [OTTER]


def test_an_agent_that_left_is_no_longer_shown_and_may_come_back() -> None:
    scenario = crew(OTTER, CRANE).when(ask.Leave(reason="done"))
    assert [one.agent for one in view_members(scenario.state, Observation(0))] == [CRANE]
    scenario.when(join())
    assert [one.agent for one in view_members(scenario.state, Observation(0))] == [OTTER, CRANE]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (join(project_root="repo"), "bad_root"),
        (join(work="two words"), "bad_work"),
        (join(session_key="s" * 201), "text_too_long"),
    ],
)
def test_a_bad_join_is_refused_and_changes_nothing(command: ask.Join, code: str) -> None:
    scene().as_(OTTER).refused(code, command)


@pytest.mark.requirement("OPR-016")
def test_generated_names_are_an_adjective_and_a_noun() -> None:
    assert len(set(ADJECTIVES)) * len(set(NOUNS)) >= 4_000
    assert len(set(ADJECTIVES)) == len(ADJECTIVES)
    assert len(set(NOUNS)) == len(NOUNS)
    names = {f"{adjective}-{noun}" for adjective in ADJECTIVES for noun in NOUNS}
    assert all(is_adjective_noun(name) and AGENT.match(name) for name in names)
    assert {make_name("a project", number) for number in range(50)} <= names


@given(st.text(), st.integers(0, 10**6))
def test_the_same_project_and_number_give_the_same_name(project: str, number: int) -> None:
    assert make_name(project, number) == make_name(project, number)
    assert is_adjective_noun(make_name(project, number))


@given(st.sets(st.sampled_from([make_name("p", number) for number in range(200)]), max_size=100))
def test_a_fresh_name_was_never_used_in_any_spelling(taken: set[str]) -> None:
    name = make_fresh_name("p", {one.upper() for one in taken})
    assert name not in taken
    assert name == make_fresh_name("p", taken)


def test_names_do_not_run_out() -> None:
    taken = {f"{adjective}-{noun}" for adjective in ADJECTIVES for noun in NOUNS}
    name = make_fresh_name("p", taken)
    assert name not in taken
    assert is_adjective_noun(name)
    assert AGENT.match(name)
    assert make_fresh_name("p", {*taken, name}) not in {*taken, name}


DIRTY = AdoptionCandidate("slow-heron", ResumeReason.UNCOMMITTED_SCOPE, "1 uncommitted file")
BUSY = AdoptionCandidate("calm-otter", ResumeReason.IN_PROGRESS_OWNERSHIP, "in progress", ("bb-1",))


@pytest.mark.requirement("OPR-086")
def test_a_bare_start_registers_only_if_nothing_could_be_adopted() -> None:
    alone = recommend_start((), "amber-otter")
    assert (alone.reason, alone.command, alone.finding) == (
        RecommendationReason.NO_ADOPTABLE_IDENTITY,
        "moot join --register amber-otter",
        None,
    )


@pytest.mark.requirement("OPR-086")
def test_a_choice_is_owed_if_something_could_be_adopted() -> None:
    one = recommend_start((BUSY,), "amber-otter")
    assert (one.reason, one.command) == (
        RecommendationReason.ONE_ADOPTABLE_IDENTITY,
        "moot join --adopt calm-otter",
    )
    several = recommend_start((DIRTY, BUSY), "amber-otter")
    assert several.reason is RecommendationReason.SEVERAL_ADOPTABLE_IDENTITIES
    assert [candidate.agent for candidate in several.candidates] == ["calm-otter", "slow-heron"]
    assert several.agent == "slow-heron"  # unsaved work first
    finding = several.finding
    assert finding is not None
    assert finding.code == "decision_required"


@pytest.mark.requirement("OPR-086")
def test_the_same_facts_give_the_same_reason_in_any_order() -> None:
    assert recommend_start((DIRTY, BUSY), "x") == recommend_start((BUSY, DIRTY), "y")
    assert recommend_register("amber-otter").reason == "register_requested"
    assert recommend_adoption("amber-otter").reason == "adoption_requested"


@pytest.mark.requirement("OPR-016")
def test_an_agent_with_an_unusual_name_is_let_in_with_a_remark() -> None:
    outcome = run(scene().as_("agent7"), join(), "agent7")
    assert outcome.recorded
    assert [(one.code, one.severity) for one in outcome.findings] == [("name_style", "warning")]
