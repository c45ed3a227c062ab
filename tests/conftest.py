"""Settings that every test shares: property tests without deadlines, failures with their seed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("moot", deadline=None, print_blob=True)
settings.load_profile("moot")
