"""Codex takes a patch out of a shell command, applies it itself and tells no end of it: the next
hook of anyone copies what it left, so that a person who writes over it destroys nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.system.git_objects import blob_id, read_blob
from moot.workspace.call_journal import Call
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project

LEFT = "one\ntwo\n"


def ask_to_patch(project: Project) -> None:
    assert project.hook("codex", call("codex-heredoc", project.root), CRANE).out == ""


def patch(project: Project) -> None:
    ask_to_patch(project)
    (project.root / "a.txt").write_text(LEFT, encoding="utf-8")


def notes(project: Project) -> list[Call]:
    """The edits whose end no hook tells and that are waited for."""
    with FileVersions(project.root / ".moot") as memory:
        return memory.journal.list_untold()


def kept(project: Project) -> list[FileVersion]:
    with FileVersions(project.root / ".moot") as memory:
        return [row for row in memory.list_versions(Act.KEPT) if row.blob == blob_id(LEFT.encode())]


def calls_of_another(root: Path) -> dict[str, dict[str, Any]]:
    return {
        "an edit": call("claude-write", root, "b.txt"),
        "a command that reads": call("claude-bash", root, tool_input={"command": "cat b.txt"}),
        "the end of an edit": call("claude-write-done", root, "b.txt"),
    }


@pytest.mark.parametrize("which", ["an edit", "a command that reads", "the end of an edit"])
def test_anyone_who_calls_next_copies_what_the_patch_left(project: Project, which: str) -> None:
    patch(project)
    assert len(notes(project)) == 1
    assert kept(project) == []
    assert project.hook("claude", calls_of_another(project.root)[which], OTTER).out == ""
    (version,) = kept(project)
    assert (version.agent, version.why) == ("", "after a patch in a shell command")
    assert read_blob(project.root, version.blob) == LEFT.encode()
    assert notes(project) == []
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    project.ok("undo", "a.txt", "--id", version.blob, "-o", "back.txt")
    assert (project.root / "back.txt").read_text("utf-8") == LEFT


def test_a_patch_that_is_not_applied_yet_is_waited_for(project: Project) -> None:
    ask_to_patch(project)
    look = calls_of_another(project.root)["a command that reads"]
    project.hook("claude", look, OTTER)
    assert (len(notes(project)), kept(project)) == (1, [])
    (project.root / "a.txt").write_text(LEFT, encoding="utf-8")
    project.hook("claude", look, OTTER)
    assert (notes(project), len(kept(project))) == ([], 1)


def test_a_patch_that_was_refused_is_not_waited_for(project: Project) -> None:
    project.reserve(OTTER, "a.txt")
    assert "a.txt" in project.hook("codex", call("codex-heredoc", project.root), CRANE).out
    assert notes(project) == []


@pytest.mark.parametrize("damage", ["announced = x'7b'", "before = NULL", "worktree = '/nowhere'"])
def test_a_row_that_says_nothing_is_in_nobodys_way(project: Project, damage: str) -> None:
    patch(project)
    with FileVersions(project.root / ".moot") as memory, memory.transaction() as db:
        db.execute(f"UPDATE call_files SET {damage}, predicted = ''")
    look = calls_of_another(project.root)["a command that reads"]
    assert project.hook("claude", look, OTTER).out == ""


def test_a_patch_that_left_what_it_announced_is_its_agents(project: Project) -> None:
    ask_to_patch(project)
    (project.root / "a.txt").write_text("two\n", encoding="utf-8")
    project.hook("claude", calls_of_another(project.root)["an edit"], OTTER)
    with FileVersions(project.root / ".moot") as memory:
        left = memory.last(str(project.root), "a.txt", Act.LEFT)
    assert left is not None
    assert (left.agent, left.blob, left.is_stored) == (CRANE, blob_id(b"two\n"), True)
    assert notes(project) == []
