"""Only on demand: MOOT_TEST_AGENTS=1 (`make test-agents`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real_tools.tool_project import ToolProject
from tests.real_tools.tools import Tool

collect_ignore_glob = [] if os.environ.get("MOOT_TEST_AGENTS") else ["test_*.py"]


@pytest.fixture
def project(tmp_path: Path, tool: Tool) -> ToolProject:
    return ToolProject(tmp_path, tool)
