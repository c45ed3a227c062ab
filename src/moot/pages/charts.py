"""Bars for counts: votes for, against and missing, against what was needed.

The rows are HTML, so that long labels wrap; only the bars themselves are SVG. A bar is told apart
by its label and its number, and bars that are not in favour are drawn hollow.
"""

from decimal import Decimal
from fractions import Fraction
from math import ceil, cos, pi, sin
from typing import Final

from moot.pages.markup import Attributes, Markup, join_markup, tag, with_tone_sign
from moot.pages.model import (
    Bar,
    BarChart,
    Chamber,
    ChamberSeat,
    Graph,
    Interval,
    IntervalChart,
    Node,
)
from moot.pages.text import SCROLL_HINT, format_number, one_line, shorten


def bar_figure(chart: BarChart) -> Markup:
    """A row for each bar: label, bar, value, and who stands behind it."""
    if not chart.bars:
        return tag("p", {"class": "empty"}, "Nothing has been counted yet.")
    needed = chart.needed
    words = f"{one_line(needed.label)}: {format_number(needed.value)}" if needed else None
    return tag(
        "figure",
        {"class": "bars"},
        *(_bar_row(chart, bar) for bar in chart.bars),
        tag("figcaption", {"class": "meta"}, f"┆ {words}") if words else None,
    )


def _bar_row(chart: BarChart, bar: Bar) -> Markup:
    return tag(
        "div",
        {"class": "row"},
        tag("span", {"dir": "auto"}, one_line(bar.label)),
        _bar(chart, bar),
        tag("span", {"class": "value num"}, format_number(bar.value)),
        tag("span", {"class": "who meta", "dir": "auto"}, one_line(bar.note)) if bar.note else None,
    )


def _bar(chart: BarChart, bar: Bar) -> Markup:
    box = {"y": 3, "height": 18, "rx": 2}
    length = _bar_share(bar.value, chart.full)
    needed = _bar_share(chart.needed.value, chart.full) if chart.needed else ""
    words = f"{one_line(bar.label)}: {format_number(bar.value)} of {format_number(chart.full)}"
    return tag(
        "svg",
        {"role": "img"},
        tag("title", None, words),
        tag("rect", {"class": "track", **box, "width": "100%"}),
        tag("rect", {"class": f"bar b-{bar.tone}", **box, "width": length}) if bar.value else None,
        tag("line", {"class": "needed", "x1": needed, "x2": needed, "y1": -3, "y2": 27})
        if needed
        else None,
    )


def _bar_share(value: Decimal, full: Decimal) -> str:
    return f"{float(100 * Fraction(value) / Fraction(full)):.3f}%" if full else "0.000%"


# Values with their uncertainty, one row each, on a shared axis. The rows are HTML, so that long
# names wrap. The numbers are next to the drawing, so nothing is told by place alone.


def interval_figure(chart: IntervalChart) -> Markup:
    if not chart.intervals:
        return tag("p", {"class": "empty"}, "Nothing has been counted yet.")
    mark = chart.mark
    words = f"┆ {one_line(mark.label)}: {format_number(mark.value)}" if mark else ""
    ends = f"The axis runs from {format_number(chart.low)} to {format_number(chart.high)}."
    return tag(
        "figure",
        {"class": "bars intervals"},
        *(_row(chart, each) for each in chart.intervals),
        tag("figcaption", {"class": "meta"}, " ".join(filter(None, (words, ends)))),
    )


def describe_interval(each: Interval) -> str:
    """`0.180 (0.1 to 0.3)`."""
    low, high = format_number(each.low), format_number(each.high)
    return f"{format_number(each.value)} ({low} to {high})"


def _row(chart: IntervalChart, each: Interval) -> Markup:
    note = one_line(each.note)
    return tag(
        "div",
        {"class": "row"},
        tag("span", {"dir": "auto"}, one_line(each.label)),
        _drawing(chart, each),
        tag("span", {"class": "value num"}, format_number(each.value)),
        tag("span", {"class": "who meta", "dir": "auto"}, _range(each), note and f" · {note}"),
    )


def _range(each: Interval) -> str:
    return f"{format_number(each.low)} to {format_number(each.high)}"


