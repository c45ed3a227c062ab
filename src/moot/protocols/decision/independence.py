"""How many voters there really were: errors that come together count less than errors alone.

`n_eff = n / (1 + (n - 1) rho)`, where rho is the mean correlation of errors between two of them. It
is an equivalent in variance: so many independent voters would make the vote scatter as much. It
does not say how often the majority is right.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

from moot.core.intervals import Interval

# Below so many decisions whose outcome is known, and in which all took part, no number is given.
FEWEST_OUTCOMES: Final = 30
RESAMPLES: Final = 200
_LEVEL: Final = 0.95
# Above this mean a Poisson number is as good as normal.
_MANY: Final = 50

# For each participant whether it erred in a decision; and how often just these erred together.
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
    """How many independent voters scatter as much as these."""
    denominator = 1 + (participants - 1) * correlation
    if denominator <= 0:
        return participants
    return min(max(participants / denominator, 1), participants)


def count_effective_voters(rows: Iterable[ErrorRow], seed: str = "") -> EffectiveVoters | None:
    """One row a decision. None if too few outcomes are known, or no two ever erred apart."""
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
    """Over all pairs of which both erred sometimes, and not always; None without such a pair."""
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
    """Correlations of the same decisions drawn anew: each as often as chance says (Poisson).

    Rows are drawn by kind and not one by one, so it costs the same for ten thousand decisions.
    """
    chance = _numbers_between_0_and_1(seed)
    for _ in range(RESAMPLES):
        drawn = {row: _poisson(count, chance) for row, count in counts.items()}
        correlation = mean_error_correlation(drawn)
        if correlation is not None:
            yield correlation


def _numbers_between_0_and_1(seed: str) -> Iterator[float]:
    """Scattered evenly, and the same for the same seed: the same record gives the same figure."""
    block = hashlib.sha256(f"moot resamples\n{seed}".encode()).digest()
    while True:
        for at in range(0, len(block), 4):
            yield (int.from_bytes(block[at : at + 4]) + 0.5) / 2**32
        block = hashlib.sha256(block).digest()


def _poisson(mean: int, chance: Iterator[float]) -> int:
    """A number of events that are so many on average.

    Chance is never nearer to 0 or 1 than 2**-33: what is as good as normal stays within 6.8 times
    its spread, so above 0, and the sum of probabilities below gets beyond any chance.
    """
    if mean > _MANY:
        distance = math.sqrt(-2 * math.log(next(chance))) * math.cos(math.tau * next(chance))
        return round(mean + math.sqrt(mean) * distance)
    left, probability, count = next(chance), math.exp(-mean), 0
    while left > probability:
        left -= probability
        count += 1
        probability *= mean / count
    return count


def chance_that_majority_is_right(participants: int, share: Fraction) -> Fraction:
    """For independent voters, each right with this chance; a tie counts half."""
    total = Fraction(0)
    for right in range(participants + 1):
        weight = Fraction(2 * right > participants) + Fraction(2 * right == participants, 2)
        chance = share**right * (1 - share) ** (participants - right)
        total += weight * math.comb(participants, right) * chance
    return total


def _quantile(values: Sequence[float], share: float) -> float:
    return values[int(share * len(values))]
