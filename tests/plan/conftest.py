"""The same project as for the command line."""

from __future__ import annotations

from tests.cli.conftest import bare, project

__all__ = ["bare", "project"]
