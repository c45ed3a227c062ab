"""A yard for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.founding import found
from tests.hooks.yard import CRANE, OTTER, Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """Two worktrees of one repository, one workspace, two agents; nothing is held."""
    root = tmp_path / "project"
    root.mkdir()
    made = Yard(root, tmp_path / "keys")
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "a.txt"),
        ("commit", "--quiet", "--message=first"),
        ("worktree", "add", "--quiet", "-b", "feature", str(made.other)),
    ):
        assert made.git(*words).code == 0
    found(made, OTTER, CRANE)
    return made
