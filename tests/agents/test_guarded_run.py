"""`moot run` of each real tool: guarded by that alone, or not started; also behind wrappers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.loopback import Model
from tests.agents.stage import EACH, MOOT_RUN, Played, Stage, each_of
from tests.agents.tools import TOOLS, Tool, installed
from tests.hooks.yard import CRANE, OTTER

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


def write_held_and_free(stage: Stage, folder: Path | None = None) -> Model:
    where = folder or stage.yard.root
    return Model(*(stage.tool.write(str(where / name)) for name in ("held.txt", "free.txt")))


def assert_guarded(stage: Stage, played: Played, folder: Path | None = None) -> None:
    where = folder or stage.yard.root
    assert not (where / "held.txt").exists()
    assert (where / "free.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by teal-crane" in played.model.heard
    assert stage.yard.owners() == {"held.txt": CRANE}
    assert stage.yard.ok("status")["unguarded"] == []  # however long it took to start


def assert_not_started(stage: Stage, played: Played, names: set[str]) -> None:
    """Refused, with a command to type; the tool never ran and nobody came."""
    assert played.exit_status == 1, played.err
    assert "[guard_off]" in played.err
    assert played.model.read == []
    assert not stage.file("held.txt").exists()
    assert agents(stage) == names


def agents(stage: Stage) -> set[str]:
    return {one["agent"] for one in stage.yard.ok("status", "--all")["agents"]}


@EACH
def test_moot_run_sets_up_everything_by_itself(stage: Stage, tool: Tool) -> None:
    stage.uninstall()
    stage.yard.reserve(CRANE, "held.txt")
    played = stage.perform(write_held_and_free(stage), (*MOOT_RUN, *tool.command))
    assert_guarded(stage, played)
    assert f"installed hooks for {tool.name}" in played.err


@EACH
@pytest.mark.parametrize("wrapper", ["env", "bash", "link", "node"])
def test_a_wrapper_hides_nothing(stage: Stage, tool: Tool, wrapper: str) -> None:
    stage.uninstall()
    stage.yard.reserve(CRANE, "held.txt")
    program, *arguments = tool.command
    real = installed() / program
    if wrapper == "env":
        words = ("env", "A=b", "timeout", "50", *tool.command)
    elif wrapper == "bash":
        words = ("bash", "-c", 'exec "$0" "$@"', *tool.command)
    elif wrapper == "link":
        (stage.bin / "assistant").symlink_to(real)
        words = ("assistant", *arguments)
    else:
        words = ("npx", "--no-install", "--prefix", str(installed().parents[1]), *tool.command)
    played = stage.perform(write_held_and_free(stage), (*MOOT_RUN, *words))
    assert_guarded(stage, played)


@EACH
def test_in_a_linked_worktree(stage: Stage, tool: Tool) -> None:
    stage.uninstall()
    other = stage.add_worktree()
    stage.yard.reserve(CRANE, "held.txt")
    model = write_held_and_free(stage, other)
    played = stage.perform(model, (*MOOT_RUN, *tool.command), cwd=other)
    assert_guarded(stage, played, other)


@EACH_SWITCH
def test_a_tool_that_would_run_no_hooks_is_not_started(
    stage: Stage, tool: Tool, switch: tuple[str, ...]
) -> None:
    stage.yard.reserve(CRANE, "held.txt")
    words = with_options(tool, switch)
    model = Model(tool.write(str(stage.file("held.txt"))))
    without = (TRUSTED,) if "--skip-trust" in switch else ()
    played = stage.perform(model, (*MOOT_RUN, *words), without=without)
    assert_not_started(stage, played, {OTTER, CRANE})


@EACH_SWITCH
def test_what_such_a_tool_does_unguarded_is_on_record(
    stage: Stage, tool: Tool, switch: tuple[str, ...]
) -> None:
    """And it is no needless refusal: the tool really asks nobody."""
    stage.yard.reserve(CRANE, "held.txt")
    words = ("moot", "run", "--unguarded", "--", *with_options(tool, switch))
    model = Model(tool.shell("echo written > held.txt"))
    without = (TRUSTED,) if "--skip-trust" in switch else ()
    played = stage.perform(model, words, without=without)
    assert stage.file("held.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by" not in played.model.heard
    (span,) = stage.yard.ok("status")["unguarded"]
    assert (span["tool"], span["until"] is not None) == (tool.name, True)


def forget_trust(stage: Stage) -> None:
    """As of somebody who never started Codex in this project."""
    stage.tool.prepare(stage.yard.root, stage.home, "http://127.0.0.1:9")
    config = stage.home / ".codex/config.toml"
    config.write_text(config.read_text("utf-8").partition("[projects.")[0], encoding="utf-8")


@each_of("codex")
def test_headless_codex_is_not_started_before_its_hooks_are_trusted(
    stage: Stage, tool: Tool
) -> None:
    stage.uninstall()
    forget_trust(stage)
    stage.yard.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *(word for word in tool.command if word != BYPASS))
    played = stage.perform(write_held_and_free(stage), words)
    assert_not_started(stage, played, {OTTER, CRANE})
    assert "moot hook install codex --trust" in played.err
    stage.yard.ok("hook", "install", "codex", "--trust")
    assert_guarded(stage, stage.perform(write_held_and_free(stage), words))


@each_of("codex")
def test_codex_in_a_linked_worktree_is_trusted_by_the_same_command(
    stage: Stage, tool: Tool
) -> None:
    stage.uninstall()
    forget_trust(stage)
    other = stage.add_worktree()
    stage.yard.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *(word for word in tool.command if word != BYPASS))
    played = stage.perform(write_held_and_free(stage, other), words, cwd=other)
    assert_not_started(stage, played, {OTTER, CRANE})
    assert "moot hook install codex --trust" in played.err
    stage.yard.ok("hook", "install", "codex", "--trust", cwd=other)
    played = stage.perform(write_held_and_free(stage, other), words, cwd=other)
    assert_guarded(stage, played, other)


@each_of("gemini")
def test_gemini_is_not_started_in_a_folder_that_is_not_trusted(stage: Stage, tool: Tool) -> None:
    stage.uninstall()
    stage.yard.reserve(CRANE, "held.txt")
    words = (*MOOT_RUN, *tool.command)
    played = stage.perform(write_held_and_free(stage), words, without=(TRUSTED,))
    assert_not_started(stage, played, {OTTER, CRANE})
    assert "moot hook install gemini --trust" in played.err
    stage.yard.ok("hook", "install", "gemini", "--trust")
    played = stage.perform(write_held_and_free(stage), words, without=(TRUSTED,))
    assert_guarded(stage, played)
