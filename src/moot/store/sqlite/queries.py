"""The named queries of `queries.sql`, read once."""

from __future__ import annotations

import re
from pathlib import Path

_NAMED = re.compile(r"^-- name: (\w+)\n-- .+\n", re.MULTILINE)


def _load() -> dict[str, str]:
    parts = _NAMED.split(Path(__file__).with_name("queries.sql").read_text("utf-8"))
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


SQL = _load()
