"""Every story of the library, on a machine that has joined a ledger that is kept elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hosts.kept_ledger import KeptLedger
from tests.project import Project
from tests.scenarios import stories
from tests.scenarios.transports import TRANSPORTS
from tests.scenarios.world import PASSPHRASE, STORIES, Story, World, tell

assert stories


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[Project]:
    """A machine that joined, with two agents and a person whose locked key was copied to it."""
    root, file = tmp_path / "kept" / "project", tmp_path / "passphrase"
    root.mkdir(parents=True)
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    kept = Project(root, tmp_path / "kept" / "keys")
    kept.init(MOOT_PASSPHRASE_FILE=str(file))
    ledger = KeptLedger(kept)
    try:
        project = ledger.join(tmp_path / "project", tmp_path / "keys", "laptop")
        for locked in kept.keys.glob("*/operator.*.key"):
            shutil.copy(locked, project.keys / locked.parent.name / locked.name)
        project.ok("agent", "register", "amber-otter")
        project.ok("agent", "register", "teal-crane")
        yield project
    finally:
        ledger.close()


# Stories about what only the machine that keeps the ledger has or may do.
ONLY_WHERE_KEPT = {
    "a_person_approves_what_was_carried": "it has the ledger sign an in-toto statement",
    "a_name_is_given_once": "it enters a key of another folder; a machine is one custodian",
    "keys_are_renewed_and_revoked": "it revokes without a person, as the ledger",
    "a_stored_file_is_shown_and_erased": "it erases without a person, as the ledger",
    "a_person_goes_on_from_an_older_copy": "an older copy here is no loss: the keeper has it",
    "a_workspace_is_made_once": "it founds a ledger",
    "a_machine_joins_and_is_taken_off": "only the machine that keeps a ledger invites",
    "a_person_is_admitted_from_another_machine": "only the machine that keeps a ledger invites",
    "a_machine_leaves_and_comes_back": "only the machine that keeps a ledger invites",
    "a_debate_moves_from_one_machine_to_another": "only the machine that keeps a ledger invites",
    "the_ledger_moves_into_a_database_and_back": "it moves where it is kept",
    "time_limits_are_applied_with_the_root_key": "it takes the root key away",
    "a_time_limit_takes_effect_when_somebody_asks_for_it": "it takes the root key away",
}
ELSEWHERE = [story for story in STORIES if story.tell.__name__ not in ONLY_WHERE_KEPT]


def test_every_story_left_out_is_one() -> None:
    assert len(ELSEWHERE) == len(STORIES) - len(ONLY_WHERE_KEPT)


@pytest.mark.thorough
@pytest.mark.parametrize("story", ELSEWHERE, ids=lambda story: story.tell.__name__)
def test_the_story_goes_the_same_way_on_a_machine_that_joined(
    joined: Project, story: Story, record_property: Callable[[str, object], None]
) -> None:
    tell(story, World(joined, TRANSPORTS["library"]))
    record_property("told by", "joined machine")
