"""The figures as a report (`moot.pages`), and its bars as a picture of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from bench.bar_picture import draw_bars
from bench.collisions import tally, work
from bench.collisions.agent import LOOKS_EVERY, TOGETHER
from bench.collisions.arms import ARMS, LOCKS, REAL, TOLD_HEEDED, Arm
from bench.collisions.course import Row
from bench.collisions.tally import USUAL_AGENTS, USUAL_OVERLAP, Cell, describe_spread, rows_of
from moot.core.text import plural
from moot.pages import (
    Bar,
    BarChart,
    DecisionCard,
    Fact,
    Facts,
    Prose,
    Report,
    Table,
    Tone,
    VerdictBadge,
)

Measure = Callable[[Row], float]
_MEASURES: Final[tuple[tuple[str, Measure], ...]] = (
    ("Lost in silence", lambda row: row.lost),
    ("Stale or gone, noticed", lambda row: row.noticed),
    ("Merge conflicts", lambda row: row.conflicts),
    ("Tests failing", lambda row: row.failing),
    ("Thinking thrown away, s", lambda row: row.thrown_away),
    ("Waited, s", lambda row: row.waited),
    ("All done after, s", lambda row: row.wall),
)
_COSTS: Final[tuple[tuple[str, Measure], ...]] = (
    ("Moot's own time, ms an edit", lambda row: row.hook_millis_per_edit),
    ("Edits refused", lambda row: row.refused),
    ("of them needless", lambda row: row.needless),
    ("Put off when read", lambda row: row.put_off),
    ("of them needlessly", lambda row: row.needlessly_put_off),
    ("Told without need", lambda row: row.needless_tellings),
    ("Given up", lambda row: row.given_up),
)
_BASE: Final = Cell(ARMS[0], USUAL_AGENTS, USUAL_OVERLAP)
_WHERE: Final = f"{USUAL_AGENTS} agents, {USUAL_OVERLAP:.0%} of the changes in files they share."
_METHOD: Final = (
    f"A repository of {work.MODULES} modules is made, with {work.CHANGES} changes for each agent."
    " No two changes contradict each other, and a test for each passes only if it is there at the"
    " end. `overlap` is how many of the changes are in the"
    f" {len(work.SHARED)} files that everybody shares; of these, half are lines added at the end of"
    " one table, and half values in functions that nobody else changes. Each agent is a process:"
    " it reads the file, thinks, and edits it as its coding tool does (in turn Claude Code, Codex,"
    f" Gemini CLI, opencode; {work.WHOLE_FILE:.0%} of the edits write the whole file). What the"
    " tools check themselves is modelled as it was measured: Claude Code does not write a file that"
    f" changed since it was read, the others do. After {TOGETHER} changes an agent looks whether"
    " they are still there, does again what is gone, commits its files and gives them back.\n\n"
    "An agent that finds a file taken goes on with another one. If all it has left is taken, it"
    f" commits, gives back what it holds, and looks again every {LOOKS_EVERY:.0f} s. The lock of a"
    " prompt is a file that is made in one step, and is given back after the commit; an agent that"
    " does not heed it just writes. Branches are merged one after another; a conflict is resolved"
    " without a mistake, and costs the thinking of that change again. Under Moot each agent"
    " runs under `moot run`, and every reading, edit and commit asks the installed hook in the form"
    " its tool sends. Who reads a file that another holds is told so by the hook, and in"
    f" {TOLD_HEEDED:.0%} of the cases, as often as the lock is heeded, goes on with another change"
    " before thinking about this one. In one arm agents are also told to reserve a file before they"
    ' read it, and heed that as often as the lock. With worktrees `protect.unmerged = "block"` is'
    " set: who edits a file that another branch has changed merges that branch first.\n\n"
    "All arms get the same changes, tools and thinking times, from the seed alone. Order between"
    " processes is the machine's, so a row comes again in kind and not to the digit."
)
_LIMITS: Final = (
    "Agents here never give up a change, never run `git checkout`, `stash` or `reset` (that is"
    " measured apart, in loss.md), and never misread a refusal. Nobody changes one file in a way"
    " that only breaks another: neither a merge nor Moot would find that. Conflicts are resolved"
    " perfectly, which is kind to worktrees; the lock is taken in one step, which is kind to the"
    " prompt. Thinking is scaled and programs are not: while an agent holds a file, one second of"
    " a hook counts as more than a minute for those who wait for it, which is unkind to Moot."
)


def build_report(rows: Sequence[Row], about: Sequence[Fact]) -> Report:
    return Report(
        kind="Collisions",
        title="What coordination saves, and what it costs",
        subtitle=f"{len({row.seed for row in rows})} seeds, {len(rows)} courses of events",
        verdict=VerdictBadge("Measured", "neutral"),
        decision=DecisionCard(_summary(rows), heading="Result"),
        dissent=None,
        blocks=(
            *charts(rows),
            *_tables(rows),
            lock_chart(rows),
            Facts(tuple(about), title="This run"),
            Prose(_METHOD, title="How it is measured"),
            Prose(_LIMITS, title="What it does not show"),
        ),
        proof=None,
        how_to_prove="Nothing here is signed: if you doubt a figure, measure it again.",
    )


def charts(rows: Sequence[Row]) -> tuple[BarChart, ...]:
    """What the picture shows: one place, all arms."""
    return (
        _chart(
            f"Changes lost in silence, of {_total(rows)}", rows, lambda row: row.lost, is_sum=True
        ),
        _chart("Merge conflicts, all seeds", rows, lambda row: row.conflicts, is_sum=True),
        _chart("Seconds of thinking thrown away, median", rows, lambda row: row.thrown_away),
        _chart("Seconds until all is done, median", rows, lambda row: row.wall),
    )


def lock_chart(rows: Sequence[Row]) -> BarChart:
    """How much is lost, by how often the agents heed a lock that they are asked to take."""
    values = [
        (label, Decimal(round(tally.sum_of(found, lambda row: row.lost))))
        for label, found in _lock_rows(rows)
    ]
    bars = tuple(Bar(label, value, "caution") for label, value in values)
    full = max(Decimal(1), *(value for _, value in values))
    title = f"Changes lost in silence, of {_total(rows)}, by how often a lock is heeded"
    return BarChart(bars, full, title=title, caption=_WHERE)


def draw_pictures(rows: Sequence[Row]) -> dict[str, str]:
    """Each by its file name."""
    lost, conflicts, _, wall = charts(rows)
    return {
        "collisions.svg": draw_bars([lost, conflicts, wall], labels=310),
        "collisions-lock.svg": draw_bars([lock_chart(rows)], labels=180),
    }


def _total(rows: Sequence[Row]) -> int:
    return int(tally.sum_of(rows_of(rows, _BASE), lambda row: row.changes))


def _chart(title: str, rows: Sequence[Row], measure: Measure, *, is_sum: bool = False) -> BarChart:
    combine = tally.sum_of if is_sum else tally.middle_of
    values = [Decimal(round(combine(_usual(rows, arm), measure))) for arm in ARMS]
    bars = tuple(Bar(arm.label, value, _tone(arm)) for arm, value in zip(ARMS, values, strict=True))
    return BarChart(bars, max(Decimal(1), *values), title=title, caption=_WHERE)


def _tone(arm: Arm) -> Tone:
    return "plain" if arm.has_moot else "caution"


def _usual(rows: Sequence[Row], arm: Arm) -> list[Row]:
    return rows_of(rows, Cell(arm, USUAL_AGENTS, USUAL_OVERLAP))


def _summary(rows: Sequence[Row]) -> str:
    """In words that follow the figures, whatever they are."""
    words = []
    for arm in ARMS:
        usual = _usual(rows, arm)
        lost = tally.sum_of(usual, lambda row: row.lost)
        conflicts = tally.sum_of(usual, lambda row: row.conflicts)
        wall = tally.middle_of(usual, lambda row: row.wall)
        words.append(f"{arm.label}: {lost:.0f} lost, {conflicts:.0f} conflicts, {wall:.0f} s.")
    return " ".join(words)


def _tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Those of which anything was measured."""
    tables = [_main_table(rows), _cost_table(rows), *_tables_by_agents(rows)]
    tables += [*_tables_by_overlap(rows), _lock_table(rows), _real_table(rows)]
    for table in tables:
        if any(cell != tally.NOT_MEASURED for row in table.rows for cell in row[1:]):
            yield table


