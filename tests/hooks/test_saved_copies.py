"""Copies: what an agent left, and what stood there before somebody's act, can be brought back."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.system.git_objects import blob_id, read_blob
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, OTTER, Project

WORK = "hours of work\n"


def versions(project: Project, act: Act = Act.LEFT) -> list[FileVersion]:
    with FileVersions(project.root / ".moot") as memory:
        return memory.list_versions(act)


def edit(
    project: Project, text: str, agent: str = CRANE, file: str = "a.txt", root: Path | None = None
) -> None:
    """A whole edit of Claude Code: asked for, written, and told to be done."""
    where = root or project.root
    more: dict[str, Any] = {"tool_input": {"file_path": str(where / file), "content": text}}
    assert project.hook("claude", call("claude-write", where, file, **more), agent).out == ""
    (where / file).parent.mkdir(parents=True, exist_ok=True)
    (where / file).write_text(text, encoding="utf-8")
    reply = project.hook("claude", call("claude-write-done", where, file, **more), agent)
    assert not reply.out or "waiting for you" in told(reply)


def slip(project: Project, command: str, agent: str = OTTER, root: Path | None = None) -> str:
    """A shell command that nobody saw coming: what the model is told after it."""
    where = root or project.root
    asked = {"command": command}
    project.hook("claude", call("claude-bash", where, tool_input={"command": "true"}), agent)
    subprocess.run(["sh", "-c", command], cwd=where, check=True, timeout=60, env=project.env)
    done = call("claude-bash-done", where, tool_input=asked)
    reply = project.hook("claude", done, agent)
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
def test_work_that_a_git_command_puts_back_is_told_and_comes_back(
    project: Project, command: str
) -> None:
    edit(project, WORK)
    assert slip(project, command) == ""
    assert (project.root / "a.txt").read_text("utf-8") == "one\n"
    blobs = blob_id(WORK.encode()), blob_id(b"one\n")
    assert project.told_changes() == [(OTTER, "a.txt", *blobs)]
    assert project.events("INCURSION") == []
    project.ok("undo", "a.txt", MOOT_AGENT=CRANE)
    assert (project.root / "a.txt").read_text("utf-8") == WORK


def test_each_loss_is_told(project: Project) -> None:
    edit(project, WORK)
    slip(project, "git checkout -- .")
    slip(project, "git checkout -- .")
    assert len(project.told_changes()) == 1, "nothing changed the second time"
    sent = {"file_path": str(project.root / "a.txt"), "content": "again\n"}
    refused = project.hook("claude", call("claude-write", project.root, tool_input=sent), CRANE)
    assert "after you last saw it" in refused.out
    edit(project, "again\n")
    slip(project, "git checkout -- .")
    assert len(project.told_changes()) == 2


def test_a_file_that_is_as_its_holder_left_it_is_nobodys_incursion(project: Project) -> None:
    """The holder writes while another agent's command runs that names no file."""
    asked = {"command": "make"}
    project.hook("claude", call("claude-bash", project.root, tool_input=asked), OTTER)
    edit(project, WORK)
    done = call("claude-bash-done", project.root, tool_input=asked)
    assert project.hook("claude", done, OTTER).out == ""
    assert project.events("INCURSION") == []


def test_a_command_that_reaches_into_another_worktree_is_told(project: Project) -> None:
    edit(project, WORK)
    slip(project, f"git -C {project.root} checkout -- .", root=project.other)
    assert [change[:2] for change in project.told_changes()] == [(OTTER, "a.txt")]


def test_an_edit_leaves_a_version_with_its_bytes(project: Project) -> None:
    edit(project, WORK)
    (left,) = versions(project)
    assert (left.path, left.agent, left.why) == ("a.txt", CRANE, "Write")
    assert left.is_stored
    assert read_blob(project.root, left.blob) == WORK.encode()
    edit(project, WORK)
    assert versions(project) == [left], "the same bytes are no new version"


@pytest.mark.requirement("GRD-023")
def test_what_a_person_wrote_is_kept_before_an_agent_writes_over_it(project: Project) -> None:
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    edit(project, WORK)
    (kept,) = versions(project, Act.KEPT)
    assert (kept.agent, kept.why) == ("", f"before an edit by {CRANE}")
    assert read_blob(project.root, kept.blob) == b"by a person\n"


