"""Each real tool, with our hooks installed: what it writes, and what its model reads."""

from __future__ import annotations

import json

import pytest

from moot.flows.tools import hook_command
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import SendHandoff
from tests.agents.loopback import Use
from tests.agents.stage import EACH, Stage, each_of
from tests.agents.tools import Tool
from tests.hooks.yard import CRANE, OTTER


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


@each_of("claude", "codex", "gemini")
def test_what_comes_meanwhile_keeps_a_model_from_stopping(stage: Stage, tool: Tool) -> None:
    assert tool.command
    model = stage.play(meanwhile=lambda: handoff(stage))
    assert "the login page" in model.heard
    assert was_seen(stage)


@each_of("codex")
def test_codex_is_stopped_in_code_mode_too(stage: Stage, tool: Tool) -> None:
    """A newer model writes a script that calls the tools: each call inside is still asked for."""
    stage.yard.reserve(CRANE, "held.txt")
    words = ("gpt-6-sol" if word == "gpt-5.5" else word for word in tool.command)
    stage.tool = tool._replace(command=tuple(words))
    patch = tool.write("held.txt").text
    model = stage.play(Use("exec", {}, f"text(await tools.apply_patch({json.dumps(patch)}))"))
    assert not stage.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
