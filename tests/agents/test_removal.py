"""Each real tool and its guard: what keeps an agent, or a script, from taking our hooks out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.flows.launch import silent_tools
from tests.agents.loopback import MAIN, Model, Use
from tests.agents.stage import EACH, MOOT_RUN, Stage, each_of
from tests.agents.tools import Tool
from tests.hooks.yard import CRANE, OTTER

# The file that carries our hooks, by tool.
FILES = {
    "claude": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}
# Longer than Claude Code takes to see that its settings were changed (measured: 2 to 4 seconds).
SEEN_SECONDS = 8
LOSSES: dict[str, Callable[[Path], object]] = {
    "rm": lambda file: file.unlink(),
    "rm -r": lambda file: shutil.rmtree(file.parent),
    "write {}": lambda file: file.write_text("{}", encoding="utf-8"),
}


def before_turn(number: int, act: Callable[[], object]) -> Callable[[str, int], None]:
    """Something happens while the model thinks for the given time."""

    def happen(who: str, turn: int) -> None:
        if (who, turn) == (MAIN, number):
            act()

    return happen


def waits(tool: Tool) -> Use:
    """A call during which the tool has time to look at its settings again."""
    return tool.shell(f"python3 -c 'import time; time.sleep({SEEN_SECONDS})'")


@each_of("claude")
@pytest.mark.parametrize("how", LOSSES)
def test_claude_keeps_its_hooks_when_its_settings_lose_them(
    stage: Stage, tool: Tool, how: str
) -> None:
    """Somebody removes them while the session runs: a script, another program."""
    stage.yard.reserve(CRANE, "held.txt")
    file = stage.file(FILES[tool.name])
    steps = (tool.shell("true"), waits(tool), tool.write(str(stage.file("held.txt"))))
    model = Model(*steps, before_turn=before_turn(1, lambda: LOSSES[how](file)))
    stage.perform(model, tool.command, agent=OTTER)
    assert not stage.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    assert not file.exists() or file.read_text("utf-8") == "{}"


@each_of("claude")
def test_claude_takes_every_other_change_of_its_settings(stage: Stage, tool: Tool) -> None:
    """A hook that is added to them runs; so the change was not refused."""
    file, seen = stage.file(FILES[tool.name]), stage.file("seen.txt")

    def add() -> None:
        settings = json.loads(file.read_text("utf-8"))
        handler = {"type": "command", "command": f"touch {seen}", "timeout": 5}
        settings["hooks"]["PreToolUse"].append({"matcher": "Write", "hooks": [handler]})
        file.write_text(json.dumps(settings), encoding="utf-8")

    steps = (tool.shell("true"), waits(tool), tool.write(str(stage.file("free.txt"))))
    stage.perform(Model(*steps, before_turn=before_turn(1, add)), tool.command, agent=OTTER)
    assert stage.file("free.txt").exists()
    assert seen.exists()


@each_of("claude")
def test_a_person_takes_them_out_of_a_running_claude(stage: Stage, tool: Tool) -> None:
    stage.yard.reserve(CRANE, "held.txt")
    steps = (tool.shell("true"), waits(tool), tool.write(str(stage.file("held.txt"))))
    model = Model(*steps, before_turn=before_turn(1, stage.uninstall))
    stage.perform(model, tool.command, agent=OTTER)
    assert stage.file("held.txt").read_text("utf-8") == "written\n"


@EACH
def test_the_person_at_the_run_is_told_that_hooks_were_removed(stage: Stage, tool: Tool) -> None:
    """Whether the tool keeps those it has or reads them again: what it writes is still checked."""
    stage.yard.reserve(CRANE, "held.txt")
    file = stage.file(FILES[tool.name])
    steps = (tool.shell("true"), waits(tool), tool.write(str(stage.file("held.txt"))))
    model = Model(*steps, before_turn=before_turn(1, lambda: LOSSES["write {}"](file)))
    played = stage.perform(model, (*MOOT_RUN, *tool.command))
    assert f"the hooks of {tool.name} were removed from its settings" in played.err
    assert not stage.file("held.txt").exists()
    for span in stage.yard.ok("status")["unguarded"]:
        assert (span["why"], span["until"] is not None) == ("hook off", True)


@EACH
def test_an_agent_does_not_remove_the_file_that_carries_its_hooks(stage: Stage, tool: Tool) -> None:
    name = FILES[tool.name]
    before = stage.file(name).read_bytes()
    shells = [tool.shell(f"rm -f {name}"), tool.shell(f"echo '{{}}' > {name}")]
    model = stage.play(*shells, tool.write(str(stage.file(name)), "{}"))
    assert stage.file(name).read_bytes() == before
    assert model.heard_last.count("[not_for_agents]") >= 3


@EACH
def test_an_agent_does_not_uninstall_its_guard(stage: Stage, tool: Tool) -> None:
    """Not even without its name, and with nothing in its environment."""
    before = stage.file(FILES[tool.name]).read_bytes()
    path = stage.yard.env["PATH"]
    keys, home = stage.yard.env["MOOT_KEYS"], stage.yard.env["HOME"]
    bare = f"env -i PATH='{path}' HOME='{home}' MOOT_KEYS='{keys}'"
    texts = [
        "moot hook uninstall --all",
        "env -u MOOT_AGENT moot uninstall",
        f"{bare} moot hook uninstall {tool.name} --all",
    ]
    model = stage.play(*map(tool.shell, texts))
    assert stage.file(FILES[tool.name]).read_bytes() == before
    assert model.heard_last.count("[human_key_required]") >= 3
    assert "is for people" in model.heard_last


@EACH
def test_a_tool_that_takes_long_to_start_was_only_not_heard_yet(stage: Stage, tool: Tool) -> None:
    assert silent_tools.PATIENCE_SECONDS == 10.0
    program = stage.bin / tool.name
    real = shutil.which(tool.name, path=stage.yard.env["PATH"])
    program.write_text(f'#!/bin/sh\nsleep 14\nexec {real} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    played = stage.perform(
        Model(tool.write(str(stage.file("free.txt")))), (*MOOT_RUN, *tool.command)
    )
    assert stage.file("free.txt").exists()
    assert f"{tool.name} runs, and its hook was not heard yet" in played.err
    assert "unguarded" not in played.err
    assert stage.yard.ok("status")["unguarded"] == []
