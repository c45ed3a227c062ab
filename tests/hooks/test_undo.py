"""`moot undo`: what was in a file before comes back, bytes and mode, through the guard."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard.undo import restore
from moot.api.session import Session
from moot.core.errors import Refused
from moot.keys.folder import KeyFolder
from moot.workspace.file_versions import Act
from tests.hooks.test_saved_copies import WORK, edit, slip, versions
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project


def listed(project: Project, *words: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.ok("undo", *words, **more)["versions"]
    return found


def test_what_was_lost_is_listed_with_who_left_it_and_names_no_suspect(project: Project) -> None:
    edit(project, WORK)
    assert [row["agent"] for row in listed(project)] == [None], (
        "as it was committed, by nobody seen"
    )
    slip(project, "git checkout -- .")
    (lost,) = listed(project)
    assert (lost["path"], lost["number"], lost["agent"], lost["size"]) == ("a.txt", 1, CRANE, 14)
    assert (lost["left_by"], lost["mode"]) == ("Write", "100644")
    assert (lost["lost_to"], lost["lost_by"]) == (None, None), "it is not proved who did it"
    assert OTTER not in project.run("undo", CLICOLOR="0").out


def test_nothing_is_listed_where_nothing_was_seen(project: Project) -> None:
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert project.ok("undo") == {"versions": [], "more": 0, "elsewhere": 0}
    assert not (project.root / ".moot/files.db").exists()
    assert project.refused("undo", "a.txt") == ("no_version", 1)
    assert "copies only what" in project.run("undo", "a.txt").err


@pytest.mark.requirement("GRD-025")
def test_bytes_and_mode_come_back_exactly(project: Project) -> None:
    script = project.root / "run.sh"
    data = b"\xff\x00#!/bin/sh\r\nno line end"
    project.hook("claude", call("claude-write", project.root, "run.sh"), CRANE)
    script.write_bytes(data)
    script.chmod(0o750)
    project.hook("claude", call("claude-write-done", project.root, "run.sh"), CRANE)
    slip(project, "rm run.sh")
    project.ok("undo", "run.sh", MOOT_AGENT=CRANE)
    assert script.read_bytes() == data
    assert script.stat().st_mode & 0o7777 == 0o750


def test_a_link_comes_back_as_a_link(project: Project) -> None:
    slip(project, "ln -s a.txt link", agent=CRANE)
    slip(project, "rm link", agent=CRANE)
    project.ok("undo", "link", MOOT_AGENT=CRANE)
    assert os.readlink(project.root / "link") == "a.txt"


@pytest.mark.requirement("GRD-026")
def test_an_undo_can_be_undone(project: Project) -> None:
    edit(project, WORK)
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    done = project.ok("undo", "a.txt", MOOT_AGENT=CRANE)
    assert (project.root / "a.txt").read_text("utf-8") == WORK
    project.ok("undo", "a.txt", "--id", done["replaced"], MOOT_AGENT=CRANE)
    assert (project.root / "a.txt").read_text("utf-8") == "by a person\n"
    lines = project.run("undo", "a.txt", MOOT_AGENT=CRANE).out.splitlines()
    assert lines[0].endswith("a.txt: 14 bytes restored")
    assert lines[1].startswith(f"  left by {CRANE} (moot undo), 20")
    assert lines[2].startswith("  the content before that is kept as ")


def test_a_version_is_chosen_by_number_time_or_id(project: Project) -> None:
    for text in ("first\n", "second\n", "third\n"):
        edit(project, text)
    numbers = {row["number"]: row for row in listed(project)}
    assert [row["size"] for row in numbers.values()] == [7, 6, 4]
    file = project.root / "out.txt"
    for words, text in (
        ((), "second\n"),
        (("--version", "2"), "first\n"),
        (("--at", numbers[2]["at"]), "first\n"),
        (("--id", numbers[3]["id"][:8]), "one\n"),
    ):
        project.ok("undo", "a.txt", *words, "-o", str(file))
        assert file.read_text("utf-8") == text
    assert (project.root / "a.txt").read_text("utf-8") == "third\n"
    assert project.refused("undo", "a.txt", "--version", "9") == ("no_version", 1)
    assert project.refused("undo", "a.txt", "--version", "1", "--id", "abcd") == ("two_choices", 1)
    assert project.refused("undo", "--version", "1") == ("usage", 2)


@pytest.mark.requirement("GRD-027")
def test_what_another_holds_is_not_written(project: Project) -> None:
    edit(project, WORK)
    slip(project, "git checkout -- .")
    before = project.owners()
    for agent in ({"MOOT_AGENT": OTTER}, {}):
        assert project.refused("undo", "a.txt", **agent) == ("reservation_conflict", 1)
    assert (project.root / "a.txt").read_text("utf-8") == "one\n"
    assert project.owners() == before
    project.ok("undo", "a.txt", "-o", str(project.root / "copy.txt"))
    assert (project.root / "copy.txt").read_text("utf-8") == WORK


def test_what_is_brought_back_is_reserved_like_an_edit(project: Project) -> None:
    edit(project, WORK)
    project.ok("release", "--all", "--agent", CRANE)
    slip(project, "git checkout -- .")
    project.ok("undo", "a.txt", MOOT_AGENT=OTTER)
    assert project.owners() == {"a.txt": OTTER}
    assert versions(project)[0].why == "moot undo"


def test_the_difference_is_shown_and_nothing_changed(project: Project) -> None:
    edit(project, WORK)
    project.ok("release", "--all", MOOT_AGENT=CRANE)
    edit(project, "one\n", agent=OTTER)
    shown = project.ok("undo", "--show", "a.txt")
    assert "-one\n+hours of work\n" in shown["difference"]
    assert (project.root / "a.txt").read_text("utf-8") == "one\n"
    lines = project.run("undo", "--show", "a.txt").out.splitlines()
    assert lines[0].startswith("version 1 (")
    assert f"left by {CRANE} (Write)" in lines[0]
    assert lines[-2:] == ["-one", "+hours of work"]


def test_a_path_is_read_from_where_one_stands_and_marked_from_the_root(project: Project) -> None:
    inner = project.root / "sub"
    edit(project, "inner\n", file="sub/b.txt")
    slip(project, "rm sub/b.txt", agent=CRANE)
    for path in (":/sub/b.txt", "b.txt", "../sub/b.txt", str(inner / "b.txt")):
        project.ok("undo", path, MOOT_AGENT=CRANE, cwd=inner)
        assert (inner / "b.txt").read_text("utf-8") == "inner\n"
        (inner / "b.txt").unlink()
    edit(project, "outer\n", file="b.txt")
    slip(project, "rm b.txt", agent=CRANE)
    assert project.refused("undo", "sub/b.txt", MOOT_AGENT=CRANE, cwd=inner) == ("no_version", 1)
    assert not (project.root / "b.txt").exists()
    for path, cwd in (("sub", project.root), (".", inner), (":/sub", inner)):
        rows = project.ok("undo", "--list", path, cwd=cwd)["versions"]
        assert [row["path"] for row in rows] == ["sub/b.txt"], path
    project.ok("undo", ":/b.txt", MOOT_AGENT=CRANE, cwd=inner)
    assert (project.root / "b.txt").read_text("utf-8") == "outer\n"
    assert not (inner / "b.txt").exists()


def test_other_worktrees_are_listed_on_request_and_survive_their_removal(project: Project) -> None:
    edit(project, WORK, root=project.other)
    shutil.rmtree(project.other)
    found = project.ok("undo")
    assert (found["versions"], found["elsewhere"]) == ([], 1)
    rows = listed(project, "--all")
    assert [(row["worktree"], row["agent"]) for row in rows][:1] == [(str(project.other), CRANE)]
    path = str(project.other / "a.txt")
    assert project.refused("undo", path, MOOT_AGENT=CRANE) == ("worktree_gone", 1)
    project.ok("undo", path, "-o", str(project.root / "saved.txt"))
    assert (project.root / "saved.txt").read_text("utf-8") == WORK


def test_what_git_has_pruned_is_said_to_be_gone(project: Project) -> None:
    edit(project, WORK)
    slip(project, "git checkout -- .")
    assert project.git("prune", "--expire=now").code == 0
    assert project.refused("undo", "a.txt", MOOT_AGENT=CRANE) == ("copy_gone", 1)


def test_undoing_loses_nothing_either(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.api.guard.copies.MOST_BYTES_COPIED", 20)
    edit(project, WORK)
    large = "more than twenty bytes of work\n"
    (project.root / "a.txt").write_text(large, encoding="utf-8")
    session = Session(project.root, acting=CRANE, keys=KeyFolder(project.keys))
    with session, pytest.raises(Refused) as refused:
        restore(session, "a.txt")
    assert refused.value.code == "not_kept"
    assert (project.root / "a.txt").read_text("utf-8") == large
    assert versions(project, Act.KEPT)[0].size == 4


def test_without_a_repository_nothing_is_copied_and_that_is_said(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    project.ok("agent", "register", CRANE)
    (root / "a.txt").write_text("before\n", encoding="utf-8")
    edit(project, WORK)
    assert not versions(project)[0].is_stored
    assert project.refused("undo", "a.txt") == ("no_version", 1)
