"""Each real tool, with our hooks installed: what it writes, and what its model reads."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.flows.tools import hook_command
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import SendHandoff
from tests.agents.loopback import Model, Use
from tests.agents.tools import SECONDS, TOOLS, Tool, installed
from tests.hooks.yard import CRANE, OTTER, Yard

EACH = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


class Stage:
    """A project with two agents, in which a tool is started."""

    def __init__(self, tmp: Path, tool: Tool) -> None:
        self.tool = tool
        root = tmp / "project"
        root.mkdir()
        self.home = tmp / "home"
        self.home.mkdir()
        self.yard = Yard(root, tmp / "keys", HOME=str(self.home), NO_PROXY="127.0.0.1")
        self.bin = tmp / "bin"
        self.bin.mkdir()
        moot = self.bin / "moot"
        moot.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m moot "$@"\n', encoding="utf-8")
        moot.chmod(0o755)
        self.yard.env["PATH"] = f"{self.bin}:{installed()}:{self.yard.env['PATH']}"
        (root / "kept.txt").write_text("one\n", encoding="utf-8")
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
            assert self.yard.git(*words).code == 0
        self.yard.ok("init")
        for agent in (OTTER, CRANE):
            self.yard.ok("agent", "register", agent)
        self.yard.ok("hook", "install", tool.name)

    def play(
        self,
        *steps: Use,
        agent: str | None = OTTER,
        meanwhile: Callable[[], None] | None = None,
        cwd: Path | None = None,
    ) -> Model:
        """Run the tool once, to its end."""
        where = cwd or self.yard.root
        with Model(*steps, meanwhile=meanwhile) as model:
            self.tool.prepare(where, self.home, model.url)
            named = {"MOOT_AGENT": agent} if agent else {}
            done = subprocess.run(
                self.tool.command,
                cwd=where,
                env={**self.yard.env, **self.tool.env(model.url), **named},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        print(done.stdout[-2000:], done.stderr[-2000:])  # noqa: T201 - shown if the test fails
        return model

    def file(self, name: str) -> Path:
        return self.yard.root / name


@pytest.fixture
def stage(tmp_path: Path, tool: Tool) -> Stage:
    return Stage(tmp_path, tool)


@EACH
def test_a_held_file_is_not_written_and_the_model_reads_why(stage: Stage, tool: Tool) -> None:
    stage.yard.reserve(CRANE, "held.txt", work="bb-12")
    held, free = str(stage.file("held.txt")), str(stage.file("free.txt"))
    model = stage.play(tool.write(held), tool.write(free))
    assert not stage.file("held.txt").exists()
    assert stage.file("free.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by teal-crane (active" in model.heard
    assert "working on bb-12" in model.heard
    assert stage.yard.owners() == {"held.txt": CRANE, "free.txt": OTTER}
    assert len(stage.yard.events("INCURSION")) == 1


@EACH
def test_moot_run_sets_up_everything_by_itself(stage: Stage, tool: Tool) -> None:
    stage.yard.ok("hook", "uninstall", tool.name)
    stage.yard.reserve(CRANE, "held.txt")
    stage.tool = tool._replace(command=("moot", "run", "--", *tool.command))
    held, free = str(stage.file("held.txt")), str(stage.file("free.txt"))
    model = stage.play(tool.write(held), tool.write(free), agent=None)
    assert not stage.file("held.txt").exists()
    assert stage.file("free.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    assert stage.yard.owners() == {"held.txt": CRANE}


@EACH
def test_two_worktrees_collide_on_the_same_file(stage: Stage, tool: Tool) -> None:
    yard = stage.yard
    assert yard.git("worktree", "add", "-q", "-b", "feature", str(yard.other)).code == 0
    yard.ok("hook", "install", tool.name, cwd=yard.other)
    yard.reserve(CRANE, "held.txt")
    held, free = str(yard.other / "held.txt"), str(yard.other / "free.txt")
    model = stage.play(tool.write(held), tool.write(free), cwd=yard.other)
    assert not (yard.other / "held.txt").exists()
    assert (yard.other / "free.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard


@EACH
def test_a_session_without_a_name_gets_one_and_is_told(stage: Stage, tool: Tool) -> None:
    model = stage.play(tool.write(str(stage.file("free.txt"))), agent=None)
    assert stage.file("free.txt").exists()
    state = stage.yard.presence
    (member,) = state.members
    assert member.name not in (OTTER, CRANE)
    assert f"You are {member.name} here" in model.heard
    assert state.fencing == 1  # reserved; a tool that tells its end has given it back by now


@EACH
def test_a_shell_command_that_slipped_past_is_on_record(stage: Stage, tool: Tool) -> None:
    stage.yard.reserve(CRANE, "kept.txt")
    model = stage.play(tool.shell("echo two > kept.txt"))
    assert stage.file("kept.txt").read_text("utf-8") == "two\n"
    (noted,) = stage.yard.events("INCURSION")
    assert noted["from_agent"] == OTTER
    assert "this changed what others hold" in model.heard


@EACH
def test_without_moot_no_edit_is_written(
    stage: Stage, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stage.bin / "moot").unlink()
    monkeypatch.setattr(
        hook_command, "hook_words", lambda tool: (str(stage.bin / "moot"), "hook", tool)
    )
    stage.yard.ok("hook", "install", tool.name)
    model = stage.play(tool.write(str(stage.file("free.txt"))))
    assert not stage.file("free.txt").exists()
    assert "moot" in model.heard


def handoff(stage: Stage) -> None:
    """Something is passed to the agent at work."""
    command = SendHandoff(
        to=OTTER,
        subject="the login page",
        summary="half done",
        next_action="finish it",
        work="bb-1",
        project_root=str(stage.yard.root),
    )
    stage.yard.execute(CRANE, command, stream=STREAM)


def was_seen(stage: Stage) -> bool:
    (message,) = stage.yard.presence.pending.values()
    return message.seen_by == (OTTER,)


@EACH
def test_what_comes_meanwhile_is_handed_over_after_a_call(stage: Stage, tool: Tool) -> None:
    write = tool.write(str(stage.file("free.txt")))
    model = stage.play(write, meanwhile=lambda: handoff(stage))
    assert "the login page" in model.heard
    assert was_seen(stage)


@pytest.mark.parametrize(
    "tool",
    [TOOLS[name] for name in ("claude", "codex", "gemini")],
    ids=["claude", "codex", "gemini"],
)
def test_what_comes_meanwhile_keeps_a_model_from_stopping(stage: Stage, tool: Tool) -> None:
    assert tool.command
    model = stage.play(meanwhile=lambda: handoff(stage))
    assert "the login page" in model.heard
    assert was_seen(stage)


@pytest.mark.parametrize("tool", [TOOLS["codex"]], ids=["codex"])
def test_codex_skips_our_hooks_until_trust_is_stored(stage: Stage, tool: Tool) -> None:
    from moot.flows.tools.hook_health import find_problems

    stage.yard.reserve(CRANE, "held.txt")
    bypass = "--dangerously-bypass-hook-trust"
    with Model() as unused:
        tool.prepare(stage.yard.root, stage.home, unused.url)
    config = stage.home / ".codex/config.toml"
    assert [one.code for one in find_problems(stage.yard.root, stage.yard.env)] == [
        "hook_untrusted"
    ]
    stage.yard.ok("hook", "install", "codex", "--trust")
    assert find_problems(stage.yard.root, stage.yard.env) == ()
    stored = config.read_text("utf-8")
    with Model(tool.write(str(stage.file("held.txt")))) as model:
        config.write_text(stored.replace(unused.url, model.url), encoding="utf-8")
        subprocess.run(
            [word for word in tool.command if word != bypass],
            cwd=stage.yard.root,
            env={**stage.yard.env, **tool.env(model.url), "MOOT_AGENT": OTTER},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    assert not stage.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard


@pytest.mark.parametrize("tool", [TOOLS["codex"]], ids=["codex"])
def test_codex_is_stopped_in_code_mode_too(stage: Stage, tool: Tool) -> None:
    """A newer model writes a script that calls the tools: each call inside is still asked for."""
    stage.yard.reserve(CRANE, "held.txt")
    words = ("gpt-6-sol" if word == "gpt-5.5" else word for word in tool.command)
    stage.tool = tool._replace(command=tuple(words))
    patch = tool.write("held.txt").text
    model = stage.play(Use("exec", {}, f"text(await tools.apply_patch({json.dumps(patch)}))"))
    assert not stage.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
