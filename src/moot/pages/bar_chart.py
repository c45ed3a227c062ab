"""Bars for counts: votes for, against and missing, against what was needed.

The rows are HTML, so that long labels wrap; only the bars themselves are SVG. A bar is told apart
by its label and its number, and bars that are not in favour are drawn hollow.
"""

from decimal import Decimal
from fractions import Fraction

from moot.pages.markup import Markup, tag
from moot.pages.model import Bar, BarChart
from moot.pages.text import format_number, one_line


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
    length = _share(bar.value, chart.full)
    needed = _share(chart.needed.value, chart.full) if chart.needed else ""
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


def _share(value: Decimal, full: Decimal) -> str:
    return f"{float(100 * Fraction(value) / Fraction(full)):.3f}%" if full else "0.000%"
