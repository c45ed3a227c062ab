"""Stances as forecasts, and how good they were: Brier's score, by exact arithmetic.

Whoever approves with confidence c forecasts (1 + c) / 2 that the answer is right, whoever rejects
with c forecasts (1 - c) / 2. Neutral and defer forecast nothing. A score is the squared distance
from what happened: 0 is perfect, 1/4 is knowing nothing, 1 is sure and wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

_SIGNS: Final = {"approve": 1, "reject": -1}


class Outcome(StrEnum):
    """What became of the answer that was acted on. Mixed is counted, not scored."""

    RIGHT = "right"
    WRONG = "wrong"
    MIXED = "mixed"


class ScoredForecast(NamedTuple):
    """How likely somebody called the answer, and whether it proved right."""

    forecast: Fraction
    was_right: bool

    @property
    def score(self) -> Fraction:
        return (self.forecast - self.was_right) ** 2


class BrierParts(NamedTuple):
    """`score = reliability - resolution + uncertainty` (Murphy), over equal forecasts.

    `reliability` is how far forecasts lie from what then happened (less is better), `resolution`
    how well they tell cases apart (more is better), `uncertainty` what the cases left open.
    """

    score: Fraction
    reliability: Fraction
    resolution: Fraction
    uncertainty: Fraction


def forecast_of(stance: str, confidence: Fraction) -> Fraction | None:
    """None for a stance that forecasts nothing."""
    sign = _SIGNS.get(stance)
    return None if sign is None else (1 + sign * confidence) / 2


def score(stance: str, confidence: Fraction, outcome: Outcome) -> ScoredForecast | None:
    """None if the stance forecasts nothing, or the outcome settles nothing."""
    forecast = forecast_of(stance, confidence)
    if forecast is None or outcome is Outcome.MIXED:
        return None
    return ScoredForecast(forecast, outcome is Outcome.RIGHT)


def mean_score(counted: Iterable[tuple[ScoredForecast | None, int]]) -> Fraction | None:
    """Of forecasts and how often each was made; None of none that was scored."""
    known = [(forecast, count) for forecast, count in counted if forecast is not None]
    total = _weighted((count, forecast.score) for forecast, count in known)
    return total / sum(count for _, count in known) if known else None


def decompose(forecasts: Sequence[ScoredForecast]) -> BrierParts | None:
    """Brier's score in its three parts; None of none."""
    if not forecasts:
        return None
    count = len(forecasts)
    base = Fraction(sum(each.was_right for each in forecasts), count)
    cases = Counter(each.forecast for each in forecasts)
    right = Counter(each.forecast for each in forecasts if each.was_right)
    shares = {value: Fraction(right[value], cases[value]) for value in cases}
    reliability = _weighted((cases[value], (value - shares[value]) ** 2) for value in cases)
    resolution = _weighted((cases[value], (shares[value] - base) ** 2) for value in cases)
    whole = sum(_scores(forecasts), Fraction(0)) / count
    return BrierParts(whole, reliability / count, resolution / count, base * (1 - base))


def _scores(forecasts: Iterable[ScoredForecast]) -> Iterable[Fraction]:
    return (each.score for each in forecasts)


def _weighted(parts: Iterable[tuple[int, Fraction]]) -> Fraction:
    return sum((count * value for count, value in parts), Fraction(0))
