"""Installing: what is there stays; again changes nothing; uninstalling puts every byte back."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from moot.flows.tools.git_hook import LINE
from moot.flows.tools.hook_command import is_ours
from tests.hooks.yard import OTTER, Yard

JSON_TOOLS = {
    "claude": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}
BEFORE = {
    "claude": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
}
ODD = (
    '{\r\n\t"zeta": 1.50,\r\n\t"hooks": {"PreToolUse": [{"matcher": "Write", "hooks":'
    ' [{"type": "command", "command": "lint"}]}]},\r\n\t"alpha": {"ü": [1,2 , 3]}\r\n}'
)


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file of a worktree, with git's own list of what it ignores here, without the record."""
    files = (path for path in root.rglob("*") if path.is_file())
    names = {str(path.relative_to(root)): path for path in files}
    skipped = (".moot/ledger", ".moot/artifacts", ".moot/files.db")
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith(skipped) and (not name.startswith(".git/") or "info/" in name)
    }


def uninstall(yard: Yard, tool: str) -> list[str]:
    """Everywhere: the second worktree shares some of it."""
    changed: list[str] = yard.ok("hook", "uninstall", tool, "--all")["changed"]
    return changed


def document(yard: Yard, tool: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((yard.root / JSON_TOOLS[tool]).read_bytes())
    return found


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_installing_and_uninstalling_in_an_empty_project_leaves_no_trace(
    yard: Yard, tool: str
) -> None:
    before = snapshot(yard.root)
    assert yard.ok("hook", "install", tool)["changed"]
    assert snapshot(yard.root) != before
    uninstall(yard, tool)
    assert snapshot(yard.root) == before
    assert not (yard.root / f".{tool}").exists()


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_settings_that_were_there_come_back_byte_for_byte(yard: Yard, tool: str) -> None:
    path = yard.root / JSON_TOOLS[tool]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(ODD.encode())
    before = snapshot(yard.root)
    yard.ok("hook", "install", tool)
    merged = json.loads(path.read_bytes())
    assert list(merged)[:3] == ["zeta", "hooks", "alpha"]
    assert merged["alpha"] == {"ü": [1, 2, 3]}
    assert merged["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "lint"
    uninstall(yard, tool)
    assert snapshot(yard.root) == before


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_installing_again_changes_nothing(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool)
    once = snapshot(yard.root)
    assert yard.ok("hook", "install", tool)["changed"] == []
    assert snapshot(yard.root) == once
    uninstall(yard, tool)
    assert uninstall(yard, tool) == []


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_edits_fail_closed_and_other_moments_open(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool)
    hooks = document(yard, tool)["hooks"]
    for event, entries in hooks.items():
        (entry,) = entries
        (handler,) = entry["hooks"]
        assert is_ours(tool, handler["command"])
        assert handler["command"].endswith("echo 'moot hook failed' >&2; exit 2; }") == (
            event == BEFORE[tool]
        )
        is_open = handler["command"].endswith("|| true")
        assert is_open == (event not in (BEFORE[tool], "ConfigChange"))
        if event == "ConfigChange":  # open, too, but for the answer no
            assert handler["command"].endswith("|| [ $? -ne 2 ] || exit 2")
        usual = 10_000 if tool == "gemini" else 10
        codex_cuts_it = (tool, event) == ("codex", "SessionEnd")
        assert handler["timeout"] == (3 if codex_cuts_it else usual)
        assert handler.get("statusMessage", "").startswith("moot: ") is (tool == "codex")
    assert hooks[BEFORE[tool]][0]["matcher"]


def test_what_was_added_meanwhile_stays_when_ours_goes(yard: Yard) -> None:
    yard.ok("hook", "install", "claude")
    path = yard.root / JSON_TOOLS["claude"]
    changed = document(yard, "claude")
    changed["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "mine"}]})
    changed["model"] = "opus"
    path.write_text(json.dumps(changed), encoding="utf-8")
    uninstall(yard, "claude")
    left = {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    assert document(yard, "claude") == {"hooks": left, "model": "opus"}


def test_an_entry_that_was_changed_is_replaced_and_not_doubled(yard: Yard) -> None:
    yard.ok("hook", "install", "claude")
    path = yard.root / JSON_TOOLS["claude"]
    text = path.read_text("utf-8").replace("exit 2", "exit 0")
    path.write_text(text, encoding="utf-8")
    yard.ok("hook", "install", "claude")
    (entry,) = document(yard, "claude")["hooks"]["PreToolUse"]
    assert "exit 2" in entry["hooks"][0]["command"]


@pytest.mark.parametrize("tool", JSON_TOOLS)
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "// comment\n{}",
        "[]",
        '{"a": 1, "a": 2}',
        '{"hooks": 7, "plugin": 7}',
        '{"hooks": {"PreToolUse": {}, "BeforeTool": {}}, "plugin": {}}',
    ],
)
def test_settings_that_cannot_be_merged_are_refused_untouched(
    yard: Yard, tool: str, text: str
) -> None:
    path = yard.root / JSON_TOOLS[tool]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    before = snapshot(yard.root)
    assert yard.refused("hook", "install", tool) == ("settings_unreadable", 1)
    assert snapshot(yard.root) == before


def test_the_manual_is_a_skill_for_claude_and_can_be_left_out(yard: Yard) -> None:
    yard.ok("hook", "install", "claude", "--no-skill")
    skill = yard.root / ".claude/skills/moot/SKILL.md"
    assert not skill.exists()
    yard.ok("hook", "install", "claude")
    assert skill.read_text("utf-8").startswith("---\nname: moot\n")


def test_notes_that_others_wrote_are_left_alone(yard: Yard) -> None:
    notes = yard.root / "AGENTS.md"
    notes.write_text("# Ours\n\nBe kind.", encoding="utf-8")
    yard.ok("hook", "install", "codex")
    assert notes.read_text("utf-8") == "# Ours\n\nBe kind."


def test_a_shared_manual_is_a_marked_block_in_notes_that_others_wrote(yard: Yard) -> None:
    notes = yard.root / "AGENTS.md"
    notes.write_text("# Ours\n\nBe kind.", encoding="utf-8")
    yard.ok("hook", "install", "codex", "--share")
    text = notes.read_text("utf-8")
    assert text.startswith("# Ours\n\nBe kind.\n\n<!-- moot: begin")
    notes.write_text(text + "\nMore.\n", encoding="utf-8")
    yard.ok("hook", "install", "codex", "--share")
    assert notes.read_text("utf-8").count("<!-- moot: begin") == 1
    uninstall(yard, "codex")
    assert notes.read_text("utf-8") == "# Ours\n\nBe kind.\n\nMore.\n"


def test_notes_that_two_tools_share_stay_until_the_last_goes(yard: Yard) -> None:
    before = snapshot(yard.root)
    yard.ok("hook", "install", "codex")
    yard.ok("hook", "install", "opencode")
    uninstall(yard, "codex")
    assert (yard.root / "AGENTS.md").exists()
    uninstall(yard, "opencode")
    assert snapshot(yard.root) == before


def test_the_plugin_is_found_from_the_second_worktree_too(yard: Yard) -> None:
    yard.ok("hook", "install", "opencode")
    yard.ok("hook", "install", "opencode", cwd=yard.other)
    assert document(yard, "opencode")["plugin"] == ["./.moot/opencode-plugin.js"]
    (far,) = json.loads((yard.other / "opencode.json").read_bytes())["plugin"]
    assert (yard.other / far).is_file()
    assert not (yard.other / ".moot").exists()


def test_installing_needs_a_workspace(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    yard = Yard(empty, tmp_path / "keys")
    assert yard.refused("hook", "install", "claude") == ("no_workspace", 4)
    assert list(empty.iterdir()) == []


# Git.


def hooks(yard: Yard) -> Path:
    return yard.root / ".git/hooks"


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_the_git_hook_goes_where_git_looks_also_from_a_worktree(yard: Yard) -> None:
    yard.ok("hook", "install", "git", cwd=yard.other)
    assert (hooks(yard) / "pre-commit").stat().st_mode & stat.S_IXUSR
    assert yard.ok("hook", "install", "git")["changed"] == []
    uninstall(yard, "git")
    assert not (hooks(yard) / "pre-commit").exists()


def test_an_older_hook_still_runs_with_its_exit_code_and_comes_back(yard: Yard) -> None:
    old = "#!/bin/sh\necho 'the old one' >&2\nexit 7"
    script(hooks(yard) / "pre-commit", old)
    yard.ok("hook", "install", "git")
    assert (hooks(yard) / "pre-commit.before-moot").read_text("utf-8") == old
    (yard.root / "a.txt").write_text("x", encoding="utf-8")
    done = yard.git("commit", "--all", "--message=x")
    assert (done.code, done.err.strip()) == (1, "the old one")
    uninstall(yard, "git")
    assert (hooks(yard) / "pre-commit").read_text("utf-8") == old
    assert (hooks(yard) / "pre-commit").stat().st_mode & stat.S_IXUSR
    assert not (hooks(yard) / "pre-commit.before-moot").exists()


def test_husky_gets_a_line_and_loses_it_again(yard: Yard) -> None:
    yard.git("config", "core.hooksPath", ".husky/_")
    file = yard.root / ".husky/pre-commit"
    file.parent.mkdir()
    file.write_text("npm test", encoding="utf-8")
    yard.ok("hook", "install", "git")
    assert file.read_text("utf-8").splitlines() == ["npm test", LINE]
    assert yard.ok("hook", "install", "git")["changed"] == []
    assert not (yard.root / ".husky/_").exists()
    uninstall(yard, "git")
    assert file.read_text("utf-8") == "npm test"


def test_the_pre_commit_framework_keeps_its_file_and_runs_ours_first(yard: Yard) -> None:
    theirs = "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"
    script(hooks(yard) / "pre-commit", theirs)
    yard.ok("hook", "install", "git")
    assert (hooks(yard) / "pre-commit").read_text("utf-8") == theirs
    assert "moot hook git" in (hooks(yard) / "pre-commit.legacy").read_text("utf-8")
    uninstall(yard, "git")
    assert not (hooks(yard) / "pre-commit.legacy").exists()


def test_ours_is_found_where_the_framework_moved_it(yard: Yard) -> None:
    script(hooks(yard) / "pre-commit", "#!/bin/sh\n# old\n")
    yard.ok("hook", "install", "git")
    (hooks(yard) / "pre-commit").rename(hooks(yard) / "pre-commit.legacy")
    script(hooks(yard) / "pre-commit", "# generated by pre-commit\n")
    assert yard.ok("hook", "install", "git")["changed"] == []
    uninstall(yard, "git")
    assert (hooks(yard) / "pre-commit.legacy").read_text("utf-8") == "#!/bin/sh\n# old\n"


def test_a_hooks_folder_of_the_project_is_used_and_one_outside_is_not(
    yard: Yard, tmp_path: Path
) -> None:
    yard.git("config", "core.hooksPath", ".githooks")
    yard.ok("hook", "install", "git")
    assert (yard.root / ".githooks/pre-commit").is_file()
    yard.git("config", "core.hooksPath", str(tmp_path / "shared"))
    assert yard.refused("hook", "install", "git") == ("hooks_elsewhere", 1)
    assert not (tmp_path / "shared").exists()


def test_an_unknown_file_in_the_way_is_not_overwritten(yard: Yard) -> None:
    script(hooks(yard) / "pre-commit", "one")
    script(hooks(yard) / "pre-commit.before-moot", "two")
    assert yard.refused("hook", "install", "git") == ("hook_in_the_way", 1)
    assert (hooks(yard) / "pre-commit").read_text("utf-8") == "one"
    assert (hooks(yard) / "pre-commit.before-moot").read_text("utf-8") == "two"


def test_the_workspace_is_still_healthy_with_everything_installed(yard: Yard) -> None:
    for tool in (*JSON_TOOLS, "git"):
        yard.ok("hook", "install", tool)
    yard.hook("claude", {"hook_event_name": "SessionStart", "cwd": str(yard.root)}, OTTER)
    found = yard.ok("ledger", "doctor")["findings"]
    assert {one["rule"] for one in found if one["where"] != "."} <= {"hooks"}


def test_the_settings_in_the_documentation_are_those_that_are_installed(yard: Yard) -> None:
    yard.ok("hook", "install", "claude", "--share")
    text = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text("utf-8")
    shown = json.loads(text[text.index('    {"hooks"') :].partition("\n\n")[0])
    (event,) = shown["hooks"]
    project = json.loads((yard.root / ".claude/settings.json").read_bytes())
    assert shown["hooks"][event] == project["hooks"][event]
