"""`moot keep` as people and service managers run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.plugin import check_data
from tests.hosts.keeper_process import KeeperProcess
from tests.project import Project, make_project


@pytest.fixture
def founded(tmp_path: Path) -> Project:
    return make_project(tmp_path / "kept")


def machine(tmp_path: Path, name: str) -> Project:
    return Project(tmp_path / name / "project", tmp_path / name / "keys")


def test_a_service_manager_ends_it_and_the_answer_is_one_envelope(founded: Project) -> None:
    keeper = KeeperProcess(founded, 0, "--json")
    code, out = keeper.end()
    envelope = json.loads(out)
    assert (code, envelope["ok"], envelope["command"]) == (0, True, "keep")
    assert envelope["data"]["address"] == f"127.0.0.1:{keeper.port}"
    check_data("keep", envelope["data"])


def test_machines_find_it_again_after_it_was_started_again(
    founded: Project, tmp_path: Path
) -> None:
    keeper = KeeperProcess(founded)
    laptop = keeper.join(machine(tmp_path, "laptop"), "laptop")
    laptop.ok("agent", "register", "amber-otter")
    keeper.end()
    away = laptop.refused("reserve", "src", MOOT_AGENT="amber-otter")
    assert away == ("keeper_away", 4)
    again = keeper.again()
    try:
        assert again.fingerprint == keeper.fingerprint
        laptop.ok("reserve", "src", MOOT_AGENT="amber-otter")
    finally:
        again.end()
    assert [row["scope"] for row in founded.ok("scope", "list")["reservations"]] == ["src"]


def test_an_agent_and_a_machine_that_joined_keep_nothing(founded: Project, tmp_path: Path) -> None:
    founded.ok("agent", "register", "coral-finch")
    assert founded.refused("--as", "coral-finch", "keep") == ("human_key_required", 1)
    keeper = KeeperProcess(founded)
    try:
        laptop = keeper.join(machine(tmp_path, "laptop"), "laptop")
        assert laptop.refused("keep") == ("kept_elsewhere", 1)
        assert laptop.refused("invite") == ("kept_elsewhere", 1)
        assert laptop.refused("ledger", "move", "postgresql://x/y") == ("kept_elsewhere", 1)
    finally:
        keeper.end()
