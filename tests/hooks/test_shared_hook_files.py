"""Files that several worktrees or projects rest on, older installs, and places that are odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import NAMES as HOOK_TOOLS
from moot.coding_tools import find_tool, hook_command
from moot.coding_tools.hook_command import first_hook_command, is_ours
from moot.coding_tools.settings import make_entries
from tests.hooks.test_install import snapshot, uninstall
from tests.project import Project

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
def home(project: Project) -> Path:
    folder = Path(project.env["HOME"])
    folder.mkdir()
    return folder


def is_guarded(project: Project, tool: str, folder: Path) -> bool:
    found = project.ok("hook", "status", cwd=folder)["tools"]
    (row,) = (row for row in found if (row["tool"], row["worktree"]) == (tool, str(folder)))
    return bool(row["installed"])


@pytest.mark.parametrize("tool", ["claude", "gemini", "opencode"])
def test_one_worktree_is_unguarded_without_another(project: Project, tool: str) -> None:
    for folder in (project.root, project.other):
        project.ok("hook", "install", tool, cwd=folder)
    project.ok("hook", "uninstall", tool)
    assert not is_guarded(project, tool, project.root)
    assert is_guarded(project, tool, project.other)
    assert project.git("status", "--porcelain", cwd=project.other).out == ""
    project.ok("hook", "uninstall", tool, cwd=project.other)
    assert not (project.root / ".moot/opencode-plugin.js").exists()
    assert "moot" not in (project.root / ".git/info/exclude").read_text("utf-8")


@pytest.mark.parametrize("tool", ["codex", "git"])
def test_what_worktrees_share_is_taken_out_of_all_or_of_none(project: Project, tool: str) -> None:
    before = snapshot(project.root), snapshot(project.other)
    project.ok("hook", "install", tool, "--no-skill", cwd=project.other)
    assert is_guarded(project, tool, project.root)
    project.ok("join", "--register", "coral-finch", cwd=project.other)
    done = project.json("hook", "uninstall", tool)
    assert (done.error["code"], done.code) == ("hooks_shared", 1)
    assert f"{project.other} (coral-finch)" in done.error["message"]
    assert done.error["hint"].startswith(f"`moot hook uninstall {tool} --all`")
    assert is_guarded(project, tool, project.other)
    project.ok("hook", "uninstall", tool, "--all")
    assert not is_guarded(project, tool, project.other)
    assert (snapshot(project.root), snapshot(project.other)) == before


def test_with_all_nothing_is_left_behind(project: Project, home: Path) -> None:
    before = snapshot(project.root), snapshot(project.other), sorted(home.rglob("*"))
    for tool in (*HOOK_TOOLS, "git"):
        for folder in (project.root, project.other):
            project.ok("hook", "install", tool, cwd=folder)
    project.hook("claude", {"hook_event_name": "SessionStart", "cwd": str(project.other)}, None)
    removed = project.ok("hook", "uninstall", "--all")
    assert removed["worktrees"] == [str(project.root), str(project.other)]
    left = snapshot(project.root)
    # That a person took them out of a worktree in which a session may still run is remembered.
    (stamp,) = left.keys() - before[0].keys()
    assert stamp.startswith(".moot/hooks/taken-out/claude-")
    del left[stamp]
    assert (left, snapshot(project.other), sorted(home.rglob("*"))) == before
    for folder in (project.root, project.other):
        assert {path.name for path in folder.iterdir()} - {".git", ".moot"} == {"a.txt"}
    assert project.ok("hook", "uninstall", "--all")["changed"] == []


# Settings that are in git already: the user's own are used instead.


def commit(project: Project, name: str, text: str) -> None:
    file = project.root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    project.git("add", "--force", name)
    assert project.git("commit", "--quiet", "--no-verify", "--message=settings").code == 0


@pytest.mark.parametrize("tool", PROJECT_FILES)
def test_settings_that_are_in_git_are_left_alone(project: Project, home: Path, tool: str) -> None:
    commit(project, PROJECT_FILES[tool], '{"theirs": true}\n')
    changed = project.ok("hook", "install", tool, "--no-skill")["changed"]
    assert str(home / USER_FILES[tool]) in changed
    assert project.git("status", "--porcelain").out == ""
    assert is_guarded(project, tool, project.root)
    assert project.ok("hook", "install", tool, "--no-skill")["changed"] == []
    if tool != "opencode":
        assert project.ok("hook", "test", tool)["passed"]
    assert project.refused("hook", "uninstall", tool) == ("hooks_shared", 1)
    uninstall(project, tool)
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not (project.keys / "hooks").exists()


@pytest.mark.parametrize("tool", ["codex", "gemini"])
def test_settings_that_serve_all_projects_are_silent_elsewhere(
    project: Project, home: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    monkeypatch.setattr(hook_command, "hook_words", lambda tool: ("/gone/away/moot", "hook", tool))
    commit(project, PROJECT_FILES[tool], "{}\n")
    project.ok("hook", "install", tool, "--no-skill")
    said = json.loads((home / USER_FILES[tool]).read_bytes())["hooks"]
    commands = [one["hooks"][0]["command"] for event in said.values() for one in event]
    (tmp_path / "free").mkdir()
    codes: dict[str, set[int]] = {}
    for folder in (tmp_path / "free", project.other):
        for command in commands:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env=project.env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
            codes.setdefault(folder.name, set()).add(done.returncode)
            assert done.stderr == (b"moot hook failed\n" if done.returncode else b"")
    assert codes == {"free": {0}, "second": {0, 2}}


def test_another_project_keeps_what_serves_all(
    project: Project, home: Path, tmp_path: Path
) -> None:
    assert project.git("worktree", "remove", str(project.other)).code == 0
    commit(project, PROJECT_FILES["gemini"], "{}\n")
    project.ok("hook", "install", "gemini", "--no-skill")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Project(elsewhere, project.keys).ok("init")
    done = project.json("hook", "uninstall", "gemini")
    assert done.error["code"] == "hooks_shared"
    assert str(elsewhere) in done.error["message"]
    assert (home / USER_FILES["gemini"]).exists()


def test_without_a_home_there_is_one_line_and_nothing_is_written(project: Project) -> None:
    commit(project, PROJECT_FILES["gemini"], "{}\n")
    before = snapshot(project.root)
    assert project.refused("hook", "install", "gemini", HOME="") == ("no_home", 4)
    assert snapshot(project.root) == before


@pytest.mark.parametrize("tool", PROJECT_FILES)
def test_a_home_that_may_not_be_written_leaves_nothing_half_done(
    project: Project, tool: str
) -> None:
    commit(project, PROJECT_FILES[tool], "{}\n")
    before = snapshot(project.root), sorted(project.keys.rglob("*"))
    read_only = "/proc" if Path("/proc/self").exists() else "/dev/null"
    code, status = project.refused("hook", "install", tool, HOME=read_only)
    assert (code in ("settings_not_written", "settings_unreadable"), status) == (True, 4)
    assert (snapshot(project.root), sorted(project.keys.rglob("*"))) == before


@pytest.mark.parametrize("tool", HOOK_TOOLS)
def test_a_file_in_the_way_leaves_nothing_half_done(project: Project, tool: str) -> None:
    """The last file cannot be written: a plain file stands where its folder should be."""
    in_the_way = {"claude": ".claude/skills", "codex": ".codex", "gemini": ".gemini"}
    blocked = project.root / in_the_way.get(tool, "opencode.json")
    if tool == "opencode":
        blocked.mkdir()
    else:
        blocked.parent.mkdir(exist_ok=True)
        blocked.write_text("in the way", encoding="utf-8")
    before = snapshot(project.root)
    code, _status = project.refused("hook", "install", tool)
    assert code in ("settings_not_written", "settings_unreadable")
    assert snapshot(project.root) == before
    assert not (project.root / find_tool(tool).manual_file).exists()


# What the first release installed.


def install_as_the_first_release(project: Project, tool: str) -> Path:
    file = project.root / find_tool(tool).settings_file
    made = make_entries(find_tool(tool), lambda event: first_hook_command(tool, event))
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mine": 1, "hooks": made}), encoding="utf-8")
    return file


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_older_hooks_count_and_are_replaced_when_installed_again(
    project: Project, tool: str
) -> None:
    file = install_as_the_first_release(project, tool)
    assert is_guarded(project, tool, project.root)
    project.ok("hook", "install", tool, "--no-skill")
    old = {
        one["hooks"][0]["command"]
        for event in json.loads(file.read_bytes()).get("hooks", {}).values()
        for one in event
    }
    assert not {command for command in old if command.startswith("moot hook")}
    assert json.loads(file.read_bytes())["mine"] == 1
    assert is_guarded(project, tool, project.root)
    uninstall(project, tool)
    assert json.loads(file.read_bytes()) == {"mine": 1}


@pytest.mark.parametrize("tool", HOOK_TOOLS)
def test_where_everyone_has_the_lines_nothing_is_added(project: Project, tool: str) -> None:
    project.ok("hook", "install", tool)
    project.ok("hook", "install", tool, "--share")
    assert not (project.root / ".claude/settings.local.json").exists()
    shared = snapshot(project.root)
    assert project.git("status", "--porcelain", "--untracked-files=all").out != ""
    assert project.ok("hook", "install", tool)["changed"] == []
    assert project.ok("hook", "install", tool, "--share")["changed"] == []
    assert snapshot(project.root) == shared
    assert is_guarded(project, tool, project.root)
    uninstall(project, tool)
    assert project.git("status", "--porcelain", "--untracked-files=all").out == ""


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


def test_a_submodule_is_told_where_to_go(project: Project) -> None:
    inner = project.root / "lib"
    inner.mkdir()
    (project.root / ".git/modules/lib").mkdir(parents=True)
    (inner / ".git").write_text(f"gitdir: {project.root}/.git/modules/lib\n", encoding="utf-8")
    before = snapshot(project.root)
    done = project.json("hook", "install", "claude", cwd=inner)
    assert (done.error["code"], done.error["hint"]) == ("inner_repository", f"cd {project.root}")
    assert snapshot(project.root) == before


def test_a_repository_inside_another_is_told_where_to_go(project: Project) -> None:
    inner = project.root / "vendored"
    inner.mkdir()
    assert project.git("init", "--quiet", cwd=inner).code == 0
    assert project.refused("hook", "install", "claude", cwd=inner) == ("inner_repository", 1)
    assert [path.name for path in inner.iterdir()] == [".git"]


def test_without_a_repository_hooks_are_installed_all_the_same(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    for tool in HOOK_TOOLS:
        project.ok("hook", "install", tool)
        assert is_guarded(project, tool, root)
    assert project.refused("hook", "install", "git") == ("no_git", 4)
    project.ok("hook", "uninstall", "--all")
    assert [path.name for path in root.iterdir()] == [".moot"]


def test_a_damaged_memory_of_what_was_there_is_said(project: Project) -> None:
    project.ok("hook", "install", "claude")
    (project.root / ".moot/hooks/installed.json").write_text("{", encoding="utf-8")
    before = snapshot(project.root)
    for words in (("install", "codex"), ("uninstall", "claude")):
        code: Any = project.refused("hook", *words)[0]
        assert code == "hooks_record_damaged"
    assert snapshot(project.root) == before
