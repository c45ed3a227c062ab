"""Every kind of block as HTML, in the order of the model.

One function for each noun and no rule of its own: what a block holds is decided by `model`, how it
looks by `style`. All text goes through `tag`, which escapes it.
"""

import re
from typing import Final, assert_never

from moot.pages.charts import bar_figure, graph_figure, interval_figure, seats_drawing
from moot.pages.line_chart import line_figure
from moot.pages.markup import (
    Attributes,
    Child,
    Markup,
    chip,
    code_element,
    join_markup,
    markdown_elements,
    tag,
)
from moot.pages.model import (
    BarChart,
    Block,
    Cell,
    Chamber,
    ChamberSeat,
    Fact,
    Facts,
    FindingRow,
    Findings,
    Flow,
    FlowStep,
    Fold,
    Graph,
    IntervalChart,
    LineChart,
    Prose,
    Quote,
    Table,
    Timeline,
    TimelineEntry,
    Tone,
)
from moot.pages.text import (
    NO_FINDINGS,
    NO_TEXT,
    NO_VALUES,
    NOT_YET,
    NOTHING_RECORDED,
    SCROLL_HINT,
    SEVERITY_TONES,
    SIGNS,
    display_width,
    format_number,
    graph_table,
    human_time,
    one_line,
    rounds_with_points,
    split_paragraphs,
    values_table,
)

# How a column is set is decided by all its cells together: a column of names never breaks at a
# hyphen, and a column of sentences is never one word wide.

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


# A longer id says nothing to a person who reads: it is folded.
_LONG_REFERENCE = 24


def block_section(block: Block, name: str) -> Markup:
    """A block under its heading; `name` makes its ids unique on the page."""
    title = one_line(block.title)
    if isinstance(block, Fold) or (isinstance(block, Table) and block.folded):
        folded = fold(title or "More", _content(block, name))
        return tag("section", {"class": "block follow"}, folded)
    return tag(
        "section",
        {"class": "block" if title else "block follow"},
        tag("h2", {"dir": "auto"}, title) if title else None,
        _content(block, name),
    )


def _content(block: Block, name: str) -> Markup:
    match block:
        case Prose():
            return join_markup(*text_paragraphs(block.text, "text", block.markdown))
        case Facts():
            return fact_list(block.items) if block.items else _remark(NOTHING_RECORDED)
        case Table():
            return _table(block)
        case Timeline():
            return _ordered_list("timeline", _moments(block.moments))
        case Quote():
            return quote_figure(block)
        case LineChart() | BarChart() | Chamber() | Flow() | Graph() | IntervalChart():
            return join_markup(optional_line("caption", block.caption), _picture(block, name))
        case Fold():
            inner = enumerate(block.blocks, 1)
            return join_markup(*(block_section(each, f"{name}-{at}") for at, each in inner))
        case Findings():
            return _findings(block.items)
        case _:
            assert_never(block)


def _picture(
    block: LineChart | BarChart | Chamber | Flow | Graph | IntervalChart, name: str
) -> Markup:
    match block:
        case LineChart():
            return _line_chart(block, name)
        case BarChart():
            return bar_figure(block)
        case Chamber():
            return _chamber(block, name)
        case Flow():
            return _flow(block.steps)
        case Graph():
            return _graph(block)
        case IntervalChart():
            return interval_figure(block)


def fold(title: str, *content: Child) -> Markup:
    """What is only shown to those who open it."""
    return tag("details", None, tag("summary", {"dir": "auto"}, title), *content)


def text_paragraphs(text: str, look: str, markdown: bool = False) -> list[Markup]:
    """The paragraphs of a text, or the remark that there is none."""
    if markdown:
        return markdown_elements(text, look) or [_remark(NO_TEXT)]
    elements = [tag("p", {"class": look, "dir": "auto"}, part) for part in split_paragraphs(text)]
    return elements or [_remark(NO_TEXT)]


def fact_list(facts: tuple[Fact, ...]) -> Markup:
    """Names and their values."""
    return tag("dl", None, *(_fact(fact) for fact in facts))


def _fact(fact: Fact) -> Markup:
    value = one_line(fact.value)
    return join_markup(
        tag("dt", {"dir": "auto"}, one_line(fact.label)),
        tag("dd", {"dir": "auto"}, code_element(value) if fact.code else value),
    )


def quote_figure(quote: Quote) -> Markup:
    """What an agent said, with its name, its stance and its evidence."""
    stance, note, tool = one_line(quote.stance), one_line(quote.note), one_line(quote.tool)
    caption = tag(
        "figcaption",
        None,
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(quote.author))),
        tag("span", {"class": "note sans", "dir": "auto"}, tool) if tool else None,
        chip(quote.tone, stance) if stance else None,
        tag("span", {"class": "note sans", "dir": "auto"}, note) if note else None,
    )
    cited = [tag("li", None, code_element(ref)) for ref in quote.refs]
    title = one_line(quote.title)
    return tag(
        "figure",
        {"class": f"quote q-{quote.tone}"},
        caption,
        tag("p", {"class": "short-form", "dir": "auto"}, title) if title else None,
        tag("blockquote", None, *text_paragraphs(quote.text, "text", quote.markdown)),
        tag("ul", {"class": "refs", "aria-label": "Evidence"}, *cited) if cited else None,
    )


def _table(table: Table) -> Markup:
    if not table.rows:
        return join_markup(optional_line("caption", table.caption), _remark(NOTHING_RECORDED))
    return table_grid(table)


