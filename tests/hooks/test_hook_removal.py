"""No agent takes its own guard out: not by a command, not by an edit, not in a shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.presence import tool_processes
from moot.api.presence.tool_processes import is_run
from moot.system.process_tree import Process
from tests.hooks.fake_tools import MOOT, put_program
from tests.hooks.test_install import snapshot
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project, make_project

SECONDS = 60
LOCAL = ".claude/settings.local.json"
JSON_FILES = {
    "claude": LOCAL,
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}
UNINSTALLS = (("hook", "uninstall", "claude"), ("hook", "uninstall", "--all"), ("uninstall",))
EACH_UNINSTALL = pytest.mark.parametrize("words", UNINSTALLS, ids=" ".join)


@pytest.fixture(scope="module")
def made_armed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """All tools have their hooks, and the home is there; and a copy of all that."""
    place = tmp_path_factory.mktemp("armed")
    (place / "now").mkdir()
    project = make_project(place / "now", OTTER, CRANE, git=True)
    Path(project.env["HOME"]).mkdir(exist_ok=True)
    for tool in (*JSON_FILES, "git"):
        project.ok("hook", "install", tool, "--no-skill")
    shutil.copytree(place / "now", place / "kept", symlinks=True)
    return project, place


@pytest.fixture
def armed(made_armed: tuple[Project, Path]) -> Project:
    """It is put back at its place for each test: the hooks name that place."""
    project, place = made_armed
    shutil.rmtree(place / "now")
    shutil.copytree(place / "kept", place / "now", symlinks=True)
    return project


def kept(project: Project) -> tuple[dict[str, bytes], int]:
    """All files but Moot's own, and how much is on record."""
    files = {name: data for name, data in snapshot(project.root).items() if ".moot/" not in name}
    return files, project.ok("status")["record"]["events"]


# By a command.


@pytest.mark.requirement("GRD-028")
@EACH_UNINSTALL
def test_a_named_agent_does_not_uninstall(armed: Project, words: tuple[str, ...]) -> None:
    before = kept(armed)
    assert armed.refused(*words, MOOT_AGENT=OTTER) == ("human_key_required", 1)
    assert armed.refused("--as", OTTER, *words) == ("human_key_required", 1)
    assert kept(armed) == before


@EACH_UNINSTALL
@pytest.mark.parametrize(
    "mark",
    ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "MOOT_SOCKET", "MOOT_SESSION"],
)
def test_nobody_uninstalls_in_a_tools_session(
    armed: Project, words: tuple[str, ...], mark: str
) -> None:
    before = kept(armed)
    assert armed.refused(*words, **{mark: "/1"}) == ("human_key_required", 1)
    assert kept(armed) == before


@EACH_UNINSTALL
@pytest.mark.parametrize(
    "above",
    [
        ("claude", "-p", "x"),
        ("node", "/usr/lib/node_modules/@openai/codex/bin/codex.js"),
        ("/usr/bin/python3", "/home/me/.local/bin/moot", "run", "--", "./agent.py"),
        ("/usr/bin/python3", "-P", "-m", "moot", "--json", "run", "agent"),
    ],
    ids=" ".join,
)
def test_nobody_uninstalls_below_a_tool_or_a_run(
    armed: Project, words: tuple[str, ...], above: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = [Process(9, 8, ("sh", "-c", "x")), Process(8, 7, above), Process(7, 1, ("bash",))]
    monkeypatch.setattr(tool_processes, "list_ancestors", lambda _pid: chain)
    before = kept(armed)
    done = armed.json(*words)
    assert (done.error["code"], done.code) == ("human_key_required", 1)
    assert "terminal" in done.error["hint"]
    assert kept(armed) == before


@pytest.mark.requirement("GRD-028")
def test_what_really_runs_below_a_run_is_refused_whatever_its_environment(armed: Project) -> None:
    folder = armed.root.parent / "bin"
    put_program(folder, "moot", MOOT)
    path = f"{folder}:{armed.env['PATH']}"
    bare = f'env -i PATH={path} MOOT_KEYS="$MOOT_KEYS" HOME={armed.env["HOME"]}'
    script = put_program(folder, "agent", f"#!/bin/sh\n{bare} moot --json hook uninstall --all\n")
    before = snapshot(armed.root / ".claude")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "moot", "run", "--", str(script)],
        cwd=armed.root,
        env={**armed.env, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert json.loads(done.stdout)["error"]["code"] == "human_key_required", done
    assert done.returncode == 1
    assert snapshot(armed.root / ".claude") == before


@EACH_UNINSTALL
def test_a_person_uninstalls(armed: Project, words: tuple[str, ...]) -> None:
    assert armed.ok(*words)["changed"]
    assert not (armed.root / LOCAL).exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("moot", "run", "--", "x"), True),
        (("/usr/bin/python3.12", "-I", "/opt/moot", "--as", "me", "run", "x"), True),
        (("moot", "status"), False),
        (("moot", "hook", "test", "--", "run"), False),
        (("bash", "-c", "moot run x"), False),
        (("vim", "a", "b", "c", "d", "e", "f", "moot", "run"), False),
        ((), False),
    ],
)
def test_a_run_is_known_by_its_words(words: tuple[str, ...], expected: bool) -> None:
    assert is_run(words) is expected


