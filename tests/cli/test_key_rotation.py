"""A new key for an old name: who consents, and where the key goes."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import pytest

from tests.project import Project

ROTATE = ("agent", "rotate", "amber-otter")
FINCH = ("agent", "rotate", "coral-finch")
BEAT = ("agent", "heartbeat", "--agent")


@pytest.fixture
def peopled(project: Project, people: dict[str, str]) -> Project:
    project.ok("agent", "register", "operator", "--human", **people)
    return project


@pytest.fixture
def apart(peopled: Project, tmp_path: Path) -> Path:
    """The folder in which coral-finch keeps its own key."""
    own = tmp_path / "finch's own"
    peopled.ok("agent", "register", "coral-finch", "--keys", str(own))
    return own


def events(project: Project) -> int:
    count: int = project.ok("status")["record"]["events"]
    return count


def kids(folder: Path, name: str) -> set[str]:
    return {file.name.split(".")[1] for file in folder.glob(f"*/{name}.*.key")}


# Who consents.


def test_the_successor_of_a_revoked_key_is_consented_to_by_a_person(
    peopled: Project, people: dict[str, str]
) -> None:
    peopled.ok("agent", "revoke", "amber-otter", "--reason", "leaked")
    peopled.ok(*ROTATE, **people)
    assert peopled.ok("agent", "show", "amber-otter")["status"] == "active"
    peopled.ok(*BEAT, "amber-otter")
    assert peopled.ok("verify")["verdict"] == "valid"


def test_a_revoked_key_consents_to_nothing_itself(peopled: Project) -> None:
    peopled.ok("agent", "revoke", "amber-otter", "--reason", "leaked")
    before = events(peopled), kids(peopled.keys, "amber-otter")
    assert peopled.refused(*ROTATE) == ("human_key_required", 1)
    assert peopled.refused(*ROTATE, MOOT_AGENT="amber-otter") == ("not_endorsed", 1)
    assert (events(peopled), kids(peopled.keys, "amber-otter")) == before


def test_without_any_person_the_hint_says_how_there_can_be_one(project: Project) -> None:
    project.ok("agent", "revoke", "amber-otter", "--reason", "leaked")
    error = project.json(*ROTATE).error
    assert error["code"] == "not_endorsed"
    assert "--human" in error["hint"]


def test_a_damaged_key_file_is_replaced_with_a_persons_consent(
    peopled: Project, people: dict[str, str]
) -> None:
    """As the doctor advises."""
    (file,) = peopled.keys.glob("*/amber-otter.*.key")
    file.write_text("{}")
    peopled.ok(*ROTATE, **people)
    peopled.ok(*BEAT, "amber-otter")


# Where the key goes.


def test_a_key_in_a_folder_of_its_own_is_rotated_there(peopled: Project, apart: Path) -> None:
    (old,) = kids(apart, "coral-finch")
    new = peopled.ok(*FINCH, "--keys", str(apart))["kid"]
    assert kids(apart, "coral-finch") == {old, new}
    assert kids(peopled.keys, "coral-finch") == set()
    peopled.ok(*BEAT, "coral-finch", MOOT_KEYS=str(apart))
    verdict = peopled.ok("verify")
    assert verdict["verdict"] == "valid"
    assert "2 custodians" in verdict["custody"]


def test_without_its_folder_nothing_is_changed(
    peopled: Project, apart: Path, people: dict[str, str]
) -> None:
    before = events(peopled), kids(apart, "coral-finch")
    for settings in ({}, people):
        error = peopled.json(*FINCH, **settings).error
        assert error["code"] == "key_missing"
        assert "--keys" in error["hint"]
    assert (events(peopled), kids(apart, "coral-finch")) == before
    assert kids(peopled.keys, "coral-finch") == set()


def test_an_agent_without_the_root_key_is_told_what_its_holder_must_run(
    peopled: Project, apart: Path
) -> None:
    before = events(peopled), kids(apart, "coral-finch")
    error = peopled.json(*FINCH, MOOT_KEYS=str(apart), MOOT_AGENT="coral-finch").error
    assert error["code"] == "key_missing"
    assert f"moot agent rotate coral-finch --keys {quote(str(apart))}" in error["hint"]
    assert (events(peopled), kids(apart, "coral-finch")) == before


def test_a_lost_key_of_this_folder_is_replaced_here_with_a_persons_consent(
    peopled: Project, people: dict[str, str]
) -> None:
    (file,) = peopled.keys.glob("*/amber-otter.*.key")
    file.unlink()
    new = peopled.ok(*ROTATE, **people)["kid"]
    assert kids(peopled.keys, "amber-otter") == {new}


def test_a_key_lost_elsewhere_is_replaced_where_a_person_says(
    peopled: Project, apart: Path, people: dict[str, str], tmp_path: Path
) -> None:
    for file in apart.glob("*/*.key"):
        file.unlink()
    assert peopled.refused(*FINCH, **people) == ("key_missing", 1)
    new = peopled.ok(*FINCH, "--keys", str(tmp_path / "new"), **people)["kid"]
    assert kids(tmp_path / "new", "coral-finch") == {new}
    peopled.ok(*BEAT, "coral-finch", MOOT_KEYS=str(tmp_path / "new"))
    assert peopled.ok("verify", MOOT_KEYS=str(tmp_path / "new"))["verdict"] == "valid"


# Which key is revoked, and what is shown.


def test_all_keys_of_a_name_are_shown(project: Project) -> None:
    old = project.ok("agent", "show", "amber-otter")["kid"]
    new = project.ok(*ROTATE)["kid"]
    keys = project.ok("agent", "show", "amber-otter")["keys"]
    assert [(key["kid"], key["status"]) for key in keys] == [(old, "rotated"), (new, "active")]
    shown = project.run("agent", "show", "amber-otter").out
    assert old in shown
    assert new in shown


def test_an_older_key_is_revoked_by_the_beginning_of_its_name(project: Project) -> None:
    old = project.ok("agent", "show", "amber-otter")["kid"]
    project.ok(*ROTATE)
    revoke = ("agent", "revoke", "amber-otter", "--reason", "leaked", "--kid")
    before = events(project)
    assert project.refused(*revoke, old[:7]) == ("bad_key_id", 1)
    assert project.refused(*revoke, "0" * 8) == ("key_not_found", 1)
    assert project.refused(*revoke, "zzzzzzzz") == ("bad_key_id", 1)
    assert events(project) == before
    project.ok(*revoke, old[:8])
    keys = project.ok("agent", "show", "amber-otter")["keys"]
    assert [key["status"] for key in keys] == ["revoked", "active"]


@pytest.mark.parametrize("how", ["retire", "revoke"])
def test_who_has_ended_is_not_called_alive(project: Project, how: str) -> None:
    project.ok("agent", how, "amber-otter", "--reason", "over")
    shown = project.run("agent", "show", "amber-otter").out.splitlines()
    (said,) = [line.split(maxsplit=1)[1] for line in shown if line.startswith("liveness")]
    assert said == f"none: {how}d"


def test_an_agent_is_shown_in_words(project: Project) -> None:
    shown = project.run("agent", "show", "amber-otter").out
    for python in ("None", "False", "True", "[", "{"):
        assert python not in shown
