"""`moot hook status` and `moot hook test`: on or not, in every worktree, and what to type."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import NAMES as HOOK_TOOLS
from tests.hooks.test_install import snapshot
from tests.hooks.tool_calls import call
from tests.project import OTTER, Project
from tests.sampling import THOROUGH


@pytest.fixture
def ready(project: Project, tmp_path: Path) -> Project:
    """Stand-ins for the four tools are on PATH, and no real ones."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "git", "grep", "dirname", "node", "cat"):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    for name in HOOK_TOOLS:
        (folder / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    project.env["PATH"] = str(folder)
    (tmp_path / "home").mkdir()
    return project


def rows(project: Project, folder: Path | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    found = project.ok("hook", "status", cwd=folder)["tools"]
    return {(Path(row["worktree"]).name, row["tool"]): row for row in found}


def test_each_tool_in_each_worktree_is_told_with_a_command_that_fixes_it(ready: Project) -> None:
    for tool in HOOK_TOOLS:
        ready.ok("hook", "install", tool)
    found = rows(ready)
    assert len(found) == 10
    for tool in ("claude", "opencode"):
        assert found["project", tool]["wrong"] is None
        assert found["second", tool]["installed"] is False
        assert found["second", tool]["findings"][0]["code"] == "hook_not_installed"
    assert found["project", "gemini"]["trusted"] is False
    assert found["project", "git"]["mend"] == "moot hook install git"
    # Codex reads the main checkout's settings in the second worktree too.
    assert found["second", "codex"]["file"] == str(ready.root / ".codex/hooks.json")
    for row in found.values():
        assert (row["wrong"] is None) == (row["mend"] is None)


def test_what_is_to_be_typed_really_fixes_it(ready: Project) -> None:
    ready.ok("hook", "install", "gemini")
    for name in (*HOOK_TOOLS, "git"):
        if name == "codex":  # its trust can only be stored by Codex itself
            continue
        for place in ("project", "second"):
            while (fix := rows(ready)[place, name]["mend"]) is not None:
                folder, _, words = fix.rpartition(" && ")
                where = shlex.split(folder)[1] if folder else None
                moot, *rest = shlex.split(words)
                assert moot == "moot"
                ready.ok(*rest, cwd=where)
    left = {row["tool"] for row in rows(ready).values() if row["wrong"]}
    assert left == {"codex"}


def test_a_tool_that_spoke_is_known_by_when(ready: Project) -> None:
    ready.ok("hook", "install", "claude")
    assert rows(ready)["project", "claude"]["last_spoke_at"] is None
    ready.hook("claude", call("claude-write", ready.root))
    said = rows(ready)
    first = said["project", "claude"]["last_spoke_at"]
    assert first is not None
    assert said["second", "claude"]["last_spoke_at"] is None
    (stamp,) = (ready.root / ".moot/hooks/spoke").iterdir()
    os.utime(stamp, (1_000_000, 1_000_000))
    ready.hook("claude", call("claude-write", ready.root))
    assert rows(ready)["project", "claude"]["last_spoke_at"] >= first
    os.utime(stamp, (stamp.stat().st_mtime - 30, stamp.stat().st_mtime - 30))
    recent = stamp.stat().st_mtime
    ready.hook("claude", call("claude-write", ready.root))
    assert stamp.stat().st_mtime == recent  # once a minute is enough
    ready.hook("claude", call("claude-start", ready.root))
    assert stamp.stat().st_mtime > recent


def test_the_text_fits_eighty_columns_but_for_commands_and_paths(ready: Project) -> None:
    for tool in HOOK_TOOLS:
        ready.ok("hook", "install", tool)
    lines = ready.run("hook", "status").out.splitlines()
    assert lines[0] == str(ready.root)
    long = [line for line in lines if len(line) > 80]
    assert all(" && moot " in line or "/" in line for line in long)


@pytest.mark.parametrize("tool", HOOK_TOOLS)
@pytest.mark.parametrize("where", ["main", pytest.param("linked", marks=THOROUGH)])
def test_an_installed_hook_refuses_the_edit_it_must_refuse(
    ready: Project, tool: str, where: str
) -> None:
    if tool == "opencode" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    folder = ready.root if where == "main" else ready.other
    ready.ok("hook", "install", tool, cwd=folder)
    before = snapshot(ready.root), snapshot(ready.other), ready.ledger.read_bytes()
    tried = ready.ok("hook", "test", tool, cwd=folder)
    assert tried["passed"], tried
    assert json.loads(tried["out"])["decision"] == "block"
    assert (snapshot(ready.root), snapshot(ready.other), ready.ledger.read_bytes()) == before
    assert ready.events("INCURSION") == []


def test_a_hook_that_lets_the_edit_pass_fails_with_what_came_back(
    ready: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.coding_tools import hook_command

    silent = tmp_path / "silent" / "moot"
    silent.parent.mkdir()
    silent.write_text("#!/bin/sh\necho aside >&2\nexit 0\n", encoding="utf-8")
    silent.chmod(0o755)
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: (str(silent), "hook", tool))
    ready.ok("hook", "install", "claude")
    done = ready.json("hook", "test", "claude")
    assert done.code == 1
    assert (done.data["passed"], done.data["out"], done.data["err"]) == (False, "", "aside")
    silent.write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    done = ready.json("hook", "test", "claude")
    # It is closed, but nothing was checked: everything would be refused.
    assert (done.data["passed"], done.data["exit_status"]) == (False, 2)
    assert done.data["err"] == "moot hook failed"


def test_opencode_without_node_cannot_be_tried(ready: Project, tmp_path: Path) -> None:
    ready.ok("hook", "install", "opencode")
    (tmp_path / "bin/node").unlink(missing_ok=True)
    assert ready.refused("hook", "test", "opencode") == ("no_node", 4)


def test_an_unknown_tool_is_refused(ready: Project) -> None:
    assert ready.json("hook", "test", "git").code == 2


def test_notes_that_git_does_not_see_are_told_and_given_back(ready: Project) -> None:
    ready.ok("hook", "install", "opencode")
    notes = ready.root / "AGENTS.md"
    notes.write_text(f"Be kind.\n\n{notes.read_text('utf-8')}", encoding="utf-8")
    row = rows(ready)["project", "opencode"]
    assert row["findings"][0]["code"] == "hook_hides_notes"
    assert row["mend"] == "moot hook install opencode"
    assert "AGENTS.md" not in ready.git("status", "--porcelain").out
    ready.ok("hook", "install", "opencode")
    assert notes.read_text("utf-8") == "Be kind.\n"
    assert ready.git("status", "--porcelain").out == "?? AGENTS.md\n"
    assert rows(ready)["project", "opencode"]["wrong"] is None


# `moot init` offers what is on PATH.


@pytest.fixture
def fresh(ready: Project, tmp_path: Path) -> Project:
    """A repository without a workspace, with the stand-ins on PATH."""
    root = tmp_path / "fresh"
    root.mkdir()
    made = Project(root, tmp_path / "keys")
    made.env["PATH"] = ready.env["PATH"]
    assert made.git("init", "--quiet").code == 0
    return made


def test_init_without_a_terminal_installs_nothing_and_says_the_command(fresh: Project) -> None:
    done = fresh.run("init")
    assert done.code == 0
    assert done.out.endswith("claude, codex, gemini, opencode, git; `moot init --tools all`\n")
    assert sorted(path.name for path in fresh.root.iterdir()) == [".git", ".moot"]
    again = fresh.ok("init", "--tools", "all")
    assert (again["created"], again["programs"]) == (False, [])
    assert [hooks["tool"] for hooks in again["hooks"]] == [*HOOK_TOOLS, "git"]
    assert fresh.git("status", "--porcelain").out == ""


def test_init_sets_up_the_tools_that_are_named_and_stores_no_trust(
    fresh: Project, tmp_path: Path
) -> None:
    made = fresh.ok("init", "--tools", "claude,gemini")
    assert made["programs"] == ["codex", "opencode", "git"]
    assert [hooks["trusted"] for hooks in made["hooks"]] == [None, None]
    assert not (tmp_path / "home/.gemini").exists()
    assert fresh.ok("init", "--tools", "none")["hooks"] == []


def test_an_unknown_tool_keeps_init_from_making_anything(fresh: Project) -> None:
    assert fresh.refused("init", "--tools", "claude,emacs") == ("unknown_tool", 1)
    assert not (fresh.root / ".moot").exists()


def test_a_tool_that_cannot_be_set_up_does_not_stop_the_others(fresh: Project) -> None:
    (fresh.root / ".gemini").mkdir()
    (fresh.root / ".gemini/settings.json").write_text("{ mine", encoding="utf-8")
    made = fresh.ok("init", "--tools", "all")
    failed = {hooks["tool"]: hooks["findings"] for hooks in made["hooks"] if not hooks["changed"]}
    assert [finding["code"] for finding in failed["gemini"]] == ["settings_unreadable"]
    assert (list(failed), made["programs"]) == (["gemini"], ["gemini"])
    assert (fresh.root / ".gemini/settings.json").read_text("utf-8") == "{ mine"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_one_yes_sets_up_all_of_them_with_trust(
    fresh: Project, tmp_path: Path, answer: str
) -> None:
    """Codex is a stand-in that keeps no trust, so its hooks are not left half set up."""
    import pty
    import sys

    words = tmp_path / "passphrase"
    words.write_text("correct horse battery staple", encoding="utf-8")
    words.chmod(0o600)
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", "init"],
        cwd=fresh.root,
        env={**fresh.env, "NO_COLOR": "1", "MOOT_PASSPHRASE_FILE": str(words)},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    try:
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    asked = os.read(ours, 10_000).decode()
    os.close(ours)
    assert child.returncode == 0, out
    assert "let claude, codex, gemini, opencode, git ask moot before they edit" in asked
    is_set_up = (fresh.root / ".claude/settings.local.json").exists()
    trusted = (tmp_path / "home/.gemini/trustedFolders.json").exists()
    assert (is_set_up, trusted) == (answer == "y", answer == "y")
    assert "claude and gemini that you trust moot's server" in " ".join(asked.split())
    if answer == "y":  # and only then
        local = json.loads((fresh.root / ".claude/settings.local.json").read_bytes())
        assert local["enabledMcpjsonServers"] == ["moot"]
        server = json.loads((fresh.root / ".gemini/settings.json").read_bytes())["mcpServers"]
        assert server["moot"]["trust"] is True
    assert not (fresh.root / ".codex").exists()


def test_status_is_answered_as_an_agent_too(ready: Project) -> None:
    ready.ok("hook", "install", "claude")
    assert ready.ok("hook", "test", "claude", MOOT_AGENT=OTTER)["passed"]
