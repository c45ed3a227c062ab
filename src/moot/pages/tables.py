"""A table as HTML: what is short stays in one line, what is long keeps room, a phone stacks it.

How a column is set is decided by all its cells together: a column of names never breaks at a
hyphen, and a column of sentences is never one word wide.
"""

import re
from typing import Final

from moot.pages.inline import chip, code_element
from moot.pages.markup import Attributes, Child, Markup, join_markup, tag
from moot.pages.model import Cell, Table
from moot.pages.text import display_width, one_line
from moot.pages.wording import SCROLL_HINT

_NUMBER: Final = re.compile(r"[-+]?[0-9][0-9., ]*%?")
_SHORT_CELL: Final = 24
# An id such as q-7 is not broken even on a phone.
_TINY_CELL: Final = 6
# With more columns and letters than these a phone shows each row as a list of its own.
_FEW_COLUMNS: Final = 3
_FITS_A_PHONE: Final = 56
# With more letters than these in columns that never break, it is wider than the page, or a phone.
_FITS_THE_PAGE: Final = 92
_FITS_A_PHONE_UNBROKEN: Final = 44
# A column of sentences breaks: it needs about so many letters of room.
_LONG_COLUMN: Final = 18
# A digest is set in two lines, an id of any length in one or more.
_DIGEST_COLUMN: Final = 26
# Where there is no room at all, code breaks into pieces of about this length.
_CODE_COLUMN: Final = 12


def table_grid(table: Table) -> Markup:
    """The table in a frame of its own. There must be rows."""
    looks = [_column_class(column) for column in zip(*table.rows, strict=True)]
    if looks[0] == "number":
        looks[0] = "short"
    names = [one_line(name) for name in table.columns]
    heads = [
        tag("th", {"scope": "col", "class": look}, name)
        for name, look in zip(names, looks, strict=True)
    ]
    rows = [_row(row, looks, names) for row in table.rows]
    caption = one_line(table.caption)
    grid = tag(
        "table",
        {"class": "wide" if _is_wide(table, names) else "narrow"},
        tag("caption", None, caption) if caption else None,
        tag("thead", None, tag("tr", None, *heads)),
        tag("tbody", None, *rows),
    )
    # A wide table scrolls inside its own frame, which the keyboard must be able to reach.
    reach: Attributes = {"role": "group", "tabindex": 0}
    label = one_line(table.title) or caption or "Table"
    frame = tag("div", {"class": "scroll", **reach, "aria-label": label}, grid)
    return join_markup(_scroll_hint(table, looks, names), frame)


def _scroll_hint(table: Table, looks: list[str], names: list[str]) -> Markup | None:
    """Say that it must be scrolled, where it must; a wide one is stacked on a phone instead."""
    columns = zip(*table.rows, strict=True)
    letters = sum(
        2 + max(display_width(name), _room(look, column))
        for name, look, column in zip(names, looks, columns, strict=True)
    )
    if letters > _FITS_THE_PAGE:
        return tag("p", {"class": "meta sideways"}, SCROLL_HINT)
    unbroken = sum(
        2 + max(map(_longest_word, (name, *column)))
        for name, column in zip(names, zip(*table.rows, strict=True), strict=True)
    )
    if unbroken > _FITS_A_PHONE_UNBROKEN and not _is_wide(table, names):
        return tag("p", {"class": "meta sideways phone"}, SCROLL_HINT)
    return None


def _longest_word(cell: str | Cell) -> int:
    """On a phone every cell may wrap between its words, and code anywhere."""
    if isinstance(cell, Cell) and cell.code:
        return min(_CODE_COLUMN, display_width(cell.text))
    text = cell if isinstance(cell, str) else f"{cell.text} {cell.note}"
    chip_room = 2 if isinstance(cell, Cell) and cell.tone != "plain" else 0
    return chip_room + max(map(display_width, text.split()), default=0)


def _room(look: str, column: tuple[str | Cell, ...]) -> int:
    if any(isinstance(cell, Cell) and cell.code for cell in column):
        return min(_DIGEST_COLUMN, max(map(_cell_width, column)))
    return _LONG_COLUMN if look == "long" else max(map(_cell_width, column))


def _is_wide(table: Table, names: list[str]) -> bool:
    columns = zip(*table.rows, strict=True)
    letters = sum(
        2 + max(display_width(name), *map(_cell_width, column))
        for name, column in zip(names, columns, strict=True)
    )
    return len(names) > _FEW_COLUMNS and letters > _FITS_A_PHONE


def _column_class(column: tuple[str | Cell, ...]) -> str:
    if all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in column):
        return "number"
    widest = max(map(_cell_width, column))
    if widest <= _TINY_CELL:
        return "short tiny"
    return "short" if widest <= _SHORT_CELL else "long"


def _cell_width(cell: str | Cell) -> int:
    if isinstance(cell, str):
        return display_width(cell)
    return display_width(cell.text) + (1 + display_width(cell.note) if cell.note else 0)


def _row(row: tuple[str | Cell, ...], looks: list[str], names: list[str]) -> Markup:
    first, *rest = zip(row, looks, names, strict=True)
    head = tag("th", {"scope": "row", **_cell_attributes(*first[1:])}, _cell(first[0]))
    return tag(
        "tr", None, head, *(tag("td", _cell_attributes(*one[1:]), _cell(one[0])) for one in rest)
    )


def _cell_attributes(look: str, name: str) -> dict[str, str | int | None]:
    return {"class": look, "dir": "auto", "data-label": name}


def _cell(cell: str | Cell) -> Child:
    if isinstance(cell, str):
        return cell
    text = code_element(cell.text) if cell.code else join_markup(cell.text)
    if cell.file_name:
        text = tag("a", {"href": cell.file_name}, text)
    note = one_line(cell.note)
    return join_markup(
        text if cell.tone == "plain" else chip(cell.tone, cell.text),
        join_markup(" ", tag("span", {"class": "note"}, note)) if note else None,
    )