# By an edit.


def edited(project: Project, tool: str, name: str, tool_input: dict[str, Any]) -> Any:
    event = "BeforeTool" if tool == "gemini" else "PreToolUse"
    said = {
        "session_id": "s1",
        "cwd": str(project.root),
        "hook_event_name": event,
        "tool_name": name,
        "tool_input": tool_input,
        "tool_use_id": "t1",
    }
    return project.hook(tool, said)


def writes(tool: str, path: str, text: str) -> tuple[str, dict[str, Any]]:
    """How a tool writes a file whole."""
    if tool == "codex":
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        return "apply_patch", {
            "command": f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"
        }
    if tool == "opencode":
        return "write", {"filePath": path, "content": text}
    return {"claude": "Write", "gemini": "write_file"}[tool], {"file_path": path, "content": text}


def replaces(tool: str, path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    """How a tool replaces a text; of a patch the old one is whole lines."""
    if tool == "codex":
        minus = "".join(f"-{line}\n" for line in old.splitlines())
        plus = "".join(f"+{line}\n" for line in new.splitlines())
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{minus}{plus}*** End Patch"
        return "apply_patch", {"command": patch}
    if tool == "opencode":
        return "edit", {"filePath": path, "oldString": old, "newString": new}
    name = {"claude": "Edit", "gemini": "replace"}[tool]
    return name, {"file_path": path, "old_string": old, "new_string": new}


@pytest.mark.requirement("GRD-029")
@pytest.mark.parametrize("tool", JSON_FILES)
@pytest.mark.parametrize("carrier", JSON_FILES)
def test_no_agent_writes_hooks_away(armed: Project, tool: str, carrier: str) -> None:
    """Whichever tool it works with, its own or another's."""
    before = kept(armed)
    path = str(armed.root / JSON_FILES[carrier])
    said = reason(edited(armed, tool, *writes(tool, path, "{}\n")))
    assert "[not_for_agents]" in said
    assert carrier in said
    assert kept(armed) == before


@pytest.mark.parametrize("tool", JSON_FILES)
@pytest.mark.parametrize("carrier", JSON_FILES)
def test_an_edit_that_keeps_them_passes(armed: Project, tool: str, carrier: str) -> None:
    file = armed.root / JSON_FILES[carrier]
    text = file.read_text("utf-8")
    more = json.dumps({**json.loads(text), "mine": True}, indent=2) + "\n"
    assert edited(armed, tool, *writes(tool, str(file), more)).out == ""
    first, second = text.splitlines()[:2]
    old, new = f"{first}\n{second}", f'{first}\n  "mine": true,\n{second}'
    assert edited(armed, tool, *replaces(tool, str(file), old, new)).out == ""


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_an_edit_that_changes_an_entry_of_ours_is_refused(armed: Project, tool: str) -> None:
    file = armed.root / JSON_FILES[tool]
    lines = file.read_text("utf-8").splitlines()
    (line,) = {one for one in lines if '"matcher"' in one and "Read" not in one.title()} or {""}
    old = line or next(one for one in lines if '"matcher"' in one)
    before = kept(armed)
    said = reason(edited(armed, tool, *replaces(tool, str(file), old, '"matcher": "x",')))
    assert "[not_for_agents]" in said
    assert kept(armed) == before


@pytest.mark.requirement("GRD-029")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", '{"disableAllHooks": true}'),
        (".claude/settings.json", '{"env": {"MOOT_HOME": "/tmp/x"}}'),
        (".claude/settings.json", '{"env": {"PATH": "/tmp/x"}}'),
        (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        (".codex/config.toml", "[features]\nhooks = false\n"),
    ],
)
def test_no_agent_switches_hooks_off(armed: Project, name: str, text: str) -> None:
    file = armed.root / name
    if name.endswith(".toml"):
        text = file.read_text("utf-8") + text
    elif file.exists():
        text = json.dumps({**json.loads(file.read_text("utf-8")), **json.loads(text)})
    before = kept(armed)
    said = reason(edited(armed, "claude", *writes("claude", str(file), text)))
    assert "[not_for_agents]" in said
    assert kept(armed) == before