def _moments(moments: tuple[TimelineEntry, ...]) -> list[Markup]:
    """Each moment; the time is told where it is another than before."""
    times = [human_time(moment.at) for moment in moments]
    before = ["", *times]
    return [
        _moment(moment, time if time != last else "")
        for moment, time, last in zip(moments, times, before, strict=False)
    ]


def _moment(moment: TimelineEntry, time: str) -> Markup:
    who, ref = one_line(moment.who), one_line(moment.ref)
    long_ref = display_width(ref) > _LONG_REFERENCE
    parts = (
        tag("bdi", {"class": "who"}, who) if who else None,
        tag("time", {"class": "num", "datetime": one_line(moment.at)}, time) if time else None,
        code_element(ref) if ref and not long_ref else None,
    )
    shown = [child for part in parts if part is not None for child in (" · ", part)][1:]
    about = tag("p", {"class": "meta sans"}, *shown) if shown else None
    what = tag("p", {"dir": "auto"}, one_line(moment.what))
    detail = (
        text_paragraphs(moment.detail, "text note", moment.markdown)
        if one_line(moment.detail)
        else ()
    )
    folded = fold("Id", tag("p", None, code_element(ref))) if long_ref else None
    return tag("li", None, _sign("dot sans", moment.tone), about, what, *detail, folded)


def _line_chart(chart: LineChart, name: str) -> Markup:
    """The picture, and the values behind it for those who want them exactly.

    One round is no line: its values are all there is to show.
    """
    all_rounds = rounds_with_points(chart)
    if not all_rounds:
        return _remark(NO_VALUES)
    numbers = _table(values_table(chart))
    if len(all_rounds) == 1:
        mark = chart.threshold
        words = f"{one_line(mark.label)}: {format_number(mark.value)}" if mark else ""
        return join_markup(numbers, optional_line("meta under", words))
    return join_markup(line_figure(chart, name), fold("The numbers", numbers))


def _chamber(chamber: Chamber, name: str) -> Markup:
    """The half circle and its roll: the numbers in the picture are those of the list."""
    if not chamber.seats:
        return _remark(NOTHING_RECORDED)
    return tag(
        "figure",
        {"class": "chamber"},
        seats_drawing(chamber, name),
        _ordered_list("roll", [_seat(seat) for seat in chamber.seats]),
    )


def _seat(seat: ChamberSeat) -> Markup:
    stance, note = one_line(seat.stance), one_line(seat.note)
    return tag(
        "li",
        None,
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(seat.name))),
        join_markup(" ", chip(seat.tone, stance)) if stance else None,
        join_markup(" ", tag("span", {"class": "note sans", "dir": "auto"}, note))
        if note
        else None,
    )


def _flow(steps: tuple[FlowStep, ...]) -> Markup:
    last = len(steps)
    look = "flow pairs" if last in (2, 4) else "flow"  # else the fourth would stand alone
    return _ordered_list(look, [_step(step, place, last) for place, step in enumerate(steps, 1)])


def _step(step: FlowStep, place: int, last: int) -> Markup:
    arrow = tag(
        "svg",
        {"class": "arrow", "viewBox": "0 0 20 12", "aria-hidden": "true"},
        tag("path", {"d": "M1,6H18M13.5,1.5L18,6L13.5,10.5"}),
    )
    text, ref = one_line(step.text), one_line(step.ref)
    return tag(
        "li",
        {"class": None if step.done else "ahead"},
        tag("div", {"class": "step meta"}, f"Step {place}", _step_state(step)),
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(step.label))),
        tag("p", {"class": "body", "dir": "auto"}, text) if text else None,
        tag("p", {"class": "meta"}, code_element(ref)) if ref else None,
        arrow if place < last else None,
    )


def _step_state(step: FlowStep) -> Child:
    if not step.done:
        return tag("span", None, NOT_YET)
    if step.tone == "plain":
        return None
    return _sign("chip", step.tone)


def _graph(graph: Graph) -> Markup:
    if not graph.nodes:
        return _remark(NOTHING_RECORDED)
    return join_markup(graph_figure(graph), fold("In words", _table(graph_table(graph))))


def _findings(items: tuple[FindingRow, ...]) -> Markup:
    if not items:
        return _remark(NO_FINDINGS)
    return _ordered_list("findings", [_finding(item) for item in items])


def _finding(item: FindingRow) -> Markup:
    place = " · ".join(filter(None, (one_line(item.rule), one_line(item.where))))
    words = tag(
        "div",
        None,
        *text_paragraphs(item.message, "text"),
        optional_line("meta", place),
        optional_line("meta", f"What to do: {item.hint}" if one_line(item.hint) else ""),
    )
    return tag("li", None, chip(SEVERITY_TONES[item.severity], item.severity), words)


def _ordered_list(look: str, items: list[Markup]) -> Markup:
    return tag("ol", {"class": look}, *items) if items else _remark(NOTHING_RECORDED)


def _sign(look: str, tone: Tone) -> Markup:
    """A sign that stands alone, with its meaning in words for those who hear the page."""
    spoken: Attributes = {"role": "img", "aria-label": tone}
    silent: Attributes = {"aria-hidden": "true"}
    attributes = {"class": f"{look} {tone}", **(silent if tone == "plain" else spoken)}
    return tag("span", attributes, SIGNS[tone])


def optional_line(look: str, text: str) -> Markup | None:
    """A single line, or nothing at all."""
    words = one_line(text)
    return tag("p", {"class": look, "dir": "auto"}, words) if words else None


def _remark(words: str) -> Markup:
    return tag("p", {"class": "empty"}, words)
