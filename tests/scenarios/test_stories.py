"""Every story through every transport; each does exactly what it says it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.keys.cheap_locks import make_locks_cheap
from tests.scenarios import stories
from tests.scenarios.mcp_transport import McpTools
from tests.scenarios.transports import TRANSPORTS, Transport
from tests.scenarios.world import PASSPHRASE, STORIES, Story, World

assert stories


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A workspace with a person and two agents."""
    make_locks_cheap(monkeypatch)
    root, file = tmp_path / "project", tmp_path / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    made = Project(root, tmp_path / "keys")
    made.ok("init", MOOT_PASSPHRASE_FILE=str(file))
    made.ok("agent", "register", "amber-otter")
    made.ok("agent", "register", "teal-crane")
    return made


WAYS: dict[str, Transport] = {**TRANSPORTS, "mcp": McpTools()}


@pytest.mark.parametrize("transport", WAYS)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way(project: Project, story: Story, transport: str) -> None:
    way = WAYS[transport]
    if not all(way.offers(operation) for operation in story.does | story.refuses):
        return  # another transport tells it
    world = World(project, way)
    story.tell(world)
    assert (world.done, world.refused) == (set(story.does), set(story.refuses))
