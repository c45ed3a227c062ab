"""Every kind of block as HTML, in the order of the model.

One function for each noun and no rule of its own: what a block holds is decided by `model`, how it
looks by `style`. All text goes through `tag`, which escapes it.
"""

import re
from typing import Final, assert_never

from moot.core.report.bar_chart import bar_figure
from moot.core.report.chamber import seats_drawing
from moot.core.report.graph import graph_figure
from moot.core.report.line_chart import line_figure
from moot.core.report.markup import Attributes, Child, Markup, join, tag
from moot.core.report.model import (
    BarChart,
    Block,
    Cell,
    Chamber,
    Fact,
    Facts,
    FindingRow,
    Findings,
    Flow,
    Graph,
    LineChart,
    Moment,
    Prose,
    Quote,
    Seat,
    Step,
    Table,
    Timeline,
    Tone,
)
from moot.core.report.text import one_line, paragraphs
from moot.core.report.wording import (
    NO_FINDINGS,
    NO_TEXT,
    NOT_YET,
    NOTHING_RECORDED,
    SEVERITY_TONES,
    SIGNS,
    graph_table,
    rounds,
    values_table,
)

_NUMBER: Final = re.compile(r"[-+]?[0-9][0-9., ]*%?")


def block_section(block: Block, name: str) -> Markup:
    """A block under its heading; `name` makes its ids unique on the page."""
    title = one_line(block.title)
    return tag(
        "section",
        {"class": "block" if title else "block follow"},
        tag("h2", {"dir": "auto"}, title) if title else None,
        _content(block, name),
    )


def _content(block: Block, name: str) -> Markup:
    match block:
        case Prose():
            return join(*text_paragraphs(block.text, "text"))
        case Facts():
            return fact_list(block.items) if block.items else _nothing(NOTHING_RECORDED)
        case Table():
            return _table(block)
        case Timeline():
            return _list("timeline", [_moment(moment) for moment in block.moments])
        case Quote():
            return quote_figure(block)
        case LineChart() | BarChart() | Chamber() | Flow() | Graph():
            return join(optional_line("caption", block.caption), _picture(block, name))
        case Findings():
            return _findings(block.items)
        case _:
            assert_never(block)


def _picture(block: LineChart | BarChart | Chamber | Flow | Graph, name: str) -> Markup:
    match block:
        case LineChart():
            return join(line_figure(block, name), _numbers(block))
        case BarChart():
            return bar_figure(block)
        case Chamber():
            return _chamber(block, name)
        case Flow():
            return _flow(block.steps)
        case Graph():
            return _graph(block, name)


def text_paragraphs(text: str, look: str) -> list[Markup]:
    """The paragraphs of a text, or the remark that there is none."""
    found = [tag("p", {"class": look, "dir": "auto"}, part) for part in paragraphs(text)]
    return found or [_nothing(NO_TEXT)]


def fact_list(facts: tuple[Fact, ...]) -> Markup:
    """Names and their values."""
    return tag("dl", None, *(_fact(fact) for fact in facts))


def _fact(fact: Fact) -> Markup:
    value = one_line(fact.value)
    return join(
        tag("dt", {"dir": "auto"}, one_line(fact.label)),
        tag("dd", {"dir": "auto"}, tag("code", None, value) if fact.code else value),
    )


def quote_figure(quote: Quote) -> Markup:
    """What an agent said, with its name, its stance and its evidence."""
    stance, note = one_line(quote.stance), one_line(quote.note)
    caption = tag(
        "figcaption",
        None,
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(quote.author))),
        _chip(quote.tone, stance) if stance else None,
        tag("span", {"class": "note sans", "dir": "auto"}, note) if note else None,
    )
    cited = [tag("li", None, tag("code", None, one_line(ref))) for ref in quote.refs]
    return tag(
        "figure",
        {"class": f"quote q-{quote.tone}"},
        caption,
        tag("blockquote", None, *text_paragraphs(quote.text, "text")),
        tag("ul", {"class": "refs", "aria-label": "Evidence"}, *cited) if cited else None,
    )


def _table(table: Table) -> Markup:
    if not table.rows:
        return join(optional_line("caption", table.caption), _nothing(NOTHING_RECORDED))
    looks = ["number" if _numeric(column) else None for column in zip(*table.rows, strict=True)]
    looks[0] = None
    names = zip(table.columns, looks, strict=True)
    heads = [tag("th", {"scope": "col", "class": look}, one_line(name)) for name, look in names]
    rows = [_row(row, looks) for row in table.rows]
    caption = one_line(table.caption)
    grid = tag(
        "table",
        None,
        tag("caption", None, caption) if caption else None,
        tag("thead", None, tag("tr", None, *heads)),
        tag("tbody", None, *rows),
    )
    # A wide table scrolls inside its own frame, which the keyboard must be able to reach.
    reach: Attributes = {"role": "group", "tabindex": 0}
    label = one_line(table.title) or caption or "Table"
    return tag("div", {"class": "scroll", **reach, "aria-label": label}, grid)


def _row(row: tuple[str | Cell, ...], looks: list[str | None]) -> Markup:
    first, *rest = zip(row, looks, strict=True)
    head = tag("th", {"scope": "row", "dir": "auto"}, _cell(first[0]))
    cells = (tag("td", {"class": look, "dir": "auto"}, _cell(cell)) for cell, look in rest)
    return tag("tr", None, head, *cells)


