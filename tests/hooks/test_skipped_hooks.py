"""Are installed hooks live? Each way in which a tool silently skips them is told."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from moot.api.hook_setup.hook_status import find_problems
from moot.coding_tools import hook_command
from tests.project import Project


@pytest.fixture
def ready(project: Project, tmp_path: Path) -> Project:
    """Only `moot` and `node` are on PATH, and a home of its own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("moot", "git", "node"):
        found = shutil.which(name) or "/bin/true"
        (folder / name).symlink_to(found)
    project.env["PATH"] = str(folder)
    (tmp_path / "home").mkdir()
    return project


def codes(project: Project) -> list[str]:
    return [finding.code for finding in find_problems(project.root, project.env)]


def test_nothing_is_said_of_tools_that_are_not_set_up(ready: Project) -> None:
    assert codes(ready) == []
    ready.ok("hook", "install", "claude")
    assert codes(ready) == []


def test_a_missing_moot_blocks_every_edit_and_is_told(
    ready: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.ok("hook", "install", "claude", "--share")
    (tmp_path / "bin/moot").unlink()
    assert codes(ready) == ["hook_moot_missing"]
    ready.ok("hook", "uninstall", "claude")
    moved = tmp_path / "moved/moot"
    with monkeypatch.context() as patch:
        patch.setattr(hook_command, "hook_words", lambda tool: (str(moved), "hook", tool))
        ready.ok("hook", "install", "claude")
        assert codes(ready) == ["hook_moot_missing"]
    ready.ok("hook", "install", "claude")
    assert codes(ready) == []


def test_a_moot_that_was_removed_from_its_python_is_told(
    ready: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python is still there, and starts nothing."""
    thin = str(tmp_path / "lib/moot" / hook_command.THIN_CLIENT)
    words = (sys.executable, "-I", "-S", thin)
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: (*words, tool))
    ready.ok("hook", "install", "claude")
    assert codes(ready) == ["hook_moot_missing"]


def test_a_hook_that_was_taken_out_is_told(ready: Project) -> None:
    ready.ok("hook", "install", "claude")
    path = ready.root / ".claude/settings.local.json"
    changed = json.loads(path.read_bytes())
    del changed["hooks"]["PostToolUse"]
    path.write_text(json.dumps(changed), encoding="utf-8")
    (finding,) = find_problems(ready.root, ready.env)
    assert (finding.code, "PostToolUse" in finding.message) == ("hook_incomplete", True)


@pytest.mark.parametrize(
    "file", ["project/.claude/settings.local.json", "home/.claude/settings.json"]
)
def test_switched_off_hooks_of_claude_are_told(ready: Project, tmp_path: Path, file: str) -> None:
    ready.ok("hook", "install", "claude")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    said = json.loads(path.read_bytes()) if path.exists() else {}
    path.write_text(json.dumps({**said, "disableAllHooks": True}), encoding="utf-8")
    assert codes(ready) == ["hook_switched_off"]


def test_codex_needs_trust_of_each_hook(ready: Project, tmp_path: Path) -> None:
    ready.ok("hook", "install", "codex")
    assert codes(ready) == ["hook_untrusted"]
    config = tmp_path / "home/.codex/config.toml"
    config.parent.mkdir()
    key = f"{ready.root}/.codex/hooks.json:pre_tool_use:0:0"
    config.write_text(f'[hooks.state."{key}"]\ntrusted_hash = "sha256:0"\n', encoding="utf-8")
    assert codes(ready) == []


def test_gemini_needs_trust_of_the_folder_which_a_flag_stores(
    ready: Project, tmp_path: Path
) -> None:
    ready.ok("hook", "install", "gemini")
    assert codes(ready) == ["hook_untrusted"]
    ready.ok("hook", "install", "gemini", "--trust")
    stored = json.loads((tmp_path / "home/.gemini/trustedFolders.json").read_bytes())
    assert stored == {str(ready.root): "TRUST_FOLDER"}
    assert codes(ready) == []


def test_no_trust_is_stored_without_the_flag(ready: Project, tmp_path: Path) -> None:
    for tool in ("codex", "gemini"):
        ready.ok("hook", "install", tool)
    assert not (tmp_path / "home/.gemini").exists()
    assert not (tmp_path / "home/.codex").exists()


def test_trusting_codex_without_codex_is_refused_plainly(ready: Project) -> None:
    assert ready.refused("hook", "install", "codex", "--trust") == ("codex_missing", 4)


def test_a_plugin_that_is_gone_changed_or_broken_is_told(ready: Project) -> None:
    ready.ok("hook", "install", "opencode")
    assert codes(ready) == []
    plugin = ready.root / ".moot/opencode-plugin.js"
    plugin.write_text("syntax error(", encoding="utf-8")
    assert codes(ready) == ["hook_plugin_broken"]
    plugin.unlink()
    assert codes(ready) == ["hook_plugin_broken"]
    ready.ok("hook", "install", "opencode")
    assert codes(ready) == []


def test_the_doctor_tells_it(ready: Project) -> None:
    ready.ok("hook", "install", "gemini")
    found = ready.ok("ledger", "doctor")["findings"]
    assert "hook_untrusted" in [one["code"] for one in found]
