"""Every story where each agent has a key folder of its own, as `moot run` lends it: what needs the
ledger's own key the run does, by the same rules, so that every story goes the same way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.project import Project
from tests.scenarios import stories
from tests.scenarios.test_stories import project
from tests.scenarios.transports import OWN_FOLDER
from tests.scenarios.world import STORIES, Story, World

assert stories
assert project


@pytest.fixture(autouse=True)
def _lenders_end() -> Iterator[None]:
    yield
    OWN_FOLDER.close()


# Where the workspace is taken away, no run is left that could lend a folder.
TOLD_HERE = [
    story
    for story in STORIES
    if "ledger.forget" not in story.does and all(map(OWN_FOLDER.offers, story.does | story.refuses))
]


@pytest.mark.parametrize("story", TOLD_HERE, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way_in_an_agents_own_folder(
    project: Project,
    story: Story,
) -> None:
    world = World(project, OWN_FOLDER)
    story.tell(world)
    assert (world.done, world.refused) == (set(story.does), set(story.refuses))
