from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.keeper_process import end_all
from tests.hosts.kept_ledger import KeptLedger
from tests.project import Project, make_project


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    end_all()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptLedger]:
    """A ledger that is kept for others, on a machine of its own."""
    project = make_project(tmp_path / "kept")
    ledger = KeptLedger(project)
    yield ledger
    ledger.close()


@pytest.fixture
def laptop(kept: KeptLedger, tmp_path: Path) -> Project:
    """A machine that joined, with the agent amber-otter."""
    project = kept.join(tmp_path / "laptop" / "project", tmp_path / "laptop" / "keys", "laptop")
    project.ok("agent", "register", "amber-otter")
    return project


@pytest.fixture
def desktop(kept: KeptLedger, tmp_path: Path) -> Project:
    """Another one, with the agent teal-crane."""
    project = kept.join(tmp_path / "desktop" / "project", tmp_path / "desktop" / "keys", "desktop")
    project.ok("agent", "register", "teal-crane")
    return project
