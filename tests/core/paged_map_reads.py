"""How much of a map in pages has been looked into."""

from __future__ import annotations

from typing import Any

from moot.core.paged_map import PagedMap


def count_decoded(entries: PagedMap[Any]) -> int:
    return sum(page._entries is not None for page in entries._pages)
