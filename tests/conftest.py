"""Settings that every test shares: property tests without deadlines, signals as at a terminal."""

from __future__ import annotations

from hypothesis import settings

from tests.default_signals import restore_default_signals

pytest_plugins = ("tests.golden.plugin",)

settings.register_profile("moot", deadline=None, print_blob=True)
settings.load_profile("moot")

restore_default_signals()
