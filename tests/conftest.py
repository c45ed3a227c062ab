"""Settings that every test shares: property tests without deadlines, signals as at a terminal."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

from tests.default_signals import restore_default_signals

pytest_plugins = ("tests.golden.plugin", "tests.shuffling")

# Stories assert like tests do, so their failures are explained like a test's; here, before any test
# that tells them is imported.
pytest.register_assert_rewrite("tests.scenarios.stories", "tests.scenarios.world")

settings.register_profile("moot", deadline=None, print_blob=True)
settings.load_profile("moot")

restore_default_signals()

# Many thousand collected tests stay until the end: nobody need look through them again and again.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
