"""Checks of a command's own texts that every rule table may use: said at all, and not too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol


class Asked(Protocol):
    """A command in its moment, whatever else a protocol looks at."""

    @property
    def command(self) -> Any: ...


Check = Callable[[Asked], Iterator[tuple[str, str | None]]]


def empty(*fields: str) -> Check:
    """Texts that must say something."""

    def check(asked: Asked) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if not getattr(asked.command, name).strip():
                yield f"{name} is empty", name

    return check


def too_long(most: int, *fields: str) -> Check:
    """Texts of at most so many characters."""

    def check(asked: Asked) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if len(getattr(asked.command, name)) > most:
                yield f"{name} is longer than {most} characters", name

    return check
