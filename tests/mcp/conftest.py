"""A project with two agents, for servers to act in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.founding import found
from tests.cli.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root, tmp_path / "keys")
    found(made, "amber-otter", "teal-crane")
    return made
