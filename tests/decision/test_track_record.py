"""A track record counted by hand, and what it never does: rank by few outcomes, or look ahead."""

from __future__ import annotations

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.model import SeatForecast
from moot.protocols.decision.track_record import (
    JudgedDecision,
    WayToDecide,
    count_track_record,
)

OTTER, CRANE, HERON = "amber-otter", "teal-crane", "grey-heron"


def forecast(agent: str, first: str, last: str, micros: int = 0, model: str = "") -> SeatForecast:
    """`first` and `last` such as "approve 0.8"."""
    (stance, sure), (later, surer) = first.split(" "), last.split(" ")
    return SeatForecast(agent, model, stance, sure, later, surer, micros=micros)


def judged(number: int, outcome: Outcome, *forecasts: SeatForecast) -> JudgedDecision:
    return JudgedDecision(f"q-{number}", outcome, number, forecasts)


def three() -> list[JudgedDecision]:
    """Otter is sure and right twice; crane follows it once, and is wrong alone once."""
    return [
        judged(
            1,
            Outcome.RIGHT,
            forecast(OTTER, "approve 0.8", "approve 0.8", 100),
            forecast(CRANE, "reject 0.6", "approve 0.4", 30),
        ),
        judged(
            2,
            Outcome.WRONG,
            forecast(OTTER, "reject 0.6", "reject 0.6", 100),
            forecast(CRANE, "approve 0.2", "approve 1", 30),
            forecast(HERON, "neutral 0.5", "defer 0"),
        ),
        judged(3, Outcome.MIXED, forecast(OTTER, "approve 1", "approve 1", 100)),
    ]


@pytest.mark.requirement("DEC-031")
def test_counted_by_hand() -> None:
    track = count_track_record(three())
    assert (track.judged, track.mixed, track.is_enough, track.voters) == (3, 1, False, None)
    otter, heron, crane = track.participants
    assert (otter.name, otter.decisions, otter.scored, otter.unscored) == (OTTER, 3, 2, 1)
    assert otter.last_score == (Fraction(1, 100) + Fraction(4, 100)) / 2
    assert (otter.right, otter.helped, otter.hurt, otter.micros_per_right) == (2, 0, 0, 150)
    assert crane.first_score == (Fraction(64, 100) + Fraction(36, 100)) / 2
    assert crane.last_score == (Fraction(9, 100) + 1) / 2
    assert (crane.right, crane.helped, crane.hurt, crane.micros_per_right) == (1, 1, 1, 60)
    assert (heron.scored, heron.unscored, heron.last_score) == (0, 1, None)
    assert heron.interval == (0.0, 1.0)


@pytest.mark.requirement("DEC-031")
def test_ways_to_decide_by_hand() -> None:
    track = count_track_record(three())
    assert track.vote_before == WayToDecide(right=0, wrong=0, open=2)
    assert track.vote_after == WayToDecide(right=1, wrong=0, open=1)
    # Before the first outcome nobody is known to be good; then otter is, and is right.
    assert track.single_best == WayToDecide(right=1, wrong=0, open=1)


@pytest.mark.requirement("DEC-031")
def test_the_single_best_is_chosen_from_the_past_alone() -> None:
    """Crane turns out best in the end; but when otter had to be listened to, nobody knew that."""
    first = judged(
        1,
        Outcome.RIGHT,
        forecast(OTTER, "approve 1", "approve 1"),
        forecast(CRANE, "approve 0.1", "approve 0.1"),
    )
    then = [
        judged(
            number,
            Outcome.WRONG,
            forecast(OTTER, "approve 1", "approve 1"),
            forecast(CRANE, "reject 1", "reject 1"),
        )
        for number in (2, 3)
    ]
    assert count_track_record([first, *then]).single_best == WayToDecide(1, 1, 1)
    assert count_track_record([*then, first]).single_best == WayToDecide(1, 1, 1)


def test_models_are_counted_together() -> None:
    track = count_track_record(
        [
            judged(
                1,
                Outcome.RIGHT,
                forecast(OTTER, "approve 1", "approve 1", model="opus"),
                forecast(CRANE, "approve 0", "approve 0", model="opus"),
                forecast(HERON, "reject 1", "reject 1"),
            )
        ]
    )
    opus, unknown = track.models
    assert (opus.name, opus.decisions, opus.last_score) == ("opus", 2, Fraction(1, 8))
    assert (unknown.name, unknown.last_score) == ("unknown", Fraction(1))


def test_thirty_shared_outcomes_give_a_number() -> None:
    cases = [
        judged(
            number,
            Outcome.RIGHT if number % 2 else Outcome.WRONG,
            forecast(OTTER, "approve 0.5", "approve 0.5"),
            forecast(CRANE, "approve 0.5", "approve 0.5"),
        )
        for number in range(30)
    ]
    track = count_track_record(cases)
    assert track.is_enough
    assert track.voters is not None
    assert (track.voters.participants, round(track.voters.voters, 6)) == (2, 1)
    assert count_track_record(cases[1:]).voters is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(Outcome)),
            st.dictionaries(
                st.sampled_from([OTTER, CRANE, HERON]),
                st.tuples(
                    st.sampled_from(["approve", "reject", "neutral", "defer"]),
                    st.sampled_from(["0", "0.25", "0.5", "1", ""]),
                ),
            ),
        ),
        max_size=12,
    )
)
def test_nothing_is_counted_twice_or_lost(
    cases: list[tuple[Outcome, dict[str, tuple[str, str]]]],
) -> None:
    decisions = [
        judged(
            number,
            outcome,
            *(SeatForecast(name, "", *vote, *vote) for name, vote in votes.items()),
        )
        for number, (outcome, votes) in enumerate(cases)
    ]
    track = count_track_record(decisions)
    assert track.judged == len(cases)
    assert sum(each.decisions for each in track.participants) == sum(len(v) for _, v in cases)
    for record in track.participants:
        assert record.scored + record.unscored == record.decisions
        assert record.right <= record.scored
        assert record.helped == record.hurt == 0  # nobody changed its mind
    for way in (track.single_best, track.vote_before, track.vote_after):
        assert sum(way) == track.judged - track.mixed
    assert track.vote_before == track.vote_after
    again = (
        msgspec.msgpack.decode(
            msgspec.msgpack.encode(decisions[0].forecasts), type=tuple[SeatForecast, ...]
        )
        if decisions
        else ()
    )
    assert again == (decisions[0].forecasts if decisions else ())
