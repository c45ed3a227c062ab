"""How many of something: `1 event`, `2 events`."""

from __future__ import annotations


def plural(number: int, one: str, many: str = "") -> str:
    """The number with its noun; `many` for those that do not simply take an `s`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
