"""Temperatures: one band a seat, narrowing by round, the same for the same seed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.parliament.model import TemperatureReading
from moot.protocols.parliament.round_clock import (
    RANGES,
    archetype_of,
    describe_shift,
    draw_temperatures,
    temperature_range,
)

from .scene import ROUND_END, ROUND_START, ParliamentScenario

_rounds, _seats = st.integers(0, 20), st.integers(2, 30)


@given(st.text(max_size=20), _rounds, _seats)
def test_no_two_seats_are_alike_and_all_lie_in_the_range(
    seed: str, number: int, seats: int
) -> None:
    low, high = temperature_range(number)
    drawn = draw_temperatures(seed, number, seats)
    assert len(set(drawn)) == len(drawn) == seats
    assert all(low <= one <= high for one in drawn)


@given(st.text(max_size=20), _rounds, _seats)
def test_each_band_has_its_value(seed: str, number: int, seats: int) -> None:
    low, high = temperature_range(number)
    width = high - low + 1
    for place, value in enumerate(sorted(draw_temperatures(seed, number, seats))):
        assert low + width * place // seats <= value < low + width * (place + 1) // seats


def test_the_seed_decides() -> None:
    assert draw_temperatures("a", 1, 5) == draw_temperatures("a", 1, 5)
    assert draw_temperatures("a", 1, 5) != draw_temperatures("b", 1, 5)
    assert draw_temperatures("a", 1, 5) != draw_temperatures("a", 2, 5)


def test_the_range_narrows_and_then_stays() -> None:
    widths = [high - low for low, high in RANGES]
    assert widths == sorted(widths, reverse=True)
    assert temperature_range(6) == temperature_range(60) == (35, 65)


@pytest.mark.parametrize(
    ("temperature", "name"),
    [
        (95, "Visionary"),
        (75, "Visionary"),
        (74, "Pragmatic Advocate"),
        (50, "Pragmatic Advocate"),
        (49, "Rigorous Skeptic"),
        (25, "Rigorous Skeptic"),
        (24, "Principled Guardian"),
        (0, "Principled Guardian"),
    ],
)
def test_a_temperature_has_a_character(temperature: int, name: str) -> None:
    assert archetype_of(temperature) == name


def test_a_change_is_told_if_it_is_strong() -> None:
    assert [describe_shift(50, after) for after in (65, 66, 34, 80, 81, 19)] == [
        "",
        "shift",
        "shift",
        "shift",
        "big shift",
        "big shift",
    ]


def test_each_round_adds_a_row_where_something_changed() -> None:
    scenario = ParliamentScenario(5).debating()
    for number in (2, 3):
        scenario.submit(ROUND_END)
        scenario.submit(ROUND_START, seed=f"round {number}")
    for seat in scenario.state.seats_in_order():
        rows = seat.temperature_history
        assert rows[0].round == 0
        assert rows[-1] == TemperatureReading(rows[-1].round, seat.temperature)
        assert [row.round for row in rows] == sorted({row.round for row in rows})
        assert all(a.temperature != b.temperature for a, b in itertools.pairwise(rows))
    heat = [seat.temperature for seat in scenario.state.seats_in_order()]
    assert len(set(heat)) == 5
    assert tuple(heat) == draw_temperatures("parl-20260218-001\nround 3", 3, 5)
