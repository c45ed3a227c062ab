"""Each real tool, with our hooks installed: what it writes, and what its model reads."""

from __future__ import annotations

import json

import pytest

from moot.coding_tools import hook_command
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import SendHandoff
from tests.project import CRANE, OTTER
from tests.real_tools.scripted_model import Use
from tests.real_tools.tool_project import EACH, ToolProject, each_of
from tests.real_tools.tools import Tool


@EACH
def test_a_held_file_is_not_written_and_the_model_reads_why(
    project: ToolProject, tool: Tool
) -> None:
    project.reserve(CRANE, "held.txt", work="bb-12")
    held, free = str(project.file("held.txt")), str(project.file("free.txt"))
    model = project.play(tool.write(held), tool.write(free))
    assert not project.file("held.txt").exists()
    assert project.file("free.txt").read_text("utf-8") == "written\n"
    assert "held.txt is held by teal-crane (active" in model.heard
    assert "working on bb-12" in model.heard
    assert project.owners() == {"held.txt": CRANE, "free.txt": OTTER}
    assert len(project.events("INCURSION")) == 1


@EACH
def test_two_worktrees_collide_on_the_same_file(project: ToolProject, tool: Tool) -> None:
    assert project.git("worktree", "add", "-q", "-b", "feature", str(project.other)).code == 0
    project.ok("hook", "install", tool.name, cwd=project.other)
    project.reserve(CRANE, "held.txt")
    held, free = str(project.other / "held.txt"), str(project.other / "free.txt")
    model = project.play(tool.write(held), tool.write(free), cwd=project.other)
    assert not (project.other / "held.txt").exists()
    assert (project.other / "free.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard


@EACH
def test_a_session_without_a_name_gets_one_and_is_told(project: ToolProject, tool: Tool) -> None:
    model = project.play(tool.write(str(project.file("free.txt"))), agent=None)
    assert project.file("free.txt").exists()
    state = project.presence
    (member,) = state.members
    assert member.name not in (OTTER, CRANE)
    assert f"You are {member.name} here" in model.heard
    assert state.fencing == 1  # reserved; a tool that tells its end has given it back by now


@EACH
def test_without_moot_no_edit_is_written(
    project: ToolProject, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.bin / "moot").unlink()
    monkeypatch.setattr(
        hook_command, "hook_words", lambda tool: (str(project.bin / "moot"), "hook", tool)
    )
    project.ok("hook", "install", tool.name)
    model = project.play(tool.write(str(project.file("free.txt"))))
    assert not project.file("free.txt").exists()
    assert "moot" in model.heard


def handoff(project: ToolProject) -> None:
    """Something is passed to the agent at work."""
    command = SendHandoff(
        to=OTTER,
        subject="the login page",
        summary="half done",
        next_action="finish it",
        work="bb-1",
        project_root=str(project.root),
    )
    project.execute(CRANE, command, stream=STREAM)


def was_seen(project: ToolProject) -> bool:
    (message,) = project.presence.pending.values()
    return message.seen_by == (OTTER,)


@EACH
def test_what_comes_meanwhile_is_handed_over_after_a_call(project: ToolProject, tool: Tool) -> None:
    write = tool.write(str(project.file("free.txt")))
    model = project.play(write, meanwhile=lambda: handoff(project))
    assert "the login page" in model.heard
    assert was_seen(project)


@each_of("claude", "codex", "gemini")
def test_what_comes_meanwhile_keeps_a_model_from_stopping(project: ToolProject, tool: Tool) -> None:
    assert tool.command
    model = project.play(meanwhile=lambda: handoff(project))
    assert "the login page" in model.heard
    assert was_seen(project)


@each_of("codex")
def test_codex_is_stopped_in_code_mode_too(project: ToolProject, tool: Tool) -> None:
    """A newer model writes a script that calls the tools: each call inside is still asked for."""
    project.reserve(CRANE, "held.txt")
    words = ("gpt-6-sol" if word == "gpt-5.5" else word for word in tool.command)
    project.tool = tool._replace(command=tuple(words))
    patch = tool.write("held.txt").text
    model = project.play(Use("exec", {}, f"text(await tools.apply_patch({json.dumps(patch)}))"))
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
