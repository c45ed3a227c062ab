"""Destructive git commands through each real tool's shell: held bytes stay, or come back."""

from __future__ import annotations

from tests.project import CRANE, OTTER
from tests.real_tools.tool_project import EACH, ToolProject
from tests.real_tools.tools import Tool

WORK = "what crane works on\n"
COMMANDS = (
    "git checkout -- .",
    "git checkout -- kept.txt",
    "git restore kept.txt",
    "git reset --hard",
    "git stash",
)


@EACH
def test_none_of_the_five_commands_reaches_what_another_holds(
    project: ToolProject, tool: Tool
) -> None:
    project.edit_as_crane("kept.txt", WORK)
    model = project.play(*map(tool.shell, COMMANDS))
    assert project.file("kept.txt").read_text("utf-8") == WORK
    assert project.git("stash", "list").out == ""
    refusals = [line for line in refused(model.heard) if "kept.txt" in line]
    assert len(set(refusals)) >= len(COMMANDS) - 1, refusals  # two of them are one act
    assert "teal-crane" in refusals[0]
    (noted,) = project.events("INCURSION")
    assert noted["from_agent"] == OTTER


def refused(heard: str) -> list[str]:
    return [line for line in heard.splitlines() if "would" in line and "moot" in line]


@EACH
def test_the_holder_learns_what_an_alias_destroyed_and_restores_it(
    project: ToolProject, tool: Tool
) -> None:
    """Moot does not read git's aliases. After the command it finds the change, and accuses nobody:
    that no other command ran proves nothing."""
    project.edit_as_crane("kept.txt", WORK)
    assert project.git("config", "alias.tidy", "checkout -- .").code == 0
    model = project.play(tool.shell("git tidy"))
    assert project.file("kept.txt").read_text("utf-8") == "one\n"
    assert project.events("INCURSION") == []
    assert "this changed files that others hold" not in model.heard
    inbox = str(project.ok("inbox", MOOT_AGENT=CRANE))
    assert f"changed while {OTTER}'s command ran; no one else known to Moot was at work" in inbox
    project.ok("undo", "kept.txt", MOOT_AGENT=CRANE)
    assert project.file("kept.txt").read_text("utf-8") == WORK


@EACH
def test_what_a_script_destroyed_comes_back(project: ToolProject, tool: Tool) -> None:
    """Nobody reads scripts; but crane's bytes were kept when it left them."""
    project.edit_as_crane("kept.txt", WORK)
    script = project.bin / "tidy-up"
    script.write_text("#!/bin/sh\ngit checkout -- .\n", encoding="utf-8")
    script.chmod(0o755)
    project.play(tool.shell(str(script)))
    assert project.file("kept.txt").read_text("utf-8") == "one\n"
    project.ok("undo", "kept.txt", MOOT_AGENT=CRANE)
    assert project.file("kept.txt").read_text("utf-8") == WORK
