"""A parliament for the tests of the command line."""

from __future__ import annotations

import pytest

from tests.cli.parliament_session import ParliamentSession, opened
from tests.project import Project


@pytest.fixture
def parliament(bare: Project, people: dict[str, str]) -> ParliamentSession:
    """A parliament that has just been called."""
    bare.init(**people)
    return opened(bare)
