"""Sentences for people: broken between words where the terminal ends.

A command in backticks is what one copies, so it is never broken; if it is wider than the terminal
it has a line of its own, and the terminal breaks that. Into a pipe or a file all is written as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TextIO

from moot.surfaces.terminal.listing import columns_of

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
_UNBROKEN: Final = re.compile(r"(\s*)((?:`[^`]*`|[^\s`]+|`)+)")
INDENT: Final = "  "


def wrapped(line: str, stream: TextIO, indent: str = INDENT) -> Iterator[str]:
    """The lines that `line` is on the terminal behind `stream`; itself if that is none.

    All but the first begin with `indent`, or as the first does if that begins further in.
    """
    columns = _columns(stream)
    if columns is None or _width(line) <= columns:
        yield line
        return
    below = max(indent, line[: len(line) - len(line.lstrip(" "))])
    shown = ""
    for blanks, word in _UNBROKEN.findall(line):
        longer = f"{shown}{blanks}{word}"
        if shown.strip() and _width(longer) > columns:
            yield shown
            longer = f"{below}{word}"
        shown = longer
    yield shown


def _width(text: str) -> int:
    return columns_of(_STYLE.sub("", text))


def _columns(stream: TextIO) -> int | None:
    """How wide the terminal is; None if it is none, or does not say."""
    import os

    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None
