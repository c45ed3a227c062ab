"""Which real tool overwrites a file that was changed after it read it; and none does with Moot."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.project import OTTER
from tests.real_tools.scripted_model import MAIN, Model
from tests.real_tools.tool_project import EACH, ToolProject
from tests.real_tools.tools import TOOLS, Tool

THEIRS = "what somebody typed meanwhile\n"
# Measured: whether the tool by itself writes over what was changed since it read the file.
OVERWRITES = {"claude": False, "codex": True, "gemini": True, "opencode": True}


def change_before(project: ToolProject, number: int) -> Callable[[str, int], None]:
    """Somebody saves the file while the model thinks for the given time."""

    def change(who: str, turn: int) -> None:
        if (who, turn) == (MAIN, number):
            project.file("kept.txt").write_text(THEIRS, encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("tool", "overwrites"), [(TOOLS[name], how) for name, how in OVERWRITES.items()], ids=OVERWRITES
)
def test_what_the_tool_does_by_itself(project: ToolProject, tool: Tool, overwrites: bool) -> None:
    project.uninstall()
    file = str(project.file("kept.txt"))
    steps = (tool.read(file), tool.write(file, "from memory"))
    project.perform(Model(*steps, before_turn=change_before(project, 1)), tool.command)
    left = "from memory\n" if overwrites else THEIRS
    assert project.file("kept.txt").read_text("utf-8") == left


@EACH
def test_nothing_is_overwritten_from_memory(project: ToolProject, tool: Tool) -> None:
    file = str(project.file("kept.txt"))
    write = tool.write(file, "from memory")
    model = Model(tool.read(file), write, before_turn=change_before(project, 1))
    project.perform(model, tool.command, agent=OTTER)
    assert project.file("kept.txt").read_text("utf-8") == THEIRS
    assert project.events("INCURSION") == []


@EACH
def test_a_file_that_was_never_read_is_not_overwritten_unseen(
    project: ToolProject, tool: Tool
) -> None:
    """Claude Code looks itself only at files that it has read."""
    file = str(project.file("kept.txt"))
    first = tool.shell("true")
    model = Model(first, tool.write(file, "unread"), before_turn=change_before(project, 1))
    project.perform(model, tool.command, agent=OTTER)
    assert project.file("kept.txt").read_text("utf-8") == THEIRS
    assert "kept.txt was changed by someone unknown" in model.heard
    assert project.events("INCURSION") == []


@EACH
def test_what_the_tool_does_with_an_unread_file_by_itself(project: ToolProject, tool: Tool) -> None:
    """Every tool overwrites it, also Claude Code since 2.1.326."""
    project.uninstall()
    file = str(project.file("kept.txt"))
    steps = (tool.shell("true"), tool.write(file, "unread"))
    project.perform(Model(*steps, before_turn=change_before(project, 1)), tool.command)
    assert project.file("kept.txt").read_text("utf-8") == "unread\n"


@EACH
def test_who_reads_it_again_may_write_it(project: ToolProject, tool: Tool) -> None:
    file = str(project.file("kept.txt"))
    read, write = tool.read(file), tool.write(file, "with theirs in mind")
    model = Model(read, write, read, write, before_turn=change_before(project, 1))
    project.perform(model, tool.command, agent=OTTER)
    assert project.file("kept.txt").read_text("utf-8") == "with theirs in mind\n"
