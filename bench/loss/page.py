"""The figures as lines, as a report (`moot.pages`), and its bars as a picture of their own."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from bench.bar_picture import draw_bars
from bench.loss.tally import MOST_NEEDLESS, Figures
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

_METHOD: Final = (
    "Eight simulated agents, two of each coding tool, and a person work in three worktrees of one"
    " repository. Each call is put to the hook in the form its tool sends; most within one process,"
    " one in twenty-five as the installed command. What is allowed is really done; what is refused"
    " is done in a copy, to see whether it would have harmed anybody. What is lost is read from the"
    " disk and from git's objects, not from Moot. Nobody uses `moot run`: nothing is watched.\n\n"
    "A refusal is needless if the act would have reached nothing that another holds, and no unsaved"
    " bytes of another that the agent has not seen. With a worktree that is removed goes all that"
    " is held in it, also the place of a file that is not there just now. Counted apart are agents"
    " that had read the newest version with a reading tool, which has no hook, and were told of it"
    " once more."
)


def facts(figures: Figures) -> list[Fact]:
    """The figures, each with what it is measured against."""
    share = f"{figures.needless_share:.2%} (aim below {MOST_NEEDLESS:.0%})"
    known = figures.due - figures.unrecorded
    slow = figures.as_process
    return [
        Fact("Steps", f"{figures.steps:,}, seed {figures.seed}; {figures.calls:,} calls of tools"),
        Fact("Destructive acts", f"{figures.destructive:,}"),
        Fact(
            "Would harm or harmed somebody",
            f"{figures.harmful:,}: {figures.held_back:,} held back, {figures.slipped_past:,} not",
        ),
        Fact("Bytes that cannot be had back", f"{figures.lost:,} (aim 0)"),
        Fact("Bytes destroyed that can be had back", f"{figures.saved:,}"),
        Fact(
            "Brought back by `moot undo`, of those tried",
            f"{figures.undone} of {figures.undone + figures.not_undone}",
        ),
        Fact("On record under the right name", f"{known:,} of {figures.due:,} (aim all)"),
        Fact("On record under a wrong name", f"{figures.misnamed} (aim 0)"),
        Fact("On record without cause", f"{figures.causeless} (aim 0)"),
        Fact("Needless refusals", f"{figures.needless} of {figures.harmless:,}: {share}"),
        Fact(
            "Told once of what a reading tool had shown",
            f"{figures.needless_after_unseen_read} of {figures.harmless:,}",
        ),
        Fact(
            "Time added to a call, before and after it",
            f"{figures.in_process.median:.0f} ms within a process ({figures.in_process.calls:,}"
            f" calls), {slow.median:.0f} ms where one of the two was a process of its own"
            f" ({slow.calls:,})",
        ),
    ]


def lines(figures: Figures) -> list[str]:
    """For a terminal."""
    rows = [(fact.label, fact.value) for fact in facts(figures)]
    widest = max(len(label) for label, _ in rows)
    shown = [f"{label.ljust(widest)}  {text}" for label, text in rows]
    head = ("kind", "tried", "harmful", "held back", "needless", "saved bytes", "lost bytes")
    cells = [head, *([str(cell) for cell in row] for row in _rows(figures))]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    return [*shown, "", *table]


def _rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    for each in figures.kinds:
        counts = each.tried, each.harmful, each.held_back, each.needless, each.saved, each.lost
        yield each.kind, *map(str, counts)


def build_report(figures: Figures) -> Report:
    lost_nothing = figures.lost == 0
    label = "Nothing lost" if lost_nothing else "Lost"
    return Report(
        kind="Loss",
        title="Is anybody's work lost?",
        subtitle=f"{figures.steps:,} steps, seed {figures.seed}",
        verdict=VerdictBadge(label, "good" if lost_nothing else "bad"),
        decision=DecisionCard(
            f"{figures.lost:,} bytes of others cannot be had back; {figures.saved:,} can.",
            heading="Result",
        ),
        dissent=None,
        blocks=(
            Facts(tuple(facts(figures)), title="Figures"),
            _chart(figures),
            Table(
                ("Kind of act", "Tried", "Harmful", "Held back", "Needless", "Saved", "Lost"),
                tuple(_rows(figures)),
                title="By kind of act",
                caption="Harmful: it would have reached, or reached, what others hold or had not"
                " saved. Saved and lost: bytes of others that it destroyed.",
            ),
            Prose(_METHOD, title="How it is measured"),
        ),
        proof=None,
    )


def _chart(figures: Figures) -> BarChart:
    harmful = [each for each in figures.kinds if each.harmful]
    bars = tuple(
        Bar(
            each.kind,
            Decimal(round(100 * each.held_back / each.harmful)),
            "good" if each.held_back == each.harmful else "caution",
        )
        for each in harmful
    )
    return BarChart(
        bars,
        Decimal(100),
        title="Harmful acts held back beforehand, of a hundred",
        caption="What was not held back could be had back, but for the bytes called lost.",
    )


def draw_picture(figures: Figures) -> str:
    return draw_bars([_chart(figures)])
