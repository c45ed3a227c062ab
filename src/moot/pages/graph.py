"""What rests on what: boxes in columns, lines from the left to the right.

The boxes are HTML, so that their text wraps and is cut at their edge; only the lines are SVG, laid
under them. Across, places are percentages; down, they are in `rem`, as in the stylesheet. A box
tells its tone by a sign, never by colour alone; the table below says every line in words.
"""

from typing import Final

from moot.pages.inline import with_tone_sign
from moot.pages.markup import Attributes, Markup, join_markup, tag
from moot.pages.model import Graph, Node
from moot.pages.text import one_line
from moot.pages.wording import SCROLL_HINT

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
