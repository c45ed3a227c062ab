"""A fresh project for each test; people's keys are made cheap where a test makes many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.cli.sitting import Sitting, opened
from tests.keys.cheap_locks import make_locks_cheap


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """A folder without a workspace."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys")


@pytest.fixture
def project(bare: Project) -> Project:
    """A workspace with two agents."""
    bare.ok("init")
    bare.ok("agent", "register", "amber-otter")
    bare.ok("agent", "register", "teal-crane")
    return bare


@pytest.fixture
def cheap_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id at its lowest cost, in this process only."""
    make_locks_cheap(monkeypatch)


@pytest.fixture
def passphrase(tmp_path: Path) -> str:
    """The name of a file that holds a passphrase."""
    file = tmp_path / "passphrase"
    file.write_text("correct horse battery staple\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def people(passphrase: str) -> dict[str, str]:
    """What a person's act needs in its environment."""
    return {"MOOT_PASSPHRASE_FILE": passphrase}


@pytest.fixture
def sitting(bare: Project, people: dict[str, str]) -> Sitting:
    """A parliament that has just been called."""
    bare.ok("init", **people)
    return opened(bare)
