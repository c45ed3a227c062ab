"""Time as data: milliseconds inside, one text form outside."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.clock import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    fixed_clock,
    parse_time,
    system_clock,
    to_text,
)
from moot.core.errors import Malformed

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = round((datetime(1, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) * 1_000
LAST = round((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - EPOCH).total_seconds()) * 1_000 + 999
MOMENTS = st.integers(FIRST, LAST)


def independent(millis: int) -> str:
    moment = EPOCH + timedelta(milliseconds=millis)
    date = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
    clock = f"{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}"
    return f"{date}T{clock}.{moment.microsecond // 1000:03d}Z"


@given(MOMENTS)
@example(FIRST)
@example(LAST)
@example(0)
@example(-1)
@example(-1000)
def test_a_moment_is_written_as_an_independent_formatter_writes_it(millis: int) -> None:
    assert to_text(millis) == independent(millis)


@given(MOMENTS)
@example(LAST)
def test_a_written_moment_reads_back(millis: int) -> None:
    assert parse_time(to_text(millis)) == millis


@given(st.lists(MOMENTS, max_size=6), st.integers(-2000, 2000))
def test_moments_near_each_other_do_not_share_a_second_by_mistake(
    moments: list[int], step: int
) -> None:
    around = [near for moment in moments for near in (moment, moment + step)]
    within = [moment for moment in around if FIRST <= moment <= LAST]
    assert [to_text(moment) for moment in within] == [independent(moment) for moment in within]


@given(st.lists(MOMENTS, max_size=6), st.integers(-2000, 2000))
def test_moments_near_each_other_are_read_back_each_by_itself(
    moments: list[int], step: int
) -> None:
    around = [near for moment in moments for near in (moment, moment + step)]
    within = [moment for moment in around if FIRST <= moment <= LAST]
    assert [parse_time(independent(moment)) for moment in within] == within


@pytest.mark.parametrize("rest", ["12x", "1²3", "١٢٣", "-12", " 12", "1_2"])
def test_a_bad_time_is_malformed_after_a_good_one_of_the_same_second(rest: str) -> None:
    parse_time("2026-02-18T16:00:00.123Z")
    with pytest.raises(Malformed):
        parse_time(f"2026-02-18T16:00:00.{rest}Z")


def test_the_second_before_1970_is_written_whole_by_a_fresh_process() -> None:
    script = "import sys; from moot.core.clock import to_text; sys.stdout.write(to_text(-1))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-02-18T16:00:00Z", "2026-02-18T16:00:00.000Z"),
        ("2026-02-18T16:00:00.5Z", "2026-02-18T16:00:00.500Z"),
        ("2026-02-18T17:30:00+01:30", "2026-02-18T16:00:00.000Z"),
        ("2026-02-18T15:59:59.999-00:00", "2026-02-18T15:59:59.999Z"),
    ],
)
def test_any_zone_and_precision_mean_the_same_moment(text: str, same: str) -> None:
    assert to_text(parse_time(text)) == same


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-02-18",
        "2026-02-18T16:00:00",
        "2026-02-18 16:00:00Z",
        "2026-02-18T16:00:00Z\n",
        " 2026-02-18T16:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-02-18T24:00:01Z",
        "2026-02-18T16:00:60Z",
        "2026-02-18T16:00:00+24:00",
        "0000-01-01T00:00:00Z",
        "20260218T160000Z",
        "２０２６-02-18T16:00:00Z",
        "2026-02-18T16:00:00.1234567Z",
        # Moments that no four-digit year can write again.
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+00:01",
        "2026-02-18 16:00:00.123Z",  # as long as ours, with the point and the Z in their places
        "20260218T00160000.123Z00",
        "2026-02-18T16:00:0٣.123Z",
        "2026-W08-3T16:00:00.123Z",
    ],
)
def test_what_is_not_a_moment_is_malformed(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_time(text)
    assert caught.value.code == "bad_time"


@given(st.text(st.sampled_from("0129-:T.Z+ "), max_size=30) | st.text(max_size=30))
@example("9999-12-31T23:59:59.9999Z")
@example("0001-01-01T00:00:00+00:01")
def test_any_text_is_a_moment_that_can_be_written_or_malformed(text: str) -> None:
    try:
        millis = parse_time(text)
    except Malformed:
        return
    assert parse_time(to_text(millis)) == millis


@pytest.mark.parametrize("millis", [LAST + 1, FIRST - 1, 2**53, -(2**53), 10**30])
def test_a_moment_outside_the_calendar_is_malformed_not_a_crash(millis: int) -> None:
    with pytest.raises(Malformed) as caught:
        to_text(millis)
    assert caught.value.code == "bad_time"


def test_a_fixed_clock_stands_still() -> None:
    clock = fixed_clock("2026-02-18T16:00:00Z")
    assert clock() == clock() == parse_time("2026-02-18T16:00:00Z")


def test_the_system_clock_counts_milliseconds_since_1970() -> None:
    before, shown, after = time.time_ns(), system_clock(), time.time_ns()
    assert before // 1_000_000 <= shown <= after // 1_000_000


def test_the_units_are_milliseconds() -> None:
    assert (SECOND, MINUTE, HOUR, DAY) == (1_000, 60_000, 3_600_000, 86_400_000)
