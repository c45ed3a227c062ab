"""A file that others changed since a session saw it is not overwritten from memory unawares."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.test_copies import edit, slip
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason
from tests.watching.post import until

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


def start(yard: Yard, tool: str, agent: str = OTTER) -> None:
    yard.hook(tool, call(f"{tool}-start", yard.root, session_id="one"), agent)


def write(yard: Yard, name: str = "gemini-write", session: str = "one") -> Reply:
    said = call(name, yard.root, session_id=session, **WHOLE.get(name, {}))
    return yard.hook(name.partition("-")[0], said, OTTER)


def change(yard: Yard, text: str = "by the other\n") -> None:
    """Another agent changes the file, and its session ends."""
    edit(yard, text)
    yard.ok("release", "--all", "--agent", CRANE)


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_another_agent_changed_is_held_back_once(yard: Yard, name: str) -> None:
    start(yard, name.partition("-")[0])
    change(yard)
    said = reason(write(yard, name))
    assert f"a.txt was changed by {CRANE} (Write) at 20" in said
    assert "Read it again, then repeat" in said
    assert yard.events("INCURSION") == []
    assert (yard.root / "a.txt").read_text("utf-8") == "by the other\n"
    assert write(yard, name).out == "", "the version it was told of may be overwritten"
    assert yard.owners() == {"a.txt": OTTER}


def test_a_version_that_came_after_the_one_that_was_told_is_told_too(yard: Yard) -> None:
    start(yard, "gemini")
    change(yard)
    assert "was changed by" in reason(write(yard))
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "a.txt was changed by someone unknown at 20" in reason(write(yard))
    assert write(yard).out == ""


def test_a_persons_edit_that_is_not_committed_counts(yard: Yard) -> None:
    start(yard, "gemini")
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "changed by someone unknown" in reason(write(yard))


def test_what_came_with_a_commit_is_in_gits_history_and_may_be_overwritten(yard: Yard) -> None:
    start(yard, "gemini")
    (yard.root / "a.txt").write_text("from afar\n", encoding="utf-8")
    assert yard.git("commit", "--quiet", "--all", "--message=more").code == 0
    assert write(yard).out == ""


def test_what_was_there_when_the_session_began_it_may_have_read(yard: Yard) -> None:
    change(yard)
    # A change of the last 20 ms counts as later: a disk's clock may be so much behind.
    changed_at = os.lstat(yard.root / "a.txt").st_ctime_ns
    until(lambda: time.time_ns() > changed_at + 100_000_000)
    start(yard, "gemini")
    assert write(yard).out == ""


def test_the_sessions_own_writes_are_no_surprise_to_it(yard: Yard) -> None:
    start(yard, "gemini")
    assert write(yard).out == ""
    (yard.root / "a.txt").write_text("hello\n", encoding="utf-8")
    done = call("gemini-replace-done", yard.root, session_id="one")
    assert yard.hook("gemini", done, OTTER).out == ""
    assert write(yard).out == ""


def test_a_session_that_printed_the_file_has_seen_it(yard: Yard) -> None:
    start(yard, "gemini")
    change(yard)
    command = {"command": "cd . && cat a.txt | head -50"}
    before = call("gemini-write", yard.root, session_id="one", tool_name="run_shell_command")
    yard.hook("gemini", {**before, "tool_input": command}, OTTER)
    yard.hook("gemini", {**before, "tool_input": command, "hook_event_name": "AfterTool"}, OTTER)
    assert write(yard).out == ""


@pytest.mark.parametrize("tool", ["claude", "gemini", "opencode"])
def test_a_session_that_read_the_file_with_its_tool_has_seen_it(yard: Yard, tool: str) -> None:
    start(yard, tool)
    change(yard)
    shown = call(f"{tool}-read-done", yard.root, session_id="one")
    assert yard.hook(tool, shown, OTTER).out == ""
    assert write(yard, f"{tool}-write").out == ""
    (yard.root / "a.txt").write_text("by a person\n", encoding="utf-8")
    assert "changed by someone unknown" in reason(write(yard, f"{tool}-write"))


def test_what_a_command_put_back_is_told_to_the_one_who_left_it(yard: Yard) -> None:
    """The holder does not know that its own work is gone."""
    start(yard, "opencode")
    sent = {"filePath": str(yard.root / "a.txt"), "content": "my work\n"}
    said = call("opencode-write", yard.root, session_id="one", tool_input=sent)
    assert yard.hook("opencode", said, OTTER).out == ""
    (yard.root / "a.txt").write_text("my work\n", encoding="utf-8")
    done = {**said, "hook_event_name": "PostToolUse"}
    assert yard.hook("opencode", done, OTTER).out == ""
    slip(yard, "git checkout -- .", agent=CRANE)
    told = reason(write(yard, "opencode-write"))
    assert "changed by someone" in told
    refusal, _, waiting = told.partition("moot: waiting for you")
    assert CRANE not in refusal
    assert f"while {CRANE}'s command ran; no one else known to Moot was at work" in waiting
    yard.ok("undo", "a.txt", "--version", "1", MOOT_AGENT=OTTER)
    assert (yard.root / "a.txt").read_text("utf-8") == "my work\n"
    assert write(yard, "opencode-write").out == ""


@pytest.mark.parametrize("name", ["claude-edit", "gemini-replace", "opencode-edit"])
def test_what_fails_where_the_old_text_is_gone_is_not_asked_for(yard: Yard, name: str) -> None:
    start(yard, name.partition("-")[0])
    change(yard)
    assert write(yard, name).out == ""


def test_a_session_whose_beginning_nobody_saw_is_not_held_back(yard: Yard) -> None:
    change(yard)
    assert write(yard).out == ""
    os.utime(yard.root / "a.txt")
    assert write(yard, session="").out == ""


def test_a_file_that_is_gone_can_be_written(yard: Yard) -> None:
    start(yard, "gemini")
    change(yard)
    (yard.root / "a.txt").unlink()
    assert write(yard).out == ""
