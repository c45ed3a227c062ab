"""Calls that a tool shows in the files of its conversations, as each of them writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools.starts import ShownCall
from moot.core.clock import parse_time
from moot.runner.guard_proof import find_shown_calls

AT = "2026-11-18T05:38:33.104Z"
LATER = "2026-11-18T05:38:40.000Z"
SINCE = parse_time("2026-11-18T05:38:30.000Z")
# Where each tool keeps its conversations, below the home.
PLACES = {
    "claude": ".claude/projects/-work-project/4d9b80d0.jsonl",
    "codex": ".codex/sessions/2026/11/18/rollout-2026-11-18T05-38-36-01a1ed2a.jsonl",
    "gemini": ".gemini/tmp/project/chats/session-2026-11-18T05-38-79635f29.jsonl",
}


def lines(tool: str, folder: Path, name: str, at: str) -> list[dict[str, Any]]:
    """As they were captured, with what does not matter left out."""
    if tool == "claude":
        use: dict[str, Any] = {"type": "tool_use", "id": "toolu_0_0", "name": name, "input": {}}
        message = {"role": "assistant", "content": [use]}
        line = {"sessionId": "s1", "cwd": str(folder), "timestamp": at, "message": message}
        return [{"type": "mode"}, {"message": {"role": "user", "content": "do it"}}, line]
    if tool == "codex":
        meta = {"session_id": "s1", "id": "s1", "cwd": str(folder)}
        call = {"type": "custom_tool_call", "name": name, "input": "*** Begin Patch"}
        return [
            {"timestamp": at, "type": "session_meta", "payload": meta},
            {"timestamp": at, "type": "response_item", "payload": {"type": "message"}},
            {"timestamp": at, "type": "response_item", "payload": call},
        ]
    called: dict[str, Any] = {"id": "1", "name": name, "args": {}, "status": "success"}
    return [
        {"sessionId": "s1", "kind": "main"},
        {"$set": {"messages": []}},
        {"id": "m1", "timestamp": at, "type": "gemini", "toolCalls": [called]},
    ]


def keep(home: Path, tool: str, found: list[dict[str, Any]], folder: Path) -> Path:
    file = home / PLACES[tool]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(line)}\n" for line in found) + '{"half'
    file.write_text(text, encoding="utf-8")
    if tool == "gemini":
        file.parent.with_name(".project_root").write_text(str(folder), encoding="utf-8")
    return file


NAMES = {"claude": "Edit", "codex": "apply_patch", "gemini": "run_shell_command"}
EACH = pytest.mark.parametrize("tool", PLACES)


@EACH
def test_a_call_is_found_with_its_session_and_its_time(tmp_path: Path, tool: str) -> None:
    keep(tmp_path, tool, lines(tool, tmp_path, NAMES[tool], AT), tmp_path)
    found = find_shown_calls(tool, {"HOME": str(tmp_path)}, str(tmp_path), SINCE)
    assert found == (ShownCall("s1", parse_time(AT)),)


@EACH
def test_a_call_of_before_or_of_elsewhere_is_not(tmp_path: Path, tool: str) -> None:
    keep(tmp_path, tool, lines(tool, tmp_path, NAMES[tool], AT), tmp_path)
    env = {"HOME": str(tmp_path)}
    assert find_shown_calls(tool, env, str(tmp_path), parse_time(LATER)) == ()
    assert find_shown_calls(tool, env, str(tmp_path / "other"), SINCE) == ()
    assert find_shown_calls(tool, {"HOME": "/nowhere"}, str(tmp_path), SINCE) == ()


@pytest.mark.parametrize(("tool", "name"), [("claude", "Read"), ("gemini", "read_file")])
def test_a_call_that_only_reads_is_not(tmp_path: Path, tool: str, name: str) -> None:
    keep(tmp_path, tool, lines(tool, tmp_path, name, AT), tmp_path)
    assert find_shown_calls(tool, {"HOME": str(tmp_path)}, str(tmp_path), SINCE) == ()


@EACH
@pytest.mark.parametrize("odd", [[], {}, 7, "x", None, {"message": 7}, {"payload": []}])
def test_a_file_of_another_form_shows_nothing(tmp_path: Path, tool: str, odd: Any) -> None:
    wrapped = [{"payload": odd, "message": odd, "toolCalls": [odd], "timestamp": 7}, {"x": odd}]
    file = keep(tmp_path, tool, wrapped, tmp_path)
    file.write_text(file.read_text("utf-8") + f"\n{json.dumps(odd)}\n", encoding="utf-8")
    assert find_shown_calls(tool, {"HOME": str(tmp_path)}, str(tmp_path), SINCE) == ()


def test_opencode_shows_none(tmp_path: Path) -> None:
    assert find_shown_calls("opencode", {"HOME": str(tmp_path)}, str(tmp_path), SINCE) == ()