def _drawing(chart: IntervalChart, each: Interval) -> Markup:
    at = _axis_share(chart, each.value)
    mark = chart.mark
    needed = _axis_share(chart, mark.value) if mark else ""
    ends: Attributes = {
        "x1": _axis_share(chart, each.low),
        "x2": _axis_share(chart, each.high),
        "y1": 12,
        "y2": 12,
    }
    return tag(
        "svg",
        {"role": "img"},
        tag("title", None, f"{one_line(each.label)}: {describe_interval(each)}"),
        tag("rect", {"class": "track", "y": 11, "height": 2, "width": "100%"}),
        tag("line", {"class": "whisker", **ends}),
        tag("line", {"class": "value-mark", "x1": at, "x2": at, "y1": 4, "y2": 20}),
        tag("line", {"class": "needed", "x1": needed, "x2": needed, "y1": -3, "y2": 27})
        if needed
        else None,
    )


def _axis_share(chart: IntervalChart, value: Decimal) -> str:
    low, high = Fraction(chart.low), Fraction(chart.high)
    return f"{float(100 * (Fraction(value) - low) / (high - low)):.3f}%"


# A chamber as inline SVG: seats on arcs of a half circle, numbered from the left. The roll explains
# the numbers; colour only repeats what the roll says.

_WIDTH, _HEIGHT = 400, 222
_OUTER: Final = 180.0
_INNER: Final = 78.0
_MOST_IN_ONE_ROW: Final = 11
_FEW_SEATS: Final = 5