def _main_table(rows: Sequence[Row]) -> Table:
    return _table(
        f"{USUAL_AGENTS} agents, {USUAL_OVERLAP:.0%} overlap",
        [(arm.label, _usual(rows, arm)) for arm in ARMS],
        _MEASURES,
        f"--agents {USUAL_AGENTS} --overlap {USUAL_OVERLAP}",
    )


def _cost_table(rows: Sequence[Row]) -> Table:
    places = [Cell(arm, agents, USUAL_OVERLAP) for arm in ARMS[3:] for agents in tally.AGENTS]
    named = [(f"{cell.arm.label}, {cell.agents} agents", rows_of(rows, cell)) for cell in places]
    return _table("What Moot costs", named, _COSTS, f"--overlap {USUAL_OVERLAP} --arm moot")


def _tables_by_agents(rows: Sequence[Row]) -> list[Table]:
    return [
        _table(
            f"{agents} agents, {USUAL_OVERLAP:.0%} overlap",
            [(arm.label, rows_of(rows, Cell(arm, agents, USUAL_OVERLAP))) for arm in ARMS],
            _MEASURES,
            f"--agents {agents} --overlap {USUAL_OVERLAP}",
        )
        for agents in tally.AGENTS
        if agents != USUAL_AGENTS
    ]


