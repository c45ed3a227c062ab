"""The bar charts of a page, as the page draws them, in a picture file of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moot.pages import BarChart, DecisionCard, Report, VerdictBadge, to_html
from moot.pages.style import CSS

_WIDTH, _VALUES, _ROW, _HEAD = 760, 60, 30, 50
_SVG: Final = "http:" + "//www.w3.org/2000/svg"  # a name, not an address
# Whole lines only: what lays the rows out (`.bars`) goes over several, and is not needed here.
_RULES: Final = re.compile(r"^(?::root|@media screen|\.track|\.bar[.{]|\.needed)")
_MORE: Final = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:13px;"
    "fill:var(--ink)}.head{font-size:17px;font-weight:600}.sheet{fill:var(--paper)}"
)
_ROW_OF_BARS: Final = re.compile(
    r'<div class="row">\s*<span dir="auto">(.*?)</span>\s*<svg[^>]*>(.*?)</svg>\s*'
    r'<span class="value num">(.*?)</span>',
    re.DOTALL,
)


def draw_bars(charts: Sequence[BarChart], labels: int = 250) -> str:
    """The charts below each other; `labels` is how much room the names of the bars get."""
    rules = "\n".join(line for line in CSS.splitlines() if _RULES.match(line))
    top, drawn = 0, ""
    for chart in charts:
        drawn += f'<text class="head" x="20" y="{top + 30}">{chart.title}</text>\n'
        top += _HEAD
        for row in _ROW_OF_BARS.findall(to_html(_page_with(chart))):
            drawn += _draw_row(top, labels, *row)
            top += _ROW
    height = top + 20
    return (
        f'<svg xmlns="{_SVG}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">\n'
        f"<style>{_MORE}\n{rules}</style>\n"
        f'<rect class="sheet" width="{_WIDTH}" height="{height}"/>\n{drawn}</svg>\n'
    )


def _page_with(chart: BarChart) -> Report:
    return Report(
        kind="Picture",
        title=chart.title,
        verdict=VerdictBadge(""),
        decision=DecisionCard(""),
        dissent=None,
        blocks=(chart,),
        proof=None,
    )


def _draw_row(top: int, labels: int, label: str, bar: str, value: str) -> str:
    width = _WIDTH - labels - _VALUES - 20
    return (
        f'<text x="20" y="{top + 16}">{label}</text>\n'
        f'<svg x="{labels}" y="{top}" width="{width}" height="24" overflow="visible">{bar}</svg>\n'
        f'<text x="{_WIDTH - _VALUES}" y="{top + 16}">{value}</text>\n'
    )
