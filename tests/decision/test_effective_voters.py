"""How many voters there really were: the same record gives the same figure everywhere."""

from __future__ import annotations

from itertools import product

import pytest

from moot.protocols.decision.forecasts import Outcome, _poisson, count_effective_voters
from moot.protocols.decision.model import SeatForecast
from moot.protocols.decision.track_record import JudgedDecision, TrackRecord, count_track_record

from .test_track_record import CRANE, HERON, OTTER, forecast, judged

# Who of three erred, and how often just these: all, the first two, ..., nobody.
KINDS = list(product((True, False), repeat=3))
RARE = (1, 0, 0, 0, 0, 1, 1, 28)  # drawn again, often no one errs
FEW = (4, 3, 2, 3, 1, 5, 4, 8)
SOME = (20, 12, 9, 3, 2, 5, 4, 50)
AROUND_FIFTY = (50, 30, 20, 51, 9, 40, 49, 300)
MANY = (900, 300, 200, 1000, 70, 80, 600, 3000)


@pytest.mark.parametrize(
    ("counts", "seed", "digits"),
    [
        (RARE, "", (0.618653605, 1.340897659, 1, 3)),
        (FEW, "", (0.168546530, 2.243673302, 1.549668874, 3)),
        (FEW, "ada,bob", (0.168546530, 2.243673302, 1.551078028, 3)),
        (SOME, "", (0.529558681, 1.456934926, 1.286321482, 1.647193860)),
        (SOME, "ada,bob", (0.529558681, 1.456934926, 1.283968532, 1.654330028)),
        (AROUND_FIFTY, "", (0.352618390, 1.759286473, 1.622633737, 1.904874444)),
        (AROUND_FIFTY, "ada,bob", (0.352618390, 1.759286473, 1.621470573, 1.905583941)),
        (MANY, "", (0.449323856, 1.580071953, 1.553317454, 1.612527940)),
        (MANY, "ada,bob", (0.449323856, 1.580071953, 1.550549813, 1.615089176)),
    ],
)
def test_the_same_errors_give_the_same_digits(
    counts: tuple[int, ...], seed: str, digits: tuple[float, ...]
) -> None:
    rows = [kind for kind, count in zip(KINDS, counts, strict=True) for _ in range(count)]
    counted = count_effective_voters(rows, seed)
    assert counted is not None
    assert (counted.participants, counted.decisions) == (3, sum(counts))
    figures = (counted.correlation, counted.voters, *counted.interval)
    assert figures == pytest.approx(digits, abs=1e-9)


@pytest.mark.parametrize("mean", [1, 30, 50, 51, 10_000])
def test_the_least_and_the_greatest_chance_give_a_number_too(mean: int) -> None:
    least = 2**-33
    drawn = [_poisson(mean, iter([chance, 0.5])) for chance in (least, 1 - least)]
    assert 0 <= min(drawn) <= mean <= max(drawn) <= mean + 7 * mean**0.5 + 5


def test_anyone_who_always_errs_says_nothing_about_the_others() -> None:
    errors = [(True, place % 2 == 0, place % 3 == 0) for place in range(60)]
    others = [row[1:] for row in errors]
    counted, alone = count_effective_voters(errors), count_effective_voters(others)
    assert counted is not None
    assert alone is not None
    assert counted.correlation == alone.correlation
    assert count_effective_voters([row[:2] for row in errors]) is None


def called_by(*names: str, times: int, start: int = 0) -> list[JudgedDecision]:
    """Decisions that just these called: each says no now and then, every one at its own pace."""

    def vote(name: str, place: int, number: int) -> SeatForecast:
        call = "approve 0.5" if number % (place + 3) else "reject 0.5"
        return forecast(name, call, call)

    return [
        judged(
            number,
            Outcome.RIGHT if number % 2 else Outcome.WRONG,
            *(vote(name, place, number) for place, name in enumerate(names)),
        )
        for number in range(start, start + times)
    ]


def find_voters(track: TrackRecord) -> tuple[int, int] | None:
    return track.voters and (track.voters.participants, track.voters.decisions)


@pytest.mark.parametrize(
    ("shared", "without_heron", "without_crane", "voters"),
    [
        (30, 0, 0, (3, 30)),  # all three share just enough
        (29, 0, 0, None),
        (29, 1, 0, (2, 30)),  # heron has called too few
        (29, 10, 5, (2, 39)),  # heron has called 34, crane 39: heron is left out
        (29, 5, 10, (2, 39)),  # crane has called 34, heron 39: crane is left out
        (10, 19, 25, (2, 35)),  # crane has called 29: too few with anybody
    ],
)
def test_anyone_who_shares_fewest_outcomes_is_left_out_first(
    shared: int, without_heron: int, without_crane: int, voters: tuple[int, int] | None
) -> None:
    cases = [
        *called_by(OTTER, CRANE, HERON, times=shared),
        *called_by(OTTER, CRANE, times=without_heron, start=100),
        *called_by(OTTER, HERON, times=without_crane, start=200),
    ]
    assert find_voters(count_track_record(cases)) == voters


def test_a_record_gives_its_figure_whatever_the_order_it_is_read_in() -> None:
    cases = called_by(OTTER, CRANE, HERON, times=60)
    one, other = count_track_record(cases).voters, count_track_record(reversed(cases)).voters
    assert one == other
    assert one is not None
    assert one.interval == pytest.approx((1.670759845, 2.555949250), abs=1e-9)
