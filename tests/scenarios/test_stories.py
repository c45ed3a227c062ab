"""Every story through every transport; each does exactly what it says it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api.operation import OPERATIONS, all_operations
from moot.surfaces.web.routes import ROUTES
from tests.cli.founding import found
from tests.cli.project import Project
from tests.scenarios import stories
from tests.scenarios.mcp_transport import McpTools
from tests.scenarios.transports import HTTP, TRANSPORTS, Transport
from tests.scenarios.world import PASSPHRASE, STORIES, Story, World

assert stories


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A workspace with a person and two agents."""
    root, file = tmp_path / "project", tmp_path / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    made = Project(root, tmp_path / "keys")
    found(made, "amber-otter", "teal-crane", MOOT_PASSPHRASE_FILE=str(file))
    return made


def may_go_by_http(story: Story) -> bool:
    offered = {route.operation for route in ROUTES}
    return not offered.isdisjoint(story.does | story.refuses)


def test_http_tells_what_it_offers() -> None:
    """Every operation behind an address stands in a story that goes this way."""
    all_operations()
    told = frozenset[str]().union(*(each.does for each in STORIES if may_go_by_http(each)))
    unheard = {
        route.operation
        for route in ROUTES
        if told.isdisjoint((route.operation, *OPERATIONS[route.operation].also))
    }
    assert unheard == set()


WAYS: dict[str, Transport] = {**TRANSPORTS, "mcp": McpTools()}


@pytest.mark.parametrize("transport", WAYS)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way(project: Project, story: Story, transport: str) -> None:
    way = WAYS[transport]
    if not all(way.offers(operation) for operation in story.does | story.refuses):
        return  # another transport tells it
    if transport == "http" and not may_go_by_http(story):
        return  # nothing of it is offered there: the library tells it
    world = World(project, way)
    try:
        story.tell(world)
    finally:
        HTTP.close()
    assert (world.done, world.refused) == (set(story.does), set(story.refuses))
