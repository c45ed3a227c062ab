"""Each tool's own reading of a path: what it would open is held too, and not only what it says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from moot.flows.tools.coding_tools import TOOLS, Rewriting
from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.rewritings import MOST_FOLDERS, readings_of
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason


def readings(tool: str, name: str, text: str, cwd: str = "/w") -> list[str]:
    return list(readings_of(text, cwd, TOOLS[tool].rewritings_for(name)))


def test_every_rewriting_of_the_table_is_known() -> None:
    for rewriting in Rewriting:
        assert list(readings_of("/w/a.txt", "/w", (rewriting,))) == ["/w/a.txt"]


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


def edit(yard: Yard, name: str, path: str) -> dict[str, Any]:
    said = call(f"gemini-{name}", yard.root)
    return {**said, "tool_input": {**said["tool_input"], "file_path": path}}


@pytest.mark.parametrize("path", ["@a.txt", "@/a.txt", "%61.txt", "sub/..%2Fa.txt"])
@pytest.mark.parametrize("name", ["write", "replace"])
def test_gemini_is_stopped_by_the_file_it_would_open(yard: Yard, name: str, path: str) -> None:
    yard.reserve(CRANE, "a.txt")
    assert "a.txt is held by teal-crane" in reason(yard.hook("gemini", edit(yard, name, path)))
    assert yard.owners() == {"a.txt": CRANE}


def test_a_bare_name_is_looked_up_as_gemini_would(yard: Yard) -> None:
    (yard.root / "src" / "deep").mkdir(parents=True)
    (yard.root / "src" / "deep" / "only.txt").write_text("x\n", encoding="utf-8")
    yard.reserve(CRANE, "src/deep")
    for path in ("only.txt", "deep/only.txt", "@only.txt"):
        said = reason(yard.hook("gemini", edit(yard, "replace", path)))
        assert "src/deep/only.txt is held by teal-crane" in said
    assert yard.hook("gemini", edit(yard, "write", "only.txt")).out == "", (
        "writing looks nothing up"
    )
    assert yard.owners() == {"src/deep": CRANE, "only.txt": OTTER}


def test_both_are_claimed_if_the_file_that_is_found_is_free(yard: Yard) -> None:
    (yard.root / "src").mkdir()
    (yard.root / "src" / "only.txt").write_text("x\n", encoding="utf-8")
    assert yard.hook("gemini", edit(yard, "replace", "only.txt")).out == ""
    assert yard.owners() == {"only.txt": OTTER, "src/only.txt": OTTER}


def test_a_name_that_may_be_one_of_several_is_held_back(yard: Yard) -> None:
    for folder in ("one", "two"):
        (yard.root / folder).mkdir()
        (yard.root / folder / "same.txt").write_text("x\n", encoding="utf-8")
    said = reason(yard.hook("gemini", edit(yard, "replace", "same.txt")))
    assert "[name_not_understood]" in said
    assert "absolute path" in said
    assert yard.owners() == {}
    assert yard.hook("gemini", edit(yard, "replace", "one/same.txt")).out == ""


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
