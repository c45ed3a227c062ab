"""What `moot hook status` and `hook test` say of each real tool, and what its model is told."""

from __future__ import annotations

from typing import Any

from tests.agents.stage import EACH, Stage
from tests.agents.tools import Tool
from tests.hooks.yard import OTTER

ASKS_FOR_TRUST = ("codex", "gemini")


def row(stage: Stage, **settings: str) -> dict[str, Any]:
    found = stage.yard.ok("hook", "status", **settings)["tools"]
    (mine,) = (one for one in found if one["tool"] == stage.tool.name)
    return dict(mine)


@EACH
def test_status_and_test_agree_with_the_tool(stage: Stage, tool: Tool) -> None:
    stage.uninstall()
    before = row(stage)
    assert (before["installed"], before["mend"]) == (False, f"moot hook install {tool.name}")
    stage.yard.ok("hook", "install", tool.name)
    installed = row(stage)
    assert installed["installed"]
    assert installed["last_spoke_at"] is None
    if tool.name in ASKS_FOR_TRUST:
        assert installed["trusted"] is False
        assert installed["mend"] == f"moot hook install {tool.name} --trust"
        stage.yard.ok("hook", "install", tool.name, "--trust")
        assert row(stage)["trusted"] is True
    assert row(stage)["wrong"] is None
    assert stage.yard.ok("hook", "test", tool.name)["passed"]
    stage.play(tool.write(str(stage.file("free.txt"))))
    assert row(stage)["last_spoke_at"] is not None


@EACH
def test_changes_that_are_not_merged_are_told_to_the_model(stage: Stage, tool: Tool) -> None:
    """Also with a patch that is allowed: text beside it reaches the model."""
    other = stage.add_worktree()
    stage.edit_as_crane("kept.txt", "changed on the other branch\n", cwd=other)
    stage.yard.ok("release", "kept.txt", cwd=other, MOOT_AGENT="teal-crane")
    file = str(stage.file("kept.txt"))
    model = stage.play(tool.read(file), tool.write(file), agent=OTTER)
    assert stage.file("kept.txt").read_text("utf-8") == "written\n"
    assert "feature" in model.heard
    assert "teal-crane" in model.heard
    assert "The edit is allowed; mind it, or merge that first." in model.heard
