"""A fresh project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.founding import found
from tests.cli.project import Project
from tests.cli.sitting import Sitting, opened


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """A folder without a workspace."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys")


@pytest.fixture
def project(bare: Project) -> Project:
    """A workspace with two agents."""
    found(bare, "amber-otter", "teal-crane")
    return bare


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
    found(bare, **people)
    return opened(bare)
