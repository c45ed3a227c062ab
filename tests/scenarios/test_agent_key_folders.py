"""Every story where each agent has a key folder of its own, as `moot run` lends it: what needs the
ledger's own key the run does, by the same rules, so that every story goes the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.project import Project
from tests.scenarios import stories
from tests.scenarios.test_stories import project
from tests.scenarios.transports import OWN_FOLDER
from tests.scenarios.world import STORIES, Story, World, tell

assert stories
assert project


@pytest.fixture(autouse=True)
def _lenders_end() -> Iterator[None]:
    yield
    OWN_FOLDER.close()


# Where no agent acts, nobody has been lent a folder.
NO_AGENT_ACTS = frozenset(
    [
        "a_checkpoint_is_made_once_for_the_same_events",
        "a_code_is_explained",
        "a_name_is_given_once",
        "a_program_runs_as_an_agent_and_leaves_nothing_behind",
        "a_stored_file_is_shown_and_erased",
        "a_text_is_checked_and_fixed",
        "a_time_limit_takes_effect_when_somebody_asks_for_it",
        "a_workspace_is_made_once",
        "all_pages_stand_in_one_folder",
        "copies_prove_something_elsewhere",
        "everything_of_every_tool_is_taken_out_at_once",
        "hooks_are_installed_and_taken_out_again",
        "indexes_are_rebuilt",
        "people_are_told_that_a_debate_waits",
        "the_record_is_listed_and_checked",
        "time_limits_are_applied_with_the_root_key",
        "two_copies_of_one_ledger_are_compared",
        "two_scopes_are_compared",
        "whether_hooks_are_on_is_told_and_tried",
        "who_lost_a_scope_is_told",
    ]
)
# Where the workspace is taken away, no run is left that could lend one.
TOLD_HERE = [
    story
    for story in STORIES
    if "ledger.forget" not in story.does
    and story.tell.__name__ not in NO_AGENT_ACTS
    and OWN_FOLDER.may_tell(story.does | story.refuses)
]


@pytest.mark.parametrize("story", TOLD_HERE, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way_in_an_agents_own_folder(
    project: Project, story: Story, record_property: Callable[[str, object], None]
) -> None:
    tell(story, World(project, OWN_FOLDER))
    record_property("told by", "own folder")
