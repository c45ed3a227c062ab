"""Continuing under an earlier session's name: only with unfinished work, and on record."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import Refused
from moot.engine.registry_commands import register
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.adoption import (
    AdoptionQuestion,
    find_adoptable,
    judge_adoption,
    judge_adoption_of,
)
from moot.protocols.presence.codec import make_envelope, parse_envelope, write_envelope
from moot.protocols.presence.command_events import MAX_SCOPES_NAMED
from moot.protocols.presence.commands import Bead, Evidence
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import Liveness, ResumeReason, State
from moot.protocols.presence.paths import read_scope
from moot.testing import Scenario
from moot.testing.world import CUSTODIAN

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    ROOT,
    crew,
    handoff,
    join,
    new_holder,
    owners,
    reserve,
    run,
)

FIRST = "proto_20260218_001"
CLEAN = Evidence(dirty=(), beads=())


def resume(evidence: Evidence = CLEAN, **more: Any) -> ask.Resume:
    return ask.Resume(**{"evidence": evidence, "project_root": ROOT, **more})


def dirty(*paths: str) -> Evidence:
    return Evidence(dirty=paths, beads=())


def beads(*found: Bead) -> Evidence:
    return Evidence(dirty=(), beads=found)


def crashed(*scopes: str, **more: Any) -> Scenario[State]:
    """amber-otter held `scopes` and went silent; the registry has a new holder of the name."""
    scenario = crew(OTTER, CRANE)
    if scopes:
        scenario.when(reserve(*scopes, **more))
    new_holder(scenario.world, OTTER)
    return scenario.as_(OTTER)


@pytest.mark.requirement("OPR-009")
@pytest.mark.requirement("OPR-017")
@pytest.mark.requirement("OPR-018")
def test_an_uncommitted_file_in_the_claimed_scope_allows_it() -> None:
    scenario = crashed("src/*", work="bb-7")
    scenario.when(resume(dirty("src/a.py", "docs/x"), prior_liveness=Liveness.STALE))
    assert scenario.recorded[0] == did.AgentResumed(
        id=FIRST,
        project_root=ROOT,
        worktree=ROOT,
        branch=None,
        session_key=None,
        prior_agent=OTTER,
        prior_epoch=1,
        prior_session_key=None,
        prior_liveness=Liveness.STALE,
        reason=ResumeReason.UNCOMMITTED_SCOPE,
        evidence="1 uncommitted file in the claimed scope: src/a.py",
        work="bb-7",
        bead_ids=("bb-7",),
        messages=(),
        scopes=("src/*",),
    )
    assert sum(isinstance(event, did.AgentResumed) for event in scenario.history()) == 1


def test_uncommitted_lines_of_a_file_allow_it() -> None:
    scenario = crashed(f"src/a.py/@{OTTER}")
    scenario.when(resume(dirty("src/a.py", "docs/x"), prior_liveness=Liveness.STALE))
    (resumed, *_) = scenario.recorded
    assert isinstance(resumed, did.AgentResumed)
    assert resumed.evidence == "1 uncommitted file in the claimed scope: src/a.py"


@pytest.mark.requirement("OPR-018")
def test_resume_names_the_beads_and_scopes_that_were_carried_over() -> None:
    scenario = crew(OTTER, CRANE)
    scenario.when(reserve("src/lib/*", work="bb-2", branch="main"))
    scenario.when(reserve("docs/*", work="bb-1", branch="main"))
    scenario.when(reserve("tests/*", work="main", branch="main"))  # work that is only a default
    scenario.when(reserve("old/*", work="bb-3", ttl_minutes=5))
    scenario.as_(CRANE).when(reserve("bench/*", work="bb-4"))
    new_holder(scenario.world, OTTER)
    scenario.world.clock.forward(minutes=6)
    evidence = Evidence(("src/lib/a.py",), (Bead("bb-9", "in_progress", OTTER),))
    envelope = make_envelope(run(scenario, resume(evidence), OTTER).newest(did.AgentResumed))
    assert envelope.payload["bead_ids"] == ["bb-9", "bb-1", "bb-2"]
    assert envelope.bead_id == "bb-9"
    assert envelope.payload["scopes"] == ["docs/*", "src/lib/*", "tests/*"]
    assert envelope.scope == "docs/*"
    assert {scope for scope, owner in owners(scenario).items() if owner == OTTER} == set(
        envelope.payload["scopes"]
    )
    assert parse_envelope(write_envelope(envelope)) == envelope


@pytest.mark.requirement("OPR-018")
def test_resume_names_a_limited_number_of_scopes() -> None:
    scenario = crashed(*(f"src/{number:03}" for number in range(MAX_SCOPES_NAMED + 1)))
    scenario.when(resume(dirty("src/000/a.py")))
    event = scenario.recorded[0]
    assert isinstance(event, did.AgentResumed)
    assert len(event.scopes) == MAX_SCOPES_NAMED == 50
    assert len(owners(scenario)) == MAX_SCOPES_NAMED + 1


@pytest.mark.requirement("OPR-018")
def test_resume_names_no_scope_where_none_was_carried_over() -> None:
    scenario = crashed()
    scenario.when(resume(beads(Bead("bb-9", "in_progress", OTTER))))
    (event,) = scenario.recorded
    assert isinstance(event, did.AgentResumed)
    assert event.scopes == ()


@pytest.mark.requirement("OPR-010")
@pytest.mark.requirement("OPR-018")
def test_an_in_progress_bead_of_the_target_allows_it() -> None:
    scenario = crashed()
    scenario.when(
        resume(beads(Bead("bb-9", "in_progress", OTTER), Bead("bb-8", "in_progress", OTTER)))
    )
    (event,) = scenario.recorded
    assert isinstance(event, did.AgentResumed)
    assert event.reason is ResumeReason.IN_PROGRESS_OWNERSHIP
    assert event.bead_ids == ("bb-8", "bb-9")
    assert event.work == "bb-8"
    assert event.evidence == "in progress and owned by amber-otter: bb-8, bb-9"


@pytest.mark.requirement("OPR-011")
@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(CLEAN, id="nothing is unfinished"),
        pytest.param(
            dirty("docs/x"), id="dirty elsewhere", marks=pytest.mark.requirement("OPR-013")
        ),
        pytest.param(dirty("srcs/a.py"), id="a name that only begins alike"),
        pytest.param(dirty("/etc/passwd"), id="dirty outside of the project"),
        pytest.param(beads(Bead("bb-1", "open", OTTER)), id="a bead not in progress"),
        pytest.param(beads(Bead("bb-1", "in_progress", CRANE)), id="someone else's bead"),
        pytest.param(Evidence(no_git="not_a_repository"), id="neither git nor beads"),
    ],
)
def test_without_ground_it_is_rejected_and_nothing_changes(evidence: Evidence) -> None:
    crashed("src/*").refused("adoption_rejected", resume(evidence))


def test_a_rejection_says_what_is_missing() -> None:
    scenario = crashed("src/*")
    with pytest.raises(Refused) as refused:
        run(scenario, resume(Evidence(no_git="not_a_repository")), OTTER)
    assert "uncommitted changes are unknown (not_a_repository)" in str(refused.value)
    assert "beads are unknown (beads_unavailable)" in str(refused.value)
    assert "--register" in refused.value.hint


def test_without_any_known_scope_dirty_files_prove_nothing() -> None:
    crashed().refused("adoption_rejected", resume(dirty("src/a.py")))


def test_a_named_scope_counts_as_claimed() -> None:
    scenario = crashed().when(resume(dirty("src/a.py"), scopes=("src/*",)))
    assert isinstance(scenario.recorded[0], did.AgentResumed)


def test_a_bad_scope_is_refused_before_anything_is_judged() -> None:
    crashed("src").refused("unsupported_glob", resume(dirty("src/a"), scopes=("src/**",)))


BEAD = beads(Bead("bb-9", "in_progress", OTTER))


@pytest.mark.parametrize(
    ("more", "allowed"),
    [
        ({}, True),
        ({"work": "bb-9"}, True),
        ({"work": "bb-1"}, False),
        ({"scopes": ("src/lib",)}, True),
        ({"scopes": ("docs",)}, False),
        ({"work": "bb-1", "scopes": ("src",)}, True),
    ],
)
def test_a_bead_counts_if_it_belongs_to_the_question(more: dict[str, Any], allowed: bool) -> None:
    scenario = crashed("src/*", work="bb-9")
    if allowed:
        scenario.when(resume(BEAD, **more))
        assert isinstance(scenario.recorded[0], did.AgentResumed)
    else:
        scenario.refused("adoption_rejected", resume(BEAD, **more))


def test_unsaved_work_is_the_first_reason_and_beads_are_still_linked() -> None:
    both = Evidence(dirty=("src/a.py",), beads=(Bead("bb-9", "in_progress", OTTER),))
    (event, *_) = crashed("src").when(resume(both)).recorded
    assert isinstance(event, did.AgentResumed)
    assert (event.reason, event.bead_ids) == (ResumeReason.UNCOMMITTED_SCOPE, ("bb-9",))


def test_what_the_earlier_session_held_is_picked_up_under_new_numbers() -> None:
    scenario = crashed("src", "docs")
    scenario.when(resume(dirty("src/a.py")))
    moved = [event for event in scenario.recorded if isinstance(event, did.ScopeHandedOver)]
    assert [(event.was, event.fencing, event.owner_epoch, event.because) for event in moved] == [
        (2, 3, 2, FIRST),
        (1, 4, 2, FIRST),
    ]
    assert all(held.epoch == 2 for held in scenario.state.live)
    scenario.when(ask.Release(scopes=("src",), project_root=ROOT))
    assert owners(scenario) == {"docs": OTTER}


def test_what_waited_for_the_earlier_session_waits_for_the_one_that_continues_it() -> None:
    scenario = crew(CRANE, OTTER).when(handoff(to=OTTER, scope=None)).as_(OTTER)
    scenario.when(reserve("src"))
    new_holder(scenario.world, OTTER)
    scenario.refused("ack_forbidden", ask.Accept(id=FIRST))
    scenario.when(resume(dirty("src/a.py")))
    assert getattr(scenario.recorded[0], "messages", ()) == (FIRST,)
    scenario.when(ask.Accept(id=FIRST)).then(did.EventAccepted(id=FIRST))


def test_an_agent_that_is_being_run_is_not_adopted() -> None:
    crashed("src").refused("agent_alive", resume(dirty("src/a.py"), running=True))


def test_the_same_holder_adopts_nothing() -> None:
    crew(OTTER).when(reserve("src")).refused("adoption_rejected", resume(dirty("src/a.py")))


@pytest.mark.requirement("OPR-014")
@pytest.mark.requirement("OPR-015")
def test_a_name_is_given_once_and_then_only_by_adoption() -> None:
    scenario = crew(OTTER)
    with pytest.raises(Refused) as taken:
        register(
            scenario.world.engine,
            OTTER,
            scenario.world.keys.make(OTTER, salt="again"),
            custodian=CUSTODIAN,
        )
    assert taken.value.code == "name_taken"
    new_holder(scenario.world, OTTER)
    scenario.refused("adoption_required", join())


def test_after_an_adoption_the_new_session_joins_and_leaves_as_it_likes() -> None:
    scenario = crashed("src").when(resume(dirty("src/a.py"), session_key="s-2"))
    scenario.when(join(branch="topic", session_key="s-3"), ask.Leave(), join())
    assert scenario.state.members[0].epoch == 2
    assert not scenario.state.members[0].left


def test_a_name_whose_session_left_can_be_adopted_for_its_bead() -> None:
    scenario = crew(OTTER).when(ask.Leave())
    new_holder(scenario.world, OTTER)
    scenario.refused("adoption_required", join())
    scenario.when(resume(BEAD))
    assert isinstance(scenario.recorded[0], did.AgentResumed)


@pytest.mark.requirement("OPR-012")
def test_asking_again_with_a_named_scope_or_bead_judges_again() -> None:
    held = crew(OTTER).state.live
    question = AdoptionQuestion(OTTER, held, (), None, ROOT, dirty("src/a.py"))
    assert not judge_adoption(question)
    named = AdoptionQuestion(OTTER, held, (read_scope("src", ROOT),), None, ROOT, dirty("src/a.py"))
    verdict = judge_adoption(named)
    assert verdict
    assert verdict.reason is ResumeReason.UNCOMMITTED_SCOPE


def test_a_long_list_of_files_is_reported_in_short() -> None:
    names = tuple(f"src/f{number}.py" for number in range(9))
    question = AdoptionQuestion(OTTER, (), (read_scope("src", ROOT),), None, ROOT, dirty(*names))
    assert judge_adoption(question).evidence.endswith("src/f4.py and 4 more")


def test_names_that_could_be_adopted_are_found_and_those_that_run_are_not() -> None:
    scenario = crew(OTTER, CRANE, HARBOR)
    run(scenario, reserve("src"), OTTER)
    run(scenario, reserve("docs"), CRANE)
    run(scenario, reserve("tools"), HARBOR)
    evidence = dirty("src/a.py", "docs/b.md")
    found = find_adoptable(scenario.state, evidence, ROOT, 0)
    assert [one.agent for one in found] == [OTTER, CRANE]
    alone = find_adoptable(scenario.state, evidence, ROOT, 0, running=frozenset({OTTER}))
    assert [one.agent for one in alone] == [CRANE]


def test_the_question_can_be_asked_before_any_key_is_rotated() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    assert judge_adoption_of(scenario.state, OTTER, dirty("src/a.py"), ROOT, 0)
    assert not judge_adoption_of(scenario.state, OTTER, CLEAN, ROOT, 0)
    never_here = Evidence((), (Bead("bb-1", "in_progress", HARBOR),))
    assert judge_adoption_of(scenario.state, HARBOR, never_here, ROOT, 0)


@pytest.mark.requirement("OPR-019")
def test_the_adoption_is_found_in_the_history_by_another_process() -> None:
    scenario = crashed("src").when(resume(dirty("src/a.py"), work="bb-7"))
    engine = scenario.world.another_engine()
    assert engine.state(PRESENCE, "presence") == scenario.state
    with scenario.world.store.read() as view:
        assert [row.key for row in view.rows("presence.work", prefix="bb-7 ")] == [f"bb-7 {FIRST}"]
        (row,) = view.rows("presence.events", prefix=FIRST)
    assert b'"event_type":"RESUME"' in row.value
