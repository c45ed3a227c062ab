"""What is installed disturbs nobody else: git does not see it, and a colleague's clone is free."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import NAMES as HOOK_TOOLS
from moot.coding_tools import hook_command
from moot.coding_tools.hook_command import FAILED, is_ours
from tests.hooks.tool_calls import call
from tests.project import IDENTITY, OTTER, Project

FIRST_CALLS = {
    "claude": "claude-write",
    "codex": "codex-patch",
    "gemini": "gemini-write",
    "opencode": "opencode-write",
}
SECONDS = 60


def status(project: Project, folder: Path | None = None) -> str:
    return project.git("status", "--porcelain", "--untracked-files=all", cwd=folder).out


def commands(folder: Path, tool: str) -> list[tuple[str, str]]:
    """Event and command, of all of ours that stand in any settings of this folder."""
    found = []
    for file in folder.rglob("*.json"):
        said: Any = json.loads(file.read_bytes())
        hooks = said.get("hooks", {}) if isinstance(said, dict) else {}
        for event, entries in hooks.items():
            handlers = [one for entry in entries for one in entry["hooks"]]
            found += [(event, one["command"]) for one in handlers if is_ours(tool, one["command"])]
    return found


@pytest.fixture
def path_without_moot(tmp_path: Path) -> str:
    folder = tmp_path / "colleagues-bin"
    folder.mkdir()
    for name in ("sh", "git", "grep", "cat", "dirname", "node"):
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    return str(folder)


def clone(project: Project, tmp_path: Path) -> Path:
    """Everything that can be committed is, and a colleague gets it."""
    project.git("add", "-A")
    project.git("commit", "--quiet", "--no-verify", "--allow-empty", "--message=all")
    far = tmp_path / "colleague" / "project"
    assert project.git("clone", "--quiet", str(project.root), str(far)).code == 0
    return far


def run_as_colleague(
    command: str, folder: Path, path: str, tmp_path: Path, said: dict[str, Any]
) -> subprocess.CompletedProcess[bytes]:
    home = tmp_path / "colleagues-home"
    home.mkdir(exist_ok=True)
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={"PATH": path, "HOME": str(home)},
        input=json.dumps(said).encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("where", ["main", "linked"])
def test_git_sees_nothing_of_what_is_installed(project: Project, where: str) -> None:
    folder = project.root if where == "main" else project.other
    before = status(project), status(project, project.other)
    for tool in (*HOOK_TOOLS, "git"):
        assert project.ok("hook", "install", tool, cwd=folder)["changed"]
    assert (status(project), status(project, project.other)) == before
    for tool in (*HOOK_TOOLS, "git"):
        assert project.ok("hook", "install", tool, cwd=folder)["changed"] == []


@pytest.mark.parametrize("tool", HOOK_TOOLS)
def test_git_sees_nothing_of_what_moot_run_installs(
    project: Project, tool: str, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / tool
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    program.chmod(0o755)
    project.env["PATH"] = f"{program.parent}:{project.env['PATH']}"
    before = status(project)
    untrusted = tool in ("codex", "gemini")  # not started before a person trusts the hooks
    assert project.spawn("run", "--", tool).code == untrusted
    assert status(project) == before


def test_a_colleague_who_has_nothing_gets_nothing(project: Project, tmp_path: Path) -> None:
    for tool in (*HOOK_TOOLS, "git"):
        project.ok("hook", "install", tool)
    far = clone(project, tmp_path)
    assert sorted(path.name for path in far.iterdir()) == [".git", "a.txt"]
    for tool in HOOK_TOOLS:
        assert commands(far, tool) == []


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("how", ["shared", "forced"])
def test_lines_that_reach_a_colleague_step_aside(
    project: Project,
    tmp_path: Path,
    path_without_moot: str,
    tool: str,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also lines for one person alone that somebody added by force."""
    monkeypatch.setattr(
        hook_command, "hook_words", lambda tool: ("/on/my/machine/moot", "hook", tool)
    )
    project.ok("hook", "install", tool, *(["--share"] if how == "shared" else []))
    if how == "forced":
        project.git("add", "--force", f".{tool}")
    far = clone(project, tmp_path)
    said = call(FIRST_CALLS[tool], far)
    found = commands(far, tool)
    assert len(found) >= 5
    # The ledger is as far away as its owner: on another machine neither is there.
    shutil.move(str(project.root), tmp_path / "elsewhere")
    shutil.move(str(project.keys), tmp_path / "their keys")
    for _event, command in found:
        done = run_as_colleague(command, far, path_without_moot, tmp_path, said)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_shared_plugin_steps_aside_for_a_colleague(
    project: Project, tmp_path: Path, path_without_moot: str
) -> None:
    project.ok("hook", "install", "opencode", "--share")
    far = clone(project, tmp_path)
    (entry,) = json.loads((far / "opencode.json").read_bytes())["plugin"]
    assert (far / entry).is_file()
    script = (
        "import(process.argv[1]).then(async (m) => {"
        " const hooks = await m.Moot({ directory: process.argv[2] });"
        ' const input = { tool: "write", sessionID: "s", callID: "c" };'
        ' await hooks["tool.execute.before"](input, { args: { filePath: "a.txt" } });'
        ' console.log("free") })'
    )
    done = subprocess.run(
        ["node", "--no-warnings", "-e", script, (far / entry).as_uri(), str(far)],
        cwd=far,
        env={"PATH": path_without_moot, "HOME": str(tmp_path / "nobody")},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, b"free"), done.stderr


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("form", ["local", "shared"])
@pytest.mark.parametrize("sign", ["workspace", "key folder", "worktree"])
def test_without_moot_an_edit_is_refused_where_a_workspace_is_or_was(
    project: Project,
    path_without_moot: str,
    tool: str,
    form: str,
    sign: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: ("/gone/away/moot", "hook", tool))
    project.ok("hook", "install", tool, *(["--share"] if form == "shared" else []))
    folder = project.other if sign == "worktree" else project.root
    if sign == "key folder":
        shutil.rmtree(project.root / ".moot")
    blocking = [command for _event, command in commands(project.root, tool) if FAILED in command]
    assert len(blocking) == 1
    done = subprocess.run(
        ["sh", "-c", blocking[0]],
        cwd=folder,
        env={
            "PATH": path_without_moot,
            "HOME": project.env["HOME"],
            "MOOT_KEYS": str(project.keys),
        },
        input=json.dumps(call(FIRST_CALLS[tool], folder)).encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, b"moot hook failed\n")


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_a_path_with_blanks_and_quotes_is_started_all_the_same(
    project: Project, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "my \"tools\" & 'more' $HOME" / "moot"
    odd.parent.mkdir()
    odd.write_text('#!/bin/sh\necho "$1 $2"\n', encoding="utf-8")
    odd.chmod(0o755)
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: (str(odd), "hook", tool))
    project.ok("hook", "install", tool)
    assert project.ok("hook", "install", tool)["changed"] == []
    for _event, command in commands(project.root, tool):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=project.root,
            env=project.env,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout.decode().strip()) == (0, f"hook {tool}")


