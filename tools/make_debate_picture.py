"""Writes docs/pictures/debate.svg: the two charts of the report on the debate that README.md shows.

They are taken from the page that `moot debate report` writes, with the rules of its stylesheet
that concern them. Deterministic (fixed clock and ids), so a second run changes nothing; a test
compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from moot.core.clock import parse_time
from moot.pages import to_html
from moot.pages.style import CSS
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.model import ConsensusMode, Rules
from moot.protocols.debate.report import build_report
from moot.protocols.debate.writer import make_session_text, prepare_own_entry

FILE = Path(__file__).parents[1] / "docs" / "pictures" / "debate.svg"
START = parse_time("2026-03-01T09:00:00Z")
STEP = 60_000
AGENTS = ("amber-otter", "teal-crane")
# Who says what, in the order and in the words of README.md.
SAID = (
    ("amber-otter", "approve", "0.7", "One queue for each tenant."),
    ("teal-crane", "reject", "0.8", "Hot tenants would starve the disk."),
    ("amber-otter", "approve", "0.8", "With a shared log below, they cannot."),
    ("teal-crane", "approve", "0.75", "Then yes, if the log is bounded."),
)
WIDTH, LEFT, PLOT, ROW = 760, 56, 500, 340
RULES = re.compile(
    r"^(?::root|@media screen|\.c[0-9]|\.plot (?:text|\.end)|\.grid|\.leader|\.threshold|\.line"
    r"|\.dotted|\.strong|\.marker|\.hollow|\.main \.)"
)
SVG = "http:" + "//www.w3.org/2000/svg"  # a name, not an address
_MORE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}"
    "h1,.head{font-size:17px;font-weight:600;fill:var(--ink)}.sheet{fill:var(--paper)}"
)


def session() -> str:
    rules = Rules(AGENTS, consensus_mode=ConsensusMode.WEIGHTED)
    text = make_session_text("Which queue?", "The old one loses messages.", rules, _id(0), START)
    for number, (author, stance, sure, summary) in enumerate(SAID, start=1):
        draft = EntryDraft(author=author, stance=stance, confidence=sure, summary=summary)
        text += prepare_own_entry(
            check_session(text), draft, _id(number), START + number * STEP
        ).text
    return text


def _id(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


def picture(text: str) -> str:
    """The charts of the report, one below the other, as a file of its own."""
    page = to_html(build_report(check_session(text), "queue.md", "0" * 64))
    charts = list(charts_in(page))
    rules = "\n".join(line for line in CSS.splitlines() if RULES.match(line))
    height = ROW * len(charts)
    rows = "".join(_row(place, chart) for place, chart in enumerate(charts))
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}">\n<style>{_MORE}\n{rules}</style>\n'
        f'<rect class="sheet" width="{WIDTH}" height="{height}"/>\n{rows}</svg>\n'
    )


def _row(place: int, chart: str) -> str:
    title = re.search(r"<title[^>]*>(.*?)</title>", chart)
    top = ROW * place
    return (
        f'<text class="head" x="20" y="{top + 32}">{title[1] if title else ""}</text>\n'
        f'<svg class="plot" x="{LEFT}" y="{top + 68}" width="{PLOT}" height="{ROW - 68}" '
        f'overflow="visible">\n{chart}</svg>\n'
    )


def charts_in(page: str) -> Iterator[str]:
    """Each drawing that stands in a plot, with the drawings inside it."""
    for found in re.finditer(r'<div class="plot">\s*', page):
        depth, start = 0, found.end()
        for edge in re.finditer(r"<svg|</svg>", page[start:]):
            depth += 1 if edge[0] == "<svg" else -1
            if not depth:
                drawing = page[start : start + edge.end()]
                yield drawing.replace("<svg ", '<svg overflow="visible" ', 1) + "\n"
                break


if __name__ == "__main__":
    FILE.write_text(picture(session()), encoding="utf-8")
