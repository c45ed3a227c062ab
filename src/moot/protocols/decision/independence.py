"""How many voters there really were: errors that come together count less than errors alone.

`n_eff = n / (1 + (n - 1) rho)`, where rho is the mean correlation of errors between two of them. It
is an equivalent in variance: so many independent voters would make the vote scatter as much. It
does not say how often the majority is right.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from moot.core.intervals import Interval

# Below so many decisions whose outcome is known, and in which all took part, no number is given.
FEWEST_OUTCOMES: Final = 30
RESAMPLES: Final = 400
_LEVEL: Final = 0.95

# One row a decision: for each participant whether it erred.
Errors = Sequence[Sequence[bool]]


class EffectiveVoters(NamedTuple):
    """`voters` is n_eff, clipped to 1..n; `interval` is a bootstrap over decisions."""

    participants: int
    decisions: int
    correlation: float
    voters: float
    interval: Interval


def effective_count(participants: int, correlation: Fraction | float) -> Fraction | float:
    """How many independent voters scatter as much as these."""
    denominator = 1 + (participants - 1) * correlation
    if denominator <= 0:
        return participants
    return min(max(participants / denominator, 1), participants)


def count_effective_voters(errors: Errors, seed: str = "") -> EffectiveVoters | None:
    """None if too few outcomes are known, or nobody ever erred differently from another."""
    if len(errors) < FEWEST_OUTCOMES or len(errors[0]) < 2:
        return None
    correlation = mean_error_correlation(errors)
    if correlation is None:
        return None
    participants = len(errors[0])
    chance = random.Random(f"moot\n{seed}")  # the same record gives the same figure
    resampled = sorted(
        float(effective_count(participants, value))
        for _ in range(RESAMPLES)
        if (value := mean_error_correlation(chance.choices(errors, k=len(errors)))) is not None
    )
    tail = (1 - _LEVEL) / 2
    interval = Interval(_quantile(resampled, tail), _quantile(resampled, 1 - tail))
    voters = float(effective_count(participants, correlation))
    return EffectiveVoters(participants, len(errors), correlation, voters, interval)


def mean_error_correlation(errors: Errors) -> float | None:
    """Over all pairs of which both erred sometimes, and not always; None without such a pair."""
    decisions, participants = len(errors), len(errors[0])
    shares = [sum(row[at] for row in errors) / decisions for at in range(participants)]
    correlations = []
    for one in range(participants):
        for other in range(one + 1, participants):
            spread = shares[one] * (1 - shares[one]) * shares[other] * (1 - shares[other])
            if spread > 0:
                both = sum(row[one] and row[other] for row in errors) / decisions
                covariance = both - shares[one] * shares[other]
                correlations.append(covariance / math.sqrt(spread))
    return math.fsum(correlations) / len(correlations) if correlations else None


def chance_that_majority_is_right(participants: int, share: Fraction) -> Fraction:
    """For independent voters, each right with this chance; a tie counts half."""
    total = Fraction(0)
    for right in range(participants + 1):
        weight = Fraction(2 * right > participants) + Fraction(2 * right == participants, 2)
        chance = share**right * (1 - share) ** (participants - right)
        total += weight * math.comb(participants, right) * chance
    return total


def _quantile(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]
