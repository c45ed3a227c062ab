"""A workspace to begin with, as `moot init` and `moot agent register` make it.

They make it once in each process that runs tests. Every test gets a copy, in which nothing differs
but the folders that are named in it: tests of one process share a ledger's keys, and no file.
"""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.cli.project import Project

# What the workspace does not depend on; of a passphrase, its words count and not their file.
_OWN: Final = ("PATH", "HOME", "MOOT_KEYS", "MOOT_PASSPHRASE_FILE")
_NAMING_FOLDERS: Final = ("workspaces", "*/made-in")
copies_are_made = True  # False where each test's ledger is to lie elsewhere


def found(project: Project, *agents: str, **settings: str) -> Project:
    """`moot init` in the project, which has no workspace yet, and a key for each of the agents."""
    if not copies_are_made:
        _found_here(project, agents, settings)
        return project
    env = {**project.env, **settings}
    secret = env.get("MOOT_PASSPHRASE_FILE")
    passphrase = Path(secret).read_text("utf-8") if secret else ""
    others = frozenset((name, env[name]) for name in env.keys() - set(_OWN))
    _, made = _made(agents, passphrase, others)
    shutil.copytree(made.root / ".moot", project.root / ".moot")
    shutil.copytree(made.keys, project.keys)
    here = os.fsencode(made.root.resolve()), os.fsencode(project.root.resolve())
    for file in (file for each in _NAMING_FOLDERS for file in project.keys.glob(each)):
        file.write_bytes(file.read_bytes().replace(*here))
    return project


@cache
def _made(
    agents: tuple[str, ...], passphrase: str, others: frozenset[tuple[str, str]]
) -> tuple[TemporaryDirectory[str], Project]:
    """The folder is removed when the process ends, and not before: it is held by the cache."""
    folder = TemporaryDirectory(prefix="moot-founded-", ignore_cleanup_errors=True)
    place = Path(folder.name)
    project = Project(place / "project", place / "keys", **dict(others))
    project.root.mkdir()
    settings = {}
    if passphrase:
        file = place / "passphrase"
        file.write_text(passphrase, encoding="utf-8")
        file.chmod(0o600)
        settings["MOOT_PASSPHRASE_FILE"] = str(file)
    _found_here(project, agents, settings)
    return folder, project


def _found_here(project: Project, agents: tuple[str, ...], settings: dict[str, str]) -> None:
    project.ok("init", **settings)
    for name in agents:
        project.ok("agent", "register", name)
