"""A workspace belongs to a repository, not to a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Unavailable
from moot.workspace.find import find_workspace, git_common_dir, project_root, worktree_root
from tests.project import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "projekt ü"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def workspace_in(folder: Path) -> Path:
    place = folder / ".moot"
    place.mkdir()
    (place / "ledger.db").touch()
    return place


def test_the_nearest_one_upward_is_found(tmp_path: Path) -> None:
    place = workspace_in(tmp_path)
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_workspace(deep) == place
    assert find_workspace(tmp_path) == place
    nearer = workspace_in(tmp_path / "a" / "b")
    assert find_workspace(deep) == nearer


def test_all_worktrees_share_the_one_of_the_main_worktree(repository: Path, tmp_path: Path) -> None:
    place = workspace_in(repository)
    other = tmp_path / "elsewhere"
    git(repository, "worktree", "add", "-q", str(other))
    (other / "src").mkdir()
    assert find_workspace(other / "src") == place
    assert project_root(other / "src") == repository
    assert worktree_root(other / "src") == other


def test_a_worktree_of_a_bare_repository_finds_the_one_beside_its_objects(
    repository: Path, tmp_path: Path
) -> None:
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    git(bare, "worktree", "add", "-q", str(tree))
    assert project_root(tree) == bare
    assert project_root(bare) == bare
    place = workspace_in(bare)
    assert find_workspace(tree) == place


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    words = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "sub")
    git(outer, *words)
    common = git_common_dir(outer / "sub")
    assert common == (outer / ".git" / "modules" / "sub").resolve()


def test_without_any_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as error:
        find_workspace(tmp_path)
    assert error.value.code == "no_workspace"
    assert error.value.exit_code == 4
    assert "moot init" in error.value.hint


def test_outside_of_git_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    assert project_root(tmp_path) == tmp_path
    assert git_common_dir(tmp_path) is None


def test_an_explicit_home_names_the_folder_or_its_parent(tmp_path: Path) -> None:
    place = workspace_in(tmp_path)
    assert find_workspace(Path("/"), home=tmp_path) == place
    assert find_workspace(Path("/"), home=place) == place
    with pytest.raises(Unavailable):
        find_workspace(tmp_path, home=tmp_path / "absent")


@pytest.mark.parametrize("content", ["", "gitdir:", "gitdir: /nowhere/at/all", "\x00\x01", "junk"])
def test_a_damaged_git_file_is_no_repository(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    assert git_common_dir(tmp_path) is None
    assert project_root(tmp_path) == tmp_path
