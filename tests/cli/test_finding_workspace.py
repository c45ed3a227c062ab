"""Which workspace a command works on: nearest folder, git's common directory, or as told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.project import MOOT, Project, git


@pytest.fixture
def repository(bare: Project) -> Project:
    git(bare.root, "init", "--quiet")
    git(bare.root, "commit", "--quiet", "--allow-empty", "-m", "first")
    return bare


def workspace_seen(project: Project, cwd: Path) -> str:
    shown: str = project.ok("status", cwd=cwd)["workspace"]
    return shown


def test_all_worktrees_share_one_workspace(repository: Project, tmp_path: Path) -> None:
    git(repository.root, "worktree", "add", "--quiet", str(tmp_path / "second"))
    made = repository.ok("init", cwd=tmp_path / "second")
    assert made["workspace"] == str(repository.root / ".moot")
    deep = tmp_path / "second" / "src" / "deep"
    deep.mkdir(parents=True)
    repository.ok("agent", "register", "amber-otter", cwd=deep)
    (agent,) = repository.ok("agent", "list")["agents"]
    assert agent["agent"] == "amber-otter"
    assert workspace_seen(repository, deep) == workspace_seen(repository, repository.root)
    assert not (tmp_path / "second" / ".moot").exists()


def test_a_bare_repository_holds_the_workspace_for_its_worktrees(
    repository: Project, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository.root), "hub.git")
    git(tmp_path / "hub.git", "worktree", "add", "--quiet", str(tmp_path / "work"))
    made = repository.ok("init", cwd=tmp_path / "hub.git")
    assert made["workspace"] == str(tmp_path / "hub.git" / ".moot")
    assert workspace_seen(repository, tmp_path / "work") == made["workspace"]


def test_init_in_a_subfolder_makes_it_at_the_root(repository: Project) -> None:
    nested = repository.root / "a" / "b"
    nested.mkdir(parents=True)
    repository.ok("init", cwd=nested)
    assert workspace_seen(repository, nested) == str(repository.root / ".moot")


def test_outside_of_git_the_folder_itself_is_the_project(bare: Project) -> None:
    bare.ok("init")
    nested = bare.root / "a" / "b"
    nested.mkdir(parents=True)
    assert workspace_seen(bare, nested) == str(bare.root / ".moot")


def test_a_repository_inside_another_project_has_its_own(project: Project) -> None:
    inner = project.root / "vendor"
    inner.mkdir()
    git(inner, "init", "--quiet")
    assert workspace_seen(project, inner) == str(project.root / ".moot")
    project.ok("init", cwd=inner)
    assert workspace_seen(project, inner) == str(inner / ".moot")


def test_home_names_the_workspace_or_its_parent(project: Project, tmp_path: Path) -> None:
    for home in (project.root, project.root / ".moot"):
        assert project.ok("--home", str(home), "status", cwd=tmp_path)["agents"]
        assert project.ok("status", cwd=tmp_path, MOOT_HOME=str(home))["agents"]
    assert project.refused("status", cwd=tmp_path) == ("no_workspace", 4)
    nowhere = project.refused("--home", str(tmp_path / "none"), "status")
    assert nowhere == ("no_workspace", 4)


def test_the_option_wins_over_the_environment(project: Project, tmp_path: Path) -> None:
    settings = {"MOOT_HOME": str(tmp_path / "none")}
    assert project.ok("--home", str(project.root), "status", **settings)["agents"]


def test_init_can_be_told_where(bare: Project, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    bare.ok("--home", str(there), "init")
    assert (there / ".moot" / "ledger.db").is_file()
    assert not (bare.root / ".moot").exists()


def test_running_init_again_changes_nothing(project: Project) -> None:
    before = project.ledger.read_bytes()
    again = project.ok("init")
    assert again["created"] is False
    assert project.ledger.read_bytes() == before


@pytest.mark.parametrize("name", ["with space", "prüfung 雪 🦦", "a?b#c%20d", "quote'\"s", "-dash"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    project = Project(root, tmp_path / f"keys {name}")
    project.ok("init")
    project.ok("agent", "register", "amber-otter")
    project.ok("ledger", "export", "-o", "the record.moot")
    assert project.ok("verify", "the record.moot")["verdict"] == "valid"
    assert project.ok("verify")["verdict"] == "valid"
    assert project.ok("ledger", "doctor")["healthy"]
    project.ok("ledger", "backup", "a copy.db")


def test_two_processes_that_race_make_one_workspace(repository: Project) -> None:
    racers = [
        subprocess.Popen(
            [*MOOT, "init", "--json"],
            cwd=repository.root,
            env=repository.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(4)
    ]
    said = [racer.communicate(timeout=120) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4, said
    assert sum('"created":true' in out for out, _ in said) == 1
    assert len({out.partition('"fingerprint"')[2] for out, _ in said}) == 1
    assert [path.name for path in repository.root.glob(".moot*")] == [".moot"]
    repository.ok("agent", "register", "amber-otter")
    assert repository.ok("verify")["verdict"] == "valid"


def test_a_folder_without_a_ledger_is_no_workspace(bare: Project) -> None:
    (bare.root / ".moot").mkdir()
    code, exit_code = bare.refused("status")
    assert (code, exit_code) == ("no_trust", 4)


def test_an_empty_home_without_a_key_folder_is_said(project: Project) -> None:
    code, _ = project.refused("status", MOOT_KEYS="", HOME="")
    assert code == "no_key_folder"


@pytest.mark.parametrize("home", ["", ".", ".moot"])
@pytest.mark.parametrize("words", [("status",), ("init",), ("verify",), ("agent", "list")])
def test_a_workspace_whose_ledger_is_gone_says_so_and_to_restore_it(
    project: Project, words: tuple[str, ...], home: str
) -> None:
    project.ledger.unlink()
    error = project.json(*words, **({"MOOT_HOME": home} if home else {})).error
    assert error["code"] == "no_ledger"
    assert "ledger file of this workspace, is missing" in error["message"]
    assert "backup" in error["hint"]
    assert "moot init" not in error["hint"]
    assert not project.ledger.exists()
    (finding,) = [
        one for one in project.json("ledger", "doctor").data["findings"] if one["rule"] == "DOC-03"
    ]
    assert "backup" in finding["hint"]


def test_a_session_is_not_written_past_a_workspace_whose_ledger_is_gone(project: Project) -> None:
    project.ledger.unlink()
    words = ("debate", "new", "x.md", "--title", "T", "--agents", "amber-otter,teal-crane")
    assert project.refused(*words) == ("no_ledger", 4)
    assert not (project.root / "x.md").exists()
