"""`moot hook install` also lets a tool start `moot mcp`; what hooks say then names tools' calls."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import NAMES as TOOLS
from moot.coding_tools import find_tool
from moot.coding_tools.hook_command import moot_words
from moot.surfaces.mcp.actions import find_action
from moot.surfaces.mcp.calls import read_arguments
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project

EACH = pytest.mark.parametrize("tool", TOOLS)
SERVERS = {"now", "scope", "mail", "event", "session", "trace", "ask", "record"}
NAMES = {
    "claude": "mcp__moot__event",
    "codex": "mcp__moot.event",
    "gemini": "mcp_moot_event",
    "opencode": "moot_event",
}
HELD_CALLS = {
    "claude": "claude-write",
    "codex": "codex-patch",
    "gemini": "gemini-write",
    "opencode": "opencode-write",
}


def file_of(project: Project, tool: str) -> Path:
    return project.root / find_tool(tool).server_file


def entry_of(project: Project, tool: str) -> dict[str, Any] | None:
    file = file_of(project, tool)
    if not file.exists():
        return None
    text = file.read_text("utf-8")
    document = tomllib.loads(text) if tool == "codex" else json.loads(text)
    servers: dict[str, Any] = document.get(find_tool(tool).server_group, {})
    return servers.get("moot")


def words_of(entry: dict[str, Any]) -> list[str]:
    command = entry["command"]
    return command if isinstance(command, list) else [command, *entry["args"]]


@EACH
def test_a_tool_learns_to_start_the_server_beside_its_hooks(project: Project, tool: str) -> None:
    done = project.ok("hook", "install", tool)
    assert done["mcp"]["file"] == str(file_of(project, tool))
    assert done["mcp"]["why_not"] is None
    entry = entry_of(project, tool)
    assert entry is not None
    assert words_of(entry) == [*moot_words(), "mcp"]
    assert "trust" not in entry
    assert project.git("status", "--porcelain").out == ""
    assert project.ok("hook", "install", tool)["changed"] == []
    project.ok("hook", "uninstall", tool, "--all")
    assert not file_of(project, tool).exists()


@EACH
def test_without_mcp_there_is_no_entry_and_one_of_before_goes(project: Project, tool: str) -> None:
    project.ok("hook", "install", tool)
    done = project.ok("hook", "install", tool, "--no-mcp")
    assert done["mcp"] is None
    assert done["changed"] == [str(file_of(project, tool))]
    assert entry_of(project, tool) is None
    state = next(row for row in project.ok("hook", "status")["tools"] if row["tool"] == tool)
    assert (state["installed"], state["mcp_file"]) == (True, None)
    assert project.ok("hook", "install", tool, "--no-mcp")["changed"] == []


@EACH
def test_a_file_that_is_in_git_is_not_touched(project: Project, tool: str) -> None:
    project.env["HOME"] = str(project.root.parent)
    file = file_of(project, tool)
    file.parent.mkdir(exist_ok=True)
    file.write_text("" if tool == "codex" else "{}\n", encoding="utf-8")
    assert project.git("add", str(file)).code == 0
    before = file.read_bytes()
    done = project.ok("hook", "install", tool)
    assert (done["mcp"]["file"], done["mcp"]["why_not"]["code"]) == (None, "mcp_file_in_git")
    assert file.read_bytes() == before
    assert next(row for row in project.ok("hook", "status")["tools"] if row["tool"] == tool)[
        "installed"
    ]


@EACH
def test_lines_that_everyone_gets_name_no_server(project: Project, tool: str) -> None:
    done = project.ok("hook", "install", tool, "--share")
    assert done["mcp"]["why_not"]["code"] == "mcp_not_shared"
    assert entry_of(project, tool) is None


@EACH
def test_another_server_of_our_name_stays_and_the_hooks_are_installed(
    project: Project, tool: str
) -> None:
    file = file_of(project, tool)
    file.parent.mkdir(exist_ok=True)
    other = {"command": "other", "args": ["serve"]}
    if tool == "codex":
        file.write_text('[mcp_servers.moot]\ncommand = "other"\nargs = ["serve"]\n', "utf-8")
    else:
        file.write_text(json.dumps({find_tool(tool).server_group: {"moot": other}}), "utf-8")
    done = project.ok("hook", "install", tool)
    assert (done["mcp"]["file"], done["mcp"]["why_not"]["code"]) == (None, "mcp_name_taken")
    assert entry_of(project, tool) == other
    assert project.ok("hook", "test", tool)["mcp_command"] is None


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "a" } }\n',
        "[mcp_servers.other\n",
        '[mcp_servers]\nmoot = { command = "other" }\n',
    ],
)
def test_toml_that_ours_does_not_fit_into_is_not_touched(project: Project, text: str) -> None:
    file = file_of(project, "codex")
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    done = project.ok("hook", "install", "codex")
    assert done["mcp"]["why_not"]["code"] == "settings_unreadable"
    assert file.read_text("utf-8") == text
    project.ok("hook", "uninstall", "codex", "--all")
    assert file.read_text("utf-8") == text


def test_a_person_s_yes_lets_claude_start_it_and_gemini_call_it_unasked(project: Project) -> None:
    project.env["HOME"] = str(project.root.parent)
    project.ok("hook", "install", "claude", "--trust")
    local = project.root / ".claude/settings.local.json"
    assert json.loads(local.read_bytes())["enabledMcpjsonServers"] == ["moot"]
    assert "mcp__moot" in project.ok("hook", "install", "claude")["mcp"]["consent"]
    assert json.loads(local.read_bytes())["enabledMcpjsonServers"] == ["moot"]
    project.ok("hook", "uninstall", "claude", "--all")
    assert not local.exists()
    assert '"trust": true' in project.ok("hook", "install", "gemini")["mcp"]["consent"]
    done = project.ok("hook", "install", "gemini", "--trust")
    assert done["mcp"]["consent"] is None
    assert project.ok("hook", "install", "gemini")["changed"] == []
    entry = entry_of(project, "gemini")
    assert entry is not None
    assert entry["trust"] is True


def test_status_and_test_know_the_server(project: Project) -> None:
    project.ok("hook", "install", "claude")
    tried = project.ok("hook", "test", "claude")
    assert (tried["passed"], tried["mcp_passed"]) == (True, True)
    assert set(tried["mcp_answer"].split(", ")) == SERVERS
    assert tried["mcp_command"] == shlex.join([*moot_words(), "mcp"])
    assert "server" in project.run("hook", "test", "claude").out
    state = next(row for row in project.ok("hook", "status")["tools"] if row["tool"] == "claude")
    assert (state["mcp_file"], state["mcp_wrong"]) == (str(file_of(project, "claude")), None)
    file = file_of(project, "claude")
    gone = {"mcpServers": {"moot": {"command": "/no/such/moot", "args": ["mcp"]}}}
    file.write_text(json.dumps(gone), encoding="utf-8")
    state = next(row for row in project.ok("hook", "status")["tools"] if row["tool"] == "claude")
    assert "/no/such/moot" in state["mcp_wrong"]
    assert state["wrong"] is None  # the hooks work
    assert "mcp broken" in project.run("hook", "status").out
    failed = project.json("hook", "test", "claude")
    assert (failed.code, failed.data["passed"], failed.data["mcp_passed"]) == (1, True, False)
    project.ok("hook", "install", "claude")
    assert project.ok("hook", "test", "claude")["mcp_passed"]


def change_entry(project: Project, tool: str, **changes: Any) -> None:
    file = file_of(project, tool)
    document = json.loads(file.read_bytes())
    document[find_tool(tool).server_group]["moot"].update(changes)
    file.write_text(json.dumps(document), encoding="utf-8")


def break_file(project: Project, tool: str, before: str, after: str) -> None:
    file = file_of(project, tool)
    file.write_text(file.read_text("utf-8").replace(before, after), encoding="utf-8")


def turn_down(project: Project) -> None:
    local = project.root / ".claude/settings.local.json"
    document = json.loads(local.read_bytes())
    local.write_text(json.dumps({**document, "disabledMcpjsonServers": ["moot"]}), "utf-8")


def leave_out(project: Project, lists: dict[str, list[str]]) -> None:
    document = json.loads(file_of(project, "gemini").read_bytes())
    file_of(project, "gemini").write_text(json.dumps({**document, "mcp": lists}), encoding="utf-8")


OFF, LOST = "mcp_switched_off", "mcp_variables_missing"
BROKEN: dict[str, tuple[str, Callable[[Project], None], str]] = {
    "no program": (
        "claude",
        lambda project: change_entry(project, "claude", command="/no/such/moot"),
        "mcp_moot_missing",
    ),
    "turned down": ("claude", turn_down, OFF),
    "no JSON": (
        "claude",
        lambda project: break_file(project, "claude", "{", "{,"),
        "mcp_unreadable",
    ),
    "no TOML": (
        "codex",
        lambda project: break_file(project, "codex", "args =", "args"),
        "mcp_unreadable",
    ),
    "off in codex": (
        "codex",
        lambda project: break_file(project, "codex", "args =", "enabled = false\nargs ="),
        OFF,
    ),
    "no variables in codex": (
        "codex",
        lambda project: break_file(project, "codex", '"MOOT_AGENT",', ""),
        LOST,
    ),
    "no variables in gemini": (
        "gemini",
        lambda project: change_entry(project, "gemini", env={}),
        LOST,
    ),
    "excluded": ("gemini", lambda project: leave_out(project, {"excluded": ["moot"]}), OFF),
    "not allowed": ("gemini", lambda project: leave_out(project, {"allowed": ["other"]}), OFF),
    "off in opencode": (
        "opencode",
        lambda project: change_entry(project, "opencode", enabled=False),
        OFF,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_status_and_doctor_say_what_is_wrong_with_an_entry(project: Project, case: str) -> None:
    tool, damage, code = BROKEN[case]
    project.env["HOME"] = str(project.root.parent)
    project.ok("hook", "install", tool)
    assert not [one for one in project.ok("doctor")["findings"] if one["rule"] == "mcp"]
    damage(project)
    for words in (("doctor",), ("ledger", "doctor")):
        (finding,) = [one for one in project.ok(*words)["findings"] if one["rule"] == "mcp"]
        assert (finding["code"], finding["where"]) == (code, str(file_of(project, tool)))
    state = next(row for row in project.ok("hook", "status")["tools"] if row["tool"] == tool)
    assert (state["mcp_wrong"], state["mcp_mend"]) == (finding["message"], finding["hint"])
    if "writes it again" in finding["hint"]:
        project.ok("hook", "install", tool)
        assert not [one for one in project.ok("doctor")["findings"] if one["rule"] == "mcp"]


def test_a_server_that_says_nothing_of_tools_has_failed(project: Project) -> None:
    project.ok("hook", "install", "claude")
    mute = {"mcpServers": {"moot": {"command": "true", "args": ["mcp"]}}}
    file_of(project, "claude").write_text(json.dumps(mute), encoding="utf-8")
    failed = project.json("hook", "test", "claude")
    assert (failed.code, failed.data["mcp_passed"]) == (1, False)


@EACH
def test_a_refusal_names_the_tool_s_call_where_the_server_is(project: Project, tool: str) -> None:
    project.reserve(CRANE, "a.txt")
    said = call(HELD_CALLS[tool], project.root)
    in_shell = reason(project.hook(tool, said))
    assert f"event blocked --from {OTTER} --to {CRANE}" in in_shell
    project.ok("hook", "install", tool)
    by_tool = reason(project.hook(tool, said))
    assert f"a.txt is held by {CRANE}" in by_tool
    assert f'{NAMES[tool]} {{"action": "blocked", "to": "{CRANE}"' in by_tool
    assert "event blocked --from" not in by_tool
    for name, arguments in re.findall(r"`\S*?(event|scope) (\{[^`]*\})`", by_tool):
        given = read_arguments(name, json.loads(arguments))
        action = find_action(name, given.pop("action"), "")
        assert set(action.needs) <= set(given) <= set(action.parameters)


def test_a_server_that_is_switched_off_is_not_named_to_a_model(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    project.ok("hook", "install", "opencode")
    change_entry(project, "opencode", enabled=False)
    in_shell = reason(project.hook("opencode", call("opencode-write", project.root)))
    assert f"event blocked --from {OTTER} --to {CRANE}" in in_shell
    assert "moot_event" not in in_shell


def test_a_session_is_told_the_tools_or_the_command_line(project: Project) -> None:
    project.ok("event", "handoff", *("--from", CRANE, "--to", OTTER, "--subject", "Auth"), *HANDED)
    before = project.hook("claude", call("claude-start", project.root)).out
    assert "reserve SCOPE`" in before
    assert re.search(rf"event accept \S+ --agent {OTTER}`", before)
    project.ok("hook", "install", "claude")
    project.ok("event", "handoff", *("--from", CRANE, "--to", OTTER, "--subject", "Mail"), *HANDED)
    after = project.hook("claude", call("claude-start", project.root)).out
    assert "`mcp__moot__scope` with action reserve" in after
    assert '`mcp__moot__event {"action":"accept","id":"' in after
    assert "reserve SCOPE`" not in after


HANDED = ("--summary", "half done", "--next-action", "finish")


def test_the_command_line_is_named_by_a_path_that_works(project: Project, tmp_path: Path) -> None:
    project.reserve(CRANE, "a.txt")
    said = call("claude-write", project.root)
    whole = f"`{shlex.join(moot_words())} guard check :/a.txt`"
    assert whole in reason(project.hook("claude", said, PATH=str(tmp_path)))
    script = tmp_path / "moot"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    assert "`moot guard check :/a.txt`" in reason(project.hook("claude", said, PATH=str(tmp_path)))
