"""A project with two agents, for servers to act in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root, tmp_path / "keys")
    made.ok("init")
    made.ok("agent", "register", "amber-otter")
    made.ok("agent", "register", "teal-crane")
    return made
