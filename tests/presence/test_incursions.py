"""Every overlap leaves its row, refused or not; a hook that asks again leaves only one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.codec import check_document, make_document, make_envelope
from moot.protocols.presence.command_events import MAX_INCURSIONS
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import Liveness, State
from moot.testing import Scenario

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    ROOT,
    context,
    crew,
    owners,
    refusal,
    reserve,
    run,
    take_over,
)


def incursions(scenario: Scenario[State]) -> list[did.IncursionNoted]:
    return [event for event in scenario.history() if isinstance(event, did.IncursionNoted)]


@pytest.mark.requirement("OPR-104")
def test_a_refused_overlap_is_itself_on_record() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/*", work="bb-7"))
    at = scenario.world.clock.now
    scenario.as_(CRANE).refused(
        "reservation_conflict",
        reserve("src/lib/a.ts", work="bb-9"),
        did.IncursionNoted(
            id="proto_20260218_001",
            project_root=ROOT,
            work="bb-9",
            owner=OTTER,
            owner_epoch=1,
            reservation=1,
            key="src",
            scope="src/lib/a.ts",
            held="src/*",
            kind="partial",
            owner_liveness=Liveness.ACTIVE,
            last_seen_at=at,
            outcome="refused",
            resolution_hint="amber-otter is at work there: work elsewhere, or ask amber-otter",
        ),
    )


@pytest.mark.requirement("OPR-092")
@pytest.mark.requirement("OPR-104")
@pytest.mark.parametrize(
    ("age", "command", "scope", "expected"),
    [
        (0, reserve, "src", ("exact", "active", "refused")),
        (20, reserve, "src/a", ("partial", "stale", "refused")),
        (40, reserve, "src", ("exact", "evicted", "refused")),
        (20, take_over, "src", ("exact", "stale", "taken_over")),
        (40, take_over, "src/a", ("partial", "evicted", "taken_over")),
        (0, take_over, ".", ("partial", "active", "refused")),
    ],
)
def test_kind_liveness_and_outcome_are_reported(
    age: int, command: Callable[[str], Command], scope: str, expected: tuple[str, str, str]
) -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    scenario.world.clock.forward(minutes=age)
    if expected[2] == "refused":
        refusal(scenario, command(scope), CRANE)
    else:
        run(scenario, command(scope), CRANE)
    (noted,) = incursions(scenario)
    assert (noted.kind, str(noted.owner_liveness), noted.outcome) == expected
    assert noted.resolution_hint


def test_each_attempt_is_recorded_unless_once_was_asked() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    for _ in range(3):
        refusal(scenario, reserve("src"), CRANE)
    assert len(incursions(scenario)) == 3


def test_a_hook_that_asks_again_leaves_one_row_for_each_agent_and_reservation() -> None:
    scenario = crew(OTTER, CRANE, HARBOR).when(reserve("src", "docs"))
    hook = {"automatic": True, "once": True}
    for _ in range(3):
        refusal(scenario, reserve("src/a.py", **hook), CRANE)
        refusal(scenario, reserve("src/b.py", **hook), HARBOR)
    refusal(scenario, reserve("docs/x.md", **hook), CRANE)
    assert len(incursions(scenario)) == 3
    assert len(scenario.history()) == 3 + 2 + 3


def test_a_renewed_reservation_is_another_one() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    refusal(scenario, reserve("src", once=True), CRANE)
    run(scenario, reserve("src", work="bb-2"), OTTER)
    refusal(scenario, reserve("src", once=True), CRANE)
    assert [noted.reservation for noted in incursions(scenario)] == [1, 2]


def test_a_takeover_is_on_record_even_after_a_refusal_that_was() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    refusal(scenario, reserve("src", once=True), CRANE)
    scenario.world.clock.forward(minutes=30)
    run(scenario, take_over("src", once=True), CRANE)
    assert [noted.outcome for noted in incursions(scenario)] == ["refused", "taken_over"]


def test_one_reservation_in_the_way_of_many_files_is_one_row_with_all_findings() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    error = refusal(scenario, reserve("src/a.py", "src/b.py", "docs"), CRANE)
    assert {finding.where for finding in error.findings} == {"src/a.py", "src/b.py"}
    assert len(incursions(scenario)) == 1


def test_what_slipped_past_is_noted_and_stops_nobody() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    note = ask.NoteIncursion(paths=("src/a.py", "free.py"), project_root=ROOT)
    outcome = run(scenario, note, CRANE)
    (event,) = (one.event for one in outcome.recorded)
    assert isinstance(event, did.IncursionNoted)
    assert (event.outcome, event.scope) == ("slipped_past", "src/a.py")
    assert [(one.code, one.severity) for one in outcome.findings] == [("slipped_past", "warning")]
    assert run(scenario, note, CRANE).recorded == ()
    assert owners(scenario) == {"src": OTTER}


def test_nothing_is_noted_where_nobody_else_is() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    note = ask.NoteIncursion(paths=("src/a.py", "b.py"), project_root=ROOT)
    assert run(scenario, note, OTTER).recorded == ()


def test_the_machine_itself_may_note_an_overlap_as_coming_from_nobody() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    note = ask.NoteIncursion(paths=("src/a.py",), project_root=ROOT)
    (recorded,) = run(scenario, note, SYSTEM).recorded
    document = make_document(make_envelope(recorded))
    assert (document["from_agent"], document["to_agent"]) == (None, OTTER)
    assert check_document(document) == ()


def test_a_claim_on_half_the_project_is_refused_and_leaves_a_limited_trail() -> None:
    scenario = crew(OTTER, CRANE)
    for start in range(0, 2_100, 700):
        run(scenario, reserve(*(f"src/f{n}" for n in range(start, start + 700))), OTTER)
    scenario.world.clock.forward(minutes=40)
    error = refusal(scenario, take_over("src"), CRANE)
    assert error.code == "scope_too_wide"
    assert len(incursions(scenario)) == MAX_INCURSIONS
    assert len(owners(scenario)) == 2_100


def test_ids_count_from_one_each_day_and_never_repeat_when_the_clock_goes_back() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    clock = scenario.world.clock
    for hours in (0, 0, 24, -24, -72, 96):
        clock.forward(minutes=60 * hours)
        scenario.world.engine.beat(OTTER)
        refusal(scenario, reserve("src"), CRANE)
    ids = [noted.id for noted in incursions(scenario)]
    assert ids == [
        "proto_20260218_001",
        "proto_20260218_002",
        "proto_20260219_001",
        "proto_20260219_002",
        "proto_20260219_003",
        "proto_20260219_004",
    ]


@pytest.mark.requirement("OPR-051")
def test_ids_grow_beyond_three_digits() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    state = msgspec.structs.replace(scenario.state, day="20260218", day_count=999)
    decision = MACHINE.decide(state, reserve("src"), context(CRANE))
    assert getattr(decision.drafts[0].event, "id", "") == "proto_20260218_1000"
