"""Each tool's hook line as the tool makes a command of it: it still fails closed without moot.

Gemini CLI puts variables into every text of its settings before it runs a hook, by a rule of its
own that knows no nesting; `expand` is that rule. The others run the line as it is.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from moot.coding_tools import hook_command
from moot.coding_tools.hook_command import FAILED, without_key_folder
from tests.hooks.fake_tools import put_program
from tests.hooks.test_colleague_clones import FIRST_CALLS, commands
from tests.hooks.tool_calls import call
from tests.project import Project

SECONDS = 60
# `$NAME`, `${NAME}` and `${NAME:-default}`; a default ends at the first brace.
_VARIABLE = re.compile(r"\$(?:(\w+)|{([^}]+?)(?::-([^}]*))?})", re.ASCII)


def expand(text: str, env: Mapping[str, str]) -> str:
    """As Gemini CLI 0.61 does: what is neither set nor has a default stays as it is written."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return env.get(name, found[0] if found[3] is None else found[3])

    return _VARIABLE.sub(value, text)


def as_written(text: str, _env: Mapping[str, str]) -> str:
    return text


EXPANSIONS: dict[str, Callable[[str, Mapping[str, str]], str]] = {
    "claude": as_written,
    "codex": as_written,
    "gemini": expand,
}
EACH = pytest.mark.parametrize("tool", EXPANSIONS)
FORMS = pytest.mark.parametrize("form", ["local", "shared", "user"])


def test_the_rule_does_not_understand_nesting() -> None:
    """So that this test would have found it: the former line was cut into pieces."""
    line = 'ls "${A:-${B:-$C/x}/y}"'
    assert expand(line, {"C": "/c"}) == 'ls "${B:-$C/x/y}"'


def install(project: Project, tool: str, form: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder whose settings have the lines."""
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: ("/gone/away/moot", "hook", tool))
    home = Path(project.env["HOME"])
    home.mkdir(exist_ok=True)
    if form == "user":
        place = {"claude": ".claude/settings.local.json", "codex": ".codex/hooks.json"}
        file = project.root / place.get(tool, ".gemini/settings.json")
        file.parent.mkdir()
        file.write_text("{}\n", encoding="utf-8")
        project.git("add", "--force", str(file))
        assert project.git("commit", "--quiet", "--no-verify", "--message=settings").code == 0
    project.ok("hook", "install", tool, "--no-skill", *(["--share"] if form == "shared" else []))
    if form != "user":
        return project.root
    user = home / f".{tool}"
    if tool == "claude":  # as the local file of a project is called
        (user / "settings.json").rename(user / "settings.local.json")
    return home


def run_line(tool: str, line: str, folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", "-c", EXPANSIONS[tool](line, env)],
        cwd=folder,
        env=dict(env),
        input=json.dumps(call(FIRST_CALLS[tool], folder)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """What a shell needs, and no moot."""
    folder = tmp_path / "bare"
    folder.mkdir()
    for name in ("sh", "git", "grep", "dirname", "cat"):
        (folder / name).symlink_to(shutil.which(name) or "/bin/true")
    return str(folder)


@EACH
@FORMS
@pytest.mark.parametrize("sign", ["workspace", "keys", "usual keys"])
def test_without_moot_each_line_fails_closed_after_the_tools_own_expansion(
    project: Project,
    bare_path: str,
    tool: str,
    form: str,
    sign: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = install(project, tool, form, monkeypatch)
    (line,) = [line for _event, line in commands(folder, tool) if FAILED in line]
    env = {"PATH": bare_path, "HOME": project.env["HOME"], "MOOT_KEYS": str(project.keys)}
    if sign != "workspace":
        shutil.rmtree(project.root / ".moot")
    if sign == "usual keys" and form != "local":  # which names the folder itself
        usual = Path(project.env["HOME"]) / ".local/share/moot"
        usual.mkdir(parents=True)
        shutil.copytree(project.keys, usual / "keys")
        del env["MOOT_KEYS"]
    assert run_line(tool, line, project.root, env) == (2, "moot hook failed\n")


@EACH
@FORMS
def test_elsewhere_each_line_steps_aside(
    project: Project,
    bare_path: str,
    tmp_path: Path,
    tool: str,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = install(project, tool, form, monkeypatch)
    lines = [line for _event, line in commands(folder, tool)]
    shutil.move(str(project.root), tmp_path / "moved")
    shutil.move(str(project.keys), tmp_path / "other keys")
    (tmp_path / "free").mkdir()
    env = {"PATH": bare_path, "HOME": str(tmp_path / "nobody")}
    assert {run_line(tool, line, tmp_path / "free", env) for line in lines} == {(0, "")}


@EACH
@FORMS
def test_no_line_holds_what_gemini_would_make_something_else_of(
    project: Project, tool: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(project, tool, form, monkeypatch)
    found = commands(folder, tool)
    assert len(found) >= 5
    for _event, line in found:
        assert "${" not in line
        names = set(re.findall(r"\$(\w+)", line)) - {"moot_d"}
        assert names <= {"HOME", "XDG_DATA_HOME", "MOOT_KEYS", "MOOT_HOME", "MOOT_AGENT"}
        if form == "local":
            assert names == set()


def test_a_change_of_settings_is_refused_through_the_line_and_nothing_else_is(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2 passes, every other trouble is nothing."""
    program = tmp_path / "moot"
    monkeypatch.setattr(hook_command, "hook_words", lambda tool: (str(program), "hook", tool))
    for line in (
        hook_command.hook_command("claude", "ConfigChange", None),
        hook_command.shared_hook_command("claude", "ConfigChange"),
    ):
        for code, expected in ((0, 0), (1, 0), (2, 2), (127, 0)):
            put_program(tmp_path, "moot", f"#!/bin/sh\nexit {code}\n")
            env = {"PATH": f"{tmp_path}:{project.env['PATH']}"}
            assert run_line("claude", line, project.root, env)[0] == expected
        program.unlink()
        env = {"PATH": str(tmp_path)}
        done = subprocess.run(["/bin/sh", "-c", line], env=env, timeout=SECONDS, check=False)
        assert done.returncode == 0


def test_below_a_run_the_same_line_is_known_although_its_keys_are_lent(
    project: Project, tmp_path: Path
) -> None:
    project.ok("hook", "install", "claude", "--no-skill")
    before = (project.root / ".claude/settings.local.json").read_bytes()
    lent = tmp_path / "lent"
    shutil.copytree(project.keys, lent)
    assert (
        project.ok("hook", "install", "claude", "--no-skill", MOOT_KEYS=str(lent))["changed"] == []
    )
    assert (project.root / ".claude/settings.local.json").read_bytes() == before
    (line,) = [line for _e, line in commands(project.root, "claude") if FAILED in line]
    assert str(project.keys) in line
    assert str(project.keys) not in without_key_folder(line)
