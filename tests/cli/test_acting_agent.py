"""Who acts: a name is nothing without its key, and nobody acts for somebody else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.project import MOOT, Project


def events(project: Project) -> int:
    count: int = project.ok("status")["record"]["events"]
    return count


BEAT = ("agent", "heartbeat")


def test_nobody_named_is_refused(project: Project) -> None:
    assert project.refused(*BEAT) == ("actor_required", 1)


def test_the_option_names_who_acts(project: Project) -> None:
    assert project.ok(*BEAT, "--agent", "amber-otter")["agent"] == "amber-otter"


def test_as_and_the_environment_name_who_acts(project: Project) -> None:
    assert project.ok("--as", "amber-otter", *BEAT)["agent"] == "amber-otter"
    assert project.ok(*BEAT, MOOT_AGENT="teal-crane")["agent"] == "teal-crane"
    both = project.ok("--as", "teal-crane", *BEAT, MOOT_AGENT="teal-crane")
    assert both["agent"] == "teal-crane"


def test_as_that_contradicts_the_environment_is_refused(project: Project) -> None:
    before = project.ok("status")["agents"]
    refused = project.refused("--as", "amber-otter", *BEAT, MOOT_AGENT="teal-crane")
    assert refused == ("not_you", 1)
    seen = [one["last_seen_at"] for one in project.ok("status")["agents"]]
    assert seen == [one["last_seen_at"] for one in before]


@pytest.mark.parametrize("way", ["option", "environment"])
def test_naming_somebody_else_is_refused(project: Project, way: str) -> None:
    words = (*BEAT, "--agent", "teal-crane")
    before = project.ok("status")["agents"]
    if way == "option":
        refused = project.refused("--as", "amber-otter", *words)
    else:
        refused = project.refused(*words, MOOT_AGENT="amber-otter")
    assert refused == ("not_you", 1)
    seen = [one["last_seen_at"] for one in project.ok("status")["agents"]]
    assert seen == [one["last_seen_at"] for one in before]


def test_reading_for_somebody_else_is_allowed(project: Project) -> None:
    project.ok("agenda", "--agent", "teal-crane", MOOT_AGENT="amber-otter")
    project.ok("agent", "show", "teal-crane", MOOT_AGENT="amber-otter")


def test_a_name_without_its_key_is_nothing(project: Project, tmp_path: Path) -> None:
    settings = {"MOOT_KEYS": str(tmp_path / "other")}
    assert project.refused(*BEAT, "--agent", "amber-otter", **settings) == ("key_missing", 1)
    assert not (tmp_path / "other").exists()


def test_an_agent_may_have_a_key_folder_of_its_own(project: Project, tmp_path: Path) -> None:
    own = tmp_path / "otter's own"
    project.ok("agent", "register", "coral-finch", "--keys", str(own))
    words = (*BEAT, "--agent", "coral-finch")
    assert project.refused(*words) == ("key_missing", 1)
    assert project.ok(*words, MOOT_KEYS=str(own))["agent"] == "coral-finch"
    verdict = project.ok("verify", MOOT_KEYS=str(own))
    assert verdict["verdict"] == "valid"
    assert "3 agents, 2 custodians" in verdict["custody"]


def test_anyone_who_lacks_the_root_key_cannot_register(project: Project, tmp_path: Path) -> None:
    before = events(project)
    settings = {"MOOT_KEYS": str(tmp_path / "other")}
    refused = project.refused("agent", "register", "coral-finch", **settings)
    assert refused == ("key_missing", 1)
    assert events(project) == before
    assert not list((tmp_path / "other").glob("*/*.key"))


def test_a_key_that_others_may_read_is_not_used(project: Project) -> None:
    (file,) = project.keys.glob("*/amber-otter.*.key")
    file.chmod(0o644)
    assert project.refused(*BEAT, "--agent", "amber-otter") == ("key_exposed", 1)
    file.chmod(0o600)
    project.ok(*BEAT, "--agent", "amber-otter")


def test_a_retired_agent_acts_no_more(project: Project) -> None:
    project.ok("agent", "retire", "amber-otter")
    assert project.refused(*BEAT, "--agent", "amber-otter") == ("agent_retired", 1)


def test_a_rotated_agent_acts_with_its_new_key(project: Project) -> None:
    old = project.ok("agent", "show", "amber-otter")["kid"]
    new = project.ok("agent", "rotate", "amber-otter")["kid"]
    assert old != new
    project.ok(*BEAT, "--agent", "amber-otter")
    assert project.ok("verify")["verdict"] == "valid"


def test_a_reason_may_be_a_file_or_standard_input(project: Project) -> None:
    (project.root / "why.txt").write_text("a long story\nin two lines")
    project.ok("agent", "retire", "amber-otter", "--reason", "@why.txt")
    words = ("ledger", "log", "registry", "--type", "registry.agent_retired")
    (event,) = project.ok(*words)["events"]
    assert event["data"]["reason"] == "a long story\nin two lines"
    assert project.spawn("agent", "rotate", "teal-crane", "--reason", "-").code == 0
    (event,) = project.ok(*words[:-1], "registry.key_rotated")["events"]
    assert event["data"]["reason"] == ""
    (project.root / "why.txt").write_text("two lines end it\n\n")
    project.ok("agent", "rotate", "teal-crane", "--reason", "@why.txt")
    echoed = subprocess.run(
        [*MOOT, "agent", "rotate", "teal-crane", "--reason", "-"],
        cwd=project.root,
        env=project.env,
        input=b"as echo says it\r\n",
        capture_output=True,
        check=False,
    )
    assert echoed.returncode == 0, echoed
    rotated = project.ok(*words[:-1], "registry.key_rotated")["events"]
    reasons = {event["data"]["reason"] for event in rotated}
    assert reasons == {"", "two lines end it\n", "as echo says it"}
    missing = project.refused("agent", "revoke", "teal-crane", "--reason", "@none")
    assert missing == ("unreadable_file", 4)


@pytest.mark.parametrize(
    "words",
    [
        ("retire", "teal-crane"),
        ("rotate", "teal-crane"),
        ("revoke", "teal-crane", "--reason", "in my way"),
    ],
)
def test_an_agent_ends_or_renews_nobody_but_itself(
    project: Project, words: tuple[str, ...]
) -> None:
    before = events(project), project.ok("agent", "show", "teal-crane")["kid"]
    assert project.refused("agent", *words, MOOT_AGENT="amber-otter") == ("not_you", 1)
    assert (events(project), project.ok("agent", "show", "teal-crane")["kid"]) == before
    assert project.ok("agent", "retire", "amber-otter", MOOT_AGENT="amber-otter")
