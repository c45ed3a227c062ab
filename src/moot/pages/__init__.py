"""One report model and one template for every page: debate, parliament, trace, receipt, verdict.

    blocks.py             every kind of block as HTML, in the order of the model
    charts.py             bars, intervals, chambers and graphs as HTML and SVG
    html_page.py          the one template: a report as a single HTML file that needs nothing else
    line_chart.py         a line chart as inline SVG that is readable at every width
    markdown_and_json.py  the report as markdown for people, and as JSON for programs
    markup.py             the only way anything becomes HTML here: elements are built, never written
    model.py              the nouns of a page: frozen data that says what is shown, not how it looks
    style.py              two palettes and one stylesheet, for screen, phone and A4
    text.py               text and numbers as a reader sees them, whatever form the page takes

A page is data (`model`): what was decided, who disagreed, then blocks in order. Three pure
renderers turn the same data into HTML, markdown and JSON. Nothing here reads a clock, a file or
the ledger, and nothing here proves anything: the page names the file that does.
"""

from moot.pages.html_page import to_html
from moot.pages.markdown_and_json import to_json, to_markdown
from moot.pages.markup import plain_line
from moot.pages.model import (
    Bar,
    BarChart,
    Block,
    Cell,
    Chamber,
    ChamberSeat,
    ChartThreshold,
    DecisionCard,
    Dissent,
    Fact,
    Facts,
    FindingRow,
    Findings,
    Flow,
    FlowStep,
    Fold,
    Graph,
    Interval,
    IntervalChart,
    LineChart,
    Node,
    PageLink,
    Point,
    ProofFile,
    Prose,
    Quote,
    Report,
    Series,
    Severity,
    Table,
    Timeline,
    TimelineEntry,
    Tone,
    VerdictBadge,
)
from moot.pages.text import human_time

__all__ = [
    "Bar",
    "BarChart",
    "Block",
    "Cell",
    "Chamber",
    "ChamberSeat",
    "ChartThreshold",
    "DecisionCard",
    "Dissent",
    "Fact",
    "Facts",
    "FindingRow",
    "Findings",
    "Flow",
    "FlowStep",
    "Fold",
    "Graph",
    "Interval",
    "IntervalChart",
    "LineChart",
    "Node",
    "PageLink",
    "Point",
    "ProofFile",
    "Prose",
    "Quote",
    "Report",
    "Series",
    "Severity",
    "Table",
    "Timeline",
    "TimelineEntry",
    "Tone",
    "VerdictBadge",
    "human_time",
    "plain_line",
    "to_html",
    "to_json",
    "to_markdown",
]
