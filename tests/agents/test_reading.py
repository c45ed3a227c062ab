"""A real tool reads a file that another agent holds: its model is told so with the file."""

from __future__ import annotations

from tests.agents.stage import EACH, Stage
from tests.agents.tools import Tool

TOLD = "kept.txt is held by teal-crane (active"


@EACH
def test_the_model_is_told_once_who_holds_the_file_that_it_read(stage: Stage, tool: Tool) -> None:
    """And it is shown the file all the same."""
    stage.edit_as_crane("kept.txt", "what crane wrote\n")
    read = tool.read(str(stage.file("kept.txt")))
    before = stage.yard.presence
    model = stage.play(read, read, tool.read(str(stage.file("free.txt"))))
    assert "what crane wrote" in model.heard_last
    assert model.heard_last.count(TOLD) == 1
    assert "an edit will be refused until it is given back" in model.heard_last
    assert stage.yard.presence.live == before.live


@EACH
def test_the_models_that_hold_it_themselves_are_told_nothing(stage: Stage, tool: Tool) -> None:
    file = str(stage.file("kept.txt"))
    model = stage.play(tool.read(file), tool.write(file, "mine"), tool.read(file))
    assert "mine" in model.heard_last
    assert "is held by" not in model.heard_last
