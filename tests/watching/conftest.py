"""A run watches in the same repository as the hooks' tests."""

from __future__ import annotations

from tests.hooks.conftest import project

__all__ = ["project"]
