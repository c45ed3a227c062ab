from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.web.served import Visitor, make_project, serving


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def visitor(project: Project) -> Iterator[Visitor]:
    with serving(project) as entered:
        yield entered
