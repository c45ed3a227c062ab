"""What agents type all day, in a worktree where another agent has unsaved files: of all of it less
than one in a hundred may be refused without need.

Each command of `agent_commands.txt` is asked about (`\\n` there is a line break), and what is
refused is really run in a copy: a refusal is needless if that harms nothing.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from moot.api.guard.shell import code_acts, file_acts, git_acts, wrappers
from moot.api.guard.shell import wrappers as inner_scripts
from moot.surfaces.hooks.entry import Reply
from tests.hooks.tool_calls import call
from tests.project import CRANE, IDENTITY, OTTER, Project

PAGE = Path(__file__).parents[2] / "docs" / "hooks.md"
COMMANDS = tuple(
    line.replace("\\n", "\n")
    for line in (Path(__file__).parent / "agent_commands.txt").read_text("utf-8").splitlines()
    if line.strip()
)
WORK = "def login(name):\n    return name == 'the holder'\n"
HELD = (
    "src/app/auth.py",
    "tests/test_auth.py",
    "docs/guide.md",
    "config.json",
    "src/app/new.py",
)
OWN = ("src/app/cache.py", "tests/test_cache.py")
FREE = ("src/app/db.py", "docs/other.md", "requirements.txt", "build/old.txt", "pyproject.toml")
SCRIPTS = {
    "scripts/check.sh": 'set -e\nrm -rf build/t\ngrep def "${1:-/dev/null}" || :\n',
    "scripts/env.sh": "export PYTHONPATH=src\n",
    "scripts/report.py": "import sys\nprint(sys.argv)\n",
    "scripts/check.js": "console.log(process.argv)\n",
    "Makefile": "all test lint build:\n\t@true\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project: HELD and changed by the crane, OWN by the otter, who asks."""
    top = tmp_path_factory.mktemp("needless")
    project = Project(top / "project", top / "keys")
    for name in (*HELD[:-1], *OWN, *FREE):
        write(project.root / name, "{}\n" if name.endswith("json") else "one = 1\n")
    for name, text in SCRIPTS.items():
        write(project.root / name, text)
    (project.root / "scripts/check.sh").chmod(0o755)
    for name in ("auth", "cache"):
        path = f"src/app/{name}.py"
        old = WORK.splitlines()[0] if name == "auth" else "one = 1"
        patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+patched = 1\n"
        write(project.root / f"patches/{name}.diff", patch)
    with tarfile.open(project.root / "patches/cache.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("src/app/cache.py"), io.BytesIO())
    with zipfile.ZipFile(project.root / "patches/cache.zip", "w") as archive:
        archive.writestr("src/app/cache.py", "zip")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        assert project.git(*words).code == 0
    assert project.git("branch", "feature").code == 0
    project.init(OTTER, CRANE)
    for agent, names in ((CRANE, HELD), (OTTER, OWN)):
        for name in names:
            assert (
                project.hook("claude", call("claude-write", project.root, name), agent) == Reply()
            )
            write(project.root / name, '{"name": "holder"}\n' if name.endswith("json") else WORK)
    return project


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def contents(root: Path) -> dict[str, bytes | None]:
    files = (root / name for name in HELD)
    return {
        str(file.relative_to(root)): file.read_bytes() if file.is_file() else None for file in files
    }


def harms(project: Project, command: str, folder: Path) -> bool:
    """Do it in a copy: is a held file not as it was, or committed, or HEAD on another branch?"""
    copy = folder / "project"
    shutil.copytree(project.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".moot"))
    env = {**project.env, **IDENTITY, "HOME": str(folder), "npm_config_offline": "true"}
    env["npm_config_yes"] = "false"
    subprocess.run(
        ["bash", "-c", command],
        cwd=copy,
        env=env,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    asked = ["git", "diff", "--name-only", "feature", "HEAD"]
    log = subprocess.run(asked, cwd=copy, env=env, check=False, capture_output=True, timeout=60)
    head = (copy / ".git/HEAD").read_text("utf-8")
    committed = set(log.stdout.decode().split()).intersection(HELD)
    is_harmed = contents(copy) != contents(project.root) or bool(committed) or "main" not in head
    shutil.rmtree(folder, ignore_errors=True)
    return is_harmed


def test_what_agents_type_is_hardly_ever_refused_without_need(
    project: Project, tmp_path: Path
) -> None:
    before = contents(project.root)
    assert len(set(COMMANDS)) >= 300
    refused = []
    for command in COMMANDS:
        said = call("claude-bash", project.root, tool_input={"command": command})
        if project.hook("claude", said, OTTER) != Reply():
            refused.append(command)
    needless = [
        command
        for number, command in enumerate(refused)
        if not harms(project, command, tmp_path / str(number))
    ]
    figures = f"{len(COMMANDS)} commands, {len(refused)} refused, {len(needless)} needlessly"
    assert figures in PAGE.read_text("utf-8"), figures
    assert len(needless) * 100 < len(COMMANDS), "\n".join(needless)
    assert contents(project.root) == before


def named_in(page: str, label: str) -> set[str]:
    """The names in a row of the table."""
    row = next(line for line in page.splitlines() if line.startswith(f"| {label} |"))
    return set(re.findall(r"`([^`]+)`", row))


def test_the_page_names_what_is_refused() -> None:
    page = PAGE.read_text("utf-8")
    programs = {*file_acts._PROGRAMS, *file_acts._COPYING, "find", "xargs", "parallel"}
    assert named_in(page, "programs") == programs
    assert named_in(page, "what a patch or an archive names") == file_acts.UNPACKING
    assert named_in(page, "subcommands of git") == set(git_acts._SUBCOMMANDS)
    assert named_in(page, "code given to") == {*code_acts.INTERPRETERS, *code_acts.AWKS}
    through = {*wrappers._WRAPPERS, *inner_scripts.SHELLS, "eval", "trap"}
    assert named_in(page, "looked through") == through
