"""What `moot ask` takes from the user's own settings, and never from a repository's."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api.decisions.operations import fill_from_settings
from moot.api.decisions.questions import Question
from tests.project import Project

VOICES = "amber-otter=rules:approve,teal-crane=rules:reject"
OWN = f'[ask]\nparticipants = "{VOICES}"\nrule = "unanimous"\nchoose = "borda"\n'

pytestmark = pytest.mark.requirement("DEC-040")


@pytest.fixture
def own(project: Project, tmp_path: Path) -> Project:
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    project.env["MOOT_CONFIG"] = str(file)
    return project


def test_the_users_own_file_says_whom_to_ask_and_how(own: Project) -> None:
    data = own.ok("ask", "Ship it?")["decision"]
    assert [seat["agent"] for seat in data["participants"]] == ["amber-otter", "teal-crane"]
    assert data["rule"] == "unanimous"


def test_the_users_own_file_says_how_a_motion_is_chosen(own: Project) -> None:
    filled = fill_from_settings(Question("Ship it?", ()), own.root, own.env)
    assert (filled.participants, filled.choose) == ((VOICES,), "borda")
    said = fill_from_settings(Question("Ship it?", (), choose="condorcet"), own.root, own.env)
    assert said.choose == "condorcet"


def test_what_is_said_on_the_command_line_counts_more(own: Project) -> None:
    words = ("ask", "Ship it?", "--with", "rules:approve,rules:neutral,rules:approve")
    data = own.ok(*words, "--rule", "majority", "--choose", "most-frequent")["decision"]
    assert len(data["participants"]) == 3
    assert data["rule"] == "majority"


def test_a_choice_of_ones_own_does_not_concern_a_parliament(own: Project) -> None:
    data = own.json("ask", "Ship it?", "--chamber", "parliament", "--max-turns", "2").data
    assert data["decision"]["chamber"] == "parliament"


@pytest.mark.parametrize("key", ["participants", "rule", "choose"])
def test_a_repository_names_no_participants(project: Project, key: str) -> None:
    values = {"participants": "cmd:evil", "rule": "unanimous", "choose": "borda"}
    file = project.root / "moot.toml"
    file.write_text(f'[ask]\n{key} = "{values[key]}"\n', encoding="utf-8")
    agents = project.ok("agent", "list")
    refused = project.refused("ask", "Ship it?", "--with", "rules:approve,rules:reject")
    assert refused == ("bad_setting", 1)
    assert project.ok("agent", "list") == agents  # nobody got a name for it


def test_without_anybody_nobody_is_asked(project: Project) -> None:
    assert project.refused("ask", "Ship it?") == ("usage", 2)
