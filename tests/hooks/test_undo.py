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
from tests.hooks.test_copies import WORK, edit, slip, versions
from tests.hooks.yard import CRANE, OTTER, Yard, call


def listed(yard: Yard, *words: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yard.ok("undo", *words, **more)["versions"]
    return found


def test_what_was_lost_is_listed_with_who_left_it_and_names_no_suspect(yard: Yard) -> None:
    edit(yard, WORK)
    assert [row["agent"] for row in listed(yard)] == [None], "as it was committed, by nobody seen"
    slip(yard, "git checkout -- .")
    (lost,) = listed(yard)
    assert (lost["path"], lost["number"], lost["agent"], lost["size"]) == ("a.txt", 1, CRANE, 14)
    assert (lost["left_by"], lost["mode"]) == ("Write", "100644")
    assert (lost["lost_to"], lost["lost_by"]) == (None, None), "it is not proved who did it"
    assert OTTER not in yard.run("undo", CLICOLOR="0").out


def test_nothing_is_listed_where_nothing_was_seen(yard: Yard) -> None:
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert yard.ok("undo") == {"versions": [], "more": 0, "elsewhere": 0}
    assert not (yard.root / ".moot/files.db").exists()
    assert yard.refused("undo", "a.txt") == ("no_version", 1)
    assert "is lost" in yard.run("undo", "a.txt").err


def test_bytes_and_mode_come_back_exactly(yard: Yard) -> None:
    script = yard.root / "run.sh"
    data = b"\xff\x00#!/bin/sh\r\nno line end"
    yard.hook("claude", call("claude-write", yard.root, "run.sh"), CRANE)
    script.write_bytes(data)
    script.chmod(0o750)
    yard.hook("claude", call("claude-write-done", yard.root, "run.sh"), CRANE)
    slip(yard, "rm run.sh")
    yard.ok("undo", "run.sh", MOOT_AGENT=CRANE)
    assert script.read_bytes() == data
    assert script.stat().st_mode & 0o7777 == 0o750


def test_a_link_comes_back_as_a_link(yard: Yard) -> None:
    slip(yard, "ln -s a.txt link", agent=CRANE)
    slip(yard, "rm link", agent=CRANE)
    yard.ok("undo", "link", MOOT_AGENT=CRANE)
    assert os.readlink(yard.root / "link") == "a.txt"


def test_an_undo_can_be_undone(yard: Yard) -> None:
    edit(yard, WORK)
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    done = yard.ok("undo", "a.txt", MOOT_AGENT=CRANE)
    assert (yard.root / "a.txt").read_text("utf-8") == WORK
    yard.ok("undo", "a.txt", "--id", done["replaced"], MOOT_AGENT=CRANE)
    assert (yard.root / "a.txt").read_text("utf-8") == "by a person\n"
    lines = yard.run("undo", "a.txt", MOOT_AGENT=CRANE).out.splitlines()
    assert lines[0].endswith("a.txt: 14 bytes brought back")
    assert lines[1].startswith(f"  as left by {CRANE} (moot undo), 20")
    assert lines[2].startswith("  what stood there is kept as ")


def test_a_version_is_chosen_by_number_time_or_id(yard: Yard) -> None:
    for text in ("first\n", "second\n", "third\n"):
        edit(yard, text)
    numbers = {row["number"]: row for row in listed(yard)}
    assert [row["size"] for row in numbers.values()] == [7, 6, 4]
    file = yard.root / "out.txt"
    for words, text in (
        ((), "second\n"),
        (("--version", "2"), "first\n"),
        (("--at", numbers[2]["at"]), "first\n"),
        (("--id", numbers[3]["id"][:8]), "one\n"),
    ):
        yard.ok("undo", "a.txt", *words, "-o", str(file))
        assert file.read_text("utf-8") == text
    assert (yard.root / "a.txt").read_text("utf-8") == "third\n"
    assert yard.refused("undo", "a.txt", "--version", "9") == ("no_version", 1)
    assert yard.refused("undo", "a.txt", "--version", "1", "--id", "abcd") == ("two_choices", 1)
    assert yard.refused("undo", "--version", "1") == ("usage", 2)


def test_what_another_holds_is_not_written(yard: Yard) -> None:
    edit(yard, WORK)
    slip(yard, "git checkout -- .")
    before = yard.owners()
    for agent in ({"MOOT_AGENT": OTTER}, {}):
        assert yard.refused("undo", "a.txt", **agent) == ("reservation_conflict", 1)
    assert (yard.root / "a.txt").read_text("utf-8") == "one\n"
    assert yard.owners() == before
    yard.ok("undo", "a.txt", "-o", str(yard.root / "copy.txt"))
    assert (yard.root / "copy.txt").read_text("utf-8") == WORK


def test_what_is_brought_back_is_reserved_like_an_edit(yard: Yard) -> None:
    edit(yard, WORK)
    yard.ok("release", "--all", "--agent", CRANE)
    slip(yard, "git checkout -- .")
    yard.ok("undo", "a.txt", MOOT_AGENT=OTTER)
    assert yard.owners() == {"a.txt": OTTER}
    assert versions(yard)[0].why == "moot undo"


def test_the_difference_is_shown_and_nothing_changed(yard: Yard) -> None:
    edit(yard, WORK)
    yard.ok("release", "--all", MOOT_AGENT=CRANE)
    edit(yard, "one\n", agent=OTTER)
    shown = yard.ok("undo", "--show", "a.txt")
    assert "-one\n+hours of work\n" in shown["difference"]
    assert (yard.root / "a.txt").read_text("utf-8") == "one\n"
    lines = yard.run("undo", "--show", "a.txt").out.splitlines()
    assert lines[0].startswith("version 1 (")
    assert f"left by {CRANE} (Write)" in lines[0]
    assert lines[-2:] == ["-one", "+hours of work"]


def test_a_path_is_read_from_where_one_stands_and_marked_from_the_root(yard: Yard) -> None:
    inner = yard.root / "sub"
    edit(yard, "inner\n", file="sub/b.txt")
    slip(yard, "rm sub/b.txt", agent=CRANE)
    for path in (":/sub/b.txt", "b.txt", "../sub/b.txt", str(inner / "b.txt")):
        yard.ok("undo", path, MOOT_AGENT=CRANE, cwd=inner)
        assert (inner / "b.txt").read_text("utf-8") == "inner\n"
        (inner / "b.txt").unlink()
    edit(yard, "outer\n", file="b.txt")
    slip(yard, "rm b.txt", agent=CRANE)
    assert yard.refused("undo", "sub/b.txt", MOOT_AGENT=CRANE, cwd=inner) == ("no_version", 1)
    assert not (yard.root / "b.txt").exists()
    for path, cwd in (("sub", yard.root), (".", inner), (":/sub", inner)):
        rows = yard.ok("undo", "--list", path, cwd=cwd)["versions"]
        assert [row["path"] for row in rows] == ["sub/b.txt"], path
    yard.ok("undo", ":/b.txt", MOOT_AGENT=CRANE, cwd=inner)
    assert (yard.root / "b.txt").read_text("utf-8") == "outer\n"
    assert not (inner / "b.txt").exists()


def test_other_worktrees_are_listed_on_request_and_survive_their_removal(yard: Yard) -> None:
    edit(yard, WORK, root=yard.other)
    shutil.rmtree(yard.other)
    found = yard.ok("undo")
    assert (found["versions"], found["elsewhere"]) == ([], 1)
    rows = listed(yard, "--all")
    assert [(row["worktree"], row["agent"]) for row in rows][:1] == [(str(yard.other), CRANE)]
    path = str(yard.other / "a.txt")
    assert yard.refused("undo", path, MOOT_AGENT=CRANE) == ("worktree_gone", 1)
    yard.ok("undo", path, "-o", str(yard.root / "saved.txt"))
    assert (yard.root / "saved.txt").read_text("utf-8") == WORK


def test_what_git_has_pruned_is_said_to_be_gone(yard: Yard) -> None:
    edit(yard, WORK)
    slip(yard, "git checkout -- .")
    assert yard.git("prune", "--expire=now").code == 0
    assert yard.refused("undo", "a.txt", MOOT_AGENT=CRANE) == ("copy_gone", 1)


def test_undoing_loses_nothing_either(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.flows.guard.present_files.MOST_BYTES_COPIED", 20)
    edit(yard, WORK)
    large = "more than twenty bytes of work\n"
    (yard.root / "a.txt").write_text(large, encoding="utf-8")
    session = Session(yard.root, acting=CRANE, keys=KeyFolder(yard.keys))
    with session, pytest.raises(Refused) as refused:
        restore(session, "a.txt")
    assert refused.value.code == "not_kept"
    assert (yard.root / "a.txt").read_text("utf-8") == large
    assert versions(yard, Act.KEPT)[0].size == 4


def test_without_a_repository_nothing_is_copied_and_that_is_said(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    yard = Yard(root, tmp_path / "keys")
    yard.ok("init")
    yard.ok("agent", "register", CRANE)
    (root / "a.txt").write_text("before\n", encoding="utf-8")
    edit(yard, WORK)
    assert not versions(yard)[0].is_stored
    assert yard.refused("undo", "a.txt") == ("no_version", 1)
