"""A fresh repository with a workspace, as `moot init` makes it, for both of Moot's drivers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import moot
from moot.api.presence import agents, scopes
from moot.api.session import Session
from moot.api.workspace import workspaces

AGENT = "amber-otter"
OTHER = "teal-crane"
HELD_AT_ONCE = 100


def make_project(folder: Path, names: Sequence[str] = (AGENT, OTHER)) -> Path:
    project = folder / "project"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True, timeout=60)
    with open_project(project) as session:
        workspaces.init(session)
        for name in names:
            agents.register(session, name)
    return project


def open_project(project: Path, agent: str | None = None) -> Session:
    return moot.open(project, agent=agent, keys=project.parent / "keys")


def hold(project: Path, held: int) -> None:
    """So many files, held by other agents, each of whom has at most a hundred."""
    with open_project(project) as session:
        for start in range(0, held, HELD_AT_ONCE):
            name = f"holder-{start // HELD_AT_ONCE:03d}"
            agents.register(session, name)
            files = [f"src/held/f{n}.py" for n in range(start, min(start + HELD_AT_ONCE, held))]
            scopes.reserve(session.acting_as(name), files)
