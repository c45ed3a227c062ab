"""Copies: what an agent left, and what stood there before somebody's act, can be brought back."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.system.git_objects import blob_id, read_blob
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason, told

WORK = "hours of work\n"


def versions(yard: Yard, act: Act = Act.LEFT) -> list[FileVersion]:
    with FileVersions(yard.root / ".moot") as memory:
        return memory.list_versions(act)


def edit(
    yard: Yard, text: str, agent: str = CRANE, file: str = "a.txt", root: Path | None = None
) -> None:
    """A whole edit of Claude Code: asked for, written, and told to be done."""
    where = root or yard.root
    more: dict[str, Any] = {"tool_input": {"file_path": str(where / file), "content": text}}
    assert yard.hook("claude", call("claude-write", where, file, **more), agent).out == ""
    (where / file).parent.mkdir(parents=True, exist_ok=True)
    (where / file).write_text(text, encoding="utf-8")
    reply = yard.hook("claude", call("claude-write-done", where, file, **more), agent)
    assert not reply.out or "waiting for you" in told(reply)


def slip(yard: Yard, command: str, agent: str = OTTER, root: Path | None = None) -> str:
    """A shell command that nobody saw coming: what the model is told after it."""
    where = root or yard.root
    asked = {"command": command}
    yard.hook("claude", call("claude-bash", where, tool_input={"command": "true"}), agent)
    subprocess.run(["sh", "-c", command], cwd=where, check=True, timeout=60, env=yard.env)
    done = call("claude-bash-done", where, tool_input=asked)
    reply = yard.hook("claude", done, agent)
    return told(reply) if reply.out else ""


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- .",
        "git checkout -- a.txt",
        "git restore a.txt",
        "git reset --hard --quiet",
        "git -c user.name=x -c user.email=x@example.org stash --quiet",
    ],
)
def test_work_that_a_git_command_puts_back_is_told_and_comes_back(yard: Yard, command: str) -> None:
    edit(yard, WORK)
    assert slip(yard, command) == ""
    assert (yard.root / "a.txt").read_text("utf-8") == "one\n"
    blobs = blob_id(WORK.encode()), blob_id(b"one\n")
    assert yard.told_changes() == [(OTTER, "a.txt", *blobs)]
    assert yard.events("INCURSION") == []
    yard.ok("undo", "a.txt", MOOT_AGENT=CRANE)
    assert (yard.root / "a.txt").read_text("utf-8") == WORK


def test_each_loss_is_told(yard: Yard) -> None:
    edit(yard, WORK)
    slip(yard, "git checkout -- .")
    slip(yard, "git checkout -- .")
    assert len(yard.told_changes()) == 1, "nothing changed the second time"
    sent = {"file_path": str(yard.root / "a.txt"), "content": "again\n"}
    refused = yard.hook("claude", call("claude-write", yard.root, tool_input=sent), CRANE)
    assert "after you last saw it" in refused.out
    edit(yard, "again\n")
    slip(yard, "git checkout -- .")
    assert len(yard.told_changes()) == 2


def test_a_file_that_is_as_its_holder_left_it_is_nobodys_incursion(yard: Yard) -> None:
    """The holder writes while another agent's command runs that names no file."""
    asked = {"command": "make"}
    yard.hook("claude", call("claude-bash", yard.root, tool_input=asked), OTTER)
    edit(yard, WORK)
    done = call("claude-bash-done", yard.root, tool_input=asked)
    assert yard.hook("claude", done, OTTER).out == ""
    assert yard.events("INCURSION") == []


def test_a_command_that_reaches_into_another_worktree_is_told(yard: Yard) -> None:
    edit(yard, WORK)
    slip(yard, f"git -C {yard.root} checkout -- .", root=yard.other)
    assert [change[:2] for change in yard.told_changes()] == [(OTTER, "a.txt")]


def test_an_edit_leaves_a_version_with_its_bytes(yard: Yard) -> None:
    edit(yard, WORK)
    (left,) = versions(yard)
    assert (left.path, left.agent, left.why) == ("a.txt", CRANE, "Write")
    assert left.is_stored
    assert read_blob(yard.root, left.blob) == WORK.encode()
    edit(yard, WORK)
    assert versions(yard) == [left], "the same bytes are no new version"


def test_what_a_person_wrote_is_kept_before_an_agent_writes_over_it(yard: Yard) -> None:
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    edit(yard, WORK)
    (kept,) = versions(yard, Act.KEPT)
    assert (kept.agent, kept.why) == ("", f"before an edit by {CRANE}")
    assert read_blob(yard.root, kept.blob) == b"by a person\n"


