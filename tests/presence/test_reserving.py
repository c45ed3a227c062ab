"""Reserving, renewing, releasing, and what time does to a reservation."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE, TRANSITIONS
from moot.protocols.presence.model import STREAM, Stage
from moot.protocols.presence.views import Observation, view_reservations

from .scene import (
    CRANE,
    HARBOR,
    OTHER_WORKTREE,
    OTTER,
    ROOT,
    context,
    crew,
    minutes,
    owners,
    refusal,
    release,
    reserve,
    run,
    scene,
)


def reserved(fencing: int, scope: str, key: str | None = None, **more: Any) -> did.ScopeReserved:
    said = {
        "fencing": fencing,
        "key": scope if key is None else key,
        "scope": scope,
        "work": None,
        "worktree": ROOT,
        "branch": None,
        "expires_at": None,
        "automatic": False,
    }
    return did.ScopeReserved(**{**said, **more})


@pytest.mark.requirement("OPR-102")
def test_disjoint_scopes_are_reserved_and_released_side_by_side() -> None:
    scenario = scene().as_(OTTER).when(reserve("src/*")).then(reserved(1, "src/*", "src"))
    scenario.as_(CRANE).when(reserve("docs")).then(reserved(2, "docs"))
    assert owners(scenario) == {"docs": CRANE, "src/*": OTTER}
    scenario.when(release("docs")).then(did.ScopeReleased(fencing=2, key="docs", scope="docs"))
    assert owners(scenario) == {"src/*": OTTER}


def test_several_scopes_are_reserved_all_or_none() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/lib"))
    error = refusal(scenario, reserve("docs", "src/lib/parser.ts", "tools"), CRANE)
    assert error.code == "reservation_conflict"
    assert owners(scenario) == {"src/lib": OTTER}
    run(scenario, reserve("docs", "tools"), CRANE)
    assert owners(scenario) == {"docs": CRANE, "src/lib": OTTER, "tools": CRANE}


def test_the_same_scope_named_twice_is_one_reservation() -> None:
    scene().as_(OTTER).when(reserve("src", "src/*", "./src/")).then(reserved(1, "src"))


def test_ones_own_scopes_may_overlap() -> None:
    scenario = scene().as_(OTTER).when(reserve("src")).when(reserve("src/lib"))
    scenario.then(reserved(2, "src/lib"))


def test_reserving_again_what_one_holds_records_nothing() -> None:
    scenario = scene().as_(OTTER).when(reserve("src", work="bb-1")).when(reserve("src")).then()
    assert scenario.state.live[0].work == "bb-1"


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"work": "bb-2"}, "work", "bb-2"),
        ({"branch": "topic"}, "branch", "topic"),
        ({"worktree": OTHER_WORKTREE}, "worktree", OTHER_WORKTREE),
        ({"ttl_minutes": 10}, "expires_at", None),
    ],
)
def test_reserving_again_with_a_change_renews_it_under_a_new_number(
    change: dict[str, Any], field: str, value: Any
) -> None:
    scenario = scene().as_(OTTER).when(reserve("src", work="bb-1", branch="main"))
    scenario.when(reserve("src", **change))
    (held,) = scenario.state.live
    assert held.fencing == 2
    assert getattr(held, field) == value if value else held.expires_at is not None
    assert held.work == change.get("work", "bb-1")


def test_two_worktrees_collide_on_the_same_file() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/auth.py"))
    there = reserve(f"{OTHER_WORKTREE}/src/auth.py", worktree=OTHER_WORKTREE)
    assert refusal(scenario, there, CRANE).code == "reservation_conflict"


def test_what_a_hook_reserves_is_marked_and_covered_by_what_one_holds() -> None:
    scenario = scene().as_(OTTER).when(reserve("a.py", automatic=True))
    scenario.then(reserved(1, "a.py", automatic=True))
    scenario.when(reserve("a.py", automatic=True)).then()
    scenario.when(reserve("src")).when(reserve("src/deep/b.py", automatic=True)).then()


def test_a_person_may_make_an_automatic_reservation_their_own() -> None:
    scenario = scene().as_(OTTER).when(reserve("a.py", automatic=True)).when(reserve("a.py"))
    scenario.then(reserved(2, "a.py"))


def test_a_hook_names_real_files_even_with_a_star_in_the_name() -> None:
    scene().as_(OTTER).when(reserve("src/a*.py", automatic=True)).then(
        reserved(1, "src/a*.py", automatic=True)
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (reserve(), "scope_empty"),
        (reserve(" "), "scope_empty"),
        (reserve("../elsewhere"), "scope_outside"),
        (reserve("src/**"), "unsupported_glob"),
        (reserve("src\0"), "bad_scope"),
        (reserve("src", project_root="repo"), "bad_root"),
        (reserve("src", worktree="repo"), "bad_root"),
        (reserve("src", ttl_minutes=4), "bad_ttl"),
        (reserve("src", ttl_minutes=1_441), "bad_ttl"),
        (reserve("src", ttl_minutes=0), "bad_ttl"),
        (reserve("src", work="two words"), "bad_work"),
        (reserve("src", work=""), "bad_work"),
        (reserve("src", branch="b" * 201), "text_too_long"),
        (reserve(*(f"f{number}" for number in range(1_001))), "too_many_scopes"),
        (release(), "scope_empty"),
        (release("src"), "reservation_not_found"),
        (release("src/**"), "unsupported_glob"),
    ],
)
def test_a_bad_request_is_refused_with_its_code_and_changes_nothing(
    command: Any, code: str
) -> None:
    scene().as_(OTTER).refused(code, command)


def test_a_bad_request_that_also_overlaps_leaves_no_incursion() -> None:
    crew(OTTER, CRANE).when(reserve("src")).as_(CRANE).refused(
        "bad_ttl", reserve("src", ttl_minutes=1)
    )


def test_someone_elses_scope_is_not_released() -> None:
    crew(OTTER, CRANE).when(reserve("src")).as_(CRANE).refused("release_forbidden", release("src"))


def test_releasing_takes_exactly_what_was_reserved() -> None:
    scenario = scene().as_(OTTER).when(reserve("src"), reserve("src/lib"))
    scenario.refused("reservation_not_found", release("src/other"))
    scenario.when(release("src/*"))
    assert owners(scenario) == {"src/lib": OTTER}


def test_releasing_several_is_all_or_none() -> None:
    scenario = scene().as_(OTTER).when(reserve("a", "b"))
    scenario.refused("reservation_not_found", release("a", "c"))
    assert owners(scenario) == {"a": OTTER, "b": OTTER}


def test_everything_one_holds_is_released_at_once() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("a", "b")).as_(CRANE).when(reserve("c"))
    scenario.as_(OTTER).when(ask.Release(all=True))
    assert owners(scenario) == {"c": CRANE}
    scenario.when(ask.Release(all=True)).then()


def test_a_reservation_has_no_end_unless_one_is_asked_for() -> None:
    scenario = scene().as_(OTTER).when(reserve("src"))
    assert scenario.state.live[0].expires_at is None
    assert scenario.state.next_expiry is None


@pytest.mark.parametrize("ttl", [5, 1_440])
def test_a_reservation_ends_by_itself_once_its_time_is_over(ttl: int) -> None:
    scenario = scene().as_(OTTER).when(reserve("src", ttl_minutes=ttl))
    clock = scenario.world.clock
    ends = clock.now + minutes(ttl)
    assert scenario.state.live[0].expires_at == ends
    clock.forward(minutes=ttl, millis=-1)
    assert scenario.world.engine.tick(STREAM) is None
    clock.forward(millis=1)
    outcome = scenario.world.engine.tick(STREAM)
    assert outcome is not None
    assert outcome.recorded[0].actor.id == SYSTEM
    assert outcome.recorded[0].event == did.ScopeExpired(
        fencing=1, key="src", scope="src", owner=OTTER, owner_epoch=1, why="ttl"
    )
    assert owners(scenario) == {}


def test_what_is_over_is_nobodys_even_before_anyone_archives_it() -> None:
    """Without the workspace's own key nothing expires by itself; it still stops nobody."""
    scenario = crew(OTTER, CRANE).when(reserve("src", ttl_minutes=5))
    clock, keys = scenario.world.clock, scenario.world.keys
    clock.forward(minutes=5)
    keys.signers.pop(SYSTEM)
    assert view_reservations(scenario.state, Observation(clock.now)) == ()
    scenario.as_(CRANE).when(reserve("src/lib"))
    assert [type(event) for event in scenario.recorded] == [did.ScopeExpired, did.ScopeReserved]
    assert owners(scenario) == {"src/lib": CRANE}


