"""Which files git tracks and ignores: read from the index as it lies there, else asked of git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moot.system import git_commands
from moot.system.git_commands import find_ignored
from moot.system.git_status import git_environment


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", *identity, *words],
        cwd=root,
        env=git_environment(),
        check=True,
        capture_output=True,
        timeout=60,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three tracked files, one of them although it is ignored."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / ".gitignore").write_text("*.env\nbuild/\n", encoding="utf-8")
    (root / "src/é b.py").write_text("x\n", encoding="utf-8")
    (root / "known.env").write_text("x\n", encoding="utf-8")
    git(root, "add", "--force", ".")
    git(root, "commit", "--quiet", "--message=first")
    return root


def forbid_git(_root: Path, paths: object) -> frozenset[str]:
    raise AssertionError(f"git was asked about {paths}")


def test_tracked_files_are_found_without_git(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_commands, "_ask_git", forbid_git)
    assert find_ignored(repository, ["src/é b.py", "known.env", ".gitignore"]) == frozenset()


def test_what_is_not_tracked_is_asked_of_git(repository: Path) -> None:
    asked = ["new.py", "other.env", "build/x/y.o", "known.env", "b.py", "src"]
    assert find_ignored(repository, asked) == {"other.env", "build/x/y.o"}


def test_a_linked_worktree_has_an_index_of_its_own(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "second"
    git(repository, "worktree", "add", "--quiet", str(other))
    assert find_ignored(other, ["x.env"]) == {"x.env"}
    monkeypatch.setattr(git_commands, "_ask_git", forbid_git)
    assert find_ignored(other, ["known.env"]) == frozenset()


def test_an_index_in_a_shorter_form_is_left_to_git(repository: Path) -> None:
    git(repository, "update-index", "--index-version", "4")
    assert find_ignored(repository, ["known.env", "new.env"]) == {"new.env"}


def test_where_git_gives_no_answer_nothing_is_ignored(tmp_path: Path) -> None:
    assert find_ignored(tmp_path, ["x.env"]) == frozenset()
