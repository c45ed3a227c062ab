"""Tables and sentences for people, no wider than the terminal.

A table that does not fit is shortened with `…`: first times to the second and random ids to their
beginning, then texts, then words, then times to the day. Names, paths and ids, which a user types,
stay whole, above their row if needed. A text that would be cut too much gets its own line below its
row. Into a pipe or a file everything is written in full, except that a very long text is cut.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TextIO

from moot.surfaces.terminal.answer import paint, visible
from moot.surfaces.terminal.local_time import SHORT, in_local_time

GAP: Final = "  "
# Columns with values that the next command needs.
COPIED: Final = frozenset({"id", "scope", "path", "trace"})
# Columns with names that a user types.
NAMES: Final = frozenset(
    {"name", "agent", "holder", "who", "whom", "from", "owner", "author", "left by", "signed by"}
    | {"seat"}
)
# Between a name and its tool: `alice-2 · claude`.
WITH_TOOL: Final = " · "
# The column with the time by which something must be done.
DEADLINE: Final = "by"
# The smallest widths: of a readable text, of a recognizable name, of a day with its `…`, of any.
TEXT, NAME, DAY, LEAST = 24, 8, 11, 4
# The longest text in a cell, in a pipe too.
MOST = 4_000
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")
_DATED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_UUID: Final = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_HASH: Final = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")


def listing(
    rows: Iterable[Sequence[str]], head: Sequence[str], colours: Mapping[str, str] = {}
) -> Iterable[str]:
    """Lay out a table with a head; on a terminal it fits, and words in `colours` are coloured."""
    shown = ([visible(in_local_time(_cut_long(cell))) for cell in row] for row in rows)
    return fitted([list(head), *shown], terminal_columns() or sys.maxsize, colours)


def with_tool(name: str, tool: str | None) -> str:
    """Return a name as lists show it: `alice-2 · claude`."""
    return f"{name}{WITH_TOOL}{tool}" if tool else name


def alive_word(label: str, evidence: str | None) -> str:
    """Return the liveness label, or `Gone` if the agent's program has exited."""
    return "Gone" if evidence == "gone" else label


