"""What git says: every dirty path, by its real name, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.system.git_status import DirtyFiles, find_dirty_files, read_porcelain
from tests.project import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for name in ("a.txt", "old name.txt", "gone.txt"):
        (tmp_path / name).write_text(name * 20)
    (tmp_path / ".gitignore").write_text("*.log\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_a_clean_worktree_has_no_dirty_paths(repository: Path) -> None:
    assert find_dirty_files(repository) == DirtyFiles(())


@pytest.mark.requirement("OPR-009")
def test_changed_staged_deleted_and_untracked_files_count_and_ignored_ones_do_not(
    repository: Path,
) -> None:
    (repository / "a.txt").write_text("changed")
    (repository / "gone.txt").unlink()
    (repository / "new ü\n.txt").write_text("x")
    (repository / "deep").mkdir()
    (repository / "deep" / "one.txt").write_text("x")
    (repository / "x.log").write_text("x")
    found = find_dirty_files(repository).paths
    assert found is not None
    assert set(found) == {"a.txt", "gone.txt", "new ü\n.txt", "deep/one.txt"}


def test_both_sides_of_a_rename_count(repository: Path) -> None:
    git(repository, "mv", "old name.txt", "new name.txt")
    found = find_dirty_files(repository).paths
    assert found is not None
    assert set(found) == {"old name.txt", "new name.txt"}


def test_outside_of_git_it_is_not_known_and_says_why(tmp_path: Path) -> None:
    assert find_dirty_files(tmp_path) == DirtyFiles(None, "not a git repository")


def test_without_git_it_is_not_known_and_says_why(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert find_dirty_files(repository) == DirtyFiles(None, "git is not installed")


@given(st.binary(max_size=200))
def test_any_bytes_give_paths_and_never_an_error(data: bytes) -> None:
    assert all(read_porcelain(data)) or read_porcelain(data) == ()
