"""Only on demand: MOOT_TEST_AGENTS=1 (`make test-agents`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agents.stage import Stage
from tests.agents.tools import Tool

collect_ignore_glob = [] if os.environ.get("MOOT_TEST_AGENTS") else ["test_*.py"]


@pytest.fixture
def stage(tmp_path: Path, tool: Tool) -> Stage:
    return Stage(tmp_path, tool)
