"""Where keys and passphrases may not be: in the project, in a file for all, nowhere at all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from moot.keys.folder import KeyFolder
from moot.workspace.create import create_workspace
from tests.project import MOOT, Project


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("place", ["keys", "deep/er/keys", "."])
def test_no_workspace_is_made_with_its_keys_in_the_project(bare: Project, place: str) -> None:
    inside = bare.root / place
    assert bare.refused("init", MOOT_KEYS=str(inside)) == ("keys_in_project", 1)
    assert files_in(bare.root) == []


def test_a_link_into_the_project_is_inside_too(bare: Project, tmp_path: Path) -> None:
    (bare.root / "keys").mkdir()
    link = tmp_path / "link"
    link.symlink_to(bare.root / "keys")
    assert bare.refused("init", MOOT_KEYS=str(link)) == ("keys_in_project", 1)
    assert files_in(bare.root) == ["keys"]


def test_a_workspace_is_not_opened_with_keys_that_were_moved_into_it(project: Project) -> None:
    inside = project.root / "keys"
    os.rename(project.keys, inside)
    error = project.json("agent", "list", MOOT_KEYS=str(inside)).error
    assert error["code"] == "keys_in_project"
    assert "MOOT_KEYS" in error["hint"]
    os.rename(inside, project.keys)
    assert project.ok("agent", "list")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("~/keys", "begins with ~"),
        ("   ", "is blank"),
        ("a\nb", "character"),
        ("\u202eyek", "character"),
        ("FILE", "is not a folder"),
        ("FILE/below", "is not a folder"),
    ],
)
def test_a_key_folder_that_is_none_is_a_clear_error(
    bare: Project, tmp_path: Path, value: str, words: str
) -> None:
    (tmp_path / "file").write_text("x")
    chosen = value.replace("FILE", str(tmp_path / "file"))
    for command in ("init", "status"):
        error = bare.json(command, MOOT_KEYS=chosen).error
        assert (error["code"], words in error["message"]) == ("no_key_folder", True)
        assert "MOOT_KEYS" in error["message"]
    assert files_in(bare.root) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_passphrase_that_others_may_read_is_not_used(
    bare: Project, passphrase: str, mode: int
) -> None:
    Path(passphrase).chmod(mode)
    error = bare.json("init", MOOT_PASSPHRASE_FILE=passphrase).error
    assert (error["code"], "chmod 600" in error["hint"]) == ("passphrase_exposed", True)
    assert files_in(bare.root) == []
    Path(passphrase).chmod(0o400)
    assert bare.ok("init", MOOT_PASSPHRASE_FILE=passphrase)


def test_a_passphrase_may_come_through_a_pipe(bare: Project) -> None:
    os.mkfifo(pipe := bare.keys.parent / "pipe", 0o666)
    child = subprocess.Popen(
        [*MOOT, "--json", "init"],
        cwd=bare.root,
        env={**bare.env, "MOOT_PASSPHRASE_FILE": str(pipe)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    pipe.write_text("correct horse battery staple\n")
    assert b'"ok":true' in child.communicate(timeout=60)[0]


def test_several_that_make_a_workspace_at_once_leave_the_keys_of_one(bare: Project) -> None:
    children = [
        subprocess.Popen(
            [*MOOT, "--json", "init"],
            cwd=bare.root,
            env=bare.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]
    said = [child.communicate(timeout=120)[0] for child in children]
    assert all(b'"ok":true' in line for line in said)
    ledgers = [path for path in bare.keys.iterdir() if (path / "trust.json").exists()]
    assert [path.name for path in ledgers] == [
        bare.ok("trust", "show")["origin"].rpartition("/")[2]
    ]
    assert [path for path in bare.keys.rglob("*.key") if path.parent != ledgers[0]] == []


def test_an_attempt_that_fails_leaves_no_keys(bare: Project) -> None:
    def broken_clock() -> int:
        assert list(bare.keys.rglob("*.key")), "the keys come first"
        raise RuntimeError("no time")

    with pytest.raises(RuntimeError):
        create_workspace(bare.root, KeyFolder(bare.keys), broken_clock)
    assert list(bare.keys.rglob("*.key")) == []
    assert files_in(bare.root) == []


def test_init_says_at_once_that_the_keys_are_elsewhere(project: Project, tmp_path: Path) -> None:
    other = {"MOOT_KEYS": str(tmp_path / "other-keys")}
    assert (project.ok("init")["has_keys"], project.ok("init", **other)["has_keys"]) == (
        True,
        False,
    )
    told = project.run("init", **other).out
    assert f"not in {other['MOOT_KEYS']}" in told
    assert "set MOOT_KEYS to the key folder" in told
    assert "moot agent register operator" not in told
    assert f"keys         {project.keys}" in project.run("init").out
