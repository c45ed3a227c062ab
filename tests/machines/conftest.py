"""Only on demand: MOOT_TEST_MACHINES=1 (`make test-machines`)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.hosts.keeper_process import end_all

collect_ignore_glob = [] if os.environ.get("MOOT_TEST_MACHINES") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    end_all()
