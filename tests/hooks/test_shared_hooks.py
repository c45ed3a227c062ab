"""Files that several worktrees or projects rest on, older installs, and places that are odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.flows.tools import HOOK_TOOLS, hook_command
from moot.flows.tools.hook_command import first_hook_command, is_ours
from moot.flows.tools.hook_entries import SETTINGS, entries
from tests.hooks.test_install import snapshot, uninstall
from tests.hooks.yard import Yard

PROJECT_FILES = {
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}
USER_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
}


@pytest.fixture
def home(yard: Yard) -> Path:
    folder = Path(yard.env["HOME"])
    folder.mkdir()
    return folder


def is_guarded(yard: Yard, tool: str, folder: Path) -> bool:
    found = yard.ok("hook", "status", cwd=folder)["tools"]
    (row,) = (row for row in found if (row["tool"], row["worktree"]) == (tool, str(folder)))
    return bool(row["installed"])


@pytest.mark.parametrize("tool", ["claude", "gemini", "opencode"])
def test_one_worktree_is_unguarded_without_another(yard: Yard, tool: str) -> None:
    for folder in (yard.root, yard.other):
        yard.ok("hook", "install", tool, cwd=folder)
    yard.ok("hook", "uninstall", tool)
    assert not is_guarded(yard, tool, yard.root)
    assert is_guarded(yard, tool, yard.other)
    assert yard.git("status", "--porcelain", cwd=yard.other).out == ""
    yard.ok("hook", "uninstall", tool, cwd=yard.other)
    assert not (yard.root / ".moot/opencode-plugin.js").exists()
    assert "moot" not in (yard.root / ".git/info/exclude").read_text("utf-8")


@pytest.mark.parametrize("tool", ["codex", "git"])
def test_what_worktrees_share_is_taken_out_of_all_or_of_none(yard: Yard, tool: str) -> None:
    before = snapshot(yard.root), snapshot(yard.other)
    yard.ok("hook", "install", tool, "--no-skill", cwd=yard.other)
    assert is_guarded(yard, tool, yard.root)
    yard.ok("join", "--register", "coral-finch", cwd=yard.other)
    done = yard.json("hook", "uninstall", tool)
    assert (done.error["code"], done.code) == ("hooks_shared", 1)
    assert f"{yard.other} (coral-finch)" in done.error["message"]
    assert done.error["hint"].startswith(f"`moot hook uninstall {tool} --all`")
    assert is_guarded(yard, tool, yard.other)
    yard.ok("hook", "uninstall", tool, "--all")
    assert not is_guarded(yard, tool, yard.other)
    assert (snapshot(yard.root), snapshot(yard.other)) == before


def test_with_all_nothing_is_left_behind(yard: Yard, home: Path) -> None:
    before = snapshot(yard.root), snapshot(yard.other), sorted(home.rglob("*"))
    for tool in (*HOOK_TOOLS, "git"):
        for folder in (yard.root, yard.other):
            yard.ok("hook", "install", tool, cwd=folder)
    yard.hook("claude", {"hook_event_name": "SessionStart", "cwd": str(yard.other)}, None)
    removed = yard.ok("hook", "uninstall", "--all")
    assert removed["worktrees"] == [str(yard.root), str(yard.other)]
    left = snapshot(yard.root)
    # That a person took them out of a worktree in which a session may still run is remembered.
    (stamp,) = left.keys() - before[0].keys()
    assert stamp.startswith(".moot/hooks/taken-out/claude-")
    del left[stamp]
    assert (left, snapshot(yard.other), sorted(home.rglob("*"))) == before
    for folder in (yard.root, yard.other):
        assert {path.name for path in folder.iterdir()} - {".git", ".moot"} == {"a.txt"}
    assert yard.ok("hook", "uninstall", "--all")["changed"] == []


# Settings that are in git already: the user's own are used instead.


def commit(yard: Yard, name: str, text: str) -> None:
    file = yard.root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    yard.git("add", "--force", name)
    assert yard.git("commit", "--quiet", "--no-verify", "--message=settings").code == 0


@pytest.mark.parametrize("tool", PROJECT_FILES)
def test_settings_that_are_in_git_are_left_alone(yard: Yard, home: Path, tool: str) -> None:
    commit(yard, PROJECT_FILES[tool], '{"theirs": true}\n')
    changed = yard.ok("hook", "install", tool, "--no-skill")["changed"]
    assert str(home / USER_FILES[tool]) in changed
    assert yard.git("status", "--porcelain").out == ""
    assert is_guarded(yard, tool, yard.root)
    assert yard.ok("hook", "install", tool, "--no-skill")["changed"] == []
    if tool != "opencode":
        assert yard.ok("hook", "test", tool)["passed"]
    assert yard.refused("hook", "uninstall", tool) == ("hooks_shared", 1)
    uninstall(yard, tool)
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not (yard.keys / "hooks").exists()


@pytest.mark.parametrize("tool", ["codex", "gemini"])
def test_settings_that_serve_all_projects_are_silent_elsewhere(
    yard: Yard, home: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    monkeypatch.setattr(hook_command, "hook_words", lambda tool: ("/gone/away/moot", "hook", tool))
    commit(yard, PROJECT_FILES[tool], "{}\n")
    yard.ok("hook", "install", tool, "--no-skill")
    said = json.loads((home / USER_FILES[tool]).read_bytes())["hooks"]
    commands = [one["hooks"][0]["command"] for event in said.values() for one in event]
    (tmp_path / "free").mkdir()
    codes: dict[str, set[int]] = {}
    for folder in (tmp_path / "free", yard.other):
        for command in commands:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env=yard.env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
            codes.setdefault(folder.name, set()).add(done.returncode)
            assert done.stderr == (b"moot hook failed\n" if done.returncode else b"")
    assert codes == {"free": {0}, "second": {0, 2}}


def test_another_project_keeps_what_serves_all(yard: Yard, home: Path, tmp_path: Path) -> None:
    assert yard.git("worktree", "remove", str(yard.other)).code == 0
    commit(yard, PROJECT_FILES["gemini"], "{}\n")
    yard.ok("hook", "install", "gemini", "--no-skill")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Yard(elsewhere, yard.keys).ok("init")
    done = yard.json("hook", "uninstall", "gemini")
    assert done.error["code"] == "hooks_shared"
    assert str(elsewhere) in done.error["message"]
    assert (home / USER_FILES["gemini"]).exists()


def test_without_a_home_there_is_one_line_and_nothing_is_written(yard: Yard) -> None:
    commit(yard, PROJECT_FILES["gemini"], "{}\n")
    before = snapshot(yard.root)
    assert yard.refused("hook", "install", "gemini", HOME="") == ("no_home", 4)
    assert snapshot(yard.root) == before


@pytest.mark.parametrize("tool", PROJECT_FILES)
def test_a_home_that_may_not_be_written_leaves_nothing_half_done(yard: Yard, tool: str) -> None:
    commit(yard, PROJECT_FILES[tool], "{}\n")
    before = snapshot(yard.root), sorted(yard.keys.rglob("*"))
    read_only = "/proc" if Path("/proc/self").exists() else "/dev/null"
    code, status = yard.refused("hook", "install", tool, HOME=read_only)
    assert (code in ("settings_not_written", "settings_unreadable"), status) == (True, 4)
    assert (snapshot(yard.root), sorted(yard.keys.rglob("*"))) == before


@pytest.mark.parametrize("tool", HOOK_TOOLS)
def test_a_file_in_the_way_leaves_nothing_half_done(yard: Yard, tool: str) -> None:
    """The last file cannot be written: a plain file stands where its folder should be."""
    from moot.flows.tools import manual

    in_the_way = {"claude": ".claude/skills", "codex": ".codex", "gemini": ".gemini"}
    blocked = yard.root / in_the_way.get(tool, "opencode.json")
    if tool == "opencode":
        blocked.mkdir()
    else:
        blocked.parent.mkdir(exist_ok=True)
        blocked.write_text("in the way", encoding="utf-8")
    before = snapshot(yard.root)
    code, _status = yard.refused("hook", "install", tool)
    assert code in ("settings_not_written", "settings_unreadable")
    assert snapshot(yard.root) == before
    assert not (yard.root / manual.FILES[tool]).exists()


# What the first release installed.


def install_as_the_first_release(yard: Yard, tool: str) -> Path:
    file = yard.root / SETTINGS[tool].file
    made = entries(SETTINGS[tool], lambda event: first_hook_command(tool, event))
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mine": 1, "hooks": made}), encoding="utf-8")
    return file


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_older_hooks_count_and_are_replaced_when_installed_anew(yard: Yard, tool: str) -> None:
    file = install_as_the_first_release(yard, tool)
    assert is_guarded(yard, tool, yard.root)
    yard.ok("hook", "install", tool, "--no-skill")
    old = {
        one["hooks"][0]["command"]
        for event in json.loads(file.read_bytes()).get("hooks", {}).values()
        for one in event
    }
    assert not {command for command in old if command.startswith("moot hook")}
    assert json.loads(file.read_bytes())["mine"] == 1
    assert is_guarded(yard, tool, yard.root)
    uninstall(yard, tool)
    assert json.loads(file.read_bytes()) == {"mine": 1}


@pytest.mark.parametrize("tool", HOOK_TOOLS)
def test_where_everyone_has_the_lines_nothing_is_added(yard: Yard, tool: str) -> None:
    yard.ok("hook", "install", tool)
    yard.ok("hook", "install", tool, "--share")
    assert not (yard.root / ".claude/settings.local.json").exists()
    shared = snapshot(yard.root)
    assert yard.git("status", "--porcelain", "--untracked-files=all").out != ""
    assert yard.ok("hook", "install", tool)["changed"] == []
    assert yard.ok("hook", "install", tool, "--share")["changed"] == []
    assert snapshot(yard.root) == shared
    assert is_guarded(yard, tool, yard.root)
    uninstall(yard, tool)
    assert yard.git("status", "--porcelain", "--untracked-files=all").out == ""


THIN = "/a/lib/moot/surfaces/hooks/thin.py"


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("moot hook claude || true", True),
        ("moot hook claude || { echo 'moot hook failed' >&2; exit 2; }", True),
        ("command -v moot >/dev/null 2>&1 && moot hook claude || true", True),
        ("[ -x '/a b/moot' ] && '/a b/moot' hook claude || true", True),
        ("[ -x /py ] && /py -P -m moot hook claude || true", True),
        (f"[ -x /py ] && [ -r {THIN} ] && /py -I -S {THIN} claude || true", True),
        (f"[ -x /py ] && [ -r {THIN} ] && /py -I -S {THIN} codex || true", False),
        ("[ -x /py ] && /py -I -S /elsewhere/thin.py claude || true", False),
        ("moot hook codex || true", False),
        ("echo moot hook claude", False),
        ("moot status", False),
        ("'unclosed", False),
        ("", False),
    ],
)
def test_our_own_commands_are_known_in_every_form(command: str, ours: bool) -> None:
    assert is_ours("claude", command) is ours


# Odd places.


def test_a_submodule_is_told_where_to_go(yard: Yard) -> None:
    inner = yard.root / "lib"
    inner.mkdir()
    (yard.root / ".git/modules/lib").mkdir(parents=True)
    (inner / ".git").write_text(f"gitdir: {yard.root}/.git/modules/lib\n", encoding="utf-8")
    before = snapshot(yard.root)
    done = yard.json("hook", "install", "claude", cwd=inner)
    assert (done.error["code"], done.error["hint"]) == ("inner_repository", f"cd {yard.root}")
    assert snapshot(yard.root) == before


def test_a_repository_inside_another_is_told_where_to_go(yard: Yard) -> None:
    inner = yard.root / "vendored"
    inner.mkdir()
    assert yard.git("init", "--quiet", cwd=inner).code == 0
    assert yard.refused("hook", "install", "claude", cwd=inner) == ("inner_repository", 1)
    assert [path.name for path in inner.iterdir()] == [".git"]


def test_without_a_repository_hooks_are_installed_all_the_same(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    yard = Yard(root, tmp_path / "keys")
    yard.ok("init")
    for tool in HOOK_TOOLS:
        yard.ok("hook", "install", tool)
        assert is_guarded(yard, tool, root)
    assert yard.refused("hook", "install", "git") == ("no_git", 4)
    yard.ok("hook", "uninstall", "--all")
    assert [path.name for path in root.iterdir()] == [".moot"]


def test_a_damaged_memory_of_what_was_there_is_said(yard: Yard) -> None:
    yard.ok("hook", "install", "claude")
    (yard.root / ".moot/hooks/installed.json").write_text("{", encoding="utf-8")
    before = snapshot(yard.root)
    for words in (("install", "codex"), ("uninstall", "claude")):
        code: Any = yard.refused("hook", *words)[0]
        assert code == "hooks_record_damaged"
    assert snapshot(yard.root) == before
