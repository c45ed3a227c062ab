"""Each real tool and its guard: what keeps an agent, or a script, from taking our hooks out."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.runner import guard_proof
from tests.project import CRANE, OTTER
from tests.real_tools.scripted_model import MAIN, Model
from tests.real_tools.tool_project import EACH, MOOT_RUN, ToolProject, each_of
from tests.real_tools.tools import Tool

# The file that carries our hooks, by tool.
FILES = {
    "claude": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}
WAIT_SECONDS = 90.0
LOSSES: dict[str, Callable[[Path], object]] = {
    "rm": lambda file: file.unlink(),
    "rm -r": lambda file: shutil.rmtree(file.parent),
    "write {}": lambda file: file.write_text("{}", encoding="utf-8"),
}


def at_turns(*acts: tuple[int, Callable[[], object]]) -> Callable[[str, int], None]:
    """Something happens while the model thinks for the given times."""

    def happen(who: str, turn: int) -> None:
        for number, act in acts:
            if (who, turn) == (MAIN, number):
                act()

    return happen


def wait_for(is_there: Callable[[], bool]) -> Callable[[], None]:
    def wait() -> None:
        until = time.monotonic() + WAIT_SECONDS
        while not is_there() and time.monotonic() < until:
            threading.Event().wait(0.2)

    return wait


def was_kept(project: ToolProject) -> bool:
    """Our hook was asked, and said that the tool keeps its hooks."""
    return any((project.root / ".moot/hooks/kept").glob("*"))


def add_hook(file: Path, event: str, command: str, **more: str) -> None:
    """Somebody else's hook, beside ours."""
    settings = json.loads(file.read_text("utf-8"))
    handler = {"type": "command", "command": command, "timeout": 5}
    settings["hooks"].setdefault(event, []).append({**more, "hooks": [handler]})
    file.write_text(json.dumps(settings), encoding="utf-8")


@each_of("claude")
@pytest.mark.parametrize("how", LOSSES)
def test_claude_keeps_its_hooks_when_its_settings_lose_them(
    project: ToolProject, tool: Tool, how: str
) -> None:
    """Somebody removes them while the session runs: a script, another program."""
    project.reserve(CRANE, "held.txt")
    file = project.file(FILES[tool.name])
    held = tool.write(str(project.file("held.txt")))
    acts = at_turns((1, lambda: LOSSES[how](file)), (2, wait_for(lambda: was_kept(project))))
    model = Model(tool.shell("true"), tool.shell("true"), *[held] * 5, before_turn=acts)
    project.perform(model, tool.command, agent=OTTER)
    assert was_kept(project)
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    assert not file.exists() or file.read_text("utf-8") == "{}"


@each_of("claude")
def test_claude_takes_every_other_change_of_its_settings(project: ToolProject, tool: Tool) -> None:
    """A hook that is added to them runs; so the change was not refused."""
    file, asked, seen = (project.file(name) for name in (FILES[tool.name], "asked", "seen"))
    add_hook(file, "ConfigChange", f"touch {asked}")
    change = (1, lambda: add_hook(file, "PreToolUse", f"touch {seen}", matcher="Write"))
    acts = at_turns(change, (2, wait_for(asked.exists)))
    free = [tool.write(str(project.file(f"free{number}.txt"))) for number in range(10)]
    project.perform(
        Model(tool.shell("true"), tool.shell("true"), *free, before_turn=acts),
        tool.command,
        agent=OTTER,
    )
    assert project.file("free9.txt").exists()
    assert seen.exists()
    assert not was_kept(project)


@each_of("claude")
def test_a_person_takes_them_out_of_a_running_claude(project: ToolProject, tool: Tool) -> None:
    project.reserve(CRANE, "held.txt")
    file, asked = project.file(FILES[tool.name]), project.file("asked")
    add_hook(file, "ConfigChange", f"touch {asked}")
    acts = at_turns((1, project.uninstall), (2, wait_for(asked.exists)))
    held = tool.write(str(project.file("held.txt")))
    model = Model(tool.shell("true"), tool.shell("true"), *[held] * 10, before_turn=acts)
    project.perform(model, tool.command, agent=OTTER)
    assert project.file("held.txt").read_text("utf-8") == "written\n"
    assert not was_kept(project)


@EACH
def test_the_person_at_the_run_is_told_that_hooks_were_removed(
    project: ToolProject, tool: Tool
) -> None:
    """Each tool keeps those that it has: what it writes is still checked."""
    project.reserve(CRANE, "held.txt")
    file = project.file(FILES[tool.name])
    told = wait_for(lambda: was_kept(project) or bool(project.ok("status")["unguarded"]))
    acts = at_turns((1, lambda: LOSSES["write {}"](file)), (2, told))
    steps = (tool.shell("true"), tool.shell("true"), tool.write(str(project.file("held.txt"))))
    played = project.perform(Model(*steps, before_turn=acts), (*MOOT_RUN, *tool.command))
    assert f"the hooks of {tool.name} were removed from its settings" in played.err
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in played.model.heard
    for span in project.ok("status")["unguarded"]:
        assert (span["why"], span["until"] is not None) == ("hook off", True)


def carried(project: ToolProject) -> object:
    """What the settings say of hooks; opencode itself adds other things to its file."""
    settings = json.loads(project.file(FILES[project.tool.name]).read_text("utf-8"))
    return settings.get("plugin"), settings.get("hooks")


@EACH
def test_an_agent_does_not_remove_the_file_that_carries_its_hooks(
    project: ToolProject, tool: Tool
) -> None:
    name = FILES[tool.name]
    before = carried(project)
    shells = [tool.shell(f"rm -f {name}"), tool.shell(f"echo '{{}}' > {name}")]
    model = project.play(*shells, tool.write(str(project.file(name)), "{}"))
    assert carried(project) == before
    assert model.heard_last.count("[not_for_agents]") >= 3


@EACH
def test_an_agent_does_not_uninstall_its_guard(project: ToolProject, tool: Tool) -> None:
    """Not even without its name, and with nothing in its environment."""
    before = carried(project)
    path = project.env["PATH"]
    keys, home = project.env["MOOT_KEYS"], project.env["HOME"]
    bare = f"env -i PATH='{path}' HOME='{home}' MOOT_KEYS='{keys}'"
    texts = [
        f"{project.moot} hook uninstall --all",
        f"env -u MOOT_AGENT {project.moot} uninstall",
        f"{bare} {project.moot} hook uninstall {tool.name} --all",
    ]
    model = project.play(*map(tool.shell, texts))
    assert carried(project) == before
    assert model.heard_last.count("[human_key_required]") >= 3
    assert "is for people" in model.heard_last


@EACH
def test_a_tool_that_takes_long_to_start_was_only_not_heard_yet(
    project: ToolProject, tool: Tool
) -> None:
    assert guard_proof.PATIENCE_SECONDS == 10.0
    program = project.bin / tool.name
    real = shutil.which(tool.name, path=project.env["PATH"])
    program.write_text(f'#!/bin/sh\nsleep 14\nexec {real} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    played = project.perform(
        Model(tool.write(str(project.file("free.txt")))), (*MOOT_RUN, *tool.command)
    )
    assert project.file("free.txt").exists()
    assert f"{tool.name} runs, and its hook was not heard yet" in played.err
    assert "unguarded" not in played.err
    assert project.ok("status")["unguarded"] == []
