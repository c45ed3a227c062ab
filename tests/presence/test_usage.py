"""What the tools of a run have used, as the record takes it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.checks import MAX_USAGE
from moot.protocols.presence.machine import USAGE
from tests.presence.scene import OTTER, crew

COUNTS: dict[str, Any] = {
    "tools": ("claude",),
    "calls": 3,
    "tokens_in": 100,
    "tokens_out": 20,
    "micros": 250_000,
    "unpriced": 1,
}


def test_it_is_recorded_as_it_is_and_found_by_the_order_of_the_record() -> None:
    scenario = crew(OTTER)
    members = scenario.state.members
    scenario.when(ask.NoteUsage(**COUNTS, work="T-7"), ask.NoteUsage(**COUNTS))
    scenario.then(
        did.UsageNoted(**COUNTS, work="T-7"),
        did.UsageNoted(**COUNTS, work=None),
    )
    assert [member.name for member in scenario.state.members] == [one.name for one in members]
    with scenario.world.engine.store.read() as view:
        rows = [msgspec.json.decode(row.value) for row in view.rows(USAGE)]
    assert [(row["agent"], row["work"], row["calls"]) for row in rows] == [
        (OTTER, "T-7", 3),
        (OTTER, None, 3),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"calls": -1},
        {"tokens_in": -1},
        {"tokens_out": MAX_USAGE + 1},
        {"micros": -1},
        {"unpriced": 4},
    ],
)
def test_what_cannot_have_been_used_is_refused(wrong: dict[str, int]) -> None:
    crew(OTTER).refused("bad_usage", ask.NoteUsage(**{**COUNTS, **wrong}))


def test_work_that_is_no_id_is_refused() -> None:
    crew(OTTER).refused("bad_work", ask.NoteUsage(**COUNTS, work="two words"))
