"""Figures as lines: for a terminal, and as the Markdown table of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.figure import Figure

HEAD = ("figure", "ours", "raw limit", "ratio", "spread", "target", "")


def lines(figures: Iterable[Figure]) -> list[str]:
    rows = [HEAD, *map(_cells, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def markdown(figures: Iterable[Figure]) -> list[str]:
    rows = [HEAD, ("---",) * len(HEAD), *map(_cells, figures)]
    return [f"| {' | '.join(row)} |" for row in rows]


def _cells(figure: Figure) -> Sequence[str]:
    spread = f"{figure.low:.2f} to {figure.high:.2f}" if figure.low and figure.high else ""
    return (
        figure.name,
        _amount(figure.ours, figure.unit),
        f"{_amount(figure.raw, figure.unit)} {figure.against}".strip(),
        f"{figure.ratio:.2f}" if figure.ratio is not None else "",
        spread,
        figure.target,
        _remark(figure),
    )


def _remark(figure: Figure) -> str:
    more = [f"{name.replace('_', ' ')} {number:.3g}" for name, number in figure.more.items()]
    verdict = {True: "", False: "MISSED", None: ""}[figure.met]
    return ", ".join(part for part in (verdict, *more, figure.note) if part)


def _amount(number: float | None, unit: str) -> str:
    if number is None:
        return ""
    return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
