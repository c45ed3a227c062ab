"""`moot init` where a ledger was made before: it starts a new one, and names the earlier one."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from moot.keys.folder import KeyFolder
from tests.project import Project


def origin(project: Project) -> str:
    with project.workspace() as space:
        return space.trust.origin


def forget(project: Project) -> str:
    """The record is removed; the key folder still knows it."""
    before = origin(project)
    shutil.rmtree(project.root / ".moot")
    return before


def test_a_first_ledger_says_nothing_of_an_earlier_one(bare: Project) -> None:
    assert bare.ok("init")["earlier"] == []
    assert "earlier" not in bare.run("init").out


def test_an_earlier_ledger_of_this_folder_is_named_and_not_gone_on(project: Project) -> None:
    before = forget(project)
    done = project.ok("init")
    (earlier,) = done["earlier"]
    assert done["created"] is True
    assert earlier == {"origin": before, "checkpoint": 3}
    assert origin(project) != before


def test_a_person_is_told_how_to_bring_it_back(project: Project) -> None:
    before = forget(project)
    done = project.run("init")
    assert done.code == 0
    assert f"an earlier ledger was made in this folder: {before}, up to checkpoint 3" in done.out
    assert "does not continue its record" in done.out
    assert "replace this .moot" in done.out


def test_every_one_of_them_is_named(project: Project) -> None:
    befores = []
    for _ in range(2):
        befores.append(forget(project))
        project.ok("init")
    befores.append(forget(project))
    assert {found["origin"] for found in project.ok("init")["earlier"]} == set(befores)


def test_running_it_again_says_nothing(project: Project) -> None:
    forget(project)
    project.ok("init")
    done = project.ok("init")
    assert (done["created"], done["earlier"]) == (False, [])


def test_a_ledger_put_back_from_a_backup_goes_on(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.root / ".moot", tmp_path / "backup")
    before = forget(project)
    project.ok("init")
    shutil.rmtree(project.root / ".moot")
    shutil.copytree(tmp_path / "backup", project.root / ".moot")
    assert origin(project) == before
    project.ok("agent", "register", "coral-finch")
    assert project.ok("verify")["verdict"] == "valid"


def test_a_ledger_of_another_folder_is_none_of_this_one(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert Project(tmp_path / "other", project.keys).ok("init")["earlier"] == []


def test_another_key_folder_knows_nothing_of_it(project: Project, tmp_path: Path) -> None:
    forget(project)
    assert project.ok("init", MOOT_KEYS=str(tmp_path / "other keys"))["earlier"] == []


def test_the_folder_is_the_same_by_whatever_way_one_comes(project: Project, tmp_path: Path) -> None:
    before = forget(project)
    (tmp_path / "link").symlink_to(project.root)
    done = project.ok("--home", str(tmp_path / "link"), "init")
    assert [found["origin"] for found in done["earlier"]] == [before]


@pytest.mark.parametrize("name", ["with\nlines", "zürich", os.fsdecode(b"not \xff utf-8")])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    folder = KeyFolder(tmp_path / "keys")
    folder.ledger_folder("moot.ledger/" + "a" * 32).mkdir(parents=True)
    folder.remember_place("moot.ledger/" + "a" * 32, root)
    assert folder.ledgers_made_in(root) == ["moot.ledger/" + "a" * 32]
    assert folder.ledgers_made_in(tmp_path) == []


def test_where_a_ledger_was_made_is_for_its_owner_alone(project: Project) -> None:
    (file,) = project.keys.glob("*/made-in")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == os.fsencode(project.root.resolve())


def test_what_cannot_be_read_there_is_passed_over(project: Project) -> None:
    (file,) = project.keys.glob("*/made-in")
    file.unlink()
    file.mkdir()
    forget(project)
    assert project.ok("init")["earlier"] == []


def test_a_memory_that_cannot_be_used_is_no_reason_to_stop(project: Project) -> None:
    """What the earlier one had reached is not known then; that it was there is."""
    before = forget(project)
    for file in project.keys.glob("kept.db*"):
        file.unlink()
    assert project.ok("init")["earlier"] == [{"origin": before, "checkpoint": None}]
