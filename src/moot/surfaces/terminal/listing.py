"""Lists for people: a table that is no wider than the terminal it is written to.

What does not fit is shortened with `…`: times to the second and what is random to its beginning,
then text, then words, then times to the day. Names, paths and ids, which one has to type, stay
whole, above their row if need be. A text that would be cut to nothing gets a line of its own below
its row. Into a pipe or a file all is written as it
is; only of a text without end the rest is left to `--json`.
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
# Columns that hold what the next command asks for.
COPIED: Final = frozenset({"id", "scope", "path", "trace"})
# Columns of names that one has to type.
NAMES: Final = frozenset(
    {"name", "agent", "holder", "who", "whom", "from", "owner", "author", "left by", "signed by"}
    | {"seat"}
)
# Stands between a name and its tool: `alice-2 · claude`.
WITH_TOOL: Final = " · "
# A time until when something must be done.
DEADLINE: Final = "by"
# How narrow a column may get: a text that is worth reading, a name that one knows, a day with its
# `…`, at the worst.
TEXT, NAME, DAY, LEAST = 24, 8, 11, 4
# How much of a text one line can bear, wherever it goes.
MOST = 4_000
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")
_DATED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_UUID: Final = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_HASH: Final = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")


def listing(
    rows: Iterable[Sequence[str]], head: Sequence[str], colours: Mapping[str, str] = {}
) -> Iterable[str]:
    """A table with a head; on a terminal it fits, and what stands in `colours` has its colour."""
    shown = ([visible(in_local_time(_bearable(cell))) for cell in row] for row in rows)
    return fitted([list(head), *shown], terminal_columns() or sys.maxsize, colours)


def with_tool(name: str, tool: str | None) -> str:
    """A name as lists show it: `alice-2 · claude`."""
    return f"{name}{WITH_TOOL}{tool}" if tool else name


def alive_word(label: str, evidence: str | None) -> str:
    """How alive somebody is, in a word: an exited program says more than the time does."""
    return "Gone" if evidence == "gone" else label


def _bearable(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def terminal_columns() -> int | None:
    """How wide the terminal is that we write to; None if it is none, or does not say."""
    if not sys.stdout.isatty():
        return None
    import shutil  # slow to load, for those who write into a pipe

    return shutil.get_terminal_size((0, 0)).columns or None


def fitted(rows: list[list[str]], columns: int, colours: Mapping[str, str] = {}) -> Iterator[str]:
    """The lines of a table whose first row is its head, each at most so wide, if that can be."""
    if _too_wide(_widths(rows), columns):
        rows = _briefly(rows, COPIED)
    apart = _crushed(rows, columns)
    below = [row[apart] if apart is not None else "" for row in rows]
    rows = [[cell for n, cell in enumerate(row) if n != apart] for row in rows]
    above = rows[0][0].lower() in COPIED or _is_name(rows, 0)
    if not above and _too_wide(_shrunk(rows, columns), columns):
        rows = _briefly(rows, frozenset())
    widths, whole = _at_worst(rows, columns, above), _whole(rows, above)
    for number, (row, text) in enumerate(zip(rows, below, strict=True)):
        painted = colours if number else {}
        cut = _cut(f"{GAP}{text}".rstrip(), columns)
        for line in (*_lines(row, widths, whole, painted), cut):
            if line:
                yield line if number else paint(line, "bold")


def _whole(rows: list[list[str]], above: bool) -> list[int]:
    """Columns whose cells are never cut: the first if it is typed, and all with names."""
    return [n for n, _ in enumerate(rows[0]) if (above if n == 0 else _is_name(rows, n))]


def _lines(
    row: list[str], widths: list[int], whole: list[int], colours: Mapping[str, str]
) -> Iterator[str]:
    """A row in its columns; what must stay whole and does not fit stands above the others."""
    apart = [n for n in whole if columns_of(row[n]) > widths[n]]
    for n in apart:
        yield row[n]
    row = ["" if n in apart else cell for n, cell in enumerate(row)]
    cells = (_cut(cell, width) for cell, width in zip(row, widths, strict=True))
    padded = list(map(_padded, cells, widths))
    padded[-1] = padded[-1].rstrip()
    yield GAP.join(_coloured(cell, colours) for cell in padded).rstrip()


def _coloured(cell: str, colours: Mapping[str, str]) -> str:
    """A cell whose text, or whose last word, has a colour."""
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


def _briefly(rows: list[list[str]], but: frozenset[str]) -> list[list[str]]:
    """What says the same to a reader; what stands under these heads stays as it is."""
    kept = [name.lower() in but for name in rows[0]]
    told = ([c if k else _brief(c) for c, k in zip(row, kept, strict=True)] for row in rows[1:])
    return [rows[0], *told]


def _brief(cell: str) -> str:
    """Times to the second, the beginning of what is random."""
    return _HASH.sub(r"\1…", _UUID.sub(r"\1…", _TIME.sub(r"\1Z", cell)))


def _crushed(rows: list[list[str]], columns: int) -> int | None:
    """The widest text, if it would not be worth reading in its column."""
    texts, widths = _texts(rows), _widths(rows)
    widest = max(texts, key=lambda n: widths[n], default=None)
    if widest is None or widths[widest] <= TEXT or len(widths) == 1:
        return None
    _shrink(widths, columns, texts, TEXT)
    return widest if _too_wide(widths, columns) else None


def _shrunk(rows: list[list[str]], columns: int) -> list[int]:
    """How wide each column is to be: texts give way first, then names, then times."""
    widths = _widths(rows)
    words = [n for n in _loose(rows) if n and not _is_name(rows, n)]
    times = [n for n in _times(rows) if n and rows[0][n].lower() != DEADLINE]
    for which, floor in ((_texts(rows), TEXT), (words, NAME), (times, DAY)):
        _shrink(widths, columns, which, floor)
    return widths


def _at_worst(rows: list[list[str]], columns: int, above: bool) -> list[int]:
    """The same where even that is too wide."""
    widths = _shrunk(rows, columns)
    if above:
        _shrink(widths, columns, [0], NAME)
    names = [n for n in _loose(rows) if _is_name(rows, n)]
    words = [n for n in _loose(rows) if n not in names]
    for which, floor in ((words, LEAST), (_times(rows), DAY), (names, LEAST)):
        _shrink(widths, columns, which, floor)
    return widths


def _is_name(rows: list[list[str]], column: int) -> bool:
    """Is it a column of names that are typed? A title such as `Prime Minister` is none."""
    cells = (row[column].replace(WITH_TOOL, "") for row in rows[1:])
    return rows[0][column].lower() in NAMES and not any(" " in cell for cell in cells)


def _shrink(widths: list[int], columns: int, which: list[int], floor: int) -> None:
    """Of these columns the widest gives way first, none below the floor."""
    room = _room(widths, columns)
    for n in which:  # what is wider than all the room gives way at once
        widths[n] = min(widths[n], max(room, floor))
    while which and sum(widths) > room:
        widest = max(which, key=lambda n: widths[n])
        if widths[widest] <= floor:
            return
        widths[widest] -= 1


def _loose(rows: list[list[str]]) -> list[int]:
    """Columns that nobody copies from and that hold no times."""
    times = _times(rows)
    return [n for n, name in enumerate(rows[0]) if name.lower() not in COPIED and n not in times]


def _times(rows: list[list[str]]) -> list[int]:
    return [
        n
        for n, _ in enumerate(rows[0])
        if any(_DATED.match(row[n]) or SHORT.match(row[n]) for row in rows[1:])
    ]


def _texts(rows: list[list[str]]) -> list[int]:
    """Columns of words with spaces, or in a script that has none; names with tools are not."""
    cells = {n: [row[n].replace(WITH_TOOL, "") for row in rows[1:]] for n in _loose(rows)}
    return [
        n
        for n, said in cells.items()
        if not _is_name(rows, n) and any(" " in one or _is_wide(one) for one in said)
    ]


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(map(columns_of, column)) for column in zip(*rows, strict=True)]


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
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


# Sentences for people: broken between words where the terminal ends.
#
# A command in backticks is what one copies, so it is never broken; if it is wider than the
# terminal it has a line of its own, and the terminal breaks that. Into a pipe or a file all is
# written as it is.

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
_UNBROKEN: Final = re.compile(r"(\s*)((?:`[^`]*`|[^\s`]+|`)+)")
INDENT: Final = "  "


def wrapped(line: str, stream: TextIO, indent: str = INDENT) -> Iterator[str]:
    """The lines that `line` is on the terminal behind `stream`; itself if that is none.

    All but the first begin with `indent`, or as the first does if that begins further in.
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
    """How wide the terminal is; None if it is none, or does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None