def test_what_an_agents_command_wrote_is_kept_too(yard: Yard) -> None:
    assert slip(yard, "echo two > a.txt; mkdir -p sub; echo new > sub/b.txt") == ""
    assert {version.path for version in versions(yard)} == {"a.txt", "sub/b.txt"}
    assert all(version.is_stored and version.agent == OTTER for version in versions(yard))
    assert slip(yard, "rm sub/b.txt") == ""
    assert versions(yard)[0][1:2] + versions(yard)[0][6:8] == ("sub/b.txt", "", 0)


def test_ignored_files_are_not_copied(yard: Yard) -> None:
    (yard.root / ".gitignore").write_text("*.env\n", encoding="utf-8")
    (yard.root / "secret.env").write_text("old key\n", encoding="utf-8")
    edit(yard, "key\n", file="secret.env")
    (left,) = versions(yard)
    assert not left.is_stored
    assert versions(yard, Act.KEPT) == []
    for text in (b"key\n", b"old key\n"):
        assert read_blob(yard.root, blob_id(text)) is None


def test_a_full_disk_holds_the_edit_back(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    monkeypatch.setattr("moot.system.git_objects.os.fsync", full)
    said = reason(yard.hook("claude", call("claude-write", yard.root), CRANE))
    assert "[copy_failed]" in said
    assert "No space left" in said
    assert versions(yard, Act.KEPT) == []


def test_a_submodule_has_its_own_rules_on_what_is_ignored(yard: Yard) -> None:
    inner = yard.root / "lib"
    inner.mkdir()
    assert yard.git("init", "--quiet", cwd=inner).code == 0
    (inner / ".gitignore").write_text("secret\n", encoding="utf-8")
    edit(yard, "key\n", file="lib/secret")
    edit(yard, "code\n", file="lib/code.py")
    assert {row.path: row.is_stored for row in versions(yard)} == {
        "lib/secret": False,
        "lib/code.py": True,
    }


def test_large_files_and_more_than_a_days_share_are_noted_but_not_copied(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.flows.guard.present_files.MOST_BYTES_COPIED", 10)
    edit(yard, "eleven byte")
    monkeypatch.setattr("moot.flows.guard.copies.MOST_BYTES_A_DAY", {Act.LEFT: 7, Act.KEPT: 99})
    edit(yard, "four")
    edit(yard, "five!")
    stored = {row.size: row.is_stored for row in versions(yard)}
    assert stored == {11: False, 4: True, 5: False}


def test_a_repository_with_longer_ids_is_understood(yard: Yard, tmp_path: Path) -> None:
    root = tmp_path / "long"
    root.mkdir()
    if yard.git("init", "--quiet", "--object-format=sha256", cwd=root).code:
        pytest.skip("this git has no such repositories")
    other = Yard(root, tmp_path / "keys2")
    other.ok("init")
    other.ok("agent", "register", CRANE)
    edit(other, WORK)
    (left,) = versions(other)
    assert len(left.blob) == 64
    assert read_blob(root, left.blob) == WORK.encode()


def test_a_damaged_memory_holds_edits_back_and_says_how_to_mend_it(yard: Yard) -> None:
    (yard.root / ".moot/files.db").write_bytes(b"no database" * 100)
    said = reason(yard.hook("claude", call("claude-write", yard.root), CRANE))
    assert "[file_memory_failed]" in said
    assert "remove it" in said


def test_the_copy_of_a_private_file_is_for_its_owner_alone(yard: Yard) -> None:
    """Also by a command that only might change it."""
    secret = yard.root / "creds.txt"
    secret.write_text("secret\n")
    secret.chmod(0o600)
    said = call("claude-bash", yard.root)
    said["tool_input"] = {"command": "make test"}
    assert yard.hook("claude", said).out == ""
    name = yard.git("hash-object", "creds.txt").out.strip()
    copy = yard.root / ".git" / "objects" / name[:2] / name[2:]
    assert copy.stat().st_mode & 0o777 == 0o400
    assert yard.git("cat-file", "blob", name).out == "secret\n"


@pytest.mark.parametrize(("project", "workspace"), [(0o755, 0o700), (0o775, 0o755)])
def test_a_workspace_is_its_users_alone_unless_the_project_is_shared(
    tmp_path: Path, project: int, workspace: int
) -> None:
    root = tmp_path / "new"
    root.mkdir()
    root.chmod(project)
    made = Yard(root, tmp_path / "new-keys")
    made.ok("init")
    assert (root / ".moot").stat().st_mode & 0o777 == workspace
