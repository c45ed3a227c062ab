"""The figures as lines, as a report (`moot.pages`), and its bars as a picture of their own."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, Literal

from bench.bar_picture import draw_bars
from bench.loss.score import MOST_NEEDLESS, Figures
from moot.pages import (
    Bar,
    BarChart,
    DecisionCard,
    Fact,
    Facts,
    Prose,
    Report,
    VerdictBadge,
)

_METHOD: Final = (
    "Eight agents, two of each coding tool, and a person work at the same time, each in a process"
    " of its own, in two worktrees of one repository. The mix is denser than real work: edits by"
    " tools and by sub-agents, slow tests, scripts that write files, also in the background, git,"
    " and commands that destroy. Each call is put to the hook in the form its tool sends. What the"
    " hook allows is really done.\n\n"
    "Every write has bytes of its own, and each process logs its writes under a lock that Moot does"
    " not know of. So the log tells who really wrote each version of each file. The figures compare"
    " that log with the record, the letters to holders, the memory of copies, the disk and git's"
    " objects.\n\n"
    "A refusal is needless if nobody else holds, or has unsaved bytes in, what the act would reach."
    " Counted apart are whole files written after a reading tool, which has no hook, had shown the"
    " newest version. Bytes that came and went between two looks of any hook are counted apart:"
    " nothing could copy them."
)


def facts(figures: Figures) -> list[Fact]:
    """The figures, each with its aim."""
    share = f"{figures.needless_share:.2%} (aim below {MOST_NEEDLESS:.0%})"
    return [
        Fact(
            "Steps",
            f"{figures.steps:,} in {figures.seconds:,.0f} s, seed {figures.seed};"
            f" {figures.calls:,} calls of tools, {figures.writes:,} writes",
        ),
        Fact("Agents", f"{figures.agents}, {figures.in_runs} of them below `moot run`"),
        Fact("Bytes lost that were on disk at a look", f"{_count(figures.lost)} (aim 0)"),
        Fact("Bytes that came and went between two looks", f"{figures.between_looks:,}"),
        Fact("Bytes overwritten by others and kept", f"{figures.saved_bytes:,}"),
        Fact("INCURSIONs under a wrong name", f"{len(figures.wrong_names)} (aim 0)"),
        Fact("Versions noted under a wrong name", f"{len(figures.wrong_authors)} (aim 0)"),
        Fact(
            "Harmless commands that were accused",
            f"{len(figures.accused)} of {figures.harmless_commands:,} (aim 0)",
        ),
        Fact("Held files overwritten", f"{figures.overwrites:,}"),
        Fact("... proved, on record as an INCURSION", _share(figures.proved, figures)),
        Fact(
            "... only one known, told to the holder",
            f"{_share(figures.only_one_known, figures)}",
        ),
        Fact("... unknown, told to the holder", _share(figures.unknown, figures)),
        Fact("Changed, and given back within 5 s before anybody looked", f"{figures.given_back:,}"),
        Fact("... without any record", f"{len(figures.unrecorded)} (aim 0)"),
        Fact("Refused calls", f"{figures.refused:,}"),
        Fact("Needless refusals", f"{len(figures.needless)} of {figures.calls:,}: {share}"),
        Fact("Told again of what a reading tool had shown", f"{figures.told_again:,}"),
        Fact(
            "Median time of a hook under this load",
            f"{figures.before_millis:.0f} ms before a call, {figures.after_millis:.0f} ms after it",
        ),
    ]


def _count(lost: tuple[str, ...]) -> str:
    return f"{sum(int(each.split()[0]) for each in lost):,}"


def _share(count: int, figures: Figures) -> str:
    return f"{count:,} ({count / max(1, figures.overwrites):.0%})"


def lines(figures: Figures) -> list[str]:
    """For a terminal."""
    rows = [(fact.label, fact.value) for fact in facts(figures)]
    widest = max(len(label) for label, _ in rows)
    return [f"{label.ljust(widest)}  {text}" for label, text in rows]


def build_report(figures: Figures) -> Report:
    is_good = not figures.missed
    wrong = len(figures.wrong_names) + len(figures.wrong_authors)
    return Report(
        kind="Loss",
        title="Is anybody's work lost, or anybody blamed for it?",
        subtitle=f"{figures.steps:,} steps of eight agents and a person at the same time",
        verdict=VerdictBadge(
            "All aims met" if is_good else "Aims missed", "good" if is_good else "bad"
        ),
        decision=DecisionCard(
            f"{_count(figures.lost)} bytes lost that a hook could see, {wrong} wrong names,"
            f" {len(figures.unrecorded)} of {figures.overwrites:,} overwrites without any record.",
            heading="Result",
        ),
        dissent=None,
        blocks=(
            Facts(tuple(facts(figures)), title="Figures"),
            _chart(figures),
            Prose(_METHOD, title="How it is measured"),
        ),
        proof=None,
    )


def _chart(figures: Figures) -> BarChart:
    rows: tuple[tuple[str, int, Literal["good", "caution", "bad"]], ...] = (
        ("proved: an INCURSION names the writer", figures.proved, "good"),
        ("only one known: the holder is told whose command ran", figures.only_one_known, "good"),
        ("unknown: the holder is told that the file changed", figures.unknown, "caution"),
        ("no record", len(figures.unrecorded), "bad"),
    )
    most = max(1, figures.overwrites)
    bars = tuple(Bar(name, Decimal(round(100 * count / most)), tone) for name, count, tone in rows)
    return BarChart(bars, Decimal(100), title="Held files that were overwritten, of a hundred")


def draw_picture(figures: Figures) -> str:
    return draw_bars([_chart(figures)])
