"""Settings that every test shares: property tests without deadlines, signals as at a terminal,
temporary folders in memory, people's keys that open at once, no coding tool above."""

from __future__ import annotations

import gc
import os
from itertools import takewhile
from unittest import mock

import pytest
from hypothesis import settings

from moot.flows.launch import tool_around
from moot.system.process_tree import Process, list_ancestors
from tests.default_signals import restore_default_signals
from tests.keys.cheap_locks import make_locks_cheap
from tests.memory_folder import keep_temporary_files_in_memory

pytest_plugins = ("tests.golden.plugin", "tests.shuffling", "tests.scenarios.counting")

# Stories assert like tests do, so their failures are explained like a test's; here, before any test
# that tells them is imported.
pytest.register_assert_rewrite("tests.scenarios.stories", "tests.scenarios.world")

settings.register_profile("moot", deadline=None, print_blob=True)
settings.load_profile("moot")

restore_default_signals()
keep_temporary_files_in_memory()
make_locks_cheap()


def _list_ancestors_below_the_tests(pid: int) -> list[Process]:
    """What is above the tests is nobody's business: a coding tool may run them."""
    above = list_ancestors(pid) if pid != os.getpid() else []
    return list(takewhile(lambda process: process.pid != os.getpid(), above))


mock.patch.object(tool_around, "list_ancestors", _list_ancestors_below_the_tests).start()

# Many thousand collected tests stay until the end: nobody need look through them again and again.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