def test_settings_that_switch_nothing_off_may_be_written(armed: Project) -> None:
    file = str(armed.root / ".claude/settings.json")
    for text in ("{}", '{"model": "x", "env": {"TERM": "dumb"}}'):
        assert edited(armed, "claude", *writes("claude", file, text)).out == ""


def test_the_users_own_settings_are_not_for_agents_either(project: Project) -> None:
    home = Path(project.env["HOME"])
    home.mkdir(exist_ok=True)
    (project.root / ".gemini").mkdir()
    (project.root / ".gemini/settings.json").write_text("{}\n", encoding="utf-8")
    project.git("add", "--force", ".gemini")
    assert project.git("commit", "--quiet", "--no-verify", "--message=settings").code == 0
    project.ok("hook", "install", "gemini", "--no-skill")
    file = home / ".gemini/settings.json"
    before = file.read_bytes()
    assert "[not_for_agents]" in reason(
        edited(project, "gemini", *writes("gemini", str(file), "{}"))
    )
    said = call("claude-bash", project.root, tool_input={"command": f"rm {file}"})
    assert "[not_for_agents]" in reason(project.hook("claude", said))
    assert file.read_bytes() == before


def test_a_link_to_such_a_file_is_that_file(armed: Project) -> None:
    (armed.root / "plain.txt").symlink_to(LOCAL)
    said = edited(armed, "claude", *writes("claude", str(armed.root / "plain.txt"), "{}"))
    assert "[not_for_agents]" in reason(said)


def test_an_edit_whose_result_is_not_known_is_refused(armed: Project) -> None:
    file = str(armed.root / LOCAL)
    said = edited(armed, "gemini", *replaces("gemini", file, "not in the file", "x"))
    assert "[not_for_agents]" in reason(said)


def test_a_patch_that_deletes_or_moves_such_a_file_is_refused(armed: Project) -> None:
    for lines in (f"*** Delete File: {LOCAL}", f"*** Update File: {LOCAL}\n*** Move to: x.json"):
        patch = f"*** Begin Patch\n{lines}\n*** End Patch"
        assert "[not_for_agents]" in reason(
            edited(armed, "codex", "apply_patch", {"command": patch})
        )


def test_a_line_of_ours_in_a_projects_own_hook_stays(project: Project) -> None:
    (project.root / ".husky/_").mkdir(parents=True)
    assert project.git("config", "core.hooksPath", ".husky/_").code == 0
    file = project.root / ".husky/pre-commit"
    file.write_text("npm test\n", encoding="utf-8")
    project.ok("hook", "install", "git")
    text = file.read_text("utf-8")
    assert "[not_for_agents]" in reason(
        edited(project, "claude", *writes("claude", str(file), "x\n"))
    )
    assert (
        edited(project, "claude", *writes("claude", str(file), f"npm run lint\n{text}")).out == ""
    )


def test_a_file_of_such_a_name_elsewhere_is_free(armed: Project) -> None:
    for name in ("src/settings.json", "hooks.json", "config.toml"):
        file = str(armed.root / name)
        assert edited(armed, "claude", *writes("claude", file, "{}")).out == ""


# In a shell.


@pytest.mark.requirement("GRD-030")
@pytest.mark.parametrize(
    "command",
    [
        f"rm {LOCAL}",
        "rm -rf .claude",
        "rm -rf .claude/*",
        f"echo '{{}}' > {LOCAL}",
        f"cp /dev/null {LOCAL}",
        f"mv {LOCAL} /tmp/x",
        "mv .claude .claude.old",
        f"sed -i s/moot/x/ {LOCAL}",
        f"truncate -s 0 {LOCAL}",
        "find .claude -delete",
        "git clean -fdx -e .moot",
        "echo '{\"disableAllHooks\": true}' > .claude/settings.json",
        f"python3 -c \"open('{LOCAL}', 'w')\"",
        "rm .codex/hooks.json",
        "rm opencode.json",
        "cd .gemini && rm settings.json",
        f"rm $(echo {LOCAL})",
        f"F={LOCAL}; rm ${{F%x}}",
        "rm .git/hooks/pre-commit",
        "echo > .git/hooks/pre-merge-commit",
    ],
)
def test_no_shell_command_writes_or_removes_them(armed: Project, command: str) -> None:
    before = kept(armed)
    said = reason(
        armed.hook("claude", call("claude-bash", armed.root, tool_input={"command": command}))
    )
    assert "[not_for_agents]" in said
    assert kept(armed) == before


