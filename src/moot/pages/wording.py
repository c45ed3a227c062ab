"""The page's own sentences, and the tables that stand in for charts.

Every form of the report says the same things in the same words; here they are said once.
"""

from typing import Final

from moot.pages.model import (
    Cell,
    Dissent,
    Graph,
    LineChart,
    ProofFile,
    Report,
    Severity,
    Table,
    Tone,
)
from moot.pages.text import format_number, one_line

UNTITLED: Final = "Untitled"
NO_DISSENT: Final = "No dissent was recorded."
NO_TEXT: Final = "No text was given."
NO_VALUES: Final = "No values have been recorded yet."
NOTHING_RECORDED: Final = "Nothing was recorded."
NO_FINDINGS: Final = "Checked; nothing to report."
NO_PROOF: Final = "This page is a rendering. No proof was written beside it."
PROVE_BY_EXPORT: Final = (
    "The record proves it: `moot ledger export -o record.moot` writes it, and anyone can check "
    "that file with `moot verify record.moot`."
)
SCROLL_HINT: Final = "Wider than the page: scroll it sideways."
NOT_YET: Final = "not yet"
MISSING_VALUE: Final = "—"
SIGNS: Final[dict[Tone, str]] = {
    "plain": "",
    "good": "✓",
    "bad": "✕",
    "caution": "!",
    "neutral": "○",
}
SEVERITY_TONES: Final[dict[Severity, Tone]] = {
    "error": "bad",
    "warning": "caution",
    "info": "neutral",
}


def proof_sentence(proof: ProofFile) -> str:
    """What the reader must know about every page we render."""
    kind = "JSON" if proof.file_name.endswith(".json") else "file"
    return f"This page is a rendering; the proof is the {kind} beside it."


def no_proof_sentence(report: Report) -> str:
    """That nothing here is proved, and what to do about it."""
    return f"{NO_PROOF} {one_line(report.how_to_prove) or PROVE_BY_EXPORT}"


def dissent_note(dissent: Dissent) -> str:
    """What stands under the heading besides the voices; never nothing."""
    return one_line(dissent.note) or ("" if dissent.voices else NO_DISSENT)


def rounds_with_points(chart: LineChart) -> list[int]:
    """Every round that has a point, ascending."""
    return sorted({point.x for line in chart.series for point in line.points})


def values_table(chart: LineChart) -> Table:
    """The numbers of a line chart: a row for each series, a column for each round."""
    all_rounds = rounds_with_points(chart)
    columns = ("Name", *(f"{one_line(chart.x_label)} {at}".strip() for at in all_rounds))
    rows: list[tuple[str | Cell, ...]] = []
    for line in chart.series:
        values = {point.x: Cell(format_number(point.y), note=point.note) for point in line.points}
        rows.append((line.name, *(values.get(at, MISSING_VALUE) for at in all_rounds)))
    return Table(columns=columns, rows=tuple(rows))


def graph_table(graph: Graph) -> Table:
    """A graph in words: a row for each box, with what it rests on."""
    rows: list[tuple[str | Cell, ...]] = []
    for place, node in enumerate(graph.nodes):
        rests_on = [graph.nodes[second].label for first, second in graph.edges if first == place]
        kind = graph.columns[node.column]
        label = Cell(node.label, node.tone)
        rows.append((kind, label, node.text, Cell(node.ref, code=True), ", ".join(rests_on)))
    return Table(columns=("What", "Name", "Text", "Reference", "Rests on"), rows=tuple(rows))
