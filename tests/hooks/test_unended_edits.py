"""Codex takes a patch out of a shell command, applies it itself and tells no end of it: the next
hook of anyone copies what it left, so that a person who writes over it destroys nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.flows.guard.guarded_paths import UNENDED_EDITS
from moot.system.git_objects import blob_id, read_blob
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.yard import CRANE, OTTER, Yard, call

LEFT = "one\ntwo\n"


def ask_to_patch(yard: Yard) -> None:
    assert yard.hook("codex", call("codex-heredoc", yard.root), CRANE).out == ""


def patch(yard: Yard) -> None:
    ask_to_patch(yard)
    (yard.root / "a.txt").write_text(LEFT, encoding="utf-8")


def notes(yard: Yard) -> list[Path]:
    folder = yard.root / ".moot" / UNENDED_EDITS
    return list(folder.iterdir()) if folder.is_dir() else []


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


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"root": 1}', b'{"root":"/","blobs":{}}'])
def test_a_note_that_cannot_be_read_is_in_nobodys_way(yard: Yard, damage: bytes) -> None:
    patch(yard)
    (note,) = notes(yard)
    note.write_bytes(damage)
    look = calls_of_another(yard.root)["a command that reads"]
    assert yard.hook("claude", look, OTTER).out == ""
    assert notes(yard) == []
