"""A named resource is no file: editing a file of its name is neither refused nor reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moot.surfaces.hooks.entry import check_commit
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason


def write(path: Path, cwd: Path) -> dict[str, Any]:
    said = call("claude-write", cwd)
    return {**said, "tool_input": {**said["tool_input"], "file_path": str(path)}}


def test_a_file_that_is_named_like_a_held_resource_may_be_edited(yard: Yard) -> None:
    yard.reserve(CRANE, "port:3000")
    (yard.root / "port:3000").write_text("a socket's name\n", encoding="utf-8")
    assert yard.hook("claude", write(yard.root / "port:3000", yard.root)).out == ""
    assert yard.owners() == {"port:3000": CRANE, "./port:3000": OTTER}
    held = reason(yard.hook("claude", write(yard.root / "port:3000", yard.root), agent=CRANE))
    assert '"./port:3000" is held by amber-otter' in held


def test_the_file_is_asked_about_by_its_own_name(yard: Yard) -> None:
    yard.reserve(CRANE, "./port:3000")
    free = yard.run("--json", "--as", OTTER, "guard", "check", "port:3000")
    assert (free.code, free.data["paths"]) == (0, ["port:3000"])
    held = yard.run("--json", "--as", OTTER, "guard", "check", "./port:3000")
    assert (held.code, held.data["held"][0]["path"]) == (1, "./port:3000")


def test_a_task_is_claimed_and_shown(yard: Yard) -> None:
    claimed = yard.run("--as", OTTER, "reserve", "--work", "T-7", "--exclusive")
    assert (claimed.code, "holds task:T-7" in claimed.out) == (0, True)
    again = yard.run("--as", CRANE, "reserve", "--work", "T-7", "--exclusive")
    assert again.code == 1
    assert "task:T-7 is held by amber-otter" in again.err
    assert "task:T-7" in yard.run("status").out
    assert yard.run("--as", CRANE, "reserve").code == 2
    assert yard.run("--as", OTTER, "release", "task:T-7").code == 0
    assert yard.owners() == {}


def test_a_commit_of_a_file_that_is_named_like_a_resource_is_a_files(yard: Yard) -> None:
    yard.reserve(CRANE, "port:3000", "./db:test")
    for name in ("port:3000", "db:test"):
        (yard.root / name).write_text("x\n", encoding="utf-8")
        yard.git("add", "--", f"./{name}")
    stopped = check_commit({**yard.env, "MOOT_AGENT": OTTER}, str(yard.root))
    assert stopped.code == 1
    assert '"./db:test" is held by teal-crane' in stopped.err
    assert "port:3000" not in stopped.err
    (noted,) = yard.events("INCURSION")
    assert noted["scope"] == "./db:test"


def test_a_shell_command_that_changes_such_a_file_is_told_of_the_files_holder(yard: Yard) -> None:
    for name in ("port:3000", "db:test"):
        (yard.root / name).write_text("x\n", encoding="utf-8")
    yard.reserve(CRANE, "port:3000", "./db:test")
    command = {"command": "make"}
    before = call("claude-bash", yard.root, tool_input=command)
    assert yard.hook("claude", before).out == ""
    for name in ("port:3000", "db:test"):
        (yard.root / name).write_text("changed\n", encoding="utf-8")
    yard.hook("claude", call("claude-bash-done", yard.root, tool_input=command))
    assert [path for _who, path, *_blobs in yard.told_changes()] == ["db:test"]
    assert yard.events("INCURSION") == []
