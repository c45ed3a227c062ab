"""Sessions of the library in a project of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from moot.api.session import Session
from moot.keys.folder import KeyFolder
from tests.project import Project


@pytest.fixture
def session(project: Project) -> Iterator[Session]:
    """A session in which nobody is named yet."""
    with Session(project.root, keys=KeyFolder(project.keys), env=project.env) as made:
        yield made