def seats_drawing(chamber: Chamber, name: str) -> Markup:
    """The half circle; `name` makes the ids of this picture unique on the page."""
    places = seat_places(len(chamber.seats))
    outer, radius = _outer_radius(len(chamber.seats)), _seat_radius(len(chamber.seats))
    drawn = zip(chamber.seats, places, range(1, len(places) + 1), strict=True)
    return tag(
        "svg",
        {
            "viewBox": f"0 {_OUTER - outer:.0f} {_WIDTH} {_HEIGHT - _OUTER + outer:.0f}",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
        },
        tag("title", {"id": f"{name}-title"}, one_line(chamber.title) or "Chamber"),
        tag("desc", {"id": f"{name}-desc"}, describe_chamber(chamber)),
        *(_seat(seat, place, number, radius) for seat, place, number in drawn),
        tag(
            "text",
            {"class": "centre", "x": _WIDTH // 2, "y": _HEIGHT - 14, "text-anchor": "middle"},
            shorten(chamber.centre, 24),
        ),
    )


def describe_chamber(chamber: Chamber) -> str:
    """The picture in words, for those who do not see it."""
    return "; ".join(
        f"{number}: {one_line(seat.name)} {one_line(seat.stance)}".strip()
        for number, seat in enumerate(chamber.seats, 1)
    )


def seat_places(count: int) -> list[tuple[float, float]]:
    """Where each seat's middle lies: row by row from the outside, each from left to right."""
    rows = _row_count(count)
    outer = _outer_radius(count)
    lengths = _seats_per_row(count, [_row_radius(row, rows, outer) for row in range(rows)])
    return [
        _seat_place(_row_radius(row, rows, outer), number, length)
        for row, length in enumerate(lengths)
        for number in range(length)
    ]


def _outer_radius(count: int) -> float:
    """A few seats sit closer together."""
    return min(_OUTER, 40.0 + 20 * count)


def _row_count(count: int) -> int:
    rows = 1
    while count > _MOST_IN_ONE_ROW * rows * (rows + 1) // 2 + (rows - 1) * _MOST_IN_ONE_ROW // 2:
        rows += 1
    return rows


def _row_radius(row: int, rows: int, outer: float) -> float:
    return outer - (outer - _INNER) * row / max(rows - 1, 1)


def _seats_per_row(count: int, arcs: list[float]) -> list[int]:
    """Seats for each row, by its length; what rounding leaves over goes to the outside."""
    whole = sum(Fraction(arc) for arc in arcs)
    shares = [int(count * Fraction(arc) / whole) for arc in arcs]
    for row in range(count - sum(shares)):
        shares[row % len(shares)] += 1
    return shares


def _seat_place(arc: float, number: int, length: int) -> tuple[float, float]:
    # A few seats take a part of the half circle: at its ends there would be nobody between them.
    part = (length + 1) / (length + 3) if length <= _FEW_SEATS else 1.0
    angle = pi / 2 if length == 1 else pi * ((1 - part) / 2 + part * number / (length - 1))
    return _WIDTH / 2 - arc * cos(angle), _HEIGHT - 24 - arc * sin(angle)


def _seat_radius(count: int) -> float:
    """As large as the fullest row allows."""
    rows, outer = _row_count(count), _outer_radius(count)
    most = ceil(count * outer / sum(_row_radius(row, rows, outer) for row in range(rows)))
    return min(17.0, pi * outer / max(most, 2) / 2.4)


def _seat(seat: ChamberSeat, place: tuple[float, float], number: int, radius: float) -> Markup:
    x, y = place
    r = f"{radius:.2f}"
    words = f"{number}: {one_line(seat.name)} {one_line(seat.stance)}".strip()
    return tag(
        "g",
        {"class": f"s-{seat.tone}", "transform": f"translate({x:.2f} {y:.2f})"},
        tag("title", None, words),
        tag("path", {"d": f"M-{r},0A{r},{r} 0 1 1 {r},0A{r},{r} 0 1 1 -{r},0Z"}),
        tag("text", {"x": 0, "y": "4.2", "text-anchor": "middle"}, str(number)),
    )


# What rests on what: boxes in columns (HTML, so that their text wraps), lines (SVG) under them.
# Across, places are percentages; down, they are in `rem`. A box tells its tone by a sign, never by
# colour alone.

# These four are in the stylesheet too: `.column`, `.column .meta` and `.node`.
COLUMN_GAP_PERCENT: Final = 7  # between two columns, in per cent
HEADING_HEIGHT_REM: Final = 1.75
BOX_HEIGHT_REM: Final = 4.0
ROW_GAP_REM: Final = 0.75


def graph_figure(graph: Graph) -> Markup:
    """The picture, in a frame that scrolls where there is no room for it."""
    rows = _row_of_each_node(graph)
    lines = tag(
        "svg",
        {"class": "edges", "aria-hidden": "true"},
        *(_edge_line(graph, rows, edge) for edge in graph.edges),
    )
    columns = (_column(graph, place) for place in range(len(graph.columns)))
    reach: Attributes = {
        "role": "group",
        "tabindex": 0,
        "aria-label": one_line(graph.title) or "Graph",
    }
    hint = tag("p", {"class": "meta sideways phone"}, SCROLL_HINT)
    figure = tag("figure", {"class": "graph"}, lines, *columns)
    return join_markup(hint, tag("div", {"class": "scroll", **reach}, figure))


def _row_of_each_node(graph: Graph) -> list[int]:
    """The place of each box in its column, counted from 0."""
    filled = [0] * len(graph.columns)
    rows = []
    for node in graph.nodes:
        rows.append(filled[node.column])
        filled[node.column] += 1
    return rows


def _column(graph: Graph, place: int) -> Markup:
    heading = tag("p", {"class": "meta", "dir": "auto"}, one_line(graph.columns[place]))
    boxes = (_box(node) for node in graph.nodes if node.column == place)
    return tag("div", {"class": "column"}, heading, *boxes)


def _box(node: Node) -> Markup:
    label, text = one_line(node.label), one_line(node.text)
    return tag(
        "div",
        {"class": f"node n-{node.tone}", "title": f"{label} {text}".strip()},
        tag("strong", {"class": "name"}, *with_tone_sign(node.tone, label)),
        tag("p", {"class": "about", "dir": "auto"}, text),
    )


def _edge_line(graph: Graph, rows: list[int], edge: tuple[int, int]) -> Markup:
    first, second = edge
    width = (100 - COLUMN_GAP_PERCENT * (len(graph.columns) - 1)) / len(graph.columns)
    step = width + COLUMN_GAP_PERCENT
    return tag(
        "line",
        {
            "class": "edge",
            "x1": f"{step * graph.nodes[first].column + width:.3f}%",
            "x2": f"{step * graph.nodes[second].column:.3f}%",
            "y1": _middle_of_row(rows[first]),
            "y2": _middle_of_row(rows[second]),
        },
    )


def _middle_of_row(row: int) -> str:
    return (
        f"{HEADING_HEIGHT_REM + (BOX_HEIGHT_REM + ROW_GAP_REM) * row + BOX_HEIGHT_REM / 2:.3f}rem"
    )
