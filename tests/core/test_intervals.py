"""Intervals: nothing is known of nothing, and more cases leave less room."""

from __future__ import annotations

import pytest

from moot.core.numbers import Interval, mean_interval, share_interval


def test_of_no_cases_nothing_is_known() -> None:
    assert share_interval(0, 0) == Interval(0.0, 1.0)
    assert mean_interval(0.5, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (5, 10, 0.1871, 0.8129)],
)
def test_a_share_of_ten_as_the_tables_of_clopper_and_pearson_have_it(
    right: int, total: int, low: float, high: float
) -> None:
    assert share_interval(right, total, 0.95) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    "make", [lambda n: share_interval(n // 2, n), lambda n: mean_interval(0.5, n)]
)
def test_more_cases_leave_less_room(make: object) -> None:
    assert callable(make)
    few, many = make(10), make(1_000)
    assert 0 < few.low < many.low < 0.5 < many.high < few.high < 1


@pytest.mark.parametrize(("right", "total"), [(-1, 3), (4, 3)])
def test_a_share_needs_at_most_as_many_hits_as_cases(right: int, total: int) -> None:
    with pytest.raises(ValueError, match=f"^{right} of {total} is not a share$"):
        share_interval(right, total)


@pytest.mark.parametrize(("right", "low", "high"), [(0, 0.0, 0.975), (1, 0.025, 1.0)])
def test_one_case_tells_a_little(right: int, low: float, high: float) -> None:
    assert share_interval(right, 1) == pytest.approx((low, high))


@pytest.mark.parametrize(("mean", "low", "high"), [(0.0, 0.0, 0.7076), (1.0, 0.2924, 1.0)])
def test_three_equal_scores_leave_room_to_one_side(mean: float, low: float, high: float) -> None:
    assert mean_interval(mean, 3) == pytest.approx((low, high), abs=1e-4)


def test_who_must_be_certain_learns_nothing_from_one_case() -> None:
    """So near to 1 that a share of 1 itself is tried."""
    assert share_interval(0, 1, 1 - 2**-53) == pytest.approx((0.0, 1.0))
    assert mean_interval(0.5, 1, 1 - 2**-53) == pytest.approx((0.0, 1.0))
