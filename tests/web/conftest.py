from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.project import CRANE, OTTER, Project, make_project
from tests.web.browser import chromium
from tests.web.busy_project import make_lively
from tests.web.busy_project_decisions import make_decisions
from tests.web.server import ServerThread, Visitor, serving


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
    project = make_project(tmp_path_factory.mktemp("lively"), OTTER, CRANE)
    make_lively(project)
    make_decisions(project)
    return project


@pytest.fixture(scope="package")
def server(lively: Project) -> Iterator[ServerThread]:
    running = ServerThread(lively)
    yield running
    running.stop()
