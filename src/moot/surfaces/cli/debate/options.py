"""What the commands of a debate take: a file, numbers from 0 to 1, words of a list."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from moot.api.debates.writing import DECIMAL_PATTERN
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.output import OutputPath


def file_argument(
    name: str = "file", *, is_new: bool = False
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    kind = OutputPath() if is_new else click.Path(path_type=Path)
    return click.argument(name, type=kind, metavar=name.upper())


def number(text: str) -> Decimal:
    """A decimal from 0 to 1, exactly as typed."""
    if not DECIMAL_PATTERN.fullmatch(text) or Decimal(text) > 1:
        raise click.BadParameter(f"{text!r} is not a number from 0.0 to 1.0")
    return Decimal(text)


def choice(kind: Any) -> click.Choice[str]:
    return click.Choice([value.value for value in kind])
