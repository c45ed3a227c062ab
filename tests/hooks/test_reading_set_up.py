"""Hooks on reading: what is installed for them, how earlier settings get them, what tells of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.api.tools import ensure_hooks
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools.coding_tools import TOOLS
from tests.hooks.yard import Yard

FILES = {"claude": ".claude/settings.local.json", "gemini": ".gemini/settings.json"}
EACH = pytest.mark.parametrize("tool", list(FILES))


def settings(yard: Yard, tool: str, name: str = "") -> dict[str, Any]:
    text = (yard.root / (name or FILES[tool])).read_text("utf-8")
    return dict(json.loads(text))


def matchers(yard: Yard, tool: str, name: str = "") -> list[str]:
    """By which names its hook is called after a call."""
    event = "AfterTool" if tool == "gemini" else "PostToolUse"
    return [entry["matcher"] for entry in settings(yard, tool, name)["hooks"][event]]


def make_old(yard: Yard, tool: str, name: str = "") -> None:
    """As moot wrote it before it told of readings."""
    file = yard.root / (name or FILES[tool])
    text = file.read_text("utf-8")
    for read in TOOLS[tool].reads:
        text = text.replace(f"|{read}", "")
    file.write_text(text, encoding="utf-8")


def renew(yard: Yard, tool: str) -> bool:
    """As `moot run` does."""
    guarded = GuardedPaths(yard.root / ".moot", yard.root)
    return ensure_hooks(tool, guarded, yard.env)


def status(yard: Yard, tool: str) -> dict[str, Any]:
    (row,) = (
        row
        for row in yard.ok("hook", "status")["tools"]
        if (row["tool"], row["worktree"]) == (tool, str(yard.root))
    )
    return dict(row)


@EACH
def test_readings_are_matched_after_they_ended_and_never_before(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool)
    (read,) = TOOLS[tool].reads
    hooks = settings(yard, tool)["hooks"]
    matched = {
        event
        for event, entries in hooks.items()
        if read in entries[0].get("matcher", "").split("|")
    }
    assert matched == {"AfterTool" if tool == "gemini" else "PostToolUse"}
    (entry,) = hooks[matched.pop()]
    assert entry["hooks"][0]["command"].endswith(" || true")


def test_what_codex_trusts_stays_as_it_was(yard: Yard) -> None:
    """It reads by its shell, whose hook is there: a changed entry would have to be trusted anew."""
    yard.ok("hook", "install", "codex")
    assert matchers(yard, "codex", ".codex/hooks.json") == ["apply_patch|Bash"]


@EACH
def test_settings_of_an_earlier_moot_guard_and_are_renewed_by_a_run(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool, "--no-skill", "--no-mcp")
    now = settings(yard, tool)
    make_old(yard, tool)
    assert settings(yard, tool) != now
    found = status(yard, tool)
    assert (found["installed"], found["reading"]) == (True, "outdated")
    assert "reading not told yet" in yard.run("hook", "status").out
    assert renew(yard, tool) is False, "nothing was lacking"
    assert settings(yard, tool) == now
    assert status(yard, tool)["reading"] == "told"
    assert not (yard.root / "GEMINI.md").exists()
    assert not (yard.root / ".claude/skills").exists()


@EACH
def test_installing_renews_them_too_and_uninstalling_leaves_nothing(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool)
    now = settings(yard, tool)
    make_old(yard, tool)
    yard.ok("hook", "install", tool)
    assert settings(yard, tool) == now
    yard.ok("hook", "uninstall", tool)
    assert not (yard.root / FILES[tool]).exists()


def test_the_users_own_settings_are_renewed_in_their_place(yard: Yard, tmp_path: Path) -> None:
    """Where the project's are in git; nothing is put beside them."""
    home = tmp_path / "home"
    home.mkdir()
    yard.env["HOME"] = str(home)
    (yard.root / ".claude").mkdir()
    (yard.root / FILES["claude"]).write_text("{}\n", encoding="utf-8")
    assert yard.git("add", "-f", FILES["claude"]).code == 0
    yard.ok("hook", "install", "claude")
    own = str(home / ".claude/settings.json")
    now = settings(yard, "claude", own)
    make_old(yard, "claude", own)
    renew(yard, "claude")
    assert settings(yard, "claude", own) == now
    assert settings(yard, "claude") == {}


def test_lines_that_everyone_has_are_left_alone_until_they_are_shared_again(yard: Yard) -> None:
    shared = ".claude/settings.json"
    yard.ok("hook", "install", "claude", "--share")
    now = settings(yard, "claude", shared)
    make_old(yard, "claude", shared)
    old = settings(yard, "claude", shared)
    assert renew(yard, "claude") is False
    assert settings(yard, "claude", shared) == old
    assert not (yard.root / FILES["claude"]).exists()
    yard.ok("hook", "install", "claude", "--share")
    assert settings(yard, "claude", shared) == now


def test_a_matcher_for_everything_is_enough(yard: Yard) -> None:
    yard.ok("hook", "install", "claude")
    file = yard.root / FILES["claude"]
    (matcher,) = matchers(yard, "claude")
    file.write_text(file.read_text("utf-8").replace(f'"{matcher}"', '"*"'), encoding="utf-8")
    assert status(yard, "claude")["reading"] == "told"


def test_a_file_that_cannot_be_renewed_keeps_nobody_from_starting(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.core.errors import StoreFailed
    from moot.flows.tools import original_files

    yard.ok("hook", "install", "claude")
    make_old(yard, "claude")
    old = settings(yard, "claude")

    def fail(*_: object) -> None:
        raise StoreFailed("settings_not_written", "the disk is full", hint="make room")

    monkeypatch.setattr(original_files, "put", fail)
    assert renew(yard, "claude") is False
    assert settings(yard, "claude") == old


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini", "opencode"])
def test_a_trial_tells_what_comes_of_a_reading(yard: Yard, tool: str) -> None:
    if tool == "opencode" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    yard.ok("hook", "install", tool)
    tried = yard.ok("hook", "test", tool)
    assert (tried["passed"], tried["reading"]) == (True, None if tool == "codex" else "told")
    (yard.root / "moot.toml").write_text('[protect]\nreading = "silent"\n', encoding="utf-8")
    quiet = yard.ok("hook", "test", tool)
    assert (quiet["passed"], quiet["reading"]) == (True, None if tool == "codex" else "silent")
    assert status(yard, tool)["reading"] == "silent"
    assert "silent on reading" in yard.run("hook", "status").out


def test_a_reading_that_is_not_heard_of_fails_the_trial(yard: Yard) -> None:
    yard.ok("hook", "install", "claude")
    file = yard.root / FILES["claude"]
    said = settings(yard, "claude")
    (entry,) = said["hooks"]["PostToolUse"]
    entry["hooks"][0]["command"] = "moot hook claude || true"
    file.write_text(json.dumps(said), encoding="utf-8")
    tried = yard.json("hook", "test", "claude", PATH="/nowhere:/usr/bin:/bin")
    assert (tried.code, tried.data["passed"], tried.data["reading"]) == (1, True, "failed")
