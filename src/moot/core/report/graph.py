"""What rests on what, as inline SVG: boxes in columns, lines from the left to the right.

Horizontal places are percentages and vertical ones pixels, as in the line chart. A box tells its
tone by a sign, never by colour alone; the table below says every line in words.
"""

from typing import Final

from moot.core.report.markup import Attributes, Markup, join, tag
from moot.core.report.model import Graph, Node
from moot.core.report.text import one_line, shorten
from moot.core.report.wording import SIGNS

_ROW: Final = 56
_BOX: Final = 44
_HEAD: Final = 26
_FILLED: Final = 78  # of a column's width, in per cent; the rest is for the lines
_LABEL, _TEXT = 24, 30


def graph_figure(graph: Graph, name: str) -> Markup:
    """The picture; `name` makes the ids of this figure unique on the page."""
    rows = _rows(graph)
    height = _HEAD + _ROW * max(rows, default=0) + _ROW
    labels = {"aria-labelledby": f"{name}-title {name}-desc", "role": "img"}
    picture = tag(
        "svg",
        {**labels, "height": height},
        tag("title", {"id": f"{name}-title"}, one_line(graph.title) or "Graph"),
        tag("desc", {"id": f"{name}-desc"}, f"{len(graph.nodes)} boxes, {len(graph.edges)} lines"),
        *(_heading(graph, column) for column in range(len(graph.columns))),
        *(_line(graph, rows, edge) for edge in graph.edges),
        *(_box(graph, node, row) for node, row in zip(graph.nodes, rows, strict=True)),
    )
    reach: Attributes = {
        "role": "group",
        "tabindex": 0,
        "aria-label": one_line(graph.title) or "Graph",
    }
    return tag("div", {"class": "scroll", **reach}, tag("figure", {"class": "graph"}, picture))


def _rows(graph: Graph) -> list[int]:
    """The place of each box in its column, counted from 0."""
    filled = [0] * len(graph.columns)
    rows = []
    for node in graph.nodes:
        rows.append(filled[node.column])
        filled[node.column] += 1
    return rows


def _x(graph: Graph, column: int, share: int = 0) -> str:
    width = 100 / len(graph.columns)
    return f"{width * column + width * share / 100:.3f}%"


def _heading(graph: Graph, column: int) -> Markup:
    return tag("text", {"x": _x(graph, column), "y": 14}, one_line(graph.columns[column]))


def _line(graph: Graph, rows: list[int], edge: tuple[int, int]) -> Markup:
    first, second = edge
    return tag(
        "line",
        {
            "class": "edge",
            "x1": _x(graph, graph.nodes[first].column, _FILLED),
            "x2": _x(graph, graph.nodes[second].column),
            "y1": _middle(rows[first]),
            "y2": _middle(rows[second]),
        },
    )


def _middle(row: int) -> int:
    return _HEAD + _ROW * row + _BOX // 2


def _box(graph: Graph, node: Node, row: int) -> Markup:
    top = _HEAD + _ROW * row
    width = f"{100 / len(graph.columns) * _FILLED / 100:.3f}%"
    inset = _x(graph, node.column, 3)
    label = f"{SIGNS[node.tone]} {shorten(node.label, _LABEL)}".strip()
    where: Attributes = {
        "x": _x(graph, node.column),
        "y": top,
        "width": width,
        "height": _BOX,
        "rx": 5,
    }
    return tag(
        "g",
        None,
        tag("title", None, join(one_line(node.label), " ", one_line(node.text))),
        tag("rect", {"class": f"node n-{node.tone}", **where}),
        tag("text", {"class": "name", "x": inset, "y": top + 18}, label),
        tag("text", {"x": inset, "y": top + 35}, shorten(node.text, _TEXT)),
    )