@pytest.mark.parametrize(
    "command",
    [
        f"cat {LOCAL}",
        f"jq .hooks {LOCAL} > /dev/null",
        "rm -rf build",
        "rm -f src/settings.json",
        "mkdir -p .claude/commands && echo x > .claude/commands/x.md",
        "git add -A && git status",
    ],
)
def test_other_commands_run(armed: Project, command: str) -> None:
    (armed.root / "build").mkdir()
    said = call("claude-bash", armed.root, tool_input={"command": command})
    assert armed.hook("claude", said).out == ""


# Claude Code's own question.


def changed(project: Project, source: str = "local_settings") -> tuple[int, str]:
    said = {
        "session_id": "s1",
        "cwd": str(project.root),
        "hook_event_name": "ConfigChange",
        "source": source,
        "file_path": str(project.root / LOCAL),
    }
    reply = project.hook("claude", said)
    assert reply.out == ""
    return reply.code, reply.err


def test_a_change_that_keeps_our_entries_passes(armed: Project) -> None:
    file = armed.root / LOCAL
    file.write_text(json.dumps({**json.loads(file.read_bytes()), "model": "x"}), encoding="utf-8")
    for source in ("local_settings", "project_settings", "user_settings", "policy_settings"):
        assert changed(armed, source) == (0, "")


@pytest.mark.parametrize("text", [None, "{}", "{ broken", '{"hooks": {}}'])
def test_a_change_that_takes_them_out_is_refused(armed: Project, text: str | None) -> None:
    file = armed.root / LOCAL
    if text is None:
        file.unlink()
    else:
        file.write_text(text, encoding="utf-8")
    code, said = changed(armed)
    assert code == 2
    assert "moot hook install claude" in said
    assert "\n" not in said
    assert changed(armed, "skills") == (0, "")


@pytest.mark.parametrize(
    "change",
    [
        lambda hooks: hooks.pop("ConfigChange"),
        lambda hooks: hooks.pop("SessionStart"),
        lambda hooks: hooks["PreToolUse"][0].update(matcher="Write"),
        lambda hooks: hooks["PreToolUse"][0]["hooks"][0].update(timeout=1),
        lambda hooks: hooks["PreToolUse"][0]["hooks"][0].update({"async": True}),
        lambda hooks: hooks["PreToolUse"][0]["hooks"][0].update(command="true"),
    ],
    ids=["ConfigChange", "SessionStart", "matcher", "timeout", "async", "command"],
)
def test_a_change_that_weakens_one_is_refused(armed: Project, change: Any) -> None:
    file = armed.root / LOCAL
    settings = json.loads(file.read_bytes())
    change(settings["hooks"])
    file.write_text(json.dumps(settings), encoding="utf-8")
    assert changed(armed)[0] == 2


def test_a_change_that_strengthens_one_passes(armed: Project) -> None:
    file = armed.root / LOCAL
    settings = json.loads(file.read_bytes())
    settings["hooks"]["PreToolUse"][0]["matcher"] += "|WebFetch"
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 60
    file.write_text(json.dumps(settings), encoding="utf-8")
    assert changed(armed) == (0, "")


def test_what_switches_all_hooks_off_is_refused(armed: Project) -> None:
    file = armed.root / ".claude/settings.json"
    file.write_text('{"disableAllHooks": true}', encoding="utf-8")
    assert changed(armed, "project_settings")[0] == 2


def test_what_a_person_took_out_stays_out(armed: Project) -> None:
    armed.hook("claude", call("claude-start", armed.root))
    armed.ok("hook", "uninstall", "claude")
    assert changed(armed) == (0, "")
    armed.ok("hook", "install", "claude")
    (armed.root / LOCAL).unlink()
    assert changed(armed)[0] == 2


def test_it_needs_no_ledger(armed: Project) -> None:
    (armed.root / LOCAL).unlink()
    armed.ledger.write_bytes(b"")
    assert changed(armed)[0] == 2


def test_outside_of_a_workspace_nothing_is_said(armed: Project, tmp_path: Path) -> None:
    said = {"hook_event_name": "ConfigChange", "cwd": str(tmp_path), "source": "user_settings"}
    reply = armed.hook("claude", said, None)
    assert (reply.code, reply.out, reply.err) == (0, "", "")


def test_lines_without_that_event_guard_and_are_renewed(armed: Project) -> None:
    file = armed.root / LOCAL
    settings = json.loads(file.read_bytes())
    del settings["hooks"]["ConfigChange"]
    file.write_text(json.dumps(settings), encoding="utf-8")
    row = next(
        one
        for one in armed.ok("hook", "status")["tools"]
        if (one["tool"], one["worktree"]) == ("claude", str(armed.root))
    )
    assert (row["installed"], row["reading"]) == (True, "outdated")
    armed.ok("hook", "install", "claude", "--no-skill")
    assert "ConfigChange" in json.loads(file.read_bytes())["hooks"]