def _cut_long(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def terminal_columns() -> int | None:
    """Return the width of standard output; None if it is no terminal, or its width is unknown."""
    if not sys.stdout.isatty():
        return None
    import shutil  # slow to load, and not needed for a pipe

    return shutil.get_terminal_size((0, 0)).columns or None


def fitted(rows: list[list[str]], columns: int, colours: Mapping[str, str] = {}) -> Iterator[str]:
    """Lay out a table, whose first row is its head, in `columns` if that is possible."""
    if _too_wide(_widths(rows), columns):
        rows = _abbreviate(rows, COPIED)
    apart = _find_crushed_column(rows, columns)
    below = [row[apart] if apart is not None else "" for row in rows]
    rows = [[cell for n, cell in enumerate(row) if n != apart] for row in rows]
    above = rows[0][0].lower() in COPIED or _is_name(rows, 0)
    if not above and _too_wide(_shrunk(rows, columns), columns):
        rows = _abbreviate(rows, frozenset())
    widths, whole = _at_worst(rows, columns, above), _whole(rows, above)
    for number, (row, text) in enumerate(zip(rows, below, strict=True)):
        painted = colours if number else {}
        cut = _cut(f"{GAP}{text}".rstrip(), columns)
        for line in (*_lines(row, widths, whole, painted), cut):
            if line:
                yield line if number else paint(line, "bold")


def _whole(rows: list[list[str]], above: bool) -> list[int]:
    """Return the columns that are never cut: the first if it is typed, and all with names."""
    return [n for n, _ in enumerate(rows[0]) if (above if n == 0 else _is_name(rows, n))]


def _lines(
    row: list[str], widths: list[int], whole: list[int], colours: Mapping[str, str]
) -> Iterator[str]:
    """Lay out a row; cells that must stay whole and do not fit go above the others."""
    apart = [n for n in whole if columns_of(row[n]) > widths[n]]
    for n in apart:
        yield row[n]
    row = ["" if n in apart else cell for n, cell in enumerate(row)]
    cells = (_cut(cell, width) for cell, width in zip(row, widths, strict=True))
    padded = list(map(_padded, cells, widths))
    padded[-1] = padded[-1].rstrip()
    yield GAP.join(_coloured(cell, colours) for cell in padded).rstrip()


def _coloured(cell: str, colours: Mapping[str, str]) -> str:
    """Colour a cell whose text, or whose last word, has a colour."""
    text = cell.rstrip()
    for word in (text, text.rpartition(" ")[2]):
        if word in colours:
            before, after = text[: -len(word)], cell[len(text) :]
            return f"{before}{paint(word, colours[word])}{after}"
    return cell


def _too_wide(widths: list[int], columns: int) -> bool:
    return sum(widths) > _room(widths, columns)


def _room(widths: list[int], columns: int) -> int:
    return columns - len(GAP) * (len(widths) - 1)


def _abbreviate(rows: list[list[str]], but: frozenset[str]) -> list[list[str]]:
    """Shorten times and random ids, except in the columns `but`."""
    kept = [name.lower() in but for name in rows[0]]
    return [
        rows[0],
        *(
            [cell if keep else _abbreviate_cell(cell) for cell, keep in zip(row, kept, strict=True)]
            for row in rows[1:]
        ),
    ]


def _abbreviate_cell(cell: str) -> str:
    """Shorten times to the second, and hashes and UUIDs to their first digits."""
    return _HASH.sub(r"\1…", _UUID.sub(r"\1…", _TIME.sub(r"\1Z", cell)))


def _find_crushed_column(rows: list[list[str]], columns: int) -> int | None:
    """Return the column with the widest text, if it would get too narrow to be read."""
    texts, widths = _texts(rows), _widths(rows)
    widest = max(texts, key=lambda n: widths[n], default=None)
    if widest is None or widths[widest] <= TEXT or len(widths) == 1:
        return None
    _shrink(widths, columns, texts, TEXT)
    return widest if _too_wide(widths, columns) else None


def _shrunk(rows: list[list[str]], columns: int) -> list[int]:
    """Return the width of each column: texts shrink first, then words, then times."""
    widths = _widths(rows)
    words = [n for n in _loose(rows) if n and not _is_name(rows, n)]
    times = [n for n in _times(rows) if n and rows[0][n].lower() != DEADLINE]
    for which, floor in ((_texts(rows), TEXT), (words, NAME), (times, DAY)):
        _shrink(widths, columns, which, floor)
    return widths


def _at_worst(rows: list[list[str]], columns: int, above: bool) -> list[int]:
    """Return smaller widths if the table is still too wide."""
    widths = _shrunk(rows, columns)
    if above:
        _shrink(widths, columns, [0], NAME)
    names = [n for n in _loose(rows) if _is_name(rows, n)]
    words = [n for n in _loose(rows) if n not in names]
    for which, floor in ((words, LEAST), (_times(rows), DAY), (names, LEAST)):
        _shrink(widths, columns, which, floor)
    return widths


def _is_name(rows: list[list[str]], column: int) -> bool:
    """Return whether a column has names that are typed; titles such as `Prime Minister` are not."""
    cells = (row[column].replace(WITH_TOOL, "") for row in rows[1:])
    return rows[0][column].lower() in NAMES and not any(" " in cell for cell in cells)


def _shrink(widths: list[int], columns: int, which: list[int], floor: int) -> None:
    """Shrink these columns, the widest first, none below the floor."""
    room = _room(widths, columns)
    for n in which:  # a column that is wider than the whole room shrinks at once
        widths[n] = min(widths[n], max(room, floor))
    while which and sum(widths) > room:
        widest = max(which, key=lambda n: widths[n])
        if widths[widest] <= floor:
            return
        widths[widest] -= 1


def _loose(rows: list[list[str]]) -> list[int]:
    """Return the columns that are not copied from and have no times."""
    times = _times(rows)
    return [n for n, name in enumerate(rows[0]) if name.lower() not in COPIED and n not in times]


def _times(rows: list[list[str]]) -> list[int]:
    return [
        n
        for n, _ in enumerate(rows[0])
        if any(_DATED.match(row[n]) or SHORT.match(row[n]) for row in rows[1:])
    ]


def _texts(rows: list[list[str]]) -> list[int]:
    """Return the columns of texts: with spaces, or in a script without spaces; not names."""
    cells = {n: [row[n].replace(WITH_TOOL, "") for row in rows[1:]] for n in _loose(rows)}
    return [
        n
        for n, texts in cells.items()
        if not _is_name(rows, n) and any(" " in text or _is_wide(text) for text in texts)
    ]


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(map(columns_of, column)) for column in zip(*rows, strict=True)]


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _is_wide(text: str) -> bool:
    return columns_of(text) > len(text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns_of(text))


def _cut(text: str, width: int) -> str:
    if columns_of(text) <= width:
        return text
    kept = text[: DAY - 1 if _DATED.match(text) and " " not in text else width]
    while kept and columns_of(kept) >= width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


# Sentences for people, wrapped between words. A command in backticks is never broken, because users
# copy it: if it is wider than the terminal it gets its own line. Nothing is wrapped in a pipe or a
# file.

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
_UNBROKEN: Final = re.compile(r"(\s*)((?:`[^`]*`|[^\s`]+|`)+)")
INDENT: Final = "  "


def wrapped(line: str, stream: TextIO, indent: str = INDENT) -> Iterator[str]:
    """Wrap `line` to the width of the terminal behind `stream`; unchanged if it is no terminal.

    All lines but the first begin with `indent`, or with the indent of `line` if that is deeper.
    """
    columns = _columns_of_terminal(stream)
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


def _columns_of_terminal(stream: TextIO) -> int | None:
    """Return the width of the terminal; None if it is no terminal, or its width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None
