"""Checks of a command's own texts that every rule table may use: not empty, and not too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol


class HasCommand(Protocol):
    """Whatever a protocol's rules look at, as long as it has the command."""

    @property
    def command(self) -> Any: ...


Check = Callable[[HasCommand], Iterator[tuple[str, str | None]]]


def empty(*fields: str) -> Check:
    """A check that none of these texts is empty."""

    def check(asked: HasCommand) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if not getattr(asked.command, name).strip():
                yield f"{name} is empty", name

    return check


def too_long(most: int, *fields: str) -> Check:
    """A check that each of these texts has at most `most` characters."""

    def check(asked: HasCommand) -> Iterator[tuple[str, str | None]]:
        for name in fields:
            if len(getattr(asked.command, name)) > most:
                yield f"{name} is longer than {most} characters", name

    return check
