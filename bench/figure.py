"""One row of the table: a figure, the raw limit beside it, and whether its target was met."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from typing import NamedTuple

import msgspec


class Target(NamedTuple):
    """What a ratio, or a value, must reach."""

    limit: float
    at_least: bool

    def met_by(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


def at_least(limit: float) -> Target:
    return Target(limit, at_least=True)


def at_most(limit: float) -> Target:
    return Target(limit, at_least=False)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """`ratio` is the median of the rounds' own ratios; half of them lie from `low` to `high`."""

    name: str
    unit: str = ""
    ours: float | None = None
    raw: float | None = None
    against: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    target: str = ""
    met: bool | None = None
    more: dict[str, float] = {}
    note: str = ""


def ratio(
    name: str,
    unit: str,
    ours: Sequence[float],
    raw: Sequence[float],
    *,
    against: str,
    target: Target | None = None,
    more: dict[str, float] | None = None,
    note: str = "",
) -> Figure:
    """A figure from paired rounds: each round of ours is divided by the raw one beside it."""
    ratios = [mine / limit for mine, limit in zip(ours, raw, strict=True)]
    low, middle, high = _quartiles(ratios)
    return Figure(
        name=name,
        unit=unit,
        ours=median(ours),
        raw=median(raw),
        against=against,
        ratio=middle,
        low=low,
        high=high,
        target=str(target or ""),
        met=target.met_by(middle) if target else None,
        more=more or {},
        note=note,
    )


def _quartiles(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Of very few rounds, the extremes and the median."""
    if len(ratios) < 4:
        return min(ratios), median(ratios), max(ratios)
    low, middle, high = quantiles(ratios, n=4, method="inclusive")
    return low, middle, high


def value(
    name: str,
    unit: str,
    ours: float,
    *,
    target: Target | None = None,
    more: dict[str, float] | None = None,
    note: str = "",
) -> Figure:
    """A figure that has no raw limit, such as a latency."""
    return Figure(
        name=name,
        unit=unit,
        ours=ours,
        target=str(target or ""),
        met=target.met_by(ours) if target else None,
        more=more or {},
        note=note,
    )
