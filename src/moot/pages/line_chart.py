"""A line chart as inline SVG that keeps its letters readable at every width.

Horizontal places are percentages and vertical ones pixels, so a phone narrows the plot and not the
text. A line is told apart by colour, dash, marker and a number at its end; the legend and the
table of numbers carry the full names. Pure drawing: what a value means is said by the caller.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from moot.pages.markup import NOTHING, Attributes, Markup, join_markup, tag
from moot.pages.model import ChartThreshold, LineChart, Point, Series
from moot.pages.style import SERIES_COLOURS
from moot.pages.text import EXACT_DECIMALS, format_number, one_line, rounds_with_points, shorten

# Seven shapes and five dashes have no common divisor: 35 lines before a pair comes again.
MARKERS: Final = (
    "M-4,0A4,4 0 1 1 4,0A4,4 0 1 1 -4,0Z",
    "M-3.7,-3.7H3.7V3.7H-3.7Z",
    "M0,-5L4.6,3.4H-4.6Z",
    "M0,-5.2L5.2,0L0,5.2L-5.2,0Z",
    "M0,5L4.6,-3.4H-4.6Z",
    "M-1.8,-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5V-1.8H-1.8Z",
    "M-5.5,-2.3H5.5V2.3H-5.5Z",
)
DASHES: Final = (None, "9 5", "2 4", "12 4 2 4", "5 3")

_LEAST_HEIGHT: Final = 220
_LABEL_HEIGHT: Final = 16
_MOST_X_TICKS: Final = 12
_INSET: Final = 4
_MARKER_WIDTH: Final = 9


def line_figure(chart: LineChart, name: str) -> Markup:
    """The plot and its legend; `name` makes the ids of this figure unique on the page."""
    return tag(
        "figure",
        {"class": "chart"},
        tag("div", {"class": "plot"}, _Plot(chart).svg(name)),
        _legend(chart),
    )


class _Plot:
    """One line chart's geometry: from rounds and values to places."""

    def __init__(self, chart: LineChart) -> None:
        self.chart = chart
        self.rounds = rounds_with_points(chart)
        self.height = max(_LEAST_HEIGHT, _LABEL_HEIGHT * (len(chart.series) + 1))
        self.beside = _marker_offsets(chart)

    def svg(self, name: str) -> Markup:
        labels = {"aria-labelledby": f"{name}-title {name}-desc", "role": "img"}
        return tag(
            "svg",
            {**labels, "height": self.height},
            tag("title", {"id": f"{name}-title"}, one_line(self.chart.title) or "Line chart"),
            tag("desc", {"id": f"{name}-desc"}, describe_line_chart(self.chart)),
            self._axes(),
            self._threshold(),
            *(self._series(index, line) for index, line in enumerate(self.chart.series)),
            self._end_labels(),
        )

    def x(self, at: int) -> str:
        first, last = self.rounds[0], self.rounds[-1]
        share = Fraction(at - first, last - first) if last > first else Fraction(1, 2)
        return f"{float(_INSET + share * (100 - 2 * _INSET)):.3f}%"

    def y(self, value: Decimal) -> float:
        low, high = Fraction(self.chart.low), Fraction(self.chart.high)
        return float(self.height * (high - Fraction(value)) / (high - low))

    def _axes(self) -> Markup:
        step = -(-len(self.rounds) // _MOST_X_TICKS)
        return join_markup(
            *(self._y_tick(quarter) for quarter in range(5)),
            *(self._x_tick(at) for at in self.rounds[::step]),
            *self._ends_in_words(),
            _text("50%", str(self.height + 38), "middle", shorten(self.chart.x_label, 28)),
        )

    def _y_tick(self, quarter: int) -> Markup:
        whole = EXACT_DECIMALS.subtract(self.chart.high, self.chart.low)
        part = EXACT_DECIMALS.divide(EXACT_DECIMALS.multiply(whole, Decimal(quarter)), Decimal(4))
        value = EXACT_DECIMALS.add(self.chart.low, part)
        at = _px(self.y(value))
        within = self.chart.low < 0 < self.chart.high
        rule = {
            "class": "grid zero" if within and not value else "grid",
            "x1": "0",
            "x2": "100%",
            "y1": at,
            "y2": at,
        }
        return join_markup(
            tag("line", rule),
            _text("-9", _px(self.y(value) + 4), "end", _without_idle_zeros(value)),
        )

    def _ends_in_words(self) -> list[Markup]:
        """What the upper and the lower end of the axis stand for, above it and below it."""
        above = ": ".join(filter(None, (self.chart.y_label, self.chart.high_means)))
        ends = ((above, -16), (self.chart.low_means, self.height + 38))
        return [_text("-34", str(at), "start", shorten(words, 28)) for words, at in ends if words]

    def _x_tick(self, at: int) -> Markup:
        return _text(self.x(at), str(self.height + 20), "middle", str(at))

    def _threshold(self) -> Markup:
        if self.chart.threshold is None:
            return NOTHING
        at = _px(self.y(self.chart.threshold.value))
        return tag("line", {"class": "threshold", "x1": "0", "x2": "100%", "y1": at, "y2": at})

    def _series(self, index: int, line: Series) -> Markup:
        return tag(
            "g",
            {"class": _look(index, line)},
            *self._segments(index, line),
            *(self._marker(index, line, point) for point in line.points),
        )

    def _segments(self, index: int, line: Series) -> list[Markup]:
        # Only neighbouring rounds are joined: silence is a gap, not a straight line.
        order = {at: place for place, at in enumerate(self.rounds)}
        pairs = zip(line.points, line.points[1:], strict=False)
        near = [(a, b) for a, b in pairs if order[b.x] - order[a.x] == 1]
        return [self._segment(a, b, _dash(index, line)) for a, b in near]

    def _segment(self, start: Point, end: Point, dash: str | None) -> Markup:
        ends = {"x1": self.x(start.x), "y1": _px(self.y(start.y))}
        return tag(
            "line",
            {
                "class": "line",
                **ends,
                "x2": self.x(end.x),
                "y2": _px(self.y(end.y)),
                "stroke-dasharray": dash,
            },
        )

    def _marker(self, index: int, line: Series, point: Point) -> Markup:
        where = {"x": self.x(point.x), "y": _px(self.y(point.y)), "overflow": "visible"}
        look = _look(index, line) + (" hollow" if point.hollow else "")
        words = (
            line.name,
            f"{one_line(self.chart.x_label)} {point.x}",
            format_number(point.y),
            point.note,
        )
        return tag(
            "svg",
            {**where, "class": look, "width": 1, "height": 1},
            tag("title", None, " · ".join(one_line(word) for word in words if word)),
            tag(
                "path",
                {
                    "class": "marker",
                    "transform": self.beside.get((index, point.x)),
                    "d": MARKERS[index % len(MARKERS)],
                },
            ),
        )

    def _end_labels(self) -> Markup:
        named = [
            (self.y(line.points[-1].y), _key(index), line.name)
            for index, line in enumerate(self.chart.series)
            if line.points
        ]
        mark = self.chart.threshold
        if mark is not None:
            named.append((self.y(mark.value), format_number(mark.value), mark.label))
        named.sort(key=lambda item: item[0])
        places = spread_apart([at for at, _, _ in named], _LABEL_HEIGHT - 1, self.height)
        drawn = [
            _end_label(at, place, key, name)
            for (at, key, name), place in zip(named, places, strict=True)
        ]
        return tag("svg", {"x": "100%", "overflow": "visible", "width": 1, "height": 1}, *drawn)


def _marker_offsets(chart: LineChart) -> dict[tuple[int, int], str]:
    """How far each marker moves, by its line and round, so that none hides another."""
    shared: dict[tuple[int, Decimal], list[int]] = {}
    for index, line in enumerate(chart.series):
        for point in line.points:
            shared.setdefault((point.x, point.y), []).append(index)
    return {
        (index, at): f"translate({_without_idle_zeros(_offset(place, len(lines)))} 0)"
        for (at, _), lines in shared.items()
        if len(lines) > 1
        for place, index in enumerate(lines)
    }


def _offset(place: int, count: int) -> Decimal:
    return EXACT_DECIMALS.divide(Decimal(_MARKER_WIDTH * (2 * place - count + 1)), Decimal(2))


def spread_apart(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Ascending places moved as little as needed to lie `gap` apart and inside the height."""
    placed: list[float] = []
    for at in wanted:
        placed.append(max(at, placed[-1] + gap) if placed else at)
    limit = height
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return placed


def describe_line_chart(chart: LineChart) -> str:
    """The chart in words, for those who do not see it."""
    lines = [
        f"{one_line(line.name)}: "
        + (
            ", ".join(
                f"{point.x}: {format_number(point.y)} {one_line(point.note)}".strip()
                for point in line.points
            )
            or "no values"
        )
        for line in chart.series
    ]
    mark = chart.threshold
    last = [f"{one_line(mark.label)}: {format_number(mark.value)}"] if mark else []
    return "; ".join(lines + last)


def _end_label(at: float, place: float, key: str, name: str) -> Markup:
    leader: Attributes = {"class": "leader", "x1": 3, "y1": _px(at), "x2": 11, "y2": _px(place)}
    return join_markup(
        tag("line", leader),
        tag(
            "text",
            {"class": "end", "x": 15, "y": _px(place + 4)},
            key,
            tag("tspan", {"class": "name"}, " " + shorten(name, 17)),
        ),
    )


def _legend(chart: LineChart) -> Markup:
    hollow = any(point.hollow for line in chart.series for point in line.points)
    means = f"A hollow marker means: {one_line(chart.hollow_means)}."
    return tag(
        "ol",
        {"class": "legend"},
        *(_legend_item(index, line) for index, line in enumerate(chart.series)),
        _legend_mark(chart.threshold) if chart.threshold else None,
        tag("li", {"class": "wide"}, means) if hollow else None,
    )


def _legend_item(index: int, line: Series) -> Markup:
    sample = tag(
        "svg",
        {"class": _look(index, line), "viewBox": "0 0 42 16", "aria-hidden": "true"},
        tag(
            "line",
            {
                "class": "line",
                "x1": 1,
                "y1": 8,
                "x2": 41,
                "y2": 8,
                "stroke-dasharray": _dash(index, line),
            },
        ),
        tag(
            "path",
            {"class": "marker", "transform": "translate(21 8)", "d": MARKERS[index % len(MARKERS)]},
        ),
    )
    last = format_number(line.points[-1].y) if line.points else "no values"
    return _legend_row(sample, _key(index), line.name, last)


def _legend_mark(mark: ChartThreshold) -> Markup:
    rule: Attributes = {"class": "threshold", "x1": 1, "y1": 8, "x2": 41, "y2": 8}
    sample = tag("svg", {"viewBox": "0 0 42 16", "aria-hidden": "true"}, tag("line", rule))
    return _legend_row(sample, "", mark.label, format_number(mark.value))


def _legend_row(sample: Markup, key: str, name: str, value: str) -> Markup:
    return tag(
        "li",
        None,
        sample,
        tag("span", {"class": "key"}, key),
        tag("bdi", None, one_line(name)),
        tag("span", None, value),
    )


def _look(index: int, line: Series) -> str:
    return "main strong" if line.strong else f"c{index % SERIES_COLOURS}"


def _dash(index: int, line: Series) -> str | None:
    return None if line.strong else DASHES[index % len(DASHES)]


def _key(index: int) -> str:
    return str(index + 1)


def _text(x: str, y: str, anchor: str, words: str) -> Markup:
    return tag("text", {"x": x, "y": y, "text-anchor": anchor}, words)


def _px(value: float) -> str:
    return f"{value:.2f}"


def _without_idle_zeros(value: Decimal) -> str:
    """A tick: no idle zeros."""
    words = format_number(value)
    return words.rstrip("0").rstrip(".") if "." in words else words
