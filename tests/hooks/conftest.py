"""Hooks are tested in a git repository with two worktrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import CRANE, OTTER, Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two worktrees of one repository, one workspace, two agents; nothing is held."""
    return make_project(tmp_path, OTTER, CRANE, git=True)
