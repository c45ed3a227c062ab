"""Sessions of the library in a project of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.api.session import Session
from moot.keys.folder import KeyFolder
from tests.cli.founding import found
from tests.cli.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A workspace with two agents and no person."""
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root, tmp_path / "keys")
    found(made, "amber-otter", "teal-crane")
    return made


@pytest.fixture
def session(project: Project) -> Iterator[Session]:
    """A session in which nobody is named yet."""
    with Session(project.root, keys=KeyFolder(project.keys), env=project.env) as made:
        yield made
