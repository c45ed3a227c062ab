"""Writes docs/pictures/decision.svg: the head of the page about the decision in `moot demo`.

    python -m tools.make_demo_picture [DIR]

DIR is a folder in which the demonstration was played; without it, it is played now. Question,
chart, who changed after what, the dissent and the person's word are taken from the report that
`moot report q-1` draws, with the rules of its stylesheet that concern them. Nothing in the picture
depends on the time or on keys, so a second run changes nothing; a test compares.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Final

from tools.make_debate_picture import RULES, SVG, charts_in

import moot
from moot.api.page import reports
from moot.pages import LineChart, Quote, Report, Table, to_html
from moot.pages.style import CSS

FILE: Final = Path(__file__).parents[1] / "docs" / "pictures" / "decision.svg"
WIDTH, HEIGHT = 1000, 510
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 70, 160, 430, 230
COLUMN, TEXT_WIDTH = 680, 42
_STYLE: Final = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;"
    "fill:var(--ink);font-size:13.5px}"
    ".title{font-family:Georgia,'Times New Roman',serif;font-size:25px;font-weight:700}"
    ".kicker{font-size:12px;letter-spacing:1.5px}.head{font-size:15px;font-weight:650}"
    ".who{font-weight:650}.no{font-size:13px;font-weight:700;fill:#a32a1d}.soft{opacity:.75}"
    "@media (prefers-color-scheme:dark){.no{fill:#ff9d90}}.sheet{fill:var(--paper);stroke:#8884}"
)


def played(out: Path) -> Report:
    """The report of the decision that was vetoed, from the record in `out`."""
    with moot.open(out / "repository", keys=out / "keys") as session:
        report = reports.report(session, "q-1").report
    assert isinstance(report, Report)
    return report


def picture(report: Report) -> str:
    rules = "\n".join(line for line in CSS.splitlines() if RULES.match(line))
    body = "\n".join((*_head(report), _chart(report), *_beside(report), *_foot(report)))
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img">\n<style>{_STYLE}\n{rules}</style>\n'
        f'<rect class="sheet" x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10"/>\n'
        f"{body}\n</svg>\n"
    )


def _text(x: int, y: int, text: str, kind: str = "", end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x}" y="{y}"{anchor}>{escape(text, quote=False)}</text>'


def _head(report: Report) -> Iterator[str]:
    yield _text(40, 42, f"MOOT · {report.kind.upper()}", "kicker")
    yield _text(WIDTH - 40, 42, f"✕ {report.verdict.label}", "no", end=True)
    yield _text(40, 82, report.title, "title")
    yield _text(40, 124, "Stance and confidence, round by round", "head")


def _chart(report: Report) -> str:
    (chart,) = [block for block in report.blocks if isinstance(block, LineChart)]
    drawn = next(charts_in(to_html(_only(report, chart))))
    return (
        f'<svg class="plot" x="{LEFT}" y="{TOP}" width="{PLOT_WIDTH}" height="{PLOT_HEIGHT}" '
        f'overflow="visible">\n{_without_ids(drawn)}</svg>'
    )


def _only(report: Report, chart: LineChart) -> Report:
    return Report(
        kind=report.kind,
        title=report.title,
        verdict=report.verdict,
        decision=report.decision,
        dissent=None,
        blocks=(chart,),
        proof=None,
    )


def _without_ids(drawn: str) -> str:
    """A picture has no table beside it to refer to."""
    return re.sub(r' aria-(?:labelledby|describedby)="[^"]*"', "", drawn)


def _beside(report: Report) -> Iterator[str]:
    place = 124
    tables = [block for block in report.blocks if isinstance(block, Table)]
    (changed,) = [block for block in tables if block.title.startswith("Who changed")]
    yield _text(COLUMN, place, changed.title, "head")
    for row in changed.rows:
        who, _round, before, now, heard = (
            cell if isinstance(cell, str) else cell.text for cell in row
        )
        place += 26
        yield _text(COLUMN, place, f"{who}: {before} → {now}", "who")
        for line in _told(heard):
            place += 19
            yield _text(COLUMN, place, line)
    place += 40
    yield _text(COLUMN, place, "Dissent", "head")
    for voice in report.dissent.voices if report.dissent else ():
        place += 26
        yield _text(COLUMN, place, f"{voice.author}: {voice.stance}, {_sure(voice)}", "who")
        for line in wrap(voice.text.split("\n\n")[0], TEXT_WIDTH):
            place += 19
            yield _text(COLUMN, place, line)


def _sure(voice: Quote) -> str:
    return voice.note.partition(",")[0]


def _told(heard: str) -> Iterator[str]:
    """What was heard, a line for each who spoke."""
    for one in heard.splitlines():
        yield from wrap(f"after {one}", TEXT_WIDTH)


def _foot(report: Report) -> Iterator[str]:
    facts = {fact.label: fact.value for fact in report.decision.facts}
    hollow = "A hollow mark does not approve. Scripted voices: no model was asked."
    yield _text(40, HEIGHT - 70, hollow, "soft")
    yield _text(40, HEIGHT - 42, f"motion: {report.decision.statement} · {facts['the vote']}")
    (said,) = [(name.split()[0], text) for name, text in facts.items() if name.endswith(" ruled")]
    word, _, reason = said[1].partition(": ")
    yield _text(40, HEIGHT - 20, f"{word} by {said[0]}: {reason}", "who")


def play(out: Path) -> None:
    words = ("demo", "--fast", "--json", "--out", str(out))
    subprocess.run([sys.executable, "-m", "moot", *words], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    if len(sys.argv) > 1:
        FILE.write_text(picture(played(Path(sys.argv[1]))), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder) / "stage")
        FILE.write_text(picture(played(Path(folder) / "stage")), encoding="utf-8")


if __name__ == "__main__":
    main()
