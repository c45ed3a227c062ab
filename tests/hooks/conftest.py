"""A yard for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.founding import found
from tests.hooks.made_yard import copy_repository
from tests.hooks.yard import CRANE, OTTER, Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """Two worktrees of one repository, one workspace, two agents; nothing is held."""
    made = copy_repository(tmp_path)
    found(made, OTTER, CRANE)
    return made
