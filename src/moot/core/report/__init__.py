"""One report model and one template for every page: debate, parliament, trace, receipt, verdict.

A page is data (`model`): what was decided, who disagreed, then blocks in order. Three pure
renderers turn the same data into HTML, markdown and JSON. Nothing here reads a clock, a file or
the ledger, and nothing here proves anything: the page names the file that does.
"""

from moot.core.report.model import (
    Bar,
    BarChart,
    Block,
    Cell,
    Decision,
    Dissent,
    Fact,
    Facts,
    FindingRow,
    Findings,
    Flow,
    LineChart,
    Mark,
    Moment,
    Point,
    Proof,
    Prose,
    Quote,
    Report,
    Series,
    Severity,
    Step,
    Table,
    Timeline,
    Tone,
    Verdict,
)
from moot.core.report.page import to_html
from moot.core.report.plain import to_json, to_markdown

__all__ = [
    "Bar",
    "BarChart",
    "Block",
    "Cell",
    "Decision",
    "Dissent",
    "Fact",
    "Facts",
    "FindingRow",
    "Findings",
    "Flow",
    "LineChart",
    "Mark",
    "Moment",
    "Point",
    "Proof",
    "Prose",
    "Quote",
    "Report",
    "Series",
    "Severity",
    "Step",
    "Table",
    "Timeline",
    "Tone",
    "Verdict",
    "to_html",
    "to_json",
    "to_markdown",
]
