"""No operation without a story, no writing one that is never seen refused."""

from __future__ import annotations

from moot.api.operation import OPERATIONS, all_operations
from moot.surfaces.mcp.actions import ACTIONS
from tests.hosts import test_joined_stories, test_postgres_stories
from tests.scenarios import stories, test_agent_key_folders, test_stories
from tests.scenarios.transports import TRANSPORTS
from tests.scenarios.world import STORIES

assert stories

# Operations whose refusal is no refusal of a rule: a reason each.
NEVER_REFUSED: dict[str, str] = {}
# Operations that the command line does not offer: a reason each.
LIBRARY_ALONE: dict[str, str] = {
    "hook.before_edit": "asked by `moot hook TOOL`, which answers in the tool's own JSON",
    "hook.before_command": "asked by `moot hook TOOL`",
    "hook.after_read": "asked by `moot hook TOOL`",
    "hook.before_commit": "asked by `moot hook git`, which answers git by its exit code",
    "hook.start_session": "asked by `moot hook TOOL`",
    "hook.after_call": "asked by `moot hook TOOL`",
    "hook.wants_to_stop": "asked by `moot hook TOOL`",
    "hook.take_waiting": "asked by `moot hook TOOL`",
    "hook.end_session": "asked by `moot hook TOOL`",
    "hook.end_sub_agent": "asked by `moot hook TOOL`",
    "sessions": "a screen of `moot serve`",
    "conversation": "a screen of `moot serve`",
    "mail.list": "a screen of `moot serve`",
    "decision.list": "a screen of `moot serve`",
    "decision.show": "a screen of `moot serve`",
    "search": "a screen of `moot serve`",
}


# How many stories each way tells: a number here may grow, and never fall.
AT_LEAST = {
    "library": 93,
    "command line": 77,
    "http": 25,
    "mcp": 37,
    "own folder": 56,
    "joined machine": 80,
    "PostgreSQL": 89,
}


def test_no_way_tells_fewer_stories() -> None:
    told = {
        **{name: len(those) for name, those in test_stories.TOLD.items()},
        "own folder": len(test_agent_key_folders.TOLD_HERE),
        "joined machine": len(test_joined_stories.ELSEWHERE),
        "PostgreSQL": len(test_postgres_stories.THERE),
    }
    assert {name: told[name] for name in AT_LEAST if told[name] < AT_LEAST[name]} == {}
    assert told.keys() == AT_LEAST.keys()


def test_every_story_that_is_left_out_is_one() -> None:
    left_out = test_agent_key_folders.NO_AGENT_ACTS.union(*test_stories.NOT_CARRIED.values())
    assert left_out <= {story.tell.__name__ for story in STORIES}


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


def test_every_operation_that_a_tool_offers_is_told_by_an_agent_in_a_story() -> None:
    offered = {
        OPERATIONS[action.operation].name
        for actions in ACTIONS.values()
        for action in actions.values()
        if not action.in_shell
    }
    told = frozenset[str]().union(*(story.does for story in test_stories.TOLD["mcp"]))
    assert offered <= {OPERATIONS[name].name for name in told}


def test_what_only_the_library_offers_is_listed_with_its_reason() -> None:
    way = TRANSPORTS["command line"]
    alone = [
        entry.name
        for entry in all_operations()
        if not any(way.offers(name) for name in (entry.name, *entry.also))
    ]
    assert sorted(alone) == sorted(LIBRARY_ALONE)
