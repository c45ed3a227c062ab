"""Hooks on reading: what is installed for them, how earlier settings get them, what tells of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.hook_setup.tools import ensure_hooks
from moot.coding_tools import find_tool
from tests.project import Project

FILES = {"claude": ".claude/settings.local.json", "gemini": ".gemini/settings.json"}
EACH = pytest.mark.parametrize("tool", list(FILES))


def settings(project: Project, tool: str, name: str = "") -> dict[str, Any]:
    text = (project.root / (name or FILES[tool])).read_text("utf-8")
    return dict(json.loads(text))


def matchers(project: Project, tool: str, name: str = "") -> list[str]:
    """By which names its hook is called after a call."""
    event = "AfterTool" if tool == "gemini" else "PostToolUse"
    return [entry["matcher"] for entry in settings(project, tool, name)["hooks"][event]]


def make_old(project: Project, tool: str, name: str = "") -> None:
    """As moot wrote it before it told of readings."""
    file = project.root / (name or FILES[tool])
    text = file.read_text("utf-8")
    for read in find_tool(tool).reads:
        text = text.replace(f"|{read}", "")
    file.write_text(text, encoding="utf-8")


def renew(project: Project, tool: str) -> bool:
    """As `moot run` does."""
    guarded = GuardedPaths(project.root / ".moot", project.root)
    return ensure_hooks(tool, guarded, project.env)


def status(project: Project, tool: str) -> dict[str, Any]:
    (row,) = (
        row
        for row in project.ok("hook", "status")["tools"]
        if (row["tool"], row["worktree"]) == (tool, str(project.root))
    )
    return dict(row)


@EACH
def test_readings_are_matched_after_they_ended_and_never_before(
    project: Project, tool: str
) -> None:
    project.ok("hook", "install", tool)
    (read,) = find_tool(tool).reads
    hooks = settings(project, tool)["hooks"]
    matched = {
        event
        for event, entries in hooks.items()
        if read in entries[0].get("matcher", "").split("|")
    }
    assert matched == {"AfterTool" if tool == "gemini" else "PostToolUse"}
    (entry,) = hooks[matched.pop()]
    assert entry["hooks"][0]["command"].endswith(" || true")


def test_what_codex_trusts_stays_as_it_was(project: Project) -> None:
    """It reads by its shell, whose hook is there: a changed entry would need trust again."""
    project.ok("hook", "install", "codex")
    assert matchers(project, "codex", ".codex/hooks.json") == ["apply_patch|Bash"]


@EACH
def test_settings_of_an_earlier_moot_guard_and_are_renewed_by_a_run(
    project: Project, tool: str
) -> None:
    project.ok("hook", "install", tool, "--no-skill", "--no-mcp")
    now = settings(project, tool)
    make_old(project, tool)
    assert settings(project, tool) != now
    found = status(project, tool)
    assert (found["installed"], found["reading"]) == (True, "outdated")
    assert "notices on reading need a reinstall" in project.run("hook", "status").out
    assert renew(project, tool) is False, "nothing was lacking"
    assert settings(project, tool) == now
    assert status(project, tool)["reading"] == "told"
    assert not (project.root / "GEMINI.md").exists()
    assert not (project.root / ".claude/skills").exists()


@EACH
def test_installing_renews_them_too_and_uninstalling_leaves_nothing(
    project: Project, tool: str
) -> None:
    project.ok("hook", "install", tool)
    now = settings(project, tool)
    make_old(project, tool)
    project.ok("hook", "install", tool)
    assert settings(project, tool) == now
    project.ok("hook", "uninstall", tool)
    assert not (project.root / FILES[tool]).exists()


def test_the_users_own_settings_are_renewed_in_their_place(
    project: Project, tmp_path: Path
) -> None:
    """Where the project's are in git; nothing is put beside them."""
    home = tmp_path / "home"
    home.mkdir()
    project.env["HOME"] = str(home)
    (project.root / ".claude").mkdir()
    (project.root / FILES["claude"]).write_text("{}\n", encoding="utf-8")
    assert project.git("add", "-f", FILES["claude"]).code == 0
    project.ok("hook", "install", "claude")
    own = str(home / ".claude/settings.json")
    now = settings(project, "claude", own)
    make_old(project, "claude", own)
    renew(project, "claude")
    assert settings(project, "claude", own) == now
    assert settings(project, "claude") == {}


def test_lines_that_everyone_has_are_left_alone_until_they_are_shared_again(
    project: Project,
) -> None:
    shared = ".claude/settings.json"
    project.ok("hook", "install", "claude", "--share")
    now = settings(project, "claude", shared)
    make_old(project, "claude", shared)
    old = settings(project, "claude", shared)
    assert renew(project, "claude") is False
    assert settings(project, "claude", shared) == old
    assert not (project.root / FILES["claude"]).exists()
    project.ok("hook", "install", "claude", "--share")
    assert settings(project, "claude", shared) == now


def test_a_matcher_for_everything_is_enough(project: Project) -> None:
    project.ok("hook", "install", "claude")
    file = project.root / FILES["claude"]
    (matcher,) = matchers(project, "claude")
    file.write_text(file.read_text("utf-8").replace(f'"{matcher}"', '"*"'), encoding="utf-8")
    assert status(project, "claude")["reading"] == "told"


def test_a_file_that_cannot_be_renewed_keeps_nobody_from_starting(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.api.hook_setup import original_files
    from moot.core.errors import StoreFailed

    project.ok("hook", "install", "claude")
    make_old(project, "claude")
    old = settings(project, "claude")

    def fail(*_: object) -> None:
        raise StoreFailed("settings_not_written", "the disk is full", hint="make room")

    monkeypatch.setattr(original_files, "put", fail)
    assert renew(project, "claude") is False
    assert settings(project, "claude") == old


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini", "opencode"])
def test_a_trial_tells_what_comes_of_a_reading(project: Project, tool: str) -> None:
    if tool == "opencode" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    project.ok("hook", "install", tool)
    tried = project.ok("hook", "test", tool)
    assert (tried["passed"], tried["reading"]) == (True, None if tool == "codex" else "told")
    (project.root / "moot.toml").write_text('[protect]\nreading = "silent"\n', encoding="utf-8")
    quiet = project.ok("hook", "test", tool)
    assert (quiet["passed"], quiet["reading"]) == (True, None if tool == "codex" else "silent")
    assert status(project, tool)["reading"] == "silent"
    assert "no notices on reading" in project.run("hook", "status").out


def test_a_reading_that_is_not_heard_of_fails_the_trial(project: Project) -> None:
    project.ok("hook", "install", "claude")
    file = project.root / FILES["claude"]
    said = settings(project, "claude")
    (entry,) = said["hooks"]["PostToolUse"]
    entry["hooks"][0]["command"] = "moot hook claude || true"
    file.write_text(json.dumps(said), encoding="utf-8")
    tried = project.json("hook", "test", "claude", PATH="/nowhere:/usr/bin:/bin")
    assert (tried.code, tried.data["passed"], tried.data["reading"]) == (1, True, "failed")
