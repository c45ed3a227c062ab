"""What an unnamed caller does in a story, an agent tries in its own folder and in the user's: it is
let or refused alike, so that the folder takes nothing from it and gives it nothing.

Each try happens in a copy of the story's moment, which is put back before the story goes on.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from moot.api.operation import OPERATIONS, all_operations
from tests.project import Project
from tests.scenarios import stories
from tests.scenarios.test_stories import project
from tests.scenarios.transports import TRANSPORTS, Arguments, Caller, OwnFolder, Reply
from tests.scenarios.world import STORIES, Story, World

assert stories
assert project
assert all_operations()  # this loads them: an operation that is not known is not tried

AGENT = "amber-otter"
# What an agent may do with all the user's keys and not in its own folder: a reason each.
REFUSED_THERE: Final[dict[tuple[str, str], str]] = {
    ("trace.run", "key_missing"): "it starts programs, which no run does for its program",
}


class Moments:
    """Puts a project back to an earlier moment, files and keys."""

    def __init__(self, project: Project, place: Path) -> None:
        self._folders = {project.root: place / "root", project.keys: place / "keys"}

    def keep(self) -> None:
        for folder, kept in self._folders.items():
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, symlinks=True)

    def put_back(self) -> None:
        for folder, kept in self._folders.items():
            shutil.rmtree(folder)
            shutil.copytree(kept, folder, symlinks=True)


# Under a keeper, which has the file open, nothing can be put back.
AT_A_KEEPER: Final = frozenset(
    {
        *("init.join", "invite", "admit", "machine.revoke", "machine.leave"),
        *("machine.move_here", "machine.hand_over"),
    }
)
TELLABLE = [story for story in STORIES if AT_A_KEEPER.isdisjoint(story.does)]


def tried_first(story: Story) -> frozenset[str]:
    """What is done, or seen refused, in no story before this one: each is tried somewhere."""
    before = TELLABLE[: TELLABLE.index(story)]
    done = story.does.difference(*(one.does for one in before))
    return done | story.refuses.difference(*(one.refuses for one in before))


class Trying(OwnFolder):
    """Lets the agent try what the unnamed caller is about to do, until it was let do it once."""

    def __init__(self, moments: Moments, operations: frozenset[str]) -> None:
        super().__init__()
        self._moments = moments
        self._operations = operations
        # operation -> the errors with the user's keys and in its own folder; None: it was done
        self.tried: dict[str, list[tuple[str | None, str | None]]] = {}

    def call(self, caller: Caller, operation: str, arguments: Arguments) -> Reply:
        entry = OPERATIONS.get(operation)
        unnamed = caller.acting is None and caller.passphrase is None
        was_done = any(error is None for error, _ in self.tried.get(operation, ()))
        wanted = operation in self._operations and not was_done
        if unnamed and entry is not None and entry.writes and wanted:
            self._try(caller._replace(acting=AGENT), operation, arguments)
        return TRANSPORTS["command line"].call(caller, operation, arguments)

    def _try(self, caller: Caller, operation: str, arguments: Arguments) -> None:
        if not caller.project.ledger.exists():
            return
        self._moments.keep()
        world = World(caller.project, self)
        before = world.events()
        own = super().call(caller, operation, arguments)
        assert (operation, own.error) not in REFUSED_THERE or world.events() == before
        self.close()
        self._moments.put_back()
        users = TRANSPORTS["command line"].call(caller, operation, arguments)
        self._moments.put_back()
        self.tried.setdefault(operation, []).append((users.error, own.error))


@pytest.fixture
def moments(
    project: Project,
    tmp_path: Path,
) -> Moments:
    return Moments(project, tmp_path / "moment")


def has_something_to_try(story: Story) -> bool:
    writes = any(name in OPERATIONS and OPERATIONS[name].writes for name in tried_first(story))
    is_offered = all(map(OwnFolder().offers, story.does | story.refuses))
    return writes and is_offered


TOLD_HERE = list(filter(has_something_to_try, TELLABLE))


@pytest.mark.parametrize("story", TOLD_HERE, ids=lambda story: story.tell.__name__)
def test_an_agent_is_let_or_refused_alike_in_its_own_folder(
    project: Project,
    moments: Moments,
    story: Story,
) -> None:
    trying = Trying(moments, tried_first(story))
    story.tell(World(project, trying))
    unlike = {
        (operation, *errors)
        for operation, tries in trying.tried.items()
        for errors in tries
        if errors[0] != errors[1] and (operation, errors[1]) not in REFUSED_THERE
    }
    assert unlike == set()


def test_every_story_that_writes_something_new_is_among_them() -> None:
    tried = frozenset[str]().union(*map(tried_first, TOLD_HERE))
    written = {name for name, entry in OPERATIONS.items() if entry.writes}
    offered = {name for story in STORIES for name in story.does if OwnFolder().offers(name)}
    assert written & offered <= tried | AT_A_KEEPER
