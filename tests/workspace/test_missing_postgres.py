"""A ledger in PostgreSQL where the library for it is not installed."""

from __future__ import annotations

import sys

import pytest

from tests.project import Project

INSTALL = "in your clone of Moot: pipx install --force '.[postgres]', or pip install '.[postgres]'"


def _take_library_away(patch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("moot.hosts.postgres")]:
        patch.delitem(sys.modules, name)
    patch.setitem(sys.modules, "psycopg", None)


def test_moving_without_the_library_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _take_library_away(monkeypatch)
    moved = project.json("ledger", "move", "postgresql://db.example/ledgers")
    assert (moved.error["code"], moved.error["hint"], moved.code) == (
        "postgres_missing",
        INSTALL,
        4,
    )
    assert project.ok("ledger", "verify")["verdict"] == "valid"
    assert project.refused("ledger", "move", "nonsense") == ("bad_address", 1)
