"""What a command changed is found by content, told apart by what was declared, and bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.system import footprint
from moot.system.footprint import FileChange, compare_footprints, take_footprint
from tests.project import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one\n")
    (tmp_path / "other.txt").write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def changed(root: Path, scopes: tuple[str, ...], act: Callable[[], object]) -> list[FileChange]:
    before = take_footprint(root, scopes)
    act()
    return compare_footprints(root, scopes, before, take_footprint(root, scopes))


def names(found: list[FileChange]) -> list[tuple[str, str, bool]]:
    return [(one.path, one.how, one.declared) for one in found]


@pytest.mark.parametrize("scope", ["src", "src/", "src/*", "src/**", "./src", "src\\*"])
def test_declared_files_are_compared_by_their_content(repository: Path, scope: str) -> None:
    def act() -> None:
        (repository / "src" / "a.py").write_text("two\n")
        (repository / "src" / "b.py").write_text("new\n")

    found = changed(repository, (scope,), act)
    assert names(found) == [("src/a.py", "changed", True), ("src/b.py", "added", True)]


def test_a_write_outside_of_what_was_declared_is_told(repository: Path) -> None:
    def act() -> None:
        (repository / "src" / "a.py").write_text("two\n")
        (repository / "other.txt").write_text("two\n")
        (repository / "srcs").write_text("not in src\n")

    found = changed(repository, ("src",), act)
    assert names(found) == [
        ("other.txt", "changed", False),
        ("src/a.py", "changed", True),
        ("srcs", "added", False),
    ]


def test_the_same_bytes_written_again_are_no_change(repository: Path) -> None:
    file = repository / "src" / "a.py"
    assert changed(repository, ("src",), lambda: file.write_text("one\n")) == []


def test_a_file_that_was_changed_before_counts_only_if_it_changes_again(repository: Path) -> None:
    (repository / "other.txt").write_text("dirty before\n")
    (repository / "new.txt").write_text("new before\n")
    assert changed(repository, (), lambda: None) == []
    found = changed(repository, (), lambda: (repository / "new.txt").write_text("again\n"))
    assert names(found) == [("new.txt", "changed", False)]


def test_a_file_put_back_as_it_was_committed_is_a_change(repository: Path) -> None:
    (repository / "other.txt").write_text("dirty before\n")
    found = changed(repository, (), lambda: git(repository, "checkout", "other.txt"))
    assert names(found) == [("other.txt", "changed", False)]


def test_removals_and_renames_are_told(repository: Path) -> None:
    def act() -> None:
        (repository / "src" / "a.py").unlink()
        git(repository, "mv", "other.txt", "moved.txt")

    found = changed(repository, ("src",), act)
    assert names(found) == [
        ("moved.txt", "added", False),
        ("other.txt", "removed", False),
        ("src/a.py", "removed", True),
    ]


def test_what_is_written_and_committed_at_once_is_told(repository: Path) -> None:
    def act() -> None:
        (repository / "other.txt").write_text("two\n")
        git(repository, "commit", "-q", "-a", "-m", "second")

    assert names(changed(repository, ("src",), act)) == [("other.txt", "changed", False)]


def test_our_own_folder_does_not_count(repository: Path) -> None:
    def act() -> None:
        (repository / ".moot").mkdir()
        (repository / ".moot" / "ledger.db").write_text("x")

    assert changed(repository, (".",), act) == []


def test_names_are_taken_as_they_are(repository: Path) -> None:
    (repository / "src" / "übung \n.py").write_text("x")
    raw = os.fsencode(repository / "src") + b"/\xff.py"

    def act() -> None:
        Path(os.fsdecode(raw)).write_text("x")

    found = changed(repository, ("src",), act)
    assert names(found) == [("src/\\xff.py", "added", True)]


def test_without_git_only_what_was_declared_is_seen_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    def act() -> None:
        (tmp_path / "out" / "x").write_text("x")
        (tmp_path / "elsewhere").write_text("x")

    found = changed(tmp_path, ("out",), act)
    assert names(found) == [("out/x", "added", True)]
    (remark,) = take_footprint(tmp_path, ("out",)).remarks
    assert remark == "only declared files were compared: not a git repository"


def test_links_are_compared_and_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "outside"
    secret.mkdir()
    (secret / "file").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(secret)
    (root / "loop").symlink_to(root)
    assert set(take_footprint(root, (".",)).files) == {"link", "loop"}

    def act() -> None:
        (secret / "file").write_text("changed")
        (root / "link").unlink()
        (root / "link").symlink_to(tmp_path)

    assert names(changed(root, (".",), act)) == [("link", "changed", True)]


@pytest.mark.parametrize("scope", ["../outside", "link/file", "/etc"])
def test_a_scope_that_leads_out_is_not_looked_at(tmp_path: Path, scope: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    seen = take_footprint(root, (scope,))
    assert seen.files == {}
    assert seen.remarks[0].endswith("leads out of the project and was not looked at")


def test_pipes_and_the_like_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert set(take_footprint(tmp_path, (".",)).files) == {"pipe"}


def test_a_tree_that_is_too_large_is_looked_at_in_part_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        (tmp_path / f"f{number}").write_text("x")
    monkeypatch.setattr(footprint, "MOST_FILES", 4)
    seen = take_footprint(tmp_path, (".",))
    assert len(seen.files) == 4
    assert "more than 4 files: the rest was not compared" in seen.remarks


def test_beyond_its_bytes_a_change_is_seen_by_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big").write_text("x" * 100)
    monkeypatch.setattr(footprint, "MOST_BYTES", 50)
    found = changed(tmp_path, (".",), lambda: (tmp_path / "big").write_text("y" * 101))
    assert names(found) == [("big", "changed", True)]
    assert any("size and time" in remark for remark in take_footprint(tmp_path, (".",)).remarks)


def test_a_file_made_executable_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("x")
    found = changed(tmp_path, (".",), lambda: (tmp_path / "run").chmod(0o755))
    assert names(found) == [("run", "changed", True)]
