"""Settings and fixtures that every test shares.

Settings: property tests without deadlines, signals as at a terminal, temporary folders in memory,
people's keys that open at once, no coding tool above.

Fixtures, each for one test (they are in tests/project.py):

| name | what it is |
|---|---|
| `project` | a `Project`: a workspace with amber-otter and teal-crane |
| `project` in `hooks`, `watching` | the same in a git repository with two worktrees |
| `bare` | a `Project` without a workspace; `bare.init(...)` makes one |
| `passphrase` | the name of a file that holds a passphrase |
| `people` | the environment variables with which a person acts |

What only one folder needs is in the folder's own conftest.py, for example `kept` and `laptop` in
`hosts` (a ledger that is kept for other machines, and a machine that joined).
"""

from __future__ import annotations

import gc
import os
from itertools import takewhile
from unittest import mock

import pytest
from hypothesis import settings

from moot.api.presence import tool_processes
from moot.system.process_tree import Process, list_ancestors
from tests.default_signals import restore_default_signals
from tests.keys.cheap_locks import make_locks_cheap
from tests.memory_folder import keep_temporary_files_in_memory
from tests.sampling import PART, WHOLE

pytest_plugins = (
    "tests.golden.plugin",
    "tests.project",
    "tests.shuffle",
    "tests.scenarios.counting",
)

# Stories assert like tests do, so their failures are explained like a test's; here, before any test
# that tells them is imported.
pytest.register_assert_rewrite("tests.scenarios.stories", "tests.scenarios.world")

settings.register_profile("moot", deadline=None, print_blob=True, max_examples=WHOLE)
settings.register_profile("sampled", settings.get_profile("moot"), max_examples=PART)
settings.load_profile("moot")

restore_default_signals()
keep_temporary_files_in_memory()
make_locks_cheap()


def _list_ancestors_below_the_tests(pid: int) -> list[Process]:
    """What is above the tests is nobody's business: a coding tool may run them."""
    above = list_ancestors(pid) if pid != os.getpid() else []
    return list(takewhile(lambda process: process.pid != os.getpid(), above))


mock.patch.object(tool_processes, "list_ancestors", _list_ancestors_below_the_tests).start()

# Many thousand collected tests stay until the end: nobody need look through them again and again.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("markexpr") == "not thorough":
        settings.load_profile("sampled")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # trees of all sources are made, which are no rubbish
    gc.enable()
