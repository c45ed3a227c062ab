"""Every story of the library on a ledger that lies in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project import Project
from tests.scenarios import stories
from tests.scenarios.transports import TRANSPORTS
from tests.scenarios.world import PASSPHRASE, STORIES, Story, World, tell
from tests.store.postgres_server import server_url

assert stories


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A workspace with a person and two agents; its ledger has moved."""
    root, file = tmp_path / "project", tmp_path / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    made = Project(root, tmp_path / "keys")
    made.ok("init", MOOT_PASSPHRASE_FILE=str(file))
    made.ok("ledger", "move", server_url())
    made.ok("agent", "register", "amber-otter")
    made.ok("agent", "register", "teal-crane")
    return made


# Stories about the ledger's file.
ABOUT_ITS_FILE = {
    "the_ledger_moves_into_a_database_and_back": "it begins with a file",
    "a_person_goes_on_from_an_older_copy": "it puts an older file in its place",
    "indexes_are_rebuilt": "it takes the file away",
    "the_hooks_go_and_the_record_stays": "it looks for the file",
}
THERE = [story for story in STORIES if story.tell.__name__ not in ABOUT_ITS_FILE]


def test_every_story_left_out_is_one() -> None:
    assert len(THERE) == len(STORIES) - len(ABOUT_ITS_FILE)


@pytest.mark.thorough
@pytest.mark.parametrize("story", THERE, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way_on_a_ledger_in_postgresql(
    project: Project, story: Story, record_property: Callable[[str, object], None]
) -> None:
    tell(story, World(project, TRANSPORTS["library"]))
    record_property("told by", "PostgreSQL")