def test_what_an_agents_command_wrote_is_kept_too(project: Project) -> None:
    assert slip(project, "echo two > a.txt; mkdir -p sub; echo new > sub/b.txt") == ""
    assert {version.path for version in versions(project)} == {"a.txt", "sub/b.txt"}
    assert all(version.is_stored and version.agent == OTTER for version in versions(project))
    assert slip(project, "rm sub/b.txt") == ""
    assert versions(project)[0][1:2] + versions(project)[0][6:8] == ("sub/b.txt", "", 0)


def test_ignored_files_are_not_copied(project: Project) -> None:
    (project.root / ".gitignore").write_text("*.env\n", encoding="utf-8")
    (project.root / "secret.env").write_text("old key\n", encoding="utf-8")
    edit(project, "key\n", file="secret.env")
    (left,) = versions(project)
    assert not left.is_stored
    assert versions(project, Act.KEPT) == []
    for text in (b"key\n", b"old key\n"):
        assert read_blob(project.root, blob_id(text)) is None


@pytest.mark.requirement("GRD-024")
def test_a_full_disk_holds_the_edit_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    monkeypatch.setattr("moot.system.git_objects.os.fsync", full)
    said = reason(project.hook("claude", call("claude-write", project.root), CRANE))
    assert "[copy_failed]" in said
    assert "No space left" in said
    assert versions(project, Act.KEPT) == []


def test_a_submodule_has_its_own_rules_on_what_is_ignored(project: Project) -> None:
    inner = project.root / "lib"
    inner.mkdir()
    assert project.git("init", "--quiet", cwd=inner).code == 0
    (inner / ".gitignore").write_text("secret\n", encoding="utf-8")
    edit(project, "key\n", file="lib/secret")
    edit(project, "code\n", file="lib/code.py")
    assert {row.path: row.is_stored for row in versions(project)} == {
        "lib/secret": False,
        "lib/code.py": True,
    }


def test_large_files_and_more_than_a_days_share_are_noted_but_not_copied(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.api.guard.copies.MOST_BYTES_COPIED", 10)
    edit(project, "eleven byte")
    monkeypatch.setattr("moot.api.guard.copies.MOST_BYTES_A_DAY", {Act.LEFT: 7, Act.KEPT: 99})
    edit(project, "four")
    edit(project, "five!")
    stored = {row.size: row.is_stored for row in versions(project)}
    assert stored == {11: False, 4: True, 5: False}


def test_a_repository_with_longer_ids_is_understood(project: Project, tmp_path: Path) -> None:
    root = tmp_path / "long"
    root.mkdir()
    if project.git("init", "--quiet", "--object-format=sha256", cwd=root).code:
        pytest.skip("this git has no such repositories")
    other = Project(root, tmp_path / "keys2")
    other.ok("init")
    other.ok("agent", "register", CRANE)
    edit(other, WORK)
    (left,) = versions(other)
    assert len(left.blob) == 64
    assert read_blob(root, left.blob) == WORK.encode()


def test_a_damaged_memory_holds_edits_back_and_says_how_to_fix_it(project: Project) -> None:
    (project.root / ".moot/files.db").write_bytes(b"no database" * 100)
    said = reason(project.hook("claude", call("claude-write", project.root), CRANE))
    assert "[file_memory_failed]" in said
    assert "remove it" in said


def test_the_copy_of_a_private_file_is_for_its_owner_alone(project: Project) -> None:
    """Also by a command that only might change it."""
    secret = project.root / "creds.txt"
    secret.write_text("secret\n")
    secret.chmod(0o600)
    said = call("claude-bash", project.root)
    said["tool_input"] = {"command": "make test"}
    assert project.hook("claude", said).out == ""
    name = project.git("hash-object", "creds.txt").out.strip()
    copy = project.root / ".git" / "objects" / name[:2] / name[2:]
    assert copy.stat().st_mode & 0o777 == 0o400
    assert project.git("cat-file", "blob", name).out == "secret\n"


@pytest.mark.parametrize(("project", "workspace"), [(0o755, 0o700), (0o775, 0o755)])
def test_a_workspace_is_its_users_alone_unless_the_project_is_shared(
    tmp_path: Path, project: int, workspace: int
) -> None:
    root = tmp_path / "new"
    root.mkdir()
    root.chmod(project)
    made = Project(root, tmp_path / "new-keys")
    made.ok("init")
    assert (root / ".moot").stat().st_mode & 0o777 == workspace