def test_the_agenda_shows_when_a_reservation_ends() -> None:
    scenario = scene().as_(OTTER).when(reserve("src", ttl_minutes=5), reserve("docs"))
    (due,) = MACHINE.agenda(scenario.state, scenario.world.clock.now)
    assert (due.who, due.subject, due.command) == (OTTER, "src", ask.ExpireScopes())
    assert due.by == scenario.world.clock.now + minutes(5)


def test_the_earliest_end_is_known_however_reservations_come_and_go() -> None:
    scenario = scene().as_(OTTER)
    now = scenario.world.clock.now
    scenario.when(
        reserve("a", ttl_minutes=30), reserve("b", ttl_minutes=10), reserve("c", ttl_minutes=20)
    )
    assert scenario.state.next_expiry == now + minutes(10)
    scenario.when(release("b"))
    assert scenario.state.next_expiry == now + minutes(20)
    scenario.when(reserve("c"))
    assert scenario.state.next_expiry == now + minutes(30)
    scenario.when(release("a"))
    assert scenario.state.next_expiry is None


def test_many_ends_are_archived_in_one_go() -> None:
    scenario = scene().as_(OTTER).when(reserve(*(f"f{n}" for n in range(250)), ttl_minutes=5))
    scenario.world.clock.forward(minutes=6)
    outcome = scenario.world.engine.tick(STREAM)
    assert outcome is not None
    assert len(outcome.recorded) == 250
    assert scenario.state.live == ()


