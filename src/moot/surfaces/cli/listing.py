"""Lists for people: a table that is no wider than the terminal it is written to.

What does not fit is shortened with `…`: times to the second and random ids to their beginning,
then text, then names. Ids and scopes that one has to copy stay whole. A text that would be cut to
nothing gets a line of its own below its row. Into a pipe or a file all is written as it is.
"""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moot.surfaces.cli.answer import paint, table, visible

GAP: Final = "  "
# Columns that hold what the next command asks for.
COPIED: Final = frozenset({"id", "scope"})
# How narrow a column may get: a text that is worth reading, a name that one knows, at the worst.
TEXT, NAME, LEAST = 24, 8, 4
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")
_DATED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_UUID: Final = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def listing(rows: Iterable[Sequence[str]], head: Sequence[str]) -> Iterable[str]:
    """A table with a head; on a terminal it fits."""
    columns = terminal_columns()
    if columns is None:
        return table(rows, head)
    return fitted([list(head), *(list(map(visible, row)) for row in rows)], columns)


def terminal_columns() -> int | None:
    """How wide the terminal is that we write to; None if it is none, or does not say."""
    if not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size((0, 0)).columns or None


def fitted(rows: list[list[str]], columns: int) -> Iterator[str]:
    """The lines of a table whose first row is its head, each at most so wide, if that can be."""
    if sum(_widths(rows)) > _room(rows, columns):
        rows = [rows[0], *([_briefly(cell) for cell in row] for row in rows[1:])]
    apart = _crushed(rows, columns)
    below = [row[apart] if apart is not None else "" for row in rows]
    rows = [[cell for n, cell in enumerate(row) if n != apart] for row in rows]
    widths = _shrunk(rows, columns)
    for number, (row, text) in enumerate(zip(rows, below, strict=True)):
        cells = (_cut(cell, width) for cell, width in zip(row, widths, strict=True))
        padded = map(_padded, cells, widths)
        for line in (GAP.join(padded).rstrip(), _cut(f"{GAP}{text}".rstrip(), columns)):
            if line:
                yield line if number else paint(line, "bold")


def _room(rows: list[list[str]], columns: int) -> int:
    return columns - len(GAP) * (len(rows[0]) - 1)


def _briefly(cell: str) -> str:
    """What says the same to a reader: times to the second, the beginning of a random id."""
    return _UUID.sub(r"\1…", _TIME.sub(r"\1Z", cell))


def _crushed(rows: list[list[str]], columns: int) -> int | None:
    """The widest text, if it would not be worth reading in its column."""
    texts, widths = _texts(rows), _widths(rows)
    widest = max(texts, key=lambda n: widths[n], default=None)
    if widest is None or widths[widest] <= TEXT or len(widths) == 1:
        return None
    _shrink(widths, _room(rows, columns), texts, TEXT)
    return widest if sum(widths) > _room(rows, columns) else None


def _shrunk(rows: list[list[str]], columns: int) -> list[int]:
    """How wide each column is to be: texts give way first, then names."""
    widths, room = _widths(rows), _room(rows, columns)
    for which, floor in ((_texts(rows), TEXT), (_loose(rows), NAME), (_loose(rows), LEAST)):
        _shrink(widths, room, which, floor)
    return widths


def _shrink(widths: list[int], room: int, which: list[int], floor: int) -> None:
    """Of these columns the widest gives way first, none below the floor."""
    while which and sum(widths) > room:
        widest = max(which, key=lambda n: widths[n])
        if widths[widest] <= floor:
            return
        widths[widest] -= 1


def _loose(rows: list[list[str]]) -> list[int]:
    """Columns that nobody copies from and that hold no times."""
    named = [n for n, name in enumerate(rows[0]) if name.lower() not in COPIED]
    return [n for n in named if not any(_DATED.match(row[n]) for row in rows[1:])]


def _texts(rows: list[list[str]]) -> list[int]:
    return [n for n in _loose(rows) if any(" " in row[n] for row in rows[1:])]


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(map(_width, column)) for column in zip(*rows, strict=True)]


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept = text[:width]
    while kept and _width(kept) >= width:
        kept = kept[:-1]
    return kept.rstrip() + "…"
