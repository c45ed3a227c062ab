"""A file that others changed since a session saw it is not overwritten from memory unawares."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.test_saved_copies import edit, slip
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project
from tests.watching.watching_run import until

ADD = "*** Begin Patch\n*** Add File: a.txt\n+mine\n*** End Patch"
# How each tool writes a file whole.
WHOLE: dict[str, dict[str, Any]] = {
    "claude-write": {},
    "gemini-write": {},
    "opencode-write": {},
    "codex-patch": {"tool_input": {"command": ADD}},
    "opencode-patch": {"tool_input": {"patchText": ADD}},
    "codex-heredoc": {"tool_input": {"command": f"apply_patch <<'EOF'\n{ADD}\nEOF"}},
}


def start(project: Project, tool: str, agent: str = OTTER) -> None:
    project.hook(tool, call(f"{tool}-start", project.root, session_id="one"), agent)


def write(project: Project, name: str = "gemini-write", session: str = "one") -> Reply:
    said = call(name, project.root, session_id=session, **WHOLE.get(name, {}))
    return project.hook(name.partition("-")[0], said, OTTER)


def change(project: Project, text: str = "by the other\n") -> None:
    """Another agent changes the file, and its session ends."""
    edit(project, text)
    project.ok("release", "--all", "--agent", CRANE)


@pytest.mark.requirement("GRD-012")
@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_another_agent_changed_is_held_back_once(project: Project, name: str) -> None:
    start(project, name.partition("-")[0])
    change(project)
    said = reason(write(project, name))
    assert f"a.txt was changed by {CRANE} (Write) at 20" in said
    assert "Read it again, then repeat" in said
    assert project.events("INCURSION") == []
    assert (project.root / "a.txt").read_text("utf-8") == "by the other\n"
    assert write(project, name).out == "", "the version it was told of may be overwritten"
    assert project.owners() == {"a.txt": OTTER}


def test_a_version_that_came_after_the_one_that_was_told_is_told_too(project: Project) -> None:
    start(project, "gemini")
    change(project)
    assert "was changed by" in reason(write(project))
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "a.txt was changed by someone unknown at 20" in reason(write(project))
    assert write(project).out == ""


def test_a_persons_edit_that_is_not_committed_counts(project: Project) -> None:
    start(project, "gemini")
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "changed by someone unknown" in reason(write(project))


def test_what_came_with_a_commit_is_in_gits_history_and_may_be_overwritten(
    project: Project,
) -> None:
    start(project, "gemini")
    (project.root / "a.txt").write_text("from afar\n", encoding="utf-8")
    assert project.git("commit", "--quiet", "--all", "--message=more").code == 0
    assert write(project).out == ""


def test_what_was_there_when_the_session_began_it_may_have_read(project: Project) -> None:
    change(project)
    # A change of the last 20 ms counts as later: a disk's clock may be so much behind.
    changed_at = os.lstat(project.root / "a.txt").st_ctime_ns
    until(lambda: time.time_ns() > changed_at + 100_000_000)
    start(project, "gemini")
    assert write(project).out == ""


def test_the_sessions_own_writes_are_no_surprise_to_it(project: Project) -> None:
    start(project, "gemini")
    assert write(project).out == ""
    (project.root / "a.txt").write_text("hello\n", encoding="utf-8")
    done = call("gemini-replace-done", project.root, session_id="one")
    assert project.hook("gemini", done, OTTER).out == ""
    assert write(project).out == ""


def test_a_session_that_printed_the_file_has_seen_it(project: Project) -> None:
    start(project, "gemini")
    change(project)
    command = {"command": "cd . && cat a.txt | head -50"}
    before = call("gemini-write", project.root, session_id="one", tool_name="run_shell_command")
    project.hook("gemini", {**before, "tool_input": command}, OTTER)
    project.hook("gemini", {**before, "tool_input": command, "hook_event_name": "AfterTool"}, OTTER)
    assert write(project).out == ""


@pytest.mark.parametrize("tool", ["claude", "gemini", "opencode"])
def test_a_session_that_read_the_file_with_its_tool_has_seen_it(
    project: Project, tool: str
) -> None:
    start(project, tool)
    change(project)
    shown = call(f"{tool}-read-done", project.root, session_id="one")
    assert project.hook(tool, shown, OTTER).out == ""
    assert write(project, f"{tool}-write").out == ""
    (project.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "changed by someone unknown" in reason(write(project, f"{tool}-write"))


def test_what_a_command_put_back_is_told_to_the_one_who_left_it(project: Project) -> None:
    """The holder does not know that its own work is gone."""
    start(project, "opencode")
    sent = {"filePath": str(project.root / "a.txt"), "content": "my work\n"}
    said = call("opencode-write", project.root, session_id="one", tool_input=sent)
    assert project.hook("opencode", said, OTTER).out == ""
    (project.root / "a.txt").write_text("my work\n", encoding="utf-8")
    done = {**said, "hook_event_name": "PostToolUse"}
    assert project.hook("opencode", done, OTTER).out == ""
    slip(project, "git checkout -- .", agent=CRANE)
    told = reason(write(project, "opencode-write"))
    assert "changed by someone" in told
    refusal, _, waiting = told.partition("moot: waiting for you")
    assert CRANE not in refusal
    assert f"while {CRANE}'s command ran; no one else known to Moot was at work" in waiting
    project.ok("undo", "a.txt", "--version", "1", MOOT_AGENT=OTTER)
    assert (project.root / "a.txt").read_text("utf-8") == "my work\n"
    assert write(project, "opencode-write").out == ""


@pytest.mark.parametrize("name", ["claude-edit", "gemini-replace", "opencode-edit"])
def test_what_fails_where_the_old_text_is_gone_is_not_asked_for(
    project: Project, name: str
) -> None:
    start(project, name.partition("-")[0])
    change(project)
    assert write(project, name).out == ""


def test_a_session_whose_beginning_nobody_saw_is_not_held_back(project: Project) -> None:
    change(project)
    assert write(project).out == ""
    os.utime(project.root / "a.txt")
    assert write(project, session="").out == ""


def test_a_file_that_is_gone_can_be_written(project: Project) -> None:
    start(project, "gemini")
    change(project)
    (project.root / "a.txt").unlink()
    assert write(project).out == ""
