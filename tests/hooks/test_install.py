"""Installing: what is there stays; again changes nothing; uninstalling puts every byte back."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from moot.api.hook_setup.git_hook import LINE
from moot.coding_tools.hook_command import is_ours
from tests.project import OTTER, Project

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


def uninstall(project: Project, tool: str) -> list[str]:
    """Everywhere: the second worktree shares some of it."""
    changed: list[str] = project.ok("hook", "uninstall", tool, "--all")["changed"]
    return changed


def document(project: Project, tool: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.root / JSON_TOOLS[tool]).read_bytes())
    return found


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_installing_and_uninstalling_in_an_empty_project_leaves_no_trace(
    project: Project, tool: str
) -> None:
    before = snapshot(project.root)
    assert project.ok("hook", "install", tool)["changed"]
    assert snapshot(project.root) != before
    uninstall(project, tool)
    assert snapshot(project.root) == before
    assert not (project.root / f".{tool}").exists()


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_settings_that_were_there_come_back_byte_for_byte(project: Project, tool: str) -> None:
    path = project.root / JSON_TOOLS[tool]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(ODD.encode())
    before = snapshot(project.root)
    project.ok("hook", "install", tool)
    merged = json.loads(path.read_bytes())
    assert list(merged)[:3] == ["zeta", "hooks", "alpha"]
    assert merged["alpha"] == {"ü": [1, 2, 3]}
    assert merged["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "lint"
    uninstall(project, tool)
    assert snapshot(project.root) == before


@pytest.mark.parametrize("tool", JSON_TOOLS)
def test_installing_again_changes_nothing(project: Project, tool: str) -> None:
    project.ok("hook", "install", tool)
    once = snapshot(project.root)
    assert project.ok("hook", "install", tool)["changed"] == []
    assert snapshot(project.root) == once
    uninstall(project, tool)
    assert uninstall(project, tool) == []


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_edits_fail_closed_and_other_moments_open(project: Project, tool: str) -> None:
    project.ok("hook", "install", tool)
    hooks = document(project, tool)["hooks"]
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


def test_what_was_added_meanwhile_stays_when_ours_goes(project: Project) -> None:
    project.ok("hook", "install", "claude")
    path = project.root / JSON_TOOLS["claude"]
    changed = document(project, "claude")
    changed["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "mine"}]})
    changed["model"] = "opus"
    path.write_text(json.dumps(changed), encoding="utf-8")
    uninstall(project, "claude")
    left = {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    assert document(project, "claude") == {"hooks": left, "model": "opus"}


def test_an_entry_that_was_changed_is_replaced_and_not_doubled(project: Project) -> None:
    project.ok("hook", "install", "claude")
    path = project.root / JSON_TOOLS["claude"]
    text = path.read_text("utf-8").replace("exit 2", "exit 0")
    path.write_text(text, encoding="utf-8")
    project.ok("hook", "install", "claude")
    (entry,) = document(project, "claude")["hooks"]["PreToolUse"]
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
    project: Project, tool: str, text: str
) -> None:
    path = project.root / JSON_TOOLS[tool]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    before = snapshot(project.root)
    assert project.refused("hook", "install", tool) == ("settings_unreadable", 1)
    assert snapshot(project.root) == before


def test_the_manual_is_a_skill_for_claude_and_can_be_left_out(project: Project) -> None:
    project.ok("hook", "install", "claude", "--no-skill")
    skill = project.root / ".claude/skills/moot/SKILL.md"
    assert not skill.exists()
    project.ok("hook", "install", "claude")
    assert skill.read_text("utf-8").startswith("---\nname: moot\n")


def test_notes_that_others_wrote_are_left_alone(project: Project) -> None:
    notes = project.root / "AGENTS.md"
    notes.write_text("# Ours\n\nBe kind.", encoding="utf-8")
    project.ok("hook", "install", "codex")
    assert notes.read_text("utf-8") == "# Ours\n\nBe kind."


def test_a_shared_manual_is_a_marked_block_in_notes_that_others_wrote(project: Project) -> None:
    notes = project.root / "AGENTS.md"
    notes.write_text("# Ours\n\nBe kind.", encoding="utf-8")
    project.ok("hook", "install", "codex", "--share")
    text = notes.read_text("utf-8")
    assert text.startswith("# Ours\n\nBe kind.\n\n<!-- moot: begin")
    notes.write_text(text + "\nMore.\n", encoding="utf-8")
    project.ok("hook", "install", "codex", "--share")
    assert notes.read_text("utf-8").count("<!-- moot: begin") == 1
    uninstall(project, "codex")
    assert notes.read_text("utf-8") == "# Ours\n\nBe kind.\n\nMore.\n"


def test_notes_that_two_tools_share_stay_until_the_last_goes(project: Project) -> None:
    before = snapshot(project.root)
    project.ok("hook", "install", "codex")
    project.ok("hook", "install", "opencode")
    uninstall(project, "codex")
    assert (project.root / "AGENTS.md").exists()
    uninstall(project, "opencode")
    assert snapshot(project.root) == before


def test_the_plugin_is_found_from_the_second_worktree_too(project: Project) -> None:
    project.ok("hook", "install", "opencode")
    project.ok("hook", "install", "opencode", cwd=project.other)
    assert document(project, "opencode")["plugin"] == ["./.moot/opencode-plugin.js"]
    (far,) = json.loads((project.other / "opencode.json").read_bytes())["plugin"]
    assert (project.other / far).is_file()
    assert not (project.other / ".moot").exists()


def test_installing_needs_a_workspace(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    project = Project(empty, tmp_path / "keys")
    assert project.refused("hook", "install", "claude") == ("no_workspace", 4)
    assert list(empty.iterdir()) == []


# Git.


def hooks(project: Project) -> Path:
    return project.root / ".git/hooks"


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_the_git_hook_goes_where_git_looks_also_from_a_worktree(project: Project) -> None:
    project.ok("hook", "install", "git", cwd=project.other)
    assert (hooks(project) / "pre-commit").stat().st_mode & stat.S_IXUSR
    assert project.ok("hook", "install", "git")["changed"] == []
    uninstall(project, "git")
    assert not (hooks(project) / "pre-commit").exists()


def test_an_older_hook_still_runs_with_its_exit_code_and_comes_back(project: Project) -> None:
    old = "#!/bin/sh\necho 'the old one' >&2\nexit 7"
    script(hooks(project) / "pre-commit", old)
    project.ok("hook", "install", "git")
    assert (hooks(project) / "pre-commit.before-moot").read_text("utf-8") == old
    (project.root / "a.txt").write_text("x", encoding="utf-8")
    done = project.git("commit", "--all", "--message=x")
    assert (done.code, done.err.strip()) == (1, "the old one")
    uninstall(project, "git")
    assert (hooks(project) / "pre-commit").read_text("utf-8") == old
    assert (hooks(project) / "pre-commit").stat().st_mode & stat.S_IXUSR
    assert not (hooks(project) / "pre-commit.before-moot").exists()


def test_husky_gets_a_line_and_loses_it_again(project: Project) -> None:
    project.git("config", "core.hooksPath", ".husky/_")
    file = project.root / ".husky/pre-commit"
    file.parent.mkdir()
    file.write_text("npm test", encoding="utf-8")
    project.ok("hook", "install", "git")
    assert file.read_text("utf-8").splitlines() == ["npm test", LINE]
    assert project.ok("hook", "install", "git")["changed"] == []
    assert not (project.root / ".husky/_").exists()
    uninstall(project, "git")
    assert file.read_text("utf-8") == "npm test"


def test_the_pre_commit_framework_keeps_its_file_and_runs_ours_first(project: Project) -> None:
    theirs = "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"
    script(hooks(project) / "pre-commit", theirs)
    project.ok("hook", "install", "git")
    assert (hooks(project) / "pre-commit").read_text("utf-8") == theirs
    assert "moot hook git" in (hooks(project) / "pre-commit.legacy").read_text("utf-8")
    uninstall(project, "git")
    assert not (hooks(project) / "pre-commit.legacy").exists()


def test_ours_is_found_where_the_framework_moved_it(project: Project) -> None:
    script(hooks(project) / "pre-commit", "#!/bin/sh\n# old\n")
    project.ok("hook", "install", "git")
    (hooks(project) / "pre-commit").rename(hooks(project) / "pre-commit.legacy")
    script(hooks(project) / "pre-commit", "# generated by pre-commit\n")
    assert project.ok("hook", "install", "git")["changed"] == []
    uninstall(project, "git")
    assert (hooks(project) / "pre-commit.legacy").read_text("utf-8") == "#!/bin/sh\n# old\n"


def test_a_hooks_folder_of_the_project_is_used_and_one_outside_is_not(
    project: Project, tmp_path: Path
) -> None:
    project.git("config", "core.hooksPath", ".githooks")
    project.ok("hook", "install", "git")
    assert (project.root / ".githooks/pre-commit").is_file()
    project.git("config", "core.hooksPath", str(tmp_path / "shared"))
    assert project.refused("hook", "install", "git") == ("hooks_elsewhere", 1)
    assert not (tmp_path / "shared").exists()


def test_an_unknown_file_in_the_way_is_not_overwritten(project: Project) -> None:
    script(hooks(project) / "pre-commit", "one")
    script(hooks(project) / "pre-commit.before-moot", "two")
    assert project.refused("hook", "install", "git") == ("hook_in_the_way", 1)
    assert (hooks(project) / "pre-commit").read_text("utf-8") == "one"
    assert (hooks(project) / "pre-commit.before-moot").read_text("utf-8") == "two"


def test_the_workspace_is_still_healthy_with_everything_installed(project: Project) -> None:
    for tool in (*JSON_TOOLS, "git"):
        project.ok("hook", "install", tool)
    project.hook("claude", {"hook_event_name": "SessionStart", "cwd": str(project.root)}, OTTER)
    found = project.ok("ledger", "doctor")["findings"]
    assert {one["rule"] for one in found if one["where"] != "."} <= {"hooks"}


def test_the_settings_in_the_documentation_are_those_that_are_installed(project: Project) -> None:
    project.ok("hook", "install", "claude", "--share")
    text = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text("utf-8")
    shown = json.loads(text[text.index('    {"hooks"') :].partition("\n\n")[0])
    (event,) = shown["hooks"]
    settings = json.loads((project.root / ".claude/settings.json").read_bytes())
    assert shown["hooks"][event] == settings["hooks"][event]
