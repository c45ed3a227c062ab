"""The nouns of a page: plain frozen data that says what is shown, never how it looks.

Every text is plain text unless `markdown` says that a participant may have used
markdown: then the page sets it, with HTML off. What cannot be drawn honestly
(a number off its axis, a row of the wrong width, a digest that is none) cannot be built: the
constructors raise `ValueError`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from msgspec import Struct

Tone = Literal["plain", "good", "bad", "caution", "neutral"]
Severity = Literal["error", "warning", "info"]

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOST_DIGITS = 40
_MOST_SEATS = 200


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ValueError(sentence)


def _require_number(value: Decimal, low: Decimal, high: Decimal, what: str) -> None:
    _require(value.is_finite(), f"{what} must be a finite number")
    exponent = value.as_tuple().exponent
    # A tiny or huge exponent is cheap to write and very expensive to draw.
    small = isinstance(exponent, int) and -_MOST_DIGITS <= exponent <= _MOST_DIGITS
    _require(small, f"{what} has too many digits")
    _require(low <= value <= high, f"{what} {value} lies outside {low} to {high}")


class VerdictBadge(Struct, frozen=True):
    """The badge: one or two words, and a short note beside them."""

    label: str
    tone: Tone = "neutral"
    note: str = ""


class Fact(Struct, frozen=True):
    """A name and its value; `code` sets identifiers and digests in fixed width."""

    label: str
    value: str
    code: bool = False


class Quote(Struct, frozen=True, tag_field="kind", tag="quote"):
    """What an agent said, in full: its stance, a note on it (confidence, round), its evidence.

    `tool` is by which program or model it was played.
    """

    author: str
    text: str
    stance: str = ""
    tone: Tone = "plain"
    note: str = ""
    refs: tuple[str, ...] = ()
    title: str = ""
    tool: str = ""
    markdown: bool = False


class DecisionCard(Struct, frozen=True):
    """What was decided, with the few facts that carry it, and the reasons for it in full.

    `details` are for those who look things up: ids and hashes, which the page folds.
    """

    statement: str
    facts: tuple[Fact, ...] = ()
    heading: str = "Decision"
    reasons: tuple[Quote, ...] = ()
    reasons_heading: str = "Why"
    details: tuple[Fact, ...] = ()
    markdown: bool = False


class Dissent(Struct, frozen=True):
    """Who disagreed, in full; with no voices the note says why there are none."""

    voices: tuple[Quote, ...] = ()
    note: str = ""
    heading: str = "Dissent"


class Prose(Struct, frozen=True, tag_field="kind", tag="prose"):
    """Paragraphs, divided by blank lines."""

    text: str
    title: str = ""
    markdown: bool = False


class Facts(Struct, frozen=True, tag_field="kind", tag="facts"):
    """Names and values."""

    items: tuple[Fact, ...]
    title: str = ""


class Cell(Struct, frozen=True):
    """A table cell with more than text: a tone makes it a chip, the note stands beside it.

    `file_name` is the page in the same folder that the text leads to.
    """

    text: str
    tone: Tone = "plain"
    note: str = ""
    code: bool = False
    file_name: str = ""


class Table(Struct, frozen=True, tag_field="kind", tag="table"):
    """Rows under column headings; the first cell of a row is its heading.

    A `folded` one is for those who look things up: the page shows its title, and opens it.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    title: str = ""
    caption: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        _require(bool(self.columns), "a table needs at least one column")
        widths = {len(row) for row in self.rows}
        _require(widths <= {len(self.columns)}, "every row needs one cell for each column")


class TimelineEntry(Struct, frozen=True):
    """One event: when (as recorded), who, what, and optionally more."""

    at: str
    who: str
    what: str
    detail: str = ""
    ref: str = ""
    tone: Tone = "plain"
    markdown: bool = False


class Timeline(Struct, frozen=True, tag_field="kind", tag="timeline"):
    """Events in the order given."""

    moments: tuple[TimelineEntry, ...]
    title: str = ""


class ChartThreshold(Struct, frozen=True):
    """A line across a chart: the threshold to reach, the votes needed."""

    value: Decimal
    label: str


class Point(Struct, frozen=True):
    """A value at a round. Hollow says "not in favour": a sure `no` must not look like a `yes`."""

    x: int
    y: Decimal
    note: str = ""
    hollow: bool = False


class Series(Struct, frozen=True):
    """One agent's points, rounds ascending; `strong` is for the line the chart is about."""

    name: str
    points: tuple[Point, ...]
    strong: bool = False

    def __post_init__(self) -> None:
        rounds = [point.x for point in self.points]
        _require(rounds == sorted(set(rounds)), "the points of a series must ascend")


class LineChart(Struct, frozen=True, tag_field="kind", tag="line_chart"):
    """Values over rounds against a threshold. A round without a point stays a gap.

    `low_means` and `high_means` say in words what the ends of the axis stand for.
    """

    series: tuple[Series, ...]
    threshold: ChartThreshold | None = None
    x_label: str = "Round"
    y_label: str = "Confidence"
    hollow_means: str = "not in favour"
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(1)
    title: str = ""
    caption: str = ""
    low_means: str = ""
    high_means: str = ""

    def __post_init__(self) -> None:
        limit = Decimal(10**9)
        _require_number(self.low, -limit, limit, "the lower end of the axis")
        _require_number(self.high, -limit, limit, "the upper end of the axis")
        _require(self.low < self.high, "the axis needs a lower and a higher end")
        for point in (point for line in self.series for point in line.points):
            _require_number(point.y, self.low, self.high, "a point")
        if self.threshold is not None:
            _require_number(self.threshold.value, self.low, self.high, "the threshold")


