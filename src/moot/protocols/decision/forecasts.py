"""Stances as forecasts, and how good they were: the Brier score, in exact arithmetic.

An approval with confidence c forecasts with probability (1 + c) / 2 that the answer is right, a
rejection with c with (1 - c) / 2. Neutral and defer forecast nothing. A score is the squared
distance from what happened: 0 is perfect, 1/4 is a coin toss, 1 is certain and wrong.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

from moot.core.numbers import Interval

_SIGNS: Final = {"approve": 1, "reject": -1}


class Outcome(StrEnum):
    """How the answer turned out. Mixed outcomes are counted, but not scored."""

    RIGHT = "right"
    WRONG = "wrong"
    MIXED = "mixed"


class ScoredForecast(NamedTuple):
    """The probability that a participant gave the answer, and whether it proved right."""

    forecast: Fraction
    was_right: bool

    @property
    def score(self) -> Fraction:
        return (self.forecast - self.was_right) ** 2


def forecast_of(stance: str, confidence: Fraction) -> Fraction | None:
    """Return the forecast probability; None for a stance that forecasts nothing."""
    sign = _SIGNS.get(stance)
    return None if sign is None else (1 + sign * confidence) / 2


def score(stance: str, confidence: Fraction, outcome: Outcome) -> ScoredForecast | None:
    """Pair a forecast with its outcome; None without a forecast, or if the outcome is mixed."""
    forecast = forecast_of(stance, confidence)
    if forecast is None or outcome is Outcome.MIXED:
        return None
    return ScoredForecast(forecast, outcome is Outcome.RIGHT)


def mean_score(counted: Iterable[tuple[ScoredForecast | None, int]]) -> Fraction | None:
    """Return the mean score of (forecast, count) pairs; None if none of them was scored."""
    known = [(forecast, count) for forecast, count in counted if forecast is not None]
    total = _sum_weighted((count, forecast.score) for forecast, count in known)
    return total / sum(count for _, count in known) if known else None


def _sum_weighted(parts: Iterable[tuple[int, Fraction]]) -> Fraction:
    return sum((count * value for count, value in parts), Fraction(0))


# How many independent voters a vote is worth: voters that err together count as fewer.
#
# `n_eff = n / (1 + (n - 1) rho)`, where rho is the mean correlation of errors between two of them.
# That many independent voters would give the vote the same variance. It does not say how often the
# majority is right.

# No number is given for fewer decisions with a known outcome in which all of them took part.
FEWEST_OUTCOMES: Final = 30
RESAMPLES: Final = 200
_LEVEL: Final = 0.95
# Above this mean, the normal distribution approximates the Poisson distribution well enough.
_MANY: Final = 50

# Which participants erred in one decision; and how often each such row occurred.
ErrorRow = tuple[bool, ...]
ErrorCounts = Mapping[ErrorRow, int]


class EffectiveVoters(NamedTuple):
    """`voters` is n_eff, clipped to 1..n; `interval` is a bootstrap over decisions."""

    participants: int
    decisions: int
    correlation: float
    voters: float
    interval: Interval


def effective_count(participants: int, correlation: Fraction | float) -> Fraction | float:
    """Return how many independent voters would have the same variance."""
    denominator = 1 + (participants - 1) * correlation
    if denominator <= 0:
        return participants
    return min(max(participants / denominator, 1), participants)


def count_effective_voters(rows: Iterable[ErrorRow], seed: str = "") -> EffectiveVoters | None:
    """Estimate n_eff from one row for each decision.

    None with too few outcomes, or if no pair of participants has a correlation to measure.
    """
    counts = Counter(rows)
    participants = len(next(iter(counts), ()))
    if counts.total() < FEWEST_OUTCOMES or participants < 2:
        return None
    correlation = mean_error_correlation(counts)
    if correlation is None:
        return None
    resampled = sorted(
        float(effective_count(participants, value)) for value in _resample(counts, seed)
    )
    tail = (1 - _LEVEL) / 2
    interval = Interval(_quantile(resampled, tail), _quantile(resampled, 1 - tail))
    voters = float(effective_count(participants, correlation))
    return EffectiveVoters(participants, counts.total(), correlation, voters, interval)


def mean_error_correlation(counts: ErrorCounts) -> float | None:
    """Average over all pairs in which both erred sometimes, not always; None if there is none."""
    total, alone, together = 0.0, Counter[int](), Counter[tuple[int, int]]()
    for row, count in counts.items():
        total += count
        erring = [at for at, erred in enumerate(row) if erred]
        for at in erring:
            alone[at] += count
        for pair in combinations(erring, 2):
            together[pair] += count
    correlations = []
    for one, other in combinations(sorted(alone), 2):
        first, second = alone[one] / total, alone[other] / total
        spread = first * (1 - first) * second * (1 - second)
        if spread > 0:
            covariance = together[one, other] / total - first * second
            correlations.append(covariance / math.sqrt(spread))
    return math.fsum(correlations) / len(correlations) if correlations else None


def _resample(counts: Counter[ErrorRow], seed: str) -> Iterator[float]:
    """Bootstrap the correlation: draw each kind of row a Poisson number of times.

    Rows are drawn by kind and not one by one, so ten thousand decisions cost no more than ten.
    """
    randoms = _numbers_between_0_and_1(seed)
    for _ in range(RESAMPLES):
        drawn = {row: _poisson(count, randoms) for row, count in counts.items()}
        correlation = mean_error_correlation(drawn)
        if correlation is not None:
            yield correlation


def _numbers_between_0_and_1(seed: str) -> Iterator[float]:
    """Yield uniform pseudo-random numbers; the same seed gives the same ones on every computer.

    So the same record always gives the same figure.
    """
    block = hashlib.sha256(f"moot resamples\n{seed}".encode()).digest()
    while True:
        for at in range(0, len(block), 4):
            yield (int.from_bytes(block[at : at + 4]) + 0.5) / 2**32
        block = hashlib.sha256(block).digest()


def _poisson(mean: int, randoms: Iterator[float]) -> int:
    """Draw a Poisson number with this mean.

    The random numbers are never nearer to 0 or 1 than 2**-33. So the normal approximation stays
    within 6.8 standard deviations, above 0, and the loop below always ends.
    """
    if mean > _MANY:
        distance = math.sqrt(-2 * math.log(next(randoms))) * math.cos(math.tau * next(randoms))
        return round(mean + math.sqrt(mean) * distance)
    left, probability, count = next(randoms), math.exp(-mean), 0
    while left > probability:
        left -= probability
        count += 1
        probability *= mean / count
    return count


def _quantile(values: Sequence[float], share: float) -> float:
    return values[int(share * len(values))]
