"""Each tool's own reading of a path: what it would open is held too, and not only what it says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import find_tool
from moot.coding_tools.tool import Rewriting
from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.written_files import MOST_FOLDERS, list_readings
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project


def readings(tool: str, name: str, text: str, cwd: str = "/w") -> list[str]:
    return list(list_readings(text, cwd, find_tool(tool).rewritings_for(name)))


def test_every_rewriting_of_the_table_is_known() -> None:
    for rewriting in Rewriting:
        assert list(list_readings("/w/a.txt", "/w", (rewriting,))) == ["/w/a.txt"]


HOME = os.path.expanduser("~")


@pytest.mark.parametrize(
    ("tool", "name", "text", "also"),
    [
        ("gemini", "write_file", " src/a.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "src/a.txt\t", ["/w/src/a.txt"]),
        ("gemini", "write_file", " @src/a.txt", ["/w/@src/a.txt", "/w/src/a.txt"]),
        ("gemini", "replace", " src/a.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "@src/a.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "@/src/a.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "@//src/a.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "@a%20b.txt", ["/w/a%20b.txt", "/w/@a b.txt", "/w/a b.txt"]),
        ("gemini", "write_file", "/w/src%2Fa.txt", ["/w/src/a.txt"]),
        ("gemini", "write_file", "file:///w/a.txt", ["/w/a.txt"]),
        ("gemini", "write_file", "a%ff.txt", []),
        ("gemini", "write_file", "~/a.txt", [f"{HOME}/a.txt"]),
        ("codex", "apply_patch", "~/a.txt", [f"{HOME}/a.txt"]),
        ("codex", "apply_patch", "~", [f"{HOME}/"]),
        ("codex", "apply_patch", "@a.txt", []),
        ("codex", "apply_patch", "a%20b.txt", []),
        ("claude", "Write", " /w/a.txt\u3000", ["/w/a.txt"]),
        ("claude", "Write", "/w/e\u0301.txt", ["/w/\xe9.txt"]),
        ("opencode", "write", "~/a.txt", [f"{HOME}/a.txt"]),
        ("opencode", "write", "@a.txt", []),
    ],
)
def test_every_reading_is_named_the_literal_one_first(
    tool: str, name: str, text: str, also: list[str]
) -> None:
    assert readings(tool, name, text) == [os.path.join("/w", text), *also]


def edit(project: Project, name: str, path: str) -> dict[str, Any]:
    said = call(f"gemini-{name}", project.root)
    return {**said, "tool_input": {**said["tool_input"], "file_path": path}}


@pytest.mark.parametrize("path", ["@a.txt", "@/a.txt", "%61.txt", "sub/..%2Fa.txt"])
@pytest.mark.parametrize("name", ["write", "replace"])
def test_gemini_is_stopped_by_the_file_it_would_open(
    project: Project, name: str, path: str
) -> None:
    project.reserve(CRANE, "a.txt")
    assert "a.txt is held by teal-crane" in reason(
        project.hook("gemini", edit(project, name, path))
    )
    assert project.owners() == {"a.txt": CRANE}


def test_a_bare_name_is_looked_up_as_gemini_would(project: Project) -> None:
    (project.root / "src" / "deep").mkdir(parents=True)
    (project.root / "src" / "deep" / "only.txt").write_text("x\n", encoding="utf-8")
    project.reserve(CRANE, "src/deep")
    for path in ("only.txt", "deep/only.txt", "@only.txt"):
        said = reason(project.hook("gemini", edit(project, "replace", path)))
        assert "src/deep/only.txt is held by teal-crane" in said
    assert project.hook("gemini", edit(project, "write", "only.txt")).out == "", (
        "writing looks nothing up"
    )
    assert project.owners() == {"src/deep": CRANE, "only.txt": OTTER}


def test_both_are_claimed_if_the_file_that_is_found_is_free(project: Project) -> None:
    (project.root / "src").mkdir()
    (project.root / "src" / "only.txt").write_text("x\n", encoding="utf-8")
    assert project.hook("gemini", edit(project, "replace", "only.txt")).out == ""
    assert project.owners() == {"only.txt": OTTER, "src/only.txt": OTTER}


def test_a_name_that_may_be_one_of_several_is_held_back(project: Project) -> None:
    for folder in ("one", "two"):
        (project.root / folder).mkdir()
        (project.root / folder / "same.txt").write_text("x\n", encoding="utf-8")
    said = reason(project.hook("gemini", edit(project, "replace", "same.txt")))
    assert "[name_not_understood]" in said
    assert "absolute path" in said
    assert project.owners() == {}
    assert project.hook("gemini", edit(project, "replace", "one/same.txt")).out == ""


def test_without_git_the_folders_are_searched_up_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.txt").write_text("x", encoding="utf-8")
    found = readings("gemini", "replace", "x.txt", str(tmp_path))
    assert found == [str(tmp_path / "x.txt"), str(tmp_path / "a" / "b" / "x.txt")]
    for number in range(MOST_FOLDERS):
        (tmp_path / f"f{number}").mkdir()
    with pytest.raises(Unreadable, match="too many folders") as problem:
        readings("gemini", "replace", "y.txt", str(tmp_path))
    assert problem.value.code == "name_not_understood"
