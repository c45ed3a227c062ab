"""Values with their uncertainty, one row each, on a shared axis.

The rows are HTML, so that long names wrap; a row's drawing is SVG: a line from the lower to the
upper end, and a mark at the value. The numbers stand beside it, so nothing is told by place alone.
"""

from decimal import Decimal
from fractions import Fraction

from moot.pages.markup import Attributes, Markup, tag
from moot.pages.model import Interval, IntervalChart
from moot.pages.text import format_number, one_line


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
    at = _share(chart, each.value)
    mark = chart.mark
    needed = _share(chart, mark.value) if mark else ""
    ends: Attributes = {
        "x1": _share(chart, each.low),
        "x2": _share(chart, each.high),
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


def _share(chart: IntervalChart, value: Decimal) -> str:
    low, high = Fraction(chart.low), Fraction(chart.high)
    return f"{float(100 * (Fraction(value) - low) / (high - low)):.3f}%"
