"""Tests of the command line, word for word, on a ledger that lies elsewhere.

    python -m pytest -p tests.machines.ledger_location --ledger joined tests/cli/test_mail.py

Whatever project a test makes by `moot init` then has its ledger in PostgreSQL, or is a machine that
has joined a ledger kept elsewhere, in a file there or in PostgreSQL (`moved_ledgers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.machines.excluded_tests import ONLY_HERE

if TYPE_CHECKING:  # a plugin is loaded before pytest can explain what the rest asserts
    from tests.project import Project, Result

PLACES: Final = ("postgres", "joined", "joined-postgres")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ledger", choices=PLACES, required=True, help="where the ledgers lie")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about the file, or about the machine that keeps the ledger."""
    place = str(config.getoption("--ledger"))
    kinds = [kind for kind in ONLY_HERE if kind in place]
    left_out = {name for kind in kinds for name in ONLY_HERE[kind]}
    gone = [item for item in items if _name(item) in left_out]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if _name(item) not in left_out]


def _name(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0].removeprefix("tests/")


@pytest.fixture(autouse=True)
def _ledgers_elsewhere(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    from tests import project as projects
    from tests.machines.moved_ledgers import MovedLedgers

    moved = MovedLedgers(str(request.config.getoption("--ledger")), tmp_path, projects.Project.run)
    spawn = projects.Project.spawn

    def run_there(project: Project, *words: str, **more: Any) -> Result:
        return moved.run(project, *words, **more)

    def spawn_there(project: Project, *words: str, **more: Any) -> Result:
        moved.set_clock(project, more)
        return spawn(project, *words, **more)

    monkeypatch.setattr(projects, "copies_are_made", False)
    monkeypatch.setattr(projects.Project, "run", run_there)
    monkeypatch.setattr(projects.Project, "spawn", spawn_there)
    yield
    moved.close()