class Bar(Struct, frozen=True):
    """One count, with who stands behind it."""

    label: str
    value: Decimal
    tone: Tone = "plain"
    note: str = ""


class BarChart(Struct, frozen=True, tag_field="kind", tag="bar_chart"):
    """Counts side by side, out of `full` (all seats), against what was needed."""

    bars: tuple[Bar, ...]
    full: Decimal
    needed: ChartThreshold | None = None
    title: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        _require_number(self.full, Decimal(0), Decimal(10**9), "the full length")
        for bar in self.bars:
            _require_number(bar.value, Decimal(0), self.full, "a bar")
        if self.needed is not None:
            _require_number(self.needed.value, Decimal(0), self.full, "the mark")


class ChamberSeat(Struct, frozen=True):
    """One seat of a chamber: who sits there, how they stand, and a note on it."""

    name: str
    tone: Tone = "plain"
    stance: str = ""
    note: str = ""


class Chamber(Struct, frozen=True, tag_field="kind", tag="chamber"):
    """Seats in a half circle, in the order given; `centre` is what stands before them."""

    seats: tuple[ChamberSeat, ...]
    centre: str = ""
    title: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        _require(len(self.seats) <= _MOST_SEATS, f"a chamber holds at most {_MOST_SEATS} seats")


class FlowStep(Struct, frozen=True):
    """A box on the path of a decision; not `done` means it is still ahead."""

    label: str
    text: str = ""
    ref: str = ""
    tone: Tone = "plain"
    done: bool = True


class Flow(Struct, frozen=True, tag_field="kind", tag="flow"):
    """The path of a decision: boxes joined by arrows, in order."""

    steps: tuple[FlowStep, ...]
    title: str = ""
    caption: str = ""


class Node(Struct, frozen=True):
    """A box of a graph, in one of its columns (counted from 0)."""

    column: int
    label: str
    text: str = ""
    ref: str = ""
    tone: Tone = "plain"


class Graph(Struct, frozen=True, tag_field="kind", tag="graph"):
    """What rests on what: boxes in columns, joined by their places, left to right."""

    columns: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...] = ()
    title: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.columns), "a graph needs at least one column")
        columns, places = range(len(self.columns)), range(len(self.nodes))
        _require(all(node.column in columns for node in self.nodes), "a box needs a column")
        for first, second in self.edges:
            _require(first in places and second in places, "a line joins two boxes")
            to_the_right = self.nodes[first].column < self.nodes[second].column
            _require(to_the_right, "a line leads to the right")


class FindingRow(Struct, frozen=True):
    """One finding as people read it: how bad, which rule, what, where, and what to do."""

    severity: Severity
    message: str
    rule: str = ""
    where: str = ""
    hint: str = ""


class Findings(Struct, frozen=True, tag_field="kind", tag="findings"):
    """Findings in the order given; none is a result too and is said."""

    items: tuple[FindingRow, ...]
    title: str = ""


class Interval(Struct, frozen=True):
    """A value and where the true one lies, 19 times in 20; with dots beside it, or a note."""

    label: str
    value: Decimal
    low: Decimal
    high: Decimal
    note: str = ""


class IntervalChart(Struct, frozen=True, tag_field="kind", tag="interval_chart"):
    """Values with their uncertainty on one axis; `mark` is what they are held against."""

    intervals: tuple[Interval, ...]
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(1)
    mark: ChartThreshold | None = None
    title: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        _require(self.low < self.high, "the axis needs a lower and a higher end")
        for each in self.intervals:
            for value in (each.low, each.value, each.high):
                _require_number(value, self.low, self.high, "an interval")
            _require(each.low <= each.value <= each.high, "a value lies in its interval")
        if self.mark is not None:
            _require_number(self.mark.value, self.low, self.high, "the mark")


class Fold(Struct, frozen=True, tag_field="kind", tag="fold"):
    """Blocks for those who want to know exactly: the page shows the title, and opens it."""

    blocks: tuple[Block, ...]
    title: str = ""


class ProofFile(Struct, frozen=True):
    """The file beside the page that proves it, its SHA-256, and the command that checks it."""

    file_name: str
    sha256: str
    command: str

    def __post_init__(self) -> None:
        _require(bool(_SHA256.fullmatch(self.sha256)), "a SHA-256 is 64 lower-case hex digits")


Block = (
    Prose
    | Facts
    | Table
    | Timeline
    | Quote
    | LineChart
    | BarChart
    | Chamber
    | Flow
    | Graph
    | Findings
    | IntervalChart
    | Fold
)


class PageLink(Struct, frozen=True):
    """Another page in the same folder, and what it tells."""

    label: str
    file_name: str


class Report(Struct, frozen=True, kw_only=True, tag_field="format", tag="moot-report-1"):
    """A page. Decision and dissent have no default: the caller must give both.

    `dissent` is None only where nobody could disagree, and `proof` only where no file was written:
    then `how_to_prove` says what to do about it.
    """

    kind: str
    title: str
    subtitle: str = ""
    verdict: VerdictBadge
    decision: DecisionCard
    dissent: Dissent | None
    blocks: tuple[Block, ...] = ()
    proof: ProofFile | None
    how_to_prove: str = ""
    links: tuple[PageLink, ...] = ()
