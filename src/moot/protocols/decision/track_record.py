"""Whom to listen to, by outcomes: how good forecasts were, and whether arguing made them better.

Pure counting over decisions whose outcome a person has judged, in the order they were judged. Few
outcomes give counts and no ranking: see `FEWEST_OUTCOMES` (DEC-031).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
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
        vote_before=_count_ways(settled, [_majority(each, _first) for each in settled]),
        vote_after=_count_ways(settled, [_majority(each, _last) for each in settled]),
        voters=_voters(settled),
    )


# What somebody forecast at one moment; None if it forecast nothing.
Reading = Callable[[SeatForecast], Fraction | None]


def _first(forecast: SeatForecast) -> Fraction | None:
    return _forecast(forecast.first_stance, forecast.first_sure)


def _last(forecast: SeatForecast) -> Fraction | None:
    return _forecast(forecast.last_stance, forecast.last_sure)


def _forecast(stance: str, sure: str) -> Fraction | None:
    return forecast_of(stance, Fraction(sure)) if sure else None


def _scored(stance: str, sure: str, outcome: Outcome) -> ScoredForecast | None:
    return score(stance, Fraction(sure), outcome) if sure else None


class _Tally:
    """What is counted of one participant or model."""

    def __init__(self) -> None:
        self.decisions = self.unscored = self.right = self.helped = self.hurt = self.micros = 0
        self.first: list[ScoredForecast] = []
        self.last: list[ScoredForecast] = []

    def add(self, forecast: SeatForecast, outcome: Outcome) -> None:
        self.decisions += 1
        self.micros += forecast.micros
        first = _scored(forecast.first_stance, forecast.first_sure, outcome)
        last = _scored(forecast.last_stance, forecast.last_sure, outcome)
        if first is not None:
            self.first.append(first)
        if last is None:
            self.unscored += 1
            return
        self.last.append(last)
        self.right += _is_right(last)
        if first is not None and first.forecast != last.forecast:
            self.helped += last.score < first.score
            self.hurt += last.score > first.score

    def as_record(self, name: str) -> Record:
        last = mean_score(self.last)
        mean = float(last) if last is not None else 0.0
        return Record(
            name=name,
            decisions=self.decisions,
            scored=len(self.last),
            unscored=self.unscored,
            right=self.right,
            first_score=mean_score(self.first),
            last_score=last,
            interval=mean_interval(mean, len(self.last)),
            helped=self.helped,
            hurt=self.hurt,
            micros_per_right=self.micros // self.right if self.right and self.micros else None,
        )


def _is_right(forecast: ScoredForecast) -> bool:
    """On the right side of one half; one half itself is no call."""
    half = Fraction(1, 2)
    return forecast.forecast > half if forecast.was_right else forecast.forecast < half


def _records(
    judged: Sequence[JudgedDecision], name_of: Callable[[SeatForecast], str]
) -> tuple[Record, ...]:
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for each in judged:
        for forecast in each.forecasts:
            tallies[name_of(forecast)].add(forecast, each.outcome)
    return tuple(tallies[name].as_record(name) for name in sorted(tallies))


def _majority(judged: JudgedDecision, read: Reading) -> bool | None:
    """What most called it by head: right, wrong, or None for a tie."""
    half = Fraction(1, 2)
    calls = [value for forecast in judged.forecasts if (value := read(forecast)) is not None]
    balance = sum((value > half) - (value < half) for value in calls)
    return None if balance == 0 else balance > 0


def _calls_of_single_best(settled: Sequence[JudgedDecision]) -> list[bool | None]:
    """What the one with the best score so far called each, by earlier outcomes alone."""
    half, calls = Fraction(1, 2), []
    scores: defaultdict[str, list[Fraction]] = defaultdict(list)
    for each in settled:
        present = {forecast.agent: _last(forecast) for forecast in each.forecasts}
        known = [name for name in present if scores[name] and present[name] is not None]
        best = min(known, key=lambda name: (_mean(scores[name]), name), default=None)
        value = present[best] if best is not None else None
        calls.append(None if value is None or value == half else value > half)
        for forecast in each.forecasts:
            scored = _scored(forecast.last_stance, forecast.last_sure, each.outcome)
            if scored is not None:
                scores[forecast.agent].append(scored.score)
    return calls


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


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
        shared = [tuple(row[name] for name in names) for row in rows if row.keys() >= set(names)]
        if len(shared) >= FEWEST_OUTCOMES:
            return count_effective_voters(shared, ",".join(names))
        names = names[1:]
    return None


def _errors(judged: JudgedDecision) -> dict[str, bool]:
    """Who erred in its last vote, of those who called it."""
    errors = {}
    for forecast in judged.forecasts:
        scored = _scored(forecast.last_stance, forecast.last_sure, judged.outcome)
        if scored is not None and scored.forecast != Fraction(1, 2):
            errors[forecast.agent] = not _is_right(scored)
    return errors
