"""From rows to figures: of each cell the median, the least and the most over all seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Final, NamedTuple

from bench.collisions.arms import ARMS, LOCKS, REAL, Arm
from bench.collisions.course import Row

AGENTS: Final = (2, 4, 8)
OVERLAPS: Final = (0.0, 0.5, 1.0)
NOT_MEASURED: Final = "not measured"
USUAL_AGENTS: Final = 4
USUAL_OVERLAP: Final = 0.5


class Cell(NamedTuple):
    """One arm under one number of agents and one overlap."""

    arm: Arm
    agents: int
    overlap: float


def list_cells() -> list[Cell]:
    """Agents are varied at one overlap, overlap at one number of agents, and how often a lock is
    heeded at both of these."""
    places = [(agents, USUAL_OVERLAP) for agents in AGENTS]
    places += [(USUAL_AGENTS, overlap) for overlap in OVERLAPS if overlap != USUAL_OVERLAP]
    cells = [Cell(arm, *place) for place in places for arm in ARMS]
    return cells + [Cell(arm, USUAL_AGENTS, USUAL_OVERLAP) for arm in LOCKS]


def list_real_cells() -> list[Cell]:
    """Each of the four tools once."""
    return [Cell(arm, USUAL_AGENTS, USUAL_OVERLAP) for arm in REAL]


def rows_of(rows: Iterable[Row], cell: Cell) -> list[Row]:
    found = [row for row in rows if row.arm == cell.arm.name and row.agents == cell.agents]
    return [row for row in found if row.overlap == cell.overlap]


def describe_spread(rows: Sequence[Row], measure: Callable[[Row], float]) -> str:
    """Median, and in brackets the least and the most, where they differ."""
    values = [measure(row) for row in rows]
    if not values:
        return NOT_MEASURED
    low, high = min(values), max(values)
    middle = _number(median(values))
    return middle if low == high else f"{middle} ({_number(low)} to {_number(high)})"


def middle_of(rows: Sequence[Row], measure: Callable[[Row], float]) -> float:
    return median([measure(row) for row in rows]) if rows else 0.0


def sum_of(rows: Sequence[Row], measure: Callable[[Row], float]) -> float:
    return sum(measure(row) for row in rows)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"
