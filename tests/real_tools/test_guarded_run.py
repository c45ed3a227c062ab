"""`moot run` of each real tool: guarded by that alone, or not started; also behind wrappers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import CRANE, OTTER
from tests.real_tools.scripted_model import Model
from tests.real_tools.tool_project import EACH, MOOT_RUN, Played, ToolProject, each_of
from tests.real_tools.tools import TOOLS, Tool, installed

BYPASS = "--dangerously-bypass-hook-trust"
TRUSTED = "GEMINI_CLI_TRUST_WORKSPACE"
# How each tool is told to go on without hooks. With any of these it would write a held file.
SWITCHES = {
    "claude": (
        ("--bare",),
        ("--setting-sources", "user"),
        ("--settings", '{"disableAllHooks":true}'),
    ),
    "codex": (("--disable", "hooks"), ("-c", "features.hooks=false")),
    "gemini": (("--skip-trust",),),
    "opencode": (("--pure",),),
}
EACH_SWITCH = pytest.mark.parametrize(
    ("tool", "switch"),
    [(TOOLS[name], words) for name, many in SWITCHES.items() for words in many],
    ids=[f"{name}{words[0]}" for name, many in SWITCHES.items() for words in many],
)


def with_options(tool: Tool, options: tuple[str, ...]) -> tuple[str, ...]:
    """Behind the program, or behind its subcommand."""
    at = 2 if tool.name in ("codex", "opencode") else 1
    return (*tool.command[:at], *options, *tool.command[at:])


def write_held_and_free(project: ToolProject, folder: Path | None = None) -> Model:
    where = folder or project.root
    return Model(*(project.tool.write(str(where / name)) for name in ("held.txt", "free.txt")))


def assert_guarded(project: ToolProject, played: Played, folder: Path | None = None) -> None:
    where = folder or project.root
    assert not (where / "held.txt").exists()
    assert (where / "free.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by teal-crane" in played.model.heard
    assert project.owners() == {"held.txt": CRANE}
    assert project.ok("status")["unguarded"] == []  # however long it took to start


def assert_not_started(project: ToolProject, played: Played, names: set[str]) -> None:
    """Refused, with a command to type; the tool never ran and nobody came."""
    assert played.exit_status == 1, played.err
    assert "[guard_off]" in played.err
    assert played.model.read == []
    assert not project.file("held.txt").exists()
    assert agents(project) == names


def agents(project: ToolProject) -> set[str]:
    return {one["agent"] for one in project.ok("status", "--all")["agents"]}


@EACH
def test_moot_run_sets_up_everything_by_itself(project: ToolProject, tool: Tool) -> None:
    project.uninstall()
    project.reserve(CRANE, "held.txt")
    played = project.perform(write_held_and_free(project), (*MOOT_RUN, *tool.command))
    assert_guarded(project, played)
    assert f"installed hooks for {tool.name}" in played.err


@EACH
@pytest.mark.parametrize("wrapper", ["env", "bash", "link", "node"])
def test_a_wrapper_hides_nothing(project: ToolProject, tool: Tool, wrapper: str) -> None:
    project.uninstall()
    project.reserve(CRANE, "held.txt")
    program, *arguments = tool.command
    real = installed() / program
    if wrapper == "env":
        words = ("env", "A=b", "timeout", "50", *tool.command)
    elif wrapper == "bash":
        words = ("bash", "-c", 'exec "$0" "$@"', *tool.command)
    elif wrapper == "link":
        (project.bin / "assistant").symlink_to(real)
        words = ("assistant", *arguments)
    else:
        words = ("npx", "--no-install", "--prefix", str(installed().parents[1]), *tool.command)
    played = project.perform(write_held_and_free(project), (*MOOT_RUN, *words))
    assert_guarded(project, played)


@EACH
def test_in_a_linked_worktree(project: ToolProject, tool: Tool) -> None:
    project.uninstall()
    other = project.add_worktree()
    project.reserve(CRANE, "held.txt")
    model = write_held_and_free(project, other)
    played = project.perform(model, (*MOOT_RUN, *tool.command), cwd=other)
    assert_guarded(project, played, other)


@EACH_SWITCH
def test_a_tool_that_would_run_no_hooks_is_not_started(
    project: ToolProject, tool: Tool, switch: tuple[str, ...]
) -> None:
    project.reserve(CRANE, "held.txt")
    words = with_options(tool, switch)
    model = Model(tool.write(str(project.file("held.txt"))))
    without = (TRUSTED,) if "--skip-trust" in switch else ()
    played = project.perform(model, (*MOOT_RUN, *words), without=without)
    assert_not_started(project, played, {OTTER, CRANE})


@EACH_SWITCH
def test_what_such_a_tool_does_unguarded_is_on_record(
    project: ToolProject, tool: Tool, switch: tuple[str, ...]
) -> None:
    """And it is no needless refusal: the tool really asks nobody."""
    project.reserve(CRANE, "held.txt")
    words = ("moot", "run", "--unguarded", "--", *with_options(tool, switch))
    model = Model(tool.shell("echo written > held.txt"))
    without = (TRUSTED,) if "--skip-trust" in switch else ()
    played = project.perform(model, words, without=without)
    assert project.file("held.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by" not in played.model.heard
    (span,) = project.ok("status")["unguarded"]
    assert (span["tool"], span["until"] is not None) == (tool.name, True)


def forget_trust(project: ToolProject) -> None:
    """As of somebody who never started Codex in this project."""
    project.tool.prepare(project.root, project.home, "http://127.0.0.1:9")
    config = project.home / ".codex/config.toml"
    config.write_text(config.read_text("utf-8").partition("[projects.")[0], encoding="utf-8")


@each_of("codex")
def test_headless_codex_is_not_started_before_its_hooks_are_trusted(
    project: ToolProject, tool: Tool
) -> None:
    project.uninstall()
    forget_trust(project)
    project.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *(word for word in tool.command if word != BYPASS))
    played = project.perform(write_held_and_free(project), words)
    assert_not_started(project, played, {OTTER, CRANE})
    assert "moot hook install codex --trust" in played.err
    project.ok("hook", "install", "codex", "--trust")
    assert_guarded(project, project.perform(write_held_and_free(project), words))


@each_of("codex")
def test_codex_in_a_linked_worktree_is_trusted_by_the_same_command(
    project: ToolProject, tool: Tool
) -> None:
    project.uninstall()
    forget_trust(project)
    other = project.add_worktree()
    project.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *(word for word in tool.command if word != BYPASS))
    played = project.perform(write_held_and_free(project, other), words, cwd=other)
    assert_not_started(project, played, {OTTER, CRANE})
    assert "moot hook install codex --trust" in played.err
    project.ok("hook", "install", "codex", "--trust", cwd=other)
    played = project.perform(write_held_and_free(project, other), words, cwd=other)
    assert_guarded(project, played, other)


@each_of("gemini")
def test_gemini_is_not_started_in_a_folder_that_is_not_trusted(
    project: ToolProject, tool: Tool
) -> None:
    project.uninstall()
    project.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *tool.command)
    played = project.perform(write_held_and_free(project), words, without=(TRUSTED,))
    assert_not_started(project, played, {OTTER, CRANE})
    assert "moot hook install gemini --trust" in played.err
    project.ok("hook", "install", "gemini", "--trust")
    played = project.perform(write_held_and_free(project), words, without=(TRUSTED,))
    assert_guarded(project, played)
