"""A real tool reads a file that another agent holds: its model is told so with the file."""

from __future__ import annotations

from tests.real_tools.tool_project import EACH, ToolProject
from tests.real_tools.tools import Tool

TOLD = "kept.txt is held by teal-crane (active"


@EACH
def test_the_model_is_told_once_who_holds_the_file_that_it_read(
    project: ToolProject, tool: Tool
) -> None:
    """And it is shown the file all the same."""
    project.edit_as_crane("kept.txt", "what crane wrote\n")
    read = tool.read(str(project.file("kept.txt")))
    before = project.presence
    model = project.play(read, read, tool.read(str(project.file("free.txt"))))
    assert "what crane wrote" in model.heard_last
    assert model.heard_last.count(TOLD) == 1
    assert "Moot refuses an edit until the holder releases it" in model.heard_last
    assert project.presence.live == before.live


@EACH
def test_the_models_that_hold_it_themselves_are_told_nothing(
    project: ToolProject, tool: Tool
) -> None:
    file = str(project.file("kept.txt"))
    model = project.play(tool.read(file), tool.write(file, "mine"), tool.read(file))
    assert "mine" in model.heard_last
    assert "is held by" not in model.heard_last
