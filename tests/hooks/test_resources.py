"""A named resource is no file: editing a file of its name is neither refused nor reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moot.surfaces.hooks.entry import check_commit
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project


def write(path: Path, cwd: Path) -> dict[str, Any]:
    said = call("claude-write", cwd)
    return {**said, "tool_input": {**said["tool_input"], "file_path": str(path)}}


def test_a_file_that_is_named_like_a_held_resource_may_be_edited(project: Project) -> None:
    project.reserve(CRANE, "port:3000")
    (project.root / "port:3000").write_text("a socket's name\n", encoding="utf-8")
    assert project.hook("claude", write(project.root / "port:3000", project.root)).out == ""
    assert project.owners() == {"port:3000": CRANE, "./port:3000": OTTER}
    held = reason(
        project.hook("claude", write(project.root / "port:3000", project.root), agent=CRANE)
    )
    assert '"./port:3000" is held by amber-otter' in held


def test_the_file_is_asked_about_by_its_own_name(project: Project) -> None:
    project.reserve(CRANE, "./port:3000")
    free = project.run("--json", "--as", OTTER, "guard", "check", "port:3000")
    assert (free.code, free.data["paths"]) == (0, ["port:3000"])
    held = project.run("--json", "--as", OTTER, "guard", "check", "./port:3000")
    assert (held.code, held.data["held"][0]["path"]) == (1, "./port:3000")


def test_a_task_is_claimed_and_shown(project: Project) -> None:
    claimed = project.run("--as", OTTER, "reserve", "--work", "T-7", "--exclusive")
    assert (claimed.code, "holds task:T-7" in claimed.out) == (0, True)
    again = project.run("--as", CRANE, "reserve", "--work", "T-7", "--exclusive")
    assert again.code == 1
    assert "task:T-7 is held by amber-otter" in again.err
    assert "task:T-7" in project.run("status").out
    assert project.run("--as", CRANE, "reserve").code == 2
    assert project.run("--as", OTTER, "release", "task:T-7").code == 0
    assert project.owners() == {}


def test_a_commit_of_a_file_that_is_named_like_a_resource_is_a_files(project: Project) -> None:
    project.reserve(CRANE, "port:3000", "./db:test")
    for name in ("port:3000", "db:test"):
        (project.root / name).write_text("x\n", encoding="utf-8")
        project.git("add", "--", f"./{name}")
    stopped = check_commit({**project.env, "MOOT_AGENT": OTTER}, str(project.root))
    assert stopped.code == 1
    assert '"./db:test" is held by teal-crane' in stopped.err
    assert "port:3000" not in stopped.err
    (noted,) = project.events("INCURSION")
    assert noted["scope"] == "./db:test"


def test_a_shell_command_that_changes_such_a_file_is_told_of_the_files_holder(
    project: Project,
) -> None:
    for name in ("port:3000", "db:test"):
        (project.root / name).write_text("x\n", encoding="utf-8")
    project.reserve(CRANE, "port:3000", "./db:test")
    command = {"command": "make"}
    before = call("claude-bash", project.root, tool_input=command)
    assert project.hook("claude", before).out == ""
    for name in ("port:3000", "db:test"):
        (project.root / name).write_text("changed\n", encoding="utf-8")
    project.hook("claude", call("claude-bash-done", project.root, tool_input=command))
    assert [path for _who, path, *_blobs in project.told_changes()] == ["db:test"]
    assert project.events("INCURSION") == []
