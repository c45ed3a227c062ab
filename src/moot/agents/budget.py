"""Limits of a run: turns, tokens, money, seconds. Whatever is reached first stops it, by name.

What earlier runs spent counts too: a run that was killed and started again gets no second budget.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from moot.agents.cost import NO_COST, Cost, format_money
from moot.agents.outcome import StopReason


class Budget(msgspec.Struct, frozen=True):
    """The limits of a run; None is no limit. `micros` are millionths of a US dollar."""

    turns: int | None = None
    tokens: int | None = None
    micros: int | None = None
    seconds: float | None = None


class Spent(msgspec.Struct, frozen=True):
    """Turns that were recorded, and what all calls cost, the useless ones too."""

    turns: int = 0
    cost: Cost = NO_COST

    def plus(self, cost: Cost, turns: int = 0) -> Spent:
        return Spent(self.turns + turns, self.cost + cost)


def find_reached_limit(
    budget: Budget, spent: Spent, seconds: float
) -> tuple[StopReason, str] | None:
    """The first limit that leaves no room for another turn, with a sentence about it (AGT-015)."""
    return next(_limits_reached(budget, spent, seconds), None)


def _limits_reached(
    budget: Budget, spent: Spent, seconds: float
) -> Iterator[tuple[StopReason, str]]:
    cost = spent.cost
    if budget.turns is not None and spent.turns >= budget.turns:
        yield StopReason.TURNS, f"{spent.turns} of {budget.turns} turns are taken"
    if budget.tokens is not None and cost.tokens >= budget.tokens:
        yield StopReason.TOKENS, f"{cost.tokens:,} of {budget.tokens:,} tokens are spent"
    if budget.micros is not None and cost.micros >= budget.micros:
        yield (
            StopReason.MONEY,
            f"{format_money(cost.micros)} of {format_money(budget.micros)} are spent",
        )
    if budget.micros is not None and cost.unpriced and cost.tokens:
        known = f"the price of {cost.unpriced} of {cost.calls} calls is unknown"
        yield (
            StopReason.MONEY,
            f"{known}, so {format_money(budget.micros)} cannot be kept; limit the tokens",
        )
    if budget.seconds is not None and seconds >= budget.seconds:
        yield StopReason.TIME, f"{budget.seconds:g} seconds are over"


def turns_left(budget: Budget, spent: Spent) -> int | None:
    return None if budget.turns is None else max(0, budget.turns - spent.turns)


def time_left(budget: Budget, seconds: float) -> float | None:
    return None if budget.seconds is None else max(0.0, budget.seconds - seconds)