def _tables_by_overlap(rows: Sequence[Row]) -> list[Table]:
    return [
        _table(
            f"{USUAL_AGENTS} agents, {overlap:.0%} overlap",
            [(arm.label, rows_of(rows, Cell(arm, USUAL_AGENTS, overlap))) for arm in ARMS],
            _MEASURES,
            f"--agents {USUAL_AGENTS} --overlap {overlap}",
        )
        for overlap in tally.OVERLAPS
        if overlap != USUAL_OVERLAP
    ]


def _lock_rows(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    never, usual = ARMS[0], ARMS[1]
    locks = sorted((usual, *LOCKS), key=lambda arm: arm.heeded or 0)
    named = [("never heeded", _usual(rows, never))]
    return named + [(f"heeded {arm.heeded:.0%}", _usual(rows, arm)) for arm in locks]


def _lock_table(rows: Sequence[Row]) -> Table:
    title = "A lock that is only asked for: how often must it be heeded?"
    place = f"--agents {USUAL_AGENTS} --overlap {USUAL_OVERLAP} --arm lock"
    return _table(title, _lock_rows(rows), _MEASURES, place)


def _real_table(rows: Sequence[Row]) -> Table:
    return _table(
        "The same by the four coding tools themselves",
        [(arm.label, _usual(rows, arm)) for arm in REAL],
        (*_MEASURES, ("Edits refused", lambda row: row.refused)),
        "--real",
    )


def _table(
    title: str,
    named: Sequence[tuple[str, Sequence[Row]]],
    measures: Sequence[tuple[str, Measure]],
    options: str,
) -> Table:
    columns = ("", *(label for label, _ in measures))
    cells = tuple(
        (label, *(describe_spread(found, measure) for _, measure in measures))
        for label, found in named
    )
    seeds = max((len(found) for _, found in named), default=0)
    caption = (
        f"Median of {plural(seeds, 'seed')}, in brackets the least and the most."
        f' Again: make bench-collisions ARGS="{options}"'
    )
    return Table(columns, cells, title=title, caption=caption)
