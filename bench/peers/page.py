"""The run as a report (`moot.pages`), and its bars as a picture of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from statistics import median
from typing import Final

from bench.bar_picture import draw_bars
from bench.peers.peers import MOOT, MOOT_MCP
from bench.peers.questions import QUESTIONS, Question
from bench.peers.rows import Environment, Row, Run, find_moot
from moot.pages import (
    Bar,
    BarChart,
    DecisionCard,
    Fact,
    Facts,
    Prose,
    Report,
    Table,
    VerdictBadge,
)

_OURS: Final = (MOOT, MOOT_MCP)
_WAYS: Final = {"program": "in a program", "mcp": "by MCP"}
_COLUMNS: Final = ("Who", "Way", "Median", "Least to most", "Beside Moot", "How", "Must be known")
_METHOD: Final = (
    "Everyone is installed from the package index into an environment of its own, Moot from this"
    " checkout, each with the newest Python here that it takes. What is asked is done through its"
    " public interface, as its documentation shows it, with the settings it comes with, by one"
    " small program for each (bench/peers/drivers). All who answer a question are prepared first;"
    " then they take turns, a round each, and who begins changes. The first round of each is to get"
    " warm and not counted. Less is better in every table. Beside Moot: how many times as much as"
    " Moot by the same way, round by round; below 1.0 the other one is better. Models are never"
    " asked: words are laid down beforehand."
)
_LIMITS: Final = (
    "These programs are for different things, and only where two offer the same kind of work do"
    " they stand in one table. The column at the end says what is not alike: who does not wait for"
    " the disk is quicker and may lose the last records with the power; who does not sign is"
    " quicker and can prove nothing; a call through a server costs more than one in a program. A"
    " figure of one machine in one hour is not a property of a program. What each does and does"
    " not, point by point, is in comparison.md."
)


def build_report(run: Run) -> Report:
    return Report(
        kind="Peers",
        title="Beside what people use instead",
        subtitle=f"{plural_of_rows(run)}, {run.rounds} rounds",
        verdict=VerdictBadge("Measured", "neutral"),
        decision=DecisionCard(_summary(run), heading="Result"),
        dissent=None,
        blocks=(
            _installed_table(run.environments),
            *(_question_table(question, run) for question in answered_questions(run)),
            _missing(run),
            Facts(tuple(_describe(run)), title="This run"),
            Prose(_METHOD, title="How it is measured"),
            Prose(_LIMITS, title="What it does not show"),
        ),
        proof=None,
        how_to_prove="Nothing here is signed: if you doubt a figure, measure it again.",
    )


def plural_of_rows(run: Run) -> str:
    values = sum(len(row.values) for row in run.rows)
    return f"{len([row for row in run.rows if row.values])} answers, {values} measured values"


def answered_questions(run: Run) -> list[Question]:
    asked = {row.question for row in run.rows}
    return [question for question in QUESTIONS if question.name in asked]


def describe_ratio(row: Row, rows: Sequence[Row]) -> str:
    """How many times as much as Moot, in the rounds taken side by side; empty for Moot itself."""
    ours = find_moot(rows, row, _OURS)
    if ours is None or ours is row or row.peer in _OURS or not row.values:
        return ""
    ratios = [theirs / mine for theirs, mine in zip(row.values, ours.values, strict=False) if mine]
    if not ratios:
        return ""
    least, most = min(ratios), max(ratios)
    middle = f"{format_number(median(ratios))}x"
    if format_number(least) == format_number(most):
        return middle
    return f"{middle} ({format_number(least)} to {format_number(most)})"


def format_number(value: float) -> str:
    """Three digits that mean something, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _summary(run: Run) -> str:
    """Who was quicker where, in words that follow the figures, whatever they are."""
    parts = []
    for question in answered_questions(run):
        said = [
            f"{row.peer} {describe_ratio(row, run.rows).partition(' ')[0]}"
            for row in run.rows
            if row.question == question.name and describe_ratio(row, run.rows)
        ]
        if said:
            parts.append(f"{question.title}: {', '.join(said)}.")
    if not parts:
        return "Nobody else could be measured here."
    return "Times as much as Moot by the same way, below 1.0 is better than Moot. " + " ".join(
        parts
    )


def _installed_table(environments: Sequence[Environment]) -> Table:
    rows = tuple(
        (each.peer, "not installed", each.failure, "", "", "")
        if each.failure
        else (
            each.peer,
            each.version,
            f"pip install {'.' if each.package == MOOT else each.package}",
            f"Python {each.python}",
            str(each.packages),
            f"{each.megabytes:.0f} MB",
        )
        for each in environments
    )
    columns = ("Who", "Version", "By", "With", "Packages", "On the disk")
    return Table(columns, rows, title="Who is here", caption="One environment each.")


def _question_table(question: Question, run: Run) -> Table:
    rows = tuple(
        (
            row.peer,
            _WAYS.get(row.way, row.way),
            f"{format_number(row.middle)} {question.unit}" if row.values else "failed",
            f"{format_number(min(row.values))} to {format_number(max(row.values))}"
            if row.values
            else row.failure,
            describe_ratio(row, run.rows),
            row.how,
            row.caveat,
        )
        for row in run.rows
        if row.question == question.name
    )
    caption = f'{question.what} Again: make bench-peers ARGS="--measure {question.name}"'
    return Table(_COLUMNS, rows, title=question.title, caption=caption)


def _missing(run: Run) -> Table:
    """What nobody of them offers is as much a result as a figure."""
    rows = []
    for environment in run.environments:
        answers = {row.question for row in run.rows if row.peer == environment.peer}
        lacks = [each.title for each in answered_questions(run) if each.name not in answers]
        if lacks and not environment.failure and environment.peer not in _OURS:
            rows.append((environment.peer, "; ".join(lacks)))
    return Table(
        ("Who", "Not asked, because it does not offer it in this form"),
        tuple(rows),
        title="What is not there",
    )


def _describe(run: Run) -> Iterator[Fact]:
    yield Fact("Command", "make bench-peers")
    yield Fact("Machine", run.machine)
    what = "installing included" if run.has_installed else "in environments made before"
    yield Fact("Took", f"{run.minutes:.0f} minutes, {what}")
    yield Fact("Rounds", f"{run.rounds}, after one to get warm")
    if run.note:
        yield Fact("Note", run.note)
    yield Fact("Rows", "every value of every round: peers.json beside this page")


def list_charts(run: Run) -> list[BarChart]:
    """Every question to which somebody besides Moot has an answer: nothing is chosen."""
    charts = []
    for question in answered_questions(run):
        rows = [row for row in run.rows if row.question == question.name and row.values]
        if any(row.peer not in _OURS for row in rows):
            charts.append(_chart(question, rows))
    return charts


def _chart(question: Question, rows: Sequence[Row]) -> BarChart:
    values = [Decimal(format_number(row.middle).replace(",", "")) for row in rows]
    bars = tuple(
        Bar(
            f"{row.peer}, {_WAYS.get(row.way, row.way)}" if row.peer not in _OURS else row.peer,
            value,
            "plain" if row.peer in _OURS else "caution",
        )
        for row, value in zip(rows, values, strict=True)
    )
    full = max(Decimal("0.01"), *values)
    return BarChart(bars, full, title=f"{question.title}, {question.unit}", caption=question.what)


def draw_picture(run: Run) -> str:
    return draw_bars(list_charts(run), labels=270)
