from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.cli.project import Project
from tests.web.browser import chromium
from tests.web.lively import make_lively
from tests.web.lively_decisions import make_decisions
from tests.web.served import ServerThread, Visitor, make_project, serving


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def visitor(project: Project) -> Iterator[Visitor]:
    with serving(project) as entered:
        yield entered


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A workspace in which a lot has happened; tests may add to it."""
    project = make_project(tmp_path_factory.mktemp("lively"))
    make_lively(project)
    make_decisions(project)
    return project


@pytest.fixture(scope="package")
def server(lively: Project) -> Iterator[ServerThread]:
    running = ServerThread(lively)
    yield running
    running.stop()
