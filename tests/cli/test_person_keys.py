"""A person's key: made and unlocked with a passphrase, never by an agent, never by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.core.names import OPERATOR
from moot.keys.folder import FolderKeys, KeyFolder, Passphrase
from moot.keys.passphrase_lock import USUAL_COST, HashingCost
from tests.cli.terminal import on_a_terminal
from tests.project import Project

HUMAN = ("agent", "register", "ada-person", "--human")


@pytest.fixture
def peopled(bare: Project, passphrase: str) -> Project:
    bare.ok("init", MOOT_PASSPHRASE_FILE=passphrase)
    return bare


def test_init_makes_the_operator_when_it_can_read_a_passphrase(peopled: Project) -> None:
    shown = peopled.ok("agent", "show", "operator")
    assert (shown["class"], shown["status"]) == ("human", "active")
    (file,) = peopled.keys.glob("*/operator.*.key")
    assert '"locked"' in file.read_text()
    assert '"secret": null' in file.read_text()
    assert "added later" not in peopled.ok("verify")["key_status"]


def test_a_real_process_makes_and_unlocks_it_too(bare: Project, passphrase: str) -> None:
    """Once at the real cost, in processes of their own."""
    made = bare.spawn("init", "--json", MOOT_PASSPHRASE_FILE=passphrase)
    assert made.data["operator"] is True
    asked = bare.spawn(*HUMAN, "--json", MOOT_PASSPHRASE_FILE=passphrase)
    assert asked.data["class"] == "human"
    files = [*bare.keys.glob("*/operator.*.key"), *bare.keys.glob("*/ada-person.*.key")]
    locks = [json.loads(file.read_bytes())["locked"] for file in files]
    costs = [HashingCost(lock["rounds"], lock["memory"]) for lock in locks]
    assert costs == [USUAL_COST, USUAL_COST]


def test_without_one_it_waits_and_the_verdict_says_so(bare: Project, passphrase: str) -> None:
    made = bare.ok("init")
    assert made["operator"] is False
    bare.ok("agent", "register", "amber-otter")
    bare.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    assert "added later: operator" in bare.ok("verify")["key_status"]


def test_a_passphrase_is_required(bare: Project) -> None:
    bare.ok("init")
    assert bare.refused(*HUMAN) == ("passphrase_required", 1)
    assert not list(bare.keys.glob("*/ada-person.*"))


def test_an_unreadable_passphrase_file_is_said(bare: Project, tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    assert bare.refused("init", MOOT_PASSPHRASE_FILE=missing) == ("unreadable_file", 4)
    assert not (bare.root / ".moot").exists()


def test_an_agent_may_not_make_a_persons_key(peopled: Project, passphrase: str) -> None:
    settings = {"MOOT_AGENT": "amber-otter", "MOOT_PASSPHRASE_FILE": passphrase}
    assert peopled.refused(*HUMAN, **settings) == ("human_key_required", 1)
    assert not list(peopled.keys.glob("*/ada-person.*"))


def test_a_second_person_needs_the_first(peopled: Project, passphrase: str) -> None:
    peopled.ok(*HUMAN, MOOT_PASSPHRASE_FILE=passphrase)
    assert peopled.ok("verify")["verdict"] == "valid"


def test_the_first_persons_key_must_be_here(
    peopled: Project, passphrase: str, tmp_path: Path
) -> None:
    (file,) = peopled.keys.glob("*/operator.*.key")
    file.rename(tmp_path / "elsewhere")
    refused = peopled.refused(*HUMAN, MOOT_PASSPHRASE_FILE=passphrase)
    assert refused == ("human_key_required", 1)
    assert not list(peopled.keys.glob("*/ada-person.*"))
    assert "ada-person" not in [one["agent"] for one in peopled.ok("agent", "list")["agents"]]


def test_a_wrong_passphrase_opens_nothing(peopled: Project, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not this one")
    wrong.chmod(0o600)
    refused = peopled.refused(*HUMAN, MOOT_PASSPHRASE_FILE=str(wrong))
    assert refused == ("wrong_passphrase", 1)
    assert not list(peopled.keys.glob("*/ada-person.*"))


@pytest.mark.requirement("LDG-015")
def test_a_key_unlocked_by_a_file_was_unattended(peopled: Project) -> None:
    """Whether a person sat there is known to the engine, and to the protocols that record it."""
    shown = peopled.ok("agent", "show", "operator")
    origin = peopled.ok("trust", "show")["origin"]
    text = "correct horse battery staple"
    for attended in (True, False):
        keys = FolderKeys(
            KeyFolder(peopled.keys),
            origin,
            {OPERATOR: Passphrase(text, attended)}.get,
        )
        held = keys.find(OPERATOR, shown["kid"])
        assert held is not None
        assert held.attended is attended


def test_a_person_signs_only_when_named(project: Project, passphrase: str) -> None:
    """An agent's environment lends no person's consent, even where the passphrase can be read."""
    settings = {"MOOT_PASSPHRASE_FILE": passphrase}
    project.ok("agent", "register", "operator", "--human", **settings)
    (old,) = project.keys.glob("*/amber-otter.*.key")
    old.unlink()
    refused = project.refused(
        "agent", "rotate", "amber-otter", MOOT_AGENT="amber-otter", **settings
    )
    assert refused == ("not_endorsed", 1)
    project.ok("agent", "rotate", "amber-otter", **settings)
    assert project.ok("verify")["verdict"] == "valid"


def test_an_empty_passphrase_is_none(bare: Project, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    empty.chmod(0o600)
    bare.ok("init")
    refused = bare.refused(*HUMAN, MOOT_PASSPHRASE_FILE=str(empty))
    assert refused == ("passphrase_required", 1)
    made = bare.ok("agent", "list")
    assert made["agents"] == []


@pytest.mark.requirement("LDG-014")
@pytest.mark.parametrize("text", ["", "short", "1234567\n"])
def test_init_makes_nothing_under_a_passphrase_that_is_too_short(
    bare: Project, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "short"
    file.write_text(text)
    file.chmod(0o600)
    refused = bare.refused("init", MOOT_PASSPHRASE_FILE=str(file))
    assert refused == ("passphrase_too_short", 1)
    assert not (bare.root / ".moot").exists()
    assert not bare.keys.exists()


@pytest.mark.requirement("LDG-014")
def test_no_person_is_registered_under_one_that_is_too_short(
    peopled: Project, tmp_path: Path
) -> None:
    keys, file = sorted(peopled.keys.glob("*/*.key")), tmp_path / "short"
    file.write_text("1234567")
    file.chmod(0o600)
    refused = peopled.refused(*HUMAN, MOOT_PASSPHRASE_FILE=str(file))
    assert refused == ("passphrase_too_short", 1)
    assert sorted(peopled.keys.glob("*/*.key")) == keys


@pytest.mark.requirement("LDG-014")
def test_at_a_terminal_a_new_key_needs_a_long_one_as_well(
    peopled: Project, passphrase: str
) -> None:
    keys, old = sorted(peopled.keys.glob("*/*.key")), Path(passphrase).read_text().strip()
    seen = on_a_terminal(peopled, "agent", "rotate", "operator", typed=[old, "short", ""])
    assert "at least 8 characters" in seen
    assert sorted(peopled.keys.glob("*/*.key")) == keys


def test_at_a_terminal_one_that_is_too_short_is_told_before_it_is_typed_again(
    bare: Project,
) -> None:
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=["sesame", ""])
    before, rule, after = seen.partition("at least 8 characters")
    assert rule
    assert "repeat it" not in before
    assert after.count("new passphrase for operator") == 1
    assert "no person's key yet" in after


def test_at_a_terminal_the_passphrase_is_typed_twice_and_never_shown(bare: Project) -> None:
    """The one prompt there is, in a real terminal, at the real cost."""
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=["open sesame", "open sesame"])
    assert "new passphrase for operator" in seen
    assert "repeat it" in seen
    assert "open sesame" not in seen
    assert bare.ok("agent", "show", "operator")["class"] == "human"


def test_at_a_terminal_two_that_differ_are_asked_for_again(bare: Project) -> None:
    typed = ["open sesame", "open sesam", "open sesame", "open sesame"]
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=typed)
    assert "the two are not the same" in seen
    assert bare.ok("agent", "show", "operator")["class"] == "human"


def test_a_key_that_is_asked_for_by_name_is_not_made_later(project: Project) -> None:
    seen = on_a_terminal(project, *HUMAN, typed=[""])
    assert "later" not in seen
    assert "type at least 8 characters" in " ".join(seen.split())


def test_at_a_terminal_an_empty_passphrase_means_later(bare: Project) -> None:
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=[""])
    assert "no person's key yet" in seen
    assert "repeat it" not in seen
    listed = bare.ok("agent", "list")["agents"]
    assert [one["agent"] for one in listed if one["class"] == "human"] == []
