"""What `moot hook status` and `hook test` say of each real tool, and what its model is told."""

from __future__ import annotations

from typing import Any

from tests.project import OTTER
from tests.real_tools.tool_project import EACH, ToolProject
from tests.real_tools.tools import Tool

ASKS_FOR_TRUST = ("codex", "gemini")


def row(project: ToolProject, **settings: str) -> dict[str, Any]:
    found = project.ok("hook", "status", **settings)["tools"]
    (mine,) = (one for one in found if one["tool"] == project.tool.name)
    return dict(mine)


@EACH
def test_status_and_test_agree_with_the_tool(project: ToolProject, tool: Tool) -> None:
    project.uninstall()
    before = row(project)
    assert (before["installed"], before["mend"]) == (False, f"moot hook install {tool.name}")
    project.ok("hook", "install", tool.name)
    installed = row(project)
    assert installed["installed"]
    assert installed["last_spoke_at"] is None
    if tool.name in ASKS_FOR_TRUST:
        assert installed["trusted"] is False
        assert installed["mend"] == f"moot hook install {tool.name} --trust"
        project.ok("hook", "install", tool.name, "--trust")
        assert row(project)["trusted"] is True
    assert row(project)["wrong"] is None
    assert project.ok("hook", "test", tool.name)["passed"]
    project.play(tool.write(str(project.file("free.txt"))))
    assert row(project)["last_spoke_at"] is not None


@EACH
def test_changes_that_are_not_merged_are_told_to_the_model(
    project: ToolProject, tool: Tool
) -> None:
    """Also with a patch that is allowed: text beside it reaches the model."""
    other = project.add_worktree()
    project.edit_as_crane("kept.txt", "changed on the other branch\n", cwd=other)
    project.ok("release", "kept.txt", cwd=other, MOOT_AGENT="teal-crane")
    file = str(project.file("kept.txt"))
    model = project.play(tool.read(file), tool.write(file), agent=OTTER)
    assert project.file("kept.txt").read_text("utf-8") == "written\n"
    assert "feature" in model.heard
    assert "teal-crane" in model.heard
    assert "The edit is allowed; take this into account, or merge that first." in model.heard
