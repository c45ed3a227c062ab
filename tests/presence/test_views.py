"""What people and agents read: status, work items, the guard, the conversation."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from moot.core.text import Quoted
from moot.protocols.presence import commands as ask
from moot.protocols.presence import labels
from moot.protocols.presence.labels import (
    WORK_STATE_LABELS,
    WORK_STATES,
    Health,
    WorkFacts,
    WorkState,
    judge_health,
    judge_work,
)
from moot.protocols.presence.model import EventType, Liveness, ReceiptKind
from moot.protocols.presence.paths import read_path
from moot.protocols.presence.timeline import TimelineRow, make_timeline, read_receipt
from moot.protocols.presence.views import (
    Observation,
    StatusCounts,
    WorkItemView,
    find_blockers,
    view_status,
    view_work_items,
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


def conversation(scenario: Any, work: str) -> tuple[TimelineRow, ...]:
    """As a surface reads it: from the index alone, for one work item."""
    with scenario.world.store.read() as view:
        ids = [row.key.partition(" ")[2] for row in view.rows("presence.work", prefix=f"{work} ")]
        events = [row for one in ids if (row := view.row("presence.events", one)) is not None]
        receipts = [row for one in ids for row in view.rows("presence.receipts", prefix=f"{one} ")]
    return make_timeline(
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
    rows = make_timeline(documents, [])
    assert {row.kind for row in rows} == {str(kind) for kind in EventType}


@pytest.mark.requirement("OPR-005")
def test_every_label_is_plain_language() -> None:
    tables: tuple[dict[Any, str], ...] = (
        labels.EVENT_LABELS,
        labels.RECEIPT_LABELS,
        labels.LIVENESS_LABELS,
        WORK_STATE_LABELS,
    )
    assert set(labels.EVENT_LABELS) == set(EventType)
    assert set(labels.RECEIPT_LABELS) == set(ReceiptKind)
    assert set(labels.LIVENESS_LABELS) == set(Liveness)
    assert set(WORK_STATE_LABELS) == set(WorkState)
    single = (labels.REFUSED, labels.NOT_HERE, labels.LEFT)
    for label in (*single, *(text for table in tables for text in table.values())):
        assert re.fullmatch(r"[A-Z][a-z]+( [a-z]+)*", label), label
    assert labels.REFUSED == "Refused"  # B-28


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
    shown = view_status(scenario.state, Observation(now, seen), CRANE)
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
    assert shown.work == (
        WorkItemView(Quoted("bb-7"), WorkState.NEEDS_INPUT, "Needs input", (OTTER,)),
    )


def facts(**more: Any) -> WorkFacts:
    usual = {"now": NOON, "stale_millis": minutes(15), "last_activity": NOON, "liveness": "active"}
    return WorkFacts(**{**usual, **more})


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
    assert judge_work(facts(**known)) == expected


def test_every_state_of_a_work_item_has_its_row() -> None:
    assert [state for state, _fits in WORK_STATES] == list(WorkState)


def test_work_items_come_from_agents_that_work_hold_or_wait() -> None:
    scenario = crew(OTTER, CRANE)
    run(scenario, join(work="bb-1"), OTTER)
    run(scenario, reserve("src", work="bb-2"), CRANE)
    run(scenario, blocked(work="bb-3"), OTTER)
    moment = Observation(scenario.world.clock.now)
    beads = {"bb-2": "closed", "bb-4": "open"}
    shown = {one.work: one.state for one in view_work_items(scenario.state, moment, beads)}
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
    assert judge_health(alive) is expected


def test_the_guard_answers_and_writes_nothing() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    before = scenario.history()
    claims = (read_path("src/a.py", ROOT), read_path("docs/b.md", ROOT))
    moment = Observation(scenario.world.clock.now)
    (conflict,) = find_blockers(scenario.state, claims, (CRANE, 1), moment)
    assert (conflict.claim.shown, conflict.held.owner) == ("src/a.py", OTTER)
    assert find_blockers(scenario.state, claims, (OTTER, 1), moment) == ()
    assert (
        find_blockers(scenario.state, claims, (OTTER, 2), moment)[0].verdict.liveness == "evicted"
    )
    assert scenario.history() == before


def test_a_partly_held_folder_is_reported_as_such() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src/a.py"))
    error = refusal(scenario, reserve("src"), CRANE)
    assert str(error).startswith("src is partly held by amber-otter (src/a.py): active")
