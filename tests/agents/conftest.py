"""Only on demand: MOOT_TEST_AGENTS=1 (`make test-agents`)."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("MOOT_TEST_AGENTS") else ["test_*.py"]