def test_the_installed_command_answers_without_moot_on_path(
    project: Project, path_without_moot: str
) -> None:
    project.ok("hook", "install", "claude")
    (command,) = [one for event, one in commands(project.root, "claude") if event == "PreToolUse"]
    project.reserve("teal-crane", "held.txt")
    said = call("claude-write", project.root, file="held.txt")
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=project.root,
        env={**project.env, "PATH": path_without_moot, "MOOT_AGENT": OTTER},
        input=json.dumps(said).encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision"] == "block"


def test_the_module_can_be_started_when_there_is_no_script(
    project: Project, tmp_path: Path
) -> None:
    (tmp_path / "moot.py").write_text("raise SystemExit(9)", encoding="utf-8")
    assert os.path.isabs(hook_command.moot_words()[0])
    done = project.spawn("--version", cwd=tmp_path)
    assert (done.code, done.out.startswith("moot")) == (0, True)


def test_a_colleagues_git_hook_in_the_project_steps_aside(
    project: Project, tmp_path: Path, path_without_moot: str
) -> None:
    husky = project.root / ".husky"
    husky.mkdir()
    (husky / "pre-commit").write_text("true\n", encoding="utf-8")
    project.git("config", "core.hooksPath", ".husky/_")
    project.git("add", "-A")
    project.git("commit", "--quiet", "--no-verify", "--message=husky")
    assert project.refused("hook", "install", "git") == ("hook_in_git", 1)
    assert (husky / "pre-commit").read_text("utf-8") == "true\n"
    project.ok("hook", "install", "git", "--share")
    far = clone(project, tmp_path)
    done = subprocess.run(
        ["sh", "-e", ".husky/pre-commit"],
        cwd=far,
        env={"PATH": path_without_moot, **IDENTITY},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
