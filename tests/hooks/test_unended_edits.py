"""Codex takes a patch out of a shell command, applies it itself and tells no end of it: the next
hook of anyone copies what it left, so that a person who writes over it destroys nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.system.git_objects import blob_id, read_blob
from moot.workspace.call_journal import Call
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.yard import CRANE, OTTER, Yard, call

LEFT = "one\ntwo\n"


def ask_to_patch(yard: Yard) -> None:
    assert yard.hook("codex", call("codex-heredoc", yard.root), CRANE).out == ""


def patch(yard: Yard) -> None:
    ask_to_patch(yard)
    (yard.root / "a.txt").write_text(LEFT, encoding="utf-8")


def notes(yard: Yard) -> list[Call]:
    """The edits whose end no hook tells and that are waited for."""
    with FileVersions(yard.root / ".moot") as memory:
        return memory.journal.list_untold()


def kept(yard: Yard) -> list[FileVersion]:
    with FileVersions(yard.root / ".moot") as memory:
        return [row for row in memory.list_versions(Act.KEPT) if row.blob == blob_id(LEFT.encode())]


def calls_of_another(root: Path) -> dict[str, dict[str, Any]]:
    return {
        "an edit": call("claude-write", root, "b.txt"),
        "a command that reads": call("claude-bash", root, tool_input={"command": "cat b.txt"}),
        "the end of an edit": call("claude-write-done", root, "b.txt"),
    }


@pytest.mark.parametrize("which", ["an edit", "a command that reads", "the end of an edit"])
def test_whoever_calls_next_copies_what_the_patch_left(yard: Yard, which: str) -> None:
    patch(yard)
    assert len(notes(yard)) == 1
    assert kept(yard) == []
    assert yard.hook("claude", calls_of_another(yard.root)[which], OTTER).out == ""
    (version,) = kept(yard)
    assert (version.agent, version.why) == ("", "after a patch in a shell command")
    assert read_blob(yard.root, version.blob) == LEFT.encode()
    assert notes(yard) == []
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    yard.ok("undo", "a.txt", "--id", version.blob, "-o", "back.txt")
    assert (yard.root / "back.txt").read_text("utf-8") == LEFT


def test_a_patch_that_is_not_applied_yet_is_waited_for(yard: Yard) -> None:
    ask_to_patch(yard)
    look = calls_of_another(yard.root)["a command that reads"]
    yard.hook("claude", look, OTTER)
    assert (len(notes(yard)), kept(yard)) == (1, [])
    (yard.root / "a.txt").write_text(LEFT, encoding="utf-8")
    yard.hook("claude", look, OTTER)
    assert (notes(yard), len(kept(yard))) == ([], 1)


def test_a_patch_that_was_refused_is_not_waited_for(yard: Yard) -> None:
    yard.reserve(OTTER, "a.txt")
    assert "a.txt" in yard.hook("codex", call("codex-heredoc", yard.root), CRANE).out
    assert notes(yard) == []


@pytest.mark.parametrize("damage", ["announced = x'7b'", "before = NULL", "worktree = '/nowhere'"])
def test_a_row_that_says_nothing_is_in_nobodys_way(yard: Yard, damage: str) -> None:
    patch(yard)
    with FileVersions(yard.root / ".moot") as memory, memory.transaction() as db:
        db.execute(f"UPDATE call_files SET {damage}, predicted = ''")
    look = calls_of_another(yard.root)["a command that reads"]
    assert yard.hook("claude", look, OTTER).out == ""


def test_a_patch_that_left_what_it_announced_is_its_agents(yard: Yard) -> None:
    ask_to_patch(yard)
    (yard.root / "a.txt").write_text("two\n", encoding="utf-8")
    yard.hook("claude", calls_of_another(yard.root)["an edit"], OTTER)
    with FileVersions(yard.root / ".moot") as memory:
        left = memory.last(str(yard.root), "a.txt", Act.LEFT)
    assert left is not None
    assert (left.agent, left.blob, left.is_stored) == (CRANE, blob_id(b"two\n"), True)
    assert notes(yard) == []