def test_an_edit_in_the_second_half_of_its_time_keeps_an_automatic_reservation() -> None:
    scenario = scene().as_(OTTER).when(reserve("a.py", automatic=True, ttl_minutes=10))
    scenario.world.clock.forward(minutes=5)
    scenario.when(reserve("a.py", automatic=True, ttl_minutes=10)).then()
    scenario.world.clock.forward(millis=1)
    scenario.when(reserve("a.py", automatic=True, ttl_minutes=10))
    assert scenario.state.live[0].fencing == 2


@pytest.mark.requirement("OPR-056")
def test_only_the_workspace_itself_expires_and_only_it_holds_nothing() -> None:
    scene().as_(OTTER).refused("not_allowed", ask.ExpireScopes())
    decision = MACHINE.decide(MACHINE.initial, reserve("src"), context(SYSTEM))
    assert decision.refused
    assert decision.findings[0].code == "not_allowed"


def test_numbers_only_grow_and_are_never_used_again() -> None:
    scenario = scene().as_(OTTER).when(reserve("a"), release("a"), reserve("a"), reserve("b"))
    numbers = [event.fencing for event in scenario.recorded if isinstance(event, did.ScopeReserved)]
    assert numbers == [1, 2, 3]


def test_leaving_gives_everything_back() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("a", "b")).as_(CRANE).when(reserve("c")).as_(OTTER)
    scenario.when(ask.Leave(reason="done"))
    assert [type(event) for event in scenario.recorded] == [
        did.ScopeReleased,
        did.ScopeReleased,
        did.AgentLeft,
    ]
    assert owners(scenario) == {"c": CRANE}
    scenario.when(ask.Leave()).then()


def test_every_way_a_reservation_may_end_is_in_the_table_and_final() -> None:
    ends = set(TRANSITIONS[Stage.LIVE].values()) - {Stage.LIVE}
    assert ends == set(Stage) - {Stage.LIVE}
    assert all(TRANSITIONS[end] == {} for end in ends)


def test_a_list_of_reservations_says_everything_about_them() -> None:
    scenario = (
        scene()
        .as_(OTTER)
        .when(reserve("Src/*", work="bb-1", branch="main", ttl_minutes=60, automatic=False))
    )
    (shown,) = view_reservations(scenario.state, Observation(scenario.world.clock.now))
    assert msgspec.to_builtins(shown) == {
        "scope": "Src/*",
        "owner": OTTER,
        "liveness": "active",
        "label": "Active",
        "because": shown.because,
        "work": "bb-1",
        "worktree": ROOT,
        "branch": "main",
        "since": "2026-02-18T16:00:00.000Z",
        "expires_at": "2026-02-18T17:00:00.000Z",
        "automatic": False,
        "fencing": 1,
        "holder": OTTER,
    }
    assert (
        view_reservations(scenario.state, Observation(scenario.world.clock.now), owner=HARBOR) == ()
    )
