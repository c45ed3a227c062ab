"""What people and agents read: status, work items, the guard, the conversation."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.protocols.presence import commands as ask
from moot.protocols.presence import labels
from moot.protocols.presence.model import EventType, Liveness, Receipt
from moot.protocols.presence.paths import read_path
from moot.protocols.presence.sessions import (
    LABELS,
    STATES,
    Facts,
    Health,
    SessionState,
    health,
    session_state,
)
from moot.protocols.presence.timeline import Row, read_receipt, timeline
from moot.protocols.presence.views import (
    Moment,
    StatusCounts,
    WorkItemView,
    guard,
    status,
    work_items,
)

from .envelopes import document
from .scene import (
    CRANE,
    HARBOR,
    NOON,
    OTTER,
    ROOT,
    blocked,
    crew,
    handoff,
    join,
    minutes,
    new_holder,
    refusal,
    reserve,
    run,
)


def conversation(scenario: Any, work: str) -> tuple[Row, ...]:
    """As a surface reads it: from the index alone, for one work item."""
    with scenario.world.store.read() as view:
        ids = [row.key.partition(" ")[2] for row in view.rows("presence.work", prefix=f"{work} ")]
        events = [row for one in ids if (row := view.row("presence.events", one)) is not None]
        receipts = [row for one in ids for row in view.rows("presence.receipts", prefix=f"{one} ")]
    return timeline(
        [msgspec.json.decode(row.value) for row in events],
        [read_receipt(row.key, msgspec.json.decode(row.value)) for row in receipts],
    )


@pytest.mark.requirement("OPR-074")
@pytest.mark.requirement("OPR-075")
@pytest.mark.requirement("OPR-076")
@pytest.mark.requirement("OPR-077")
@pytest.mark.requirement("OPR-078")
@pytest.mark.requirement("OPR-079")
@pytest.mark.requirement("OPR-094")
def test_the_conversation_shows_all_four_kinds_and_their_receipts_in_plain_words() -> None:
    scenario = crew(OTTER, CRANE)
    clock = scenario.world.clock

    def then(command: Any, actor: str) -> None:
        clock.forward(seconds=1)
        run(scenario, command, actor)

    then(reserve("src", work="bb-7"), OTTER)
    then(blocked(), OTTER)
    refusal(scenario, reserve("src/a.py", work="bb-7"), CRANE)
    then(ask.MarkSeen(id="proto_20260218_001"), CRANE)
    then(ask.Accept(id="proto_20260218_001"), CRANE)
    new_holder(scenario.world, OTTER)
    evidence = ask.Evidence(("src/a.py",), ())
    then(ask.Resume(evidence=evidence, project_root=ROOT, work="bb-7"), OTTER)
    then(handoff(), OTTER)
    rows = conversation(scenario, "bb-7")
    assert [(row.label, row.from_agent, row.to_agent) for row in rows] == [
        ("Needs input", OTTER, CRANE),
        ("Overlapping work", CRANE, OTTER),
        ("Seen", CRANE, OTTER),
        ("Accepted", CRANE, OTTER),
        ("Picked up again", OTTER, OTTER),
        ("Passed to", OTTER, CRANE),
    ]
    assert [row.status for row in rows] == ["Accepted", "Sent", "", "", "Sent", "Sent"]
    assert all(row.title for row in rows)


def test_another_work_item_has_its_own_conversation() -> None:
    scenario = crew(OTTER, CRANE).when(handoff(), handoff(work="bb-70"), blocked(work="bb-7"))
    assert [row.id for row in conversation(scenario, "bb-7")] == [
        "proto_20260218_001",
        "proto_20260218_003",
    ]


@pytest.mark.requirement("OPR-100")
def test_a_row_needs_nothing_but_the_stable_document() -> None:
    documents = [document(kind, id=f"proto_20260214_00{n}") for n, kind in enumerate(EventType)]
    rows = timeline(documents, [])
    assert {row.kind for row in rows} == {str(kind) for kind in EventType}


@pytest.mark.requirement("OPR-005")
def test_every_label_is_plain_language() -> None:
    tables: tuple[dict[Any, str], ...] = (
        labels.EVENTS,
        labels.RECEIPTS,
        labels.LIVENESS,
        LABELS,
    )
    assert set(labels.EVENTS) == set(EventType)
    assert set(labels.RECEIPTS) == set(Receipt)
    assert set(labels.LIVENESS) == set(Liveness)
    assert set(LABELS) == set(SessionState)
    for label in (text for table in tables for text in table.values()):
        assert label[0].isupper()
        assert label != label.upper()
        assert "_" not in label


@pytest.mark.requirement("OPR-007")
@pytest.mark.requirement("OPR-095")
def test_one_screen_says_who_is_here_who_holds_what_and_what_waits_for_me() -> None:
    scenario = crew(OTTER, CRANE, HARBOR)
    run(scenario, reserve("src", work="bb-7"), OTTER)
    run(scenario, blocked(), OTTER)
    scenario.world.clock.forward(minutes=20)
    scenario.world.engine.beat(CRANE)
    now = scenario.world.clock.now
    seen = scenario.world.engine.signs([OTTER, CRANE, HARBOR])
    shown = status(scenario.state, Moment(now, seen), CRANE)
    assert [(one.agent, one.liveness) for one in shown.agents] == [
        (OTTER, "stale"),
        (HARBOR, "stale"),
        (CRANE, "active"),
    ]
    assert {one.session_agent_id for one in shown.agents} == {OTTER, HARBOR, CRANE}
    (held,) = shown.reservations
    assert (held.owner, held.liveness, held.label) == (OTTER, "stale", "Gone quiet")
    assert [one.label for one in shown.mine] == ["Needs input"]
    assert shown.counts == StatusCounts(agents=3, reservations=1, pending=1)
    assert shown.health is Health.WARNING
    assert shown.work == (WorkItemView("bb-7", SessionState.NEEDS_INPUT, "Needs input", (OTTER,)),)


def facts(**more: Any) -> Facts:
    usual = {"now": NOON, "stale_millis": minutes(15), "last_activity": NOON, "liveness": "active"}
    return Facts(**{**usual, **more})


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"bead_status": "closed", "agent_state": "stuck"}, "completed"),
        ({"agent_state": "stuck", "answer_owed": True}, "stuck"),
        ({"agent_state": "dead", "bead_status": "blocked"}, "dead"),
        ({"bead_status": "blocked", "liveness": Liveness.EVICTED}, "needs_input"),
        ({"answer_owed": True, "liveness": Liveness.STALE}, "needs_input"),
        ({"liveness": Liveness.EVICTED, "bead_status": "in_progress"}, "evicted"),
        ({"liveness": Liveness.STALE, "bead_status": "in_progress"}, "stale"),
        ({"last_activity": NOON - minutes(15) - 1, "bead_status": "in_progress"}, "stale"),
        ({"last_activity": NOON - minutes(15), "bead_status": "in_progress"}, "active"),
        ({"last_activity": None}, "stale"),
        ({"bead_status": "in_progress"}, "active"),
        ({"bead_status": "open"}, "deciding"),
        ({}, "deciding"),
    ],
)
def test_the_first_fact_that_fits_names_the_state_of_a_work_item(
    known: dict[str, Any], expected: str
) -> None:
    assert session_state(facts(**known)) == expected


def test_every_state_of_a_work_item_has_its_row() -> None:
    assert [state for state, _fits in STATES] == list(SessionState)


def test_work_items_come_from_whoever_works_holds_or_waits() -> None:
    scenario = crew(OTTER, CRANE)
    run(scenario, join(work="bb-1"), OTTER)
    run(scenario, reserve("src", work="bb-2"), CRANE)
    run(scenario, blocked(work="bb-3"), OTTER)
    moment = Moment(scenario.world.clock.now)
    beads = {"bb-2": "closed", "bb-4": "open"}
    shown = {one.work: one.state for one in work_items(scenario.state, moment, beads)}
    assert shown == {"bb-1": "active", "bb-2": "completed", "bb-3": "needs_input", "bb-4": "stale"}


@pytest.mark.parametrize(
    ("alive", "expected"),
    [
        ([], Health.OFFLINE),
        ([Liveness.ACTIVE], Health.ACTIVE),
        ([Liveness.ACTIVE, Liveness.STALE], Health.WARNING),
        ([Liveness.STALE, Liveness.EVICTED, Liveness.ACTIVE], Health.CRITICAL),
    ],
)
def test_the_worst_of_all_speaks_for_the_whole(alive: list[Liveness], expected: Health) -> None:
    assert health(alive) is expected


def test_the_guard_answers_and_writes_nothing() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    before = scenario.history()
    claims = (read_path("src/a.py", ROOT), read_path("docs/b.md", ROOT))
    moment = Moment(scenario.world.clock.now)
    (conflict,) = guard(scenario.state, claims, (CRANE, 1), moment)
    assert (conflict.claim.shown, conflict.held.owner) == ("src/a.py", OTTER)
    assert guard(scenario.state, claims, (OTTER, 1), moment) == ()
    assert guard(scenario.state, claims, (OTTER, 2), moment)[0].verdict.liveness == "evicted"
    assert scenario.history() == before


def test_a_partly_held_folder_is_told_as_such() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/a.py"))
    error = refusal(scenario, reserve("src"), CRANE)
    assert str(error).startswith("src is partly held by amber-otter (src/a.py): active")
