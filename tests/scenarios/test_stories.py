"""Every story through every transport that carries a part of it; each does exactly what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from moot.api.operation import OPERATIONS, all_operations
from moot.surfaces.web.routes import ROUTES
from tests.project import Project
from tests.scenarios import stories
from tests.scenarios.mcp_transport import McpTools
from tests.scenarios.transports import HTTP, TRANSPORTS, Transport
from tests.scenarios.world import PASSPHRASE, STORIES, Story, World, tell

assert stories


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A workspace with a person and two agents."""
    root, file = tmp_path / "project", tmp_path / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    made = Project(root, tmp_path / "keys")
    made.init("amber-otter", "teal-crane", MOOT_PASSPHRASE_FILE=str(file))
    return made


WAYS: Final[dict[str, Transport]] = {**TRANSPORTS, "mcp": McpTools()}
# Stories of operations that a transport offers, of which it carries none: a reason each.
NOT_CARRIED: Final[dict[str, dict[str, str]]] = {
    "http": {
        "a_notice_is_an_event_and_a_message_in_one": "agents read, and a page reads for nobody",
        "agents_at_work_decide_a_question_without_a_runner": "the same",
        "copies_prove_something_elsewhere": "it shows a file of trust, which no address names",
    },
    "mcp": {
        "participants_argue_a_debate_to_its_end": "a person starts it, and programs speak",
        "copies_prove_something_elsewhere": "it checks a file, which no tool takes",
        "a_debate_moves_from_one_machine_to_another": "people write and move it",
        "contributions_become_one_artifact": "its messages have types, which no tool takes",
        "participants_work_on_a_trace": "a person opens it, and programs work",
        "a_session_is_held_in_few_words": "its short forms are commands",
        "everything_is_found_by_its_words": "its messages and its pages are read at a screen",
        "a_trace_is_shown_with_who_plays_which_part": "a person opens it and looks at a screen",
    },
}
TOLD: Final = {
    name: [
        story
        for story in STORIES
        if way.may_tell(story.does | story.refuses)
        and story.tell.__name__ not in NOT_CARRIED.get(name, ())
    ]
    for name, way in WAYS.items()
}


def test_http_tells_what_it_offers() -> None:
    """Every operation behind an address is in a story that goes this way."""
    all_operations()
    told = frozenset[str]().union(*(each.does for each in TOLD["http"]))
    unheard = {
        route.operation
        for route in ROUTES
        if told.isdisjoint((route.operation, *OPERATIONS[route.operation].also))
    }
    assert unheard == set()


@pytest.mark.parametrize(
    ("story", "transport"),
    [
        pytest.param(story, name, id=f"{story.tell.__name__}-{name}")
        for name in TOLD
        for story in TOLD[name]
    ],
)
def test_the_story_goes_the_same_way(
    project: Project,
    story: Story,
    transport: str,
    record_property: Callable[[str, object], None],
) -> None:
    try:
        tell(story, World(project, WAYS[transport]))
    finally:
        HTTP.close()
    record_property("told by", transport)
