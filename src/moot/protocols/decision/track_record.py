"""Whom to listen to, by outcomes: how good forecasts were, and whether arguing made them better.

Pure counting over decisions whose outcome a person has judged, in the order they were judged. Few
outcomes give counts and no ranking: see `FEWEST_OUTCOMES` (DEC-031).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, NamedTuple

from moot.core.clock import Millis
from moot.core.intervals import Interval, mean_interval
from moot.protocols.decision.forecasts import (
    Outcome,
    ScoredForecast,
    forecast_of,
    mean_score,
    score,
)
from moot.protocols.decision.independence import (
    FEWEST_OUTCOMES,
    EffectiveVoters,
    count_effective_voters,
)
from moot.protocols.decision.model import SeatForecast

UNKNOWN_MODEL: Final = "unknown"
_HALF: Final = Fraction(1, 2)
# How many different votes are remembered; models say 0.8 and 0.85, not a thousand shades.
_MOST_KNOWN: Final = 10_000


class JudgedDecision(NamedTuple):
    """One decision whose outcome is known, and what each participant forecast."""

    decision: str
    outcome: Outcome
    at: Millis
    forecasts: tuple[SeatForecast, ...]


class Record(NamedTuple):
    """How one participant, or one model, did.

    `unscored` counts neutral and deferring votes, mixed outcomes, and chambers without confidence.
    `helped` and `hurt` count changes of mind that brought a forecast nearer to what happened, and
    further from it. `micros_per_right` is None if it was never right, or nothing is known of costs.
    """

    name: str
    decisions: int
    scored: int
    unscored: int
    right: int
    first_score: Fraction | None
    last_score: Fraction | None
    interval: Interval
    helped: int
    hurt: int
    micros_per_right: int | None


class WayToDecide(NamedTuple):
    """How often one way to decide was right; `open` counts ties and cases without a forecast."""

    right: int
    wrong: int
    open: int


class TrackRecord(NamedTuple):
    """Everything that outcomes tell. `voters` is None below 30 shared outcomes."""

    judged: int
    mixed: int
    participants: tuple[Record, ...]
    models: tuple[Record, ...]
    single_best: WayToDecide
    vote_before: WayToDecide
    vote_after: WayToDecide
    voters: EffectiveVoters | None

    @property
    def is_enough(self) -> bool:
        """True if there are outcomes enough to rank by."""
        return self.judged - self.mixed >= FEWEST_OUTCOMES


def count_track_record(decisions: Iterable[JudgedDecision]) -> TrackRecord:
    """Count everything, oldest outcome first."""
    judged = sorted(decisions, key=lambda each: (each.at, each.decision))
    settled = [each for each in judged if each.outcome is not Outcome.MIXED]
    return TrackRecord(
        judged=len(judged),
        mixed=len(judged) - len(settled),
        participants=_records(judged, lambda forecast: forecast.agent),
        models=_records(judged, lambda forecast: forecast.model or UNKNOWN_MODEL),
        single_best=_count_ways(settled, _calls_of_single_best(settled)),
        vote_before=_count_ways(settled, [_majority(each, _first_call) for each in settled]),
        vote_after=_count_ways(settled, [_majority(each, _last_call) for each in settled]),
        voters=_voters(settled),
    )


# What somebody called it at one moment: 1 right, -1 wrong, 0 for one half; None for no forecast.
Call = Callable[[SeatForecast], int | None]


def _first_call(forecast: SeatForecast) -> int | None:
    return _call(forecast.first_stance, forecast.first_sure)


def _last_call(forecast: SeatForecast) -> int | None:
    return _call(forecast.last_stance, forecast.last_sure)


# Thousands of votes hold a few dozen confidences: each is worked out once, exactly.


@lru_cache(maxsize=_MOST_KNOWN)
def _call(stance: str, sure: str) -> int | None:
    value = forecast_of(stance, Fraction(sure)) if sure else None
    return None if value is None else (value > _HALF) - (value < _HALF)


@lru_cache(maxsize=_MOST_KNOWN)
def _scored(stance: str, sure: str, outcome: Outcome) -> ScoredForecast | None:
    return score(stance, Fraction(sure), outcome) if sure else None


@lru_cache(maxsize=_MOST_KNOWN)
def _score(stance: str, sure: str, outcome: Outcome) -> Fraction | None:
    scored = _scored(stance, sure, outcome)
    return None if scored is None else scored.score


class _VotePair(NamedTuple):
    """The first and the last vote of somebody, and what proved right."""

    first_stance: str
    first_sure: str
    last_stance: str
    last_sure: str
    outcome: Outcome

    @property
    def first(self) -> ScoredForecast | None:
        return _scored(self.first_stance, self.first_sure, self.outcome)

    @property
    def last(self) -> ScoredForecast | None:
        return _scored(self.last_stance, self.last_sure, self.outcome)


class _Tally:
    """What is counted of one participant or model: equal votes together."""

    def __init__(self) -> None:
        self.votes: Counter[_VotePair] = Counter()
        self.micros = 0

    def add(self, forecast: SeatForecast, outcome: Outcome) -> None:
        self.micros += forecast.micros
        pair = _VotePair(
            forecast.first_stance,
            forecast.first_sure,
            forecast.last_stance,
            forecast.last_sure,
            outcome,
        )
        self.votes[pair] += 1

    def as_record(self, name: str) -> Record:
        firsts = [(pair.first, count) for pair, count in self.votes.items()]
        lasts = [(pair.last, count) for pair, count in self.votes.items()]
        scored = sum(count for last, count in lasts if last is not None)
        right = sum(count for last, count in lasts if last is not None and _is_right(last))
        decisions, last_score = self.votes.total(), mean_score(lasts)
        return Record(
            name=name,
            decisions=decisions,
            scored=scored,
            unscored=decisions - scored,
            right=right,
            first_score=mean_score(firsts),
            last_score=last_score,
            interval=mean_interval(float(last_score or 0), scored),
            helped=sum(count for pair, count in self.votes.items() if _gain(pair) > 0),
            hurt=sum(count for pair, count in self.votes.items() if _gain(pair) < 0),
            micros_per_right=self.micros // right if right and self.micros else None,
        )


def _gain(pair: _VotePair) -> Fraction:
    """How much nearer to what happened a change of mind came; 0 for whoever did not change."""
    first, last = pair.first, pair.last
    if first is None or last is None or first.forecast == last.forecast:
        return Fraction(0)
    return first.score - last.score


def _is_right(forecast: ScoredForecast) -> bool:
    """On the right side of one half; one half itself is no call."""
    return forecast.forecast > _HALF if forecast.was_right else forecast.forecast < _HALF


def _records(
    judged: Sequence[JudgedDecision], name_of: Callable[[SeatForecast], str]
) -> tuple[Record, ...]:
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for each in judged:
        for forecast in each.forecasts:
            tallies[name_of(forecast)].add(forecast, each.outcome)
    return tuple(tallies[name].as_record(name) for name in sorted(tallies))


def _majority(judged: JudgedDecision, read: Call) -> bool | None:
    """What most called it by head: right, wrong, or None for a tie."""
    balance = sum(read(forecast) or 0 for forecast in judged.forecasts)
    return None if balance == 0 else balance > 0


class _RunningMean:
    """Scores as whole numbers of one unit, so that means are compared exactly and quickly."""

    def __init__(self) -> None:
        self.total = self.count = 0

    def is_below(self, other: _RunningMean) -> bool:
        return self.total * other.count < other.total * self.count


def _calls_of_single_best(settled: Sequence[JudgedDecision]) -> list[bool | None]:
    """What the one with the best score so far called each, by earlier outcomes alone."""
    unit = lcm(*(value.denominator for _, value in _last_scores(settled)))
    means: defaultdict[str, _RunningMean] = defaultdict(_RunningMean)
    calls: list[bool | None] = []
    for each in settled:
        present = {forecast.agent: _last_call(forecast) for forecast in each.forecasts}
        best: str | None = None
        for name in sorted(present):
            known = present[name] is not None and means[name].count > 0
            if known and (best is None or means[name].is_below(means[best])):
                best = name
        call = present[best] if best is not None else None
        calls.append(call > 0 if call else None)
        for name, value in _last_scores([each]):
            means[name].total += value.numerator * (unit // value.denominator)
            means[name].count += 1
    return calls


def _last_scores(settled: Iterable[JudgedDecision]) -> Iterator[tuple[str, Fraction]]:
    """How good the last vote of each was, by name."""
    for each in settled:
        for forecast in each.forecasts:
            value = _score(forecast.last_stance, forecast.last_sure, each.outcome)
            if value is not None:
                yield forecast.agent, value


def _count_ways(settled: Sequence[JudgedDecision], calls: Sequence[bool | None]) -> WayToDecide:
    right = wrong = left = 0
    for each, call in zip(settled, calls, strict=True):
        if call is None:
            left += 1
        elif call == (each.outcome is Outcome.RIGHT):
            right += 1
        else:
            wrong += 1
    return WayToDecide(right, wrong, left)


def _voters(settled: Sequence[JudgedDecision]) -> EffectiveVoters | None:
    """Of those who share outcomes enough; whoever shares fewest is left out first."""
    rows = [_errors(each) for each in settled]
    counts: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        for name in row:
            counts[name] += 1
    names = sorted((name for name in counts if counts[name] >= FEWEST_OUTCOMES), key=counts.get)  # type: ignore[arg-type]
    while len(names) >= 2:
        wanted = set(names)
        shared = [tuple(row[name] for name in names) for row in rows if row.keys() >= wanted]
        if len(shared) >= FEWEST_OUTCOMES:
            return count_effective_voters(shared, ",".join(names))
        names = names[1:]
    return None


def _errors(judged: JudgedDecision) -> dict[str, bool]:
    """Who erred in its last vote, of those who called it."""
    was_right = judged.outcome is Outcome.RIGHT
    calls = {forecast.agent: _last_call(forecast) for forecast in judged.forecasts}
    return {name: (call > 0) is not was_right for name, call in calls.items() if call}
