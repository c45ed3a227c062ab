"""Stand-ins for coding tools on a PATH of their own, with `moot`, `git` and `node` beside them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from moot.api.guard.guarded_paths import GuardedPaths
from moot.coding_tools.started_tools import find_program_paths, find_started_tools
from moot.coding_tools.starts import StartedTool
from moot.runner.launching import find_guard_problems
from tests.project import Project

MOOT = f'#!/bin/sh\nexec {sys.executable} -P -m moot "$@"\n'
FAKE_CODEX = f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("fake_codex.py")} "$@"\n'


def put_program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return file


def prepare_path(project: Project, *, node: bool = False) -> Path:
    """Only the programs of this folder, and a home that is there; returns the folder."""
    folder = project.root.parent / "bin"
    put_program(folder, "moot", MOOT)
    for name in ("git", "sh", "env", "timeout", "bash", *(["node"] if node else [])):
        (folder / name).symlink_to(shutil.which(name) or "/bin/true")
    Path(project.env["HOME"]).mkdir(exist_ok=True)
    project.env["PATH"] = str(folder)
    return folder


def put_codex(folder: Path) -> Path:
    return put_program(folder, "codex", FAKE_CODEX)


def started_by(
    project: Project, *words: str, folder: Path | None = None, **env: str
) -> StartedTool:
    """The one tool that these words start in the project."""
    full = {**project.env, "MOOT_AGENT": "amber-otter", **env}
    here = str(folder or project.root)
    (tool,) = find_started_tools(words, full, here, find_program_paths)
    return tool


def problems(project: Project, *words: str, folder: Path | None = None, **env: str) -> list[str]:
    """Return the codes of what keeps our hook from running; each has a fix."""
    guarded = GuardedPaths(project.root / ".moot", folder or project.root)
    found = find_guard_problems(started_by(project, *words, folder=folder, **env), guarded)
    assert all(one.message and one.hint for one in found)
    return [one.code for one in found]


def hints(project: Project, *words: str, folder: Path | None = None, **env: str) -> list[str]:
    guarded = GuardedPaths(project.root / ".moot", folder or project.root)
    found = find_guard_problems(started_by(project, *words, folder=folder, **env), guarded)
    return [one.hint for one in found]


def write(path: Path, text: str) -> Path:
    os.makedirs(path.parent, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
