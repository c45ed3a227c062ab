"""No operation without a story, no writing one that is never seen refused."""

from __future__ import annotations

from moot.api.operation import all_operations
from tests.scenarios import stories
from tests.scenarios.world import STORIES

assert stories

# Operations whose refusal is no refusal of a rule: a reason each.
NEVER_REFUSED: dict[str, str] = {}


def test_every_operation_is_in_a_story() -> None:
    told = frozenset[str]().union(*(story.does for story in STORIES))
    untold = [
        entry.name for entry in all_operations() if told.isdisjoint((entry.name, *entry.also))
    ]
    assert untold == []


def test_every_writing_operation_is_refused_in_a_story() -> None:
    refused = frozenset[str]().union(*(story.refuses for story in STORIES))
    unrefused = [
        entry.name
        for entry in all_operations()
        if entry.writes and refused.isdisjoint((entry.name, *entry.also))
    ]
    assert unrefused == sorted(NEVER_REFUSED)
