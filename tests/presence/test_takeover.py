"""Who may take from whom: the dead are taken over, the living never."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from moot.core.machine import Command, SignOfLife
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, Liveness, Stage
from moot.protocols.presence.overlap import TAKEOVER

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    context,
    crew,
    minutes,
    owners,
    refusal,
    reserve,
    run,
    take_over,
)

ACTIVE, STALE, EVICTED = 14.99, 15, 30
TABLE = [
    pytest.param(ACTIVE, reserve, None, marks=pytest.mark.requirement("OPR-030")),
    pytest.param(ACTIVE, take_over, None, marks=pytest.mark.requirement("OPR-030")),
    pytest.param(STALE, reserve, None, marks=pytest.mark.requirement("OPR-031")),
    pytest.param(STALE, take_over, Stage.TAKEN_OVER, marks=pytest.mark.requirement("OPR-031")),
    pytest.param(EVICTED, reserve, None, marks=pytest.mark.requirement("OPR-032")),
    pytest.param(
        EVICTED,
        take_over,
        Stage.EXPIRED,
        marks=[pytest.mark.requirement("OPR-032"), pytest.mark.requirement("OPR-033")],
    ),
]


@pytest.mark.parametrize(
    "scope", ["src", "src/lib/parser.ts", "."], ids=["exact", "inside", "around"]
)
@pytest.mark.parametrize(("age", "command", "archived"), TABLE)
def test_the_takeover_table_holds_for_every_overlap(
    age: int, command: Callable[[str], Command], archived: Stage | None, scope: str
) -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.clock.forward(minutes=age)
    if archived is None:
        code = "reservation_conflict" if age == ACTIVE else "reservation_stale_found"
        assert refusal(scenario, command(scope), CRANE).code == code
        assert owners(scenario) == {"src": OTTER}
    else:
        recorded = [one.event for one in run(scenario, command(scope), CRANE).recorded]
        kinds = {Stage.TAKEN_OVER: did.ScopeTakenOver, Stage.EXPIRED: did.ScopeExpired}
        assert [type(event) for event in recorded] == [
            did.IncursionNoted,
            kinds[archived],
            did.ScopeReserved,
        ]
        assert owners(scenario) == {scope: CRANE}


def test_the_table_names_every_liveness_with_and_without_the_flag() -> None:
    assert set(TAKEOVER) == set(Liveness)
    assert all(set(row) == {True, False} for row in TAKEOVER.values())
    assert not any(row[False] for row in TAKEOVER.values())


@pytest.mark.requirement("OPR-087")
def test_taking_over_is_a_command_of_its_own_that_rests_on_a_verified_history() -> None:
    assert ask.TakeOver in MACHINE.guarded
    assert ask.TakeOver.__struct_fields__ == ask.Reserve.__struct_fields__


def test_a_refused_taker_learns_who_how_alive_and_what_to_do() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/*", work="bb-7"))
    error = refusal(scenario, reserve("src/a.py"), CRANE)
    assert str(error).startswith(
        "src/a.py is held by amber-otter as part of src/* for bb-7: active"
    )
    assert "moot blocked" in error.hint
    scenario.world.clock.forward(minutes=30)
    error = refusal(scenario, reserve("src/a.py"), CRANE)
    assert "evicted, last seen 30 min ago" in str(error)
    assert "--takeover-stale" in error.hint


def test_what_was_taken_over_says_on_which_sign_of_life_it_rests() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    world = scenario.world
    world.clock.forward(minutes=5)
    world.engine.beat(OTTER)
    beat = world.engine.signs([OTTER])[OTTER]
    world.clock.forward(minutes=15)
    archived = run(scenario, take_over("src"), CRANE).recorded[1].event
    assert archived == did.ScopeTakenOver(
        fencing=1,
        key="src",
        scope="src",
        owner=OTTER,
        owner_epoch=1,
        stale_millis=minutes(15),
        last_sign=beat,
    )
    assert isinstance(archived, did.ScopeTakenOver)
    assert isinstance(archived.last_sign, SignOfLife)
    assert archived.last_sign.signature


def test_a_heartbeat_saves_a_reservation() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    for _ in range(10):
        scenario.world.clock.forward(minutes=10)
        scenario.world.engine.beat(OTTER)
    assert refusal(scenario, take_over("src"), CRANE).code == "reservation_conflict"


def test_several_owners_must_all_qualify_or_nothing_happens() -> None:
    scenario = crew(OTTER, CRANE, HARBOR)
    run(scenario, reserve("src/a"), OTTER)
    run(scenario, reserve("src/b"), CRANE)
    scenario.world.clock.forward(minutes=20)
    scenario.world.engine.beat(CRANE)
    error = refusal(scenario, take_over("src"), HARBOR)
    assert error.code == "reservation_conflict"
    assert {finding.where for finding in error.findings} == {"src"}
    assert owners(scenario) == {"src/a": OTTER, "src/b": CRANE}
    scenario.world.clock.forward(minutes=20)
    run(scenario, take_over("src"), HARBOR)
    assert owners(scenario) == {"src": HARBOR}


def test_the_living_are_named_before_the_quiet() -> None:
    scenario = crew(OTTER, CRANE, HARBOR)
    run(scenario, reserve("a"), OTTER)
    scenario.world.clock.forward(minutes=20)
    run(scenario, reserve("b"), CRANE)
    error = refusal(scenario, reserve("a", "b"), HARBOR)
    assert [finding.code for finding in error.findings] == [
        "reservation_conflict",
        "reservation_stale_found",
    ]


def test_the_longer_patience_of_requester_and_workspace_counts() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.clock.forward(minutes=20)
    patient = take_over("src", stale_millis=minutes(60))
    assert refusal(scenario, patient, CRANE).code == "reservation_conflict"
    run(scenario, take_over("src", stale_millis=minutes(1)), CRANE)
    assert owners(scenario) == {"src": CRANE}


def test_impatience_alone_takes_nothing_from_the_living() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.clock.forward(minutes=10)
    for stale in (1, 0, -minutes(99)):
        error = refusal(scenario, take_over("src", stale_millis=stale), CRANE)
        assert error.code == "reservation_conflict"


@pytest.mark.requirement("OPR-001")
def test_an_agent_cannot_shorten_the_workspaces_patience() -> None:
    scenario = crew(OTTER, CRANE)
    scenario.refused("human_key_required", ask.SetStaleMinutes(stale_millis=1))
    scenario.world.human("operator")
    scenario.as_("operator").when(ask.SetStaleMinutes(stale_millis=minutes(5)))
    scenario.then(did.StaleMinutesSet(stale_millis=minutes(5)))
    scenario.when(ask.SetStaleMinutes(stale_millis=minutes(5))).then()
    scenario.refused("bad_stale_minutes", ask.SetStaleMinutes(stale_millis=0))


def test_the_workspaces_own_patience_decides() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.human("operator")
    run(scenario, ask.SetStaleMinutes(stale_millis=minutes(60)), "operator")
    scenario.world.clock.forward(minutes=59)
    assert refusal(scenario, take_over("src"), CRANE).code == "reservation_conflict"


def test_who_has_no_patience_of_its_own_goes_by_the_workspaces() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.human("operator")
    run(scenario, ask.SetStaleMinutes(stale_millis=minutes(1)), "operator")
    scenario.world.clock.forward(minutes=1)
    patient = take_over("src", stale_millis=minutes(2))
    assert refusal(scenario, patient, CRANE).code == "reservation_conflict"
    run(scenario, take_over("src"), CRANE)
    assert owners(scenario) == {"src": CRANE}


def test_a_returning_owner_keeps_what_nobody_took_and_has_lost_the_rest() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src", "docs"))
    scenario.world.clock.forward(minutes=45)
    run(scenario, take_over("src"), CRANE)
    scenario.world.engine.beat(OTTER)
    assert owners(scenario) == {"docs": OTTER, "src": CRANE}
    assert refusal(scenario, take_over("docs"), CRANE).code == "reservation_conflict"
    assert refusal(scenario, reserve("src"), OTTER).code == "reservation_conflict"


def test_an_owner_whose_record_is_gone_counts_as_evicted() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    others = scenario.state.members_by_name.delete(OTTER)
    forgotten = msgspec.structs.replace(scenario.state, members_by_name=others)
    here = context(CRANE, now=scenario.world.clock.now)
    plain = MACHINE.decide(forgotten, reserve("src"), here)
    assert plain.refused
    assert plain.findings[0].code == "reservation_stale_found"
    taken = MACHINE.decide(forgotten, take_over("src"), here)
    assert not taken.refused
    assert [type(draft.event) for draft in taken.drafts] == [
        did.IncursionNoted,
        did.ScopeExpired,
        did.ScopeReserved,
    ]


@pytest.mark.requirement("OPR-033")
def test_the_archive_can_be_looked_up_afterwards() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("a", "b", "c"))
    run(scenario, ask.Release(scopes=("a",), project_root="/home/user/repo"), OTTER)
    scenario.world.clock.forward(minutes=15)
    run(scenario, take_over("b"), CRANE)
    scenario.world.clock.forward(minutes=15)
    run(scenario, take_over("c"), CRANE)
    with scenario.world.store.read() as view:
        rows = {row.key: row.value for row in view.rows("presence.archive")}
    assert [(key, b'"owner":"amber-otter"' in value) for key, value in rows.items()] == [
        ("000000000001", True),
        ("000000000002", True),
        ("000000000003", True),
    ]
    statuses = [value.split(b'"status":"')[1].split(b'"')[0] for value in rows.values()]
    assert statuses == [b"released", b"taken_over", b"expired"]
    assert STREAM == "presence"
