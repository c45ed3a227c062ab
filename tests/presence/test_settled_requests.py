"""A BLOCKED that is no longer needed is settled: what it asked for is free, or somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE, SETTLED
from moot.protocols.presence.model import State
from moot.testing import Scenario

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    ROOT,
    blocked,
    crew,
    handoff,
    new_holder,
    release,
    reserve,
    run,
    take_over,
)
from .test_freed_scopes import by_person, free

ASKED = "proto_20260218_001"


def asking(*held: str, scope: str = "src/a.py", **more: Any) -> Scenario[State]:
    """Crane holds `held`, and Otter has asked Crane for `scope`; Crane acts."""
    scenario = crew(CRANE, OTTER, HARBOR).when(reserve(*held, **more))
    return scenario.as_(OTTER).when(blocked(scope=scope)).as_(CRANE)


def settled(scenario: Scenario[State]) -> list[did.RequestSettled]:
    return [event for event in scenario.history() if isinstance(event, did.RequestSettled)]


@pytest.mark.requirement("OPR-106")
@pytest.mark.parametrize("held", ["src/a.py", "src/*", "."])
def test_giving_back_what_was_asked_for_settles_the_request(held: str) -> None:
    scenario = asking(held).when(release(held))
    assert scenario.recorded[1:] == [did.RequestSettled(id=ASKED, why="released", holder=None)]
    assert not scenario.state.pending
    assert MACHINE.agenda(scenario.state, 0) == ()
    with scenario.world.store.read() as view:
        (row,) = view.rows(SETTLED)
        assert view.rows("presence.receipts") == []  # settled, not accepted
    assert row.key == ASKED
    outcome = run(scenario, ask.Accept(id=ASKED), CRANE)  # nobody waits for it
    assert outcome.recorded == ()
    assert [(one.code, one.severity) for one in outcome.findings] == [
        ("request_settled", "warning")
    ]
    assert f"{ASKED} is settled" in outcome.findings[0].message


@pytest.mark.requirement("OPR-106")
def test_while_a_part_of_it_is_held_it_waits() -> None:
    scenario = asking("src/a.py", "src/b.py", scope="src/*").when(release("src/b.py"))
    assert settled(scenario) == []
    scenario.when(release("src/a.py"))
    assert [event.id for event in settled(scenario)] == [ASKED]


@pytest.mark.requirement("OPR-106")
def test_giving_back_something_else_settles_nothing() -> None:
    scenario = asking("src/a.py", "docs").when(release("docs"))
    assert (settled(scenario), len(scenario.state.pending)) == ([], 1)


@pytest.mark.requirement("OPR-106")
def test_a_request_without_a_scope_waits_for_an_answer() -> None:
    scenario = crew(CRANE, OTTER).when(reserve("src")).as_(OTTER).when(blocked())
    scenario.as_(CRANE).when(release("src"))
    assert (settled(scenario), len(scenario.state.pending)) == ([], 1)


@pytest.mark.requirement("OPR-106")
def test_a_holder_that_leaves_settles_it() -> None:
    scenario = asking("src").when(ask.Leave())
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="released", holder=None)]


@pytest.mark.requirement("OPR-106")
def test_a_holder_whose_program_is_gone_settles_it() -> None:
    scenario = asking("src")
    gone = ask.EndGone(
        agent=CRANE, agent_epoch=1, observer=OTTER, because="exit", worktree=ROOT, dirty=()
    )
    run(scenario, gone, SYSTEM)
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="released", holder=None)]


@pytest.mark.requirement("OPR-106")
def test_a_person_who_frees_it_settles_it() -> None:
    scenario = by_person(asking("src")).when(free("src"))
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="released", holder=None)]


@pytest.mark.requirement("OPR-106")
def test_time_that_is_over_settles_it() -> None:
    scenario = asking("src", ttl_minutes=5)
    scenario.world.clock.forward(minutes=6)
    scenario.as_(HARBOR).when(reserve("docs"))
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="expired", holder=None)]


@pytest.mark.requirement("OPR-106")
def test_handed_to_another_it_is_settled_and_the_next_holder_is_named() -> None:
    scenario = asking("src").when(handoff(HARBOR, scope="src"))
    scenario.as_(HARBOR).when(ask.Accept(id="proto_20260218_002"))
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="handed_over", holder=HARBOR)]


@pytest.mark.requirement("OPR-106")
def test_taken_over_it_is_settled_and_the_next_holder_is_named() -> None:
    scenario = asking("src")
    scenario.world.clock.forward(minutes=20)
    scenario.as_(HARBOR).when(take_over("src"))
    assert settled(scenario) == [did.RequestSettled(id=ASKED, why="taken_over", holder=HARBOR)]


@pytest.mark.requirement("OPR-106")
def test_a_session_that_goes_on_under_the_name_owes_it_too() -> None:
    scenario = asking("src")
    new_holder(scenario.world, CRANE)
    scenario.when(ask.Resume(evidence=ask.Evidence(("src/a.py",), ()), project_root=ROOT))
    assert settled(scenario) == []
    assert scenario.state.pending[ASKED].to_epoch == 2
    scenario.when(release("src"))
    assert [event.id for event in settled(scenario)] == [ASKED]


@pytest.mark.requirement("OPR-106")
def test_what_was_promised_is_settled_when_it_is_free() -> None:
    scenario = asking("src").when(ask.Accept(id=ASKED))
    scenario.when(release("src"))
    assert [event.id for event in settled(scenario)] == [ASKED]
    scenario.when(reserve("src"), release("src"))
    assert len(settled(scenario)) == 1
