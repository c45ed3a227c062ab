"""The figures of a track record: worked by hand, exact, and holding what they promise."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.numbers import mean_interval, share_interval
from moot.protocols.decision.forecasts import (
    FEWEST_OUTCOMES,
    Outcome,
    count_effective_voters,
    effective_count,
    forecast_of,
    mean_error_correlation,
    mean_score,
    score,
)


def test_jurors_who_share_a_cause_count_as_three() -> None:
    """Five jurors, each right with a chance drawn once for all of them from Beta(3, 2)."""

    def moment(right: int, wrong: int) -> Fraction:
        """E[p^right (1-p)^wrong] for Beta(3, 2): rising factorials over those of 5."""
        chance = Fraction(1)
        for step in range(right):
            chance *= Fraction(3 + step, 5 + step)
        for step in range(wrong):
            chance *= Fraction(2 + step, 5 + right + step)
        return chance

    mean, both = moment(0, 1), moment(0, 2)
    correlation = (both - mean**2) / (mean * (1 - mean))
    assert effective_count(5, correlation) == 3
    majority = sum(comb(5, right) * moment(right, 5 - right) for right in (3, 4, 5))
    assert majority == Fraction(9, 14)


def test_voters_who_always_err_together_are_one() -> None:
    errors = [(at % 3 == 0,) * 4 for at in range(60)]
    counted = count_effective_voters(errors)
    assert counted is not None
    assert round(counted.voters, 9) == 1
    assert counted.interval.low <= counted.voters <= counted.interval.high + 1e-9


def test_voters_who_err_alone_are_all_of_them() -> None:
    errors = [row for row in product((False, True), repeat=3) for _ in range(8)]
    counted = count_effective_voters(errors)
    assert counted is not None
    assert (counted.correlation, counted.voters, counted.decisions) == (0, 3, 64)


def test_a_resampled_interval_holds_the_truth() -> None:
    """By simulation with a fixed seed: four voters who follow one cause half of the time."""
    chance, covered = random.Random(4), 0
    for number in range(60):
        rows = []
        for _ in range(120):
            cause, follow = chance.random() < 0.4, chance.random() < 0.5
            rows.append(tuple(cause if follow else chance.random() < 0.4 for _ in range(4)))
        counted = count_effective_voters(rows, str(number))
        assert counted is not None
        covered += counted.interval.low <= effective_count(4, 0.5) <= counted.interval.high
    assert covered >= 50  # 95 % is what it aims at, not what a bootstrap promises


def test_few_outcomes_give_no_number() -> None:
    rows = [(True, False), (False, True)] * FEWEST_OUTCOMES
    assert count_effective_voters(rows[: FEWEST_OUTCOMES - 1]) is None
    assert count_effective_voters(rows[:FEWEST_OUTCOMES]) is not None
    assert count_effective_voters([(False, False)] * 40) is None  # nobody ever erred
    assert count_effective_voters(rows, "q") == count_effective_voters(rows, "q")


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_a_correlation_is_between_minus_one_and_one(rows: list[tuple[bool, bool, bool]]) -> None:
    correlation = mean_error_correlation(Counter(rows))
    assert correlation is None or -1.0000001 <= correlation <= 1.0000001
    if correlation is not None:
        assert 1 <= effective_count(3, correlation) <= 3


@pytest.mark.parametrize(
    ("stance", "forecast"),
    [("approve", Fraction(9, 10)), ("reject", Fraction(1, 10)), ("neutral", None), ("defer", None)],
)
def test_a_stance_as_a_forecast(stance: str, forecast: Fraction | None) -> None:
    assert forecast_of(stance, Fraction(4, 5)) == forecast


def test_a_score_by_hand() -> None:
    right = score("approve", Fraction(4, 5), Outcome.RIGHT)
    wrong = score("approve", Fraction(4, 5), Outcome.WRONG)
    assert right is not None
    assert wrong is not None
    assert (right.score, wrong.score) == (Fraction(1, 100), Fraction(81, 100))
    assert score("approve", Fraction(4, 5), Outcome.MIXED) is None
    assert score("defer", Fraction(4, 5), Outcome.RIGHT) is None
    assert mean_score([(right, 1), (wrong, 1), (None, 5)]) == Fraction(41, 100)
    assert mean_score([(right, 3), (wrong, 1)]) == mean_score([(right, 1)] * 3 + [(wrong, 1)])
    assert mean_score([]) is None


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(0, 5, 0.0, 0.5218), (5, 5, 0.4782, 1.0), (3, 5, 0.1466, 0.9473), (15, 30, 0.3130, 0.6870)],
)
def test_published_exact_intervals(right: int, total: int, low: float, high: float) -> None:
    interval = share_interval(right, total)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_without_cases_anything_is_possible() -> None:
    assert share_interval(0, 0) == mean_interval(0.3, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 of 2 is not a share"):
        share_interval(3, 2)


@pytest.mark.parametrize("total", [1, 2, 5, 10])
@pytest.mark.parametrize("percent", [1, 10, 50, 77, 99])
def test_a_share_is_covered_as_promised(total: int, percent: int) -> None:
    """Exactly: the chance of every count whose interval holds the truth."""
    truth = percent / 100
    covered = sum(
        comb(total, right) * truth**right * (1 - truth) ** (total - right)
        for right in range(total + 1)
        if share_interval(right, total).low <= truth <= share_interval(right, total).high
    )
    assert covered >= 0.95


@pytest.mark.parametrize("total", [2, 5, 12])
def test_a_mean_score_is_covered_as_promised(total: int) -> None:
    """By simulation with a fixed seed: forecasts of 0.9 that are right 8 times in 10."""
    chance = random.Random(total)
    truth = 0.8 * 0.01 + 0.2 * 0.81
    covered = 0
    for _ in range(1_000):
        scores = [0.01 if chance.random() < 0.8 else 0.81 for _ in range(total)]
        interval = mean_interval(sum(scores) / total, total)
        covered += interval.low <= truth <= interval.high
    assert covered >= 950


@given(st.floats(0, 1), st.integers(1, 200))
def test_an_interval_holds_its_own_mean(mean: float, count: int) -> None:
    interval = mean_interval(mean, count)
    assert 0 <= interval.low <= mean <= interval.high <= 1
