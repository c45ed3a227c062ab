"""Destructive git commands through each real tool's shell: held bytes stay, or come back."""

from __future__ import annotations

from tests.agents.stage import EACH, Stage
from tests.agents.tools import Tool
from tests.hooks.yard import CRANE, OTTER

WORK = "what crane works on\n"
COMMANDS = (
    "git checkout -- .",
    "git checkout -- kept.txt",
    "git restore kept.txt",
    "git reset --hard",
    "git stash",
)


@EACH
def test_none_of_the_five_commands_reaches_what_another_holds(stage: Stage, tool: Tool) -> None:
    stage.edit_as_crane("kept.txt", WORK)
    model = stage.play(*map(tool.shell, COMMANDS))
    assert stage.file("kept.txt").read_text("utf-8") == WORK
    assert stage.yard.git("stash", "list").out == ""
    refusals = [line for line in refused(model.heard) if "kept.txt" in line]
    assert len(set(refusals)) >= len(COMMANDS) - 1, refusals  # two of them are one act
    assert "teal-crane" in refusals[0]
    (noted,) = stage.yard.events("INCURSION")
    assert noted["from_agent"] == OTTER


def refused(heard: str) -> list[str]:
    return [line for line in heard.splitlines() if "would" in line and "moot" in line]


@EACH
def test_what_an_alias_destroyed_is_on_record_and_comes_back(stage: Stage, tool: Tool) -> None:
    """Git's aliases are not looked into beforehand: the look afterwards finds it."""
    stage.edit_as_crane("kept.txt", WORK)
    assert stage.yard.git("config", "alias.tidy", "checkout -- .").code == 0
    model = stage.play(tool.shell("git tidy"))
    assert stage.file("kept.txt").read_text("utf-8") == "one\n"
    (noted,) = stage.yard.events("INCURSION")
    assert noted["from_agent"] == OTTER
    assert "this changed what others hold" in model.heard
    stage.yard.ok("undo", "kept.txt", MOOT_AGENT=CRANE)
    assert stage.file("kept.txt").read_text("utf-8") == WORK


@EACH
def test_what_a_script_destroyed_comes_back(stage: Stage, tool: Tool) -> None:
    """Nobody reads scripts; but crane's bytes were kept when it left them."""
    stage.edit_as_crane("kept.txt", WORK)
    script = stage.bin / "tidy-up"
    script.write_text("#!/bin/sh\ngit checkout -- .\n", encoding="utf-8")
    script.chmod(0o755)
    stage.play(tool.shell(str(script)))
    assert stage.file("kept.txt").read_text("utf-8") == "one\n"
    stage.yard.ok("undo", "kept.txt", MOOT_AGENT=CRANE)
    assert stage.file("kept.txt").read_text("utf-8") == WORK