def _cell(cell: str | Cell) -> Child:
    if isinstance(cell, str):
        return cell
    text = tag("code", None, one_line(cell.text)) if cell.code else join(cell.text)
    note = one_line(cell.note)
    return join(
        text if cell.tone == "plain" else _chip(cell.tone, cell.text),
        join(" ", tag("span", {"class": "note"}, note)) if note else None,
    )


def _numeric(column: tuple[str | Cell, ...]) -> bool:
    return all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in column)


def _moment(moment: Moment) -> Markup:
    when, who, ref = one_line(moment.at), one_line(moment.who), one_line(moment.ref)
    about = tag(
        "p",
        {"class": "meta sans"},
        tag("span", {"class": "num"}, when),
        " · " if when and who else None,
        tag("bdi", None, who),
        join(" · ", tag("code", None, ref)) if ref else None,
    )
    what = tag("p", {"dir": "auto"}, one_line(moment.what))
    detail = text_paragraphs(moment.detail, "text note") if one_line(moment.detail) else ()
    return tag("li", None, _sign("dot sans", moment.tone), about, what, *detail)


def _numbers(chart: LineChart) -> Markup | None:
    """The values behind the picture, for those who want them exactly."""
    if not rounds(chart):
        return None
    return tag("details", None, tag("summary", None, "The numbers"), _table(values_table(chart)))


def _chamber(chamber: Chamber, name: str) -> Markup:
    """The half circle and its roll: the numbers in the picture are those of the list."""
    if not chamber.seats:
        return _nothing(NOTHING_RECORDED)
    return tag(
        "figure",
        {"class": "chamber"},
        seats_drawing(chamber, name),
        _list("roll", [_seat(seat) for seat in chamber.seats]),
    )


def _seat(seat: Seat) -> Markup:
    stance, note = one_line(seat.stance), one_line(seat.note)
    return tag(
        "li",
        None,
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(seat.name))),
        join(" ", _chip(seat.tone, stance)) if stance else None,
        join(" ", tag("span", {"class": "note sans", "dir": "auto"}, note)) if note else None,
    )


def _flow(steps: tuple[Step, ...]) -> Markup:
    last = len(steps)
    return _list("flow", [_step(step, place, last) for place, step in enumerate(steps, 1)])


def _step(step: Step, place: int, last: int) -> Markup:
    arrow = tag(
        "svg",
        {"class": "arrow", "viewBox": "0 0 20 12", "aria-hidden": "true"},
        tag("path", {"d": "M1,6H18M13.5,1.5L18,6L13.5,10.5"}),
    )
    text, ref = one_line(step.text), one_line(step.ref)
    return tag(
        "li",
        {"class": None if step.done else "ahead"},
        tag("div", {"class": "step meta"}, f"Step {place}", _state(step)),
        tag("strong", {"class": "author sans"}, tag("bdi", None, one_line(step.label))),
        tag("p", {"class": "body", "dir": "auto"}, text) if text else None,
        tag("p", {"class": "meta"}, tag("code", None, ref)) if ref else None,
        arrow if place < last else None,
    )


def _state(step: Step) -> Child:
    if not step.done:
        return tag("span", None, NOT_YET)
    if step.tone == "plain":
        return None
    return _sign("chip", step.tone)


def _graph(graph: Graph, name: str) -> Markup:
    if not graph.nodes:
        return _nothing(NOTHING_RECORDED)
    words = tag("details", None, tag("summary", None, "In words"), _table(graph_table(graph)))
    return join(graph_figure(graph, name), words)


def _findings(items: tuple[FindingRow, ...]) -> Markup:
    if not items:
        return _nothing(NO_FINDINGS)
    return _list("findings", [_finding(item) for item in items])


def _finding(item: FindingRow) -> Markup:
    place = " · ".join(filter(None, (one_line(item.rule), one_line(item.where))))
    words = tag(
        "div",
        None,
        *text_paragraphs(item.message, "text"),
        optional_line("meta", place),
        optional_line("meta", f"What to do: {item.hint}" if one_line(item.hint) else ""),
    )
    return tag("li", None, _chip(SEVERITY_TONES[item.severity], item.severity), words)


def _list(look: str, items: list[Markup]) -> Markup:
    return tag("ol", {"class": look}, *items) if items else _nothing(NOTHING_RECORDED)


def _chip(tone: Tone, text: str) -> Markup:
    look = "neutral" if tone == "plain" else tone
    return tag("span", {"class": f"chip {look}", "dir": "auto"}, *signed(tone, text))


def _sign(look: str, tone: Tone) -> Markup:
    """A sign that stands alone, with its meaning in words for those who hear the page."""
    said: Attributes = {"role": "img", "aria-label": tone}
    unsaid: Attributes = {"aria-hidden": "true"}
    attributes = {"class": f"{look} {tone}", **(unsaid if tone == "plain" else said)}
    return tag("span", attributes, SIGNS[tone])


def signed(tone: Tone, text: str) -> tuple[Child, Child]:
    """A text behind the sign of its tone."""
    sign = SIGNS[tone]
    mark = tag("span", {"class": "sign", "aria-hidden": "true"}, sign) if sign else None
    return mark, tag("bdi", None, one_line(text))


def optional_line(look: str, text: str) -> Markup | None:
    """A single line, or nothing at all."""
    words = one_line(text)
    return tag("p", {"class": look, "dir": "auto"}, words) if words else None


def _nothing(words: str) -> Markup:
    return tag("p", {"class": "empty"}, words)
