"""The yard of the hooks' tests, in which a run watches."""

from __future__ import annotations

from tests.hooks.conftest import yard

__all__ = ["yard"]
