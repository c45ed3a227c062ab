"""The named queries of `queries.sql`, read once."""

from __future__ import annotations

from pathlib import Path


def _load() -> dict[str, str]:
    """Each begins with two lines of comment: its name, and what it is for."""
    _, *parts = Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")
    queries = (part.split("\n", 2) for part in parts)
    return {name: sql.strip() for name, _purpose, sql in queries}


SQL = _load()
