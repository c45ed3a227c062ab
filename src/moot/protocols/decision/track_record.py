"""Track records from outcomes: how good forecasts were, and whether arguing improved them.

Counts decisions whose outcome a person has judged, in the order of those judgements. Below
`FEWEST_OUTCOMES` there are counts, but no ranking (DEC-031).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, NamedTuple

from moot.core.clock import Millis
from moot.core.numbers import Interval, mean_interval
from moot.protocols.decision.forecasts import (
    FEWEST_OUTCOMES,
    EffectiveVoters,
    Outcome,
    ScoredForecast,
    count_effective_voters,
    forecast_of,
    mean_score,
    score,
)
from moot.protocols.decision.model import SeatForecast

UNKNOWN_MODEL: Final = "unknown"
_HALF: Final = Fraction(1, 2)
# Size of the caches below: models use few distinct confidences, such as 0.8 and 0.85.
_CACHE_SIZE: Final = 10_000


class JudgedDecision(NamedTuple):
    """One decision whose outcome is known, and what each participant forecast."""

    decision: str
    outcome: Outcome
    at: Millis
    forecasts: tuple[SeatForecast, ...]


class Record(NamedTuple):
    """The track record of one participant, or of one model.

    `unscored` counts neutral and deferring votes, mixed outcomes, and chambers without confidence.
    `helped` and `hurt` count changes of mind that brought a forecast nearer to what happened, and
    further from it. `micros_per_right` is None if it was never right, or its cost is unknown.
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
    """Everything counted from outcomes. `voters` is None below 30 shared outcomes."""

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
        """True if there are enough outcomes for a ranking."""
        return self.judged - self.mixed >= FEWEST_OUTCOMES


def count_track_record(decisions: Iterable[JudgedDecision]) -> TrackRecord:
    """Count all track records from judged decisions, oldest outcome first."""
    judged = sorted(decisions, key=lambda each: (each.at, each.decision))
    settled = [each for each in judged if each.outcome is not Outcome.MIXED]
    return TrackRecord(
        judged=len(judged),
        mixed=len(judged) - len(settled),
        participants=_records(judged, lambda forecast: forecast.agent),
        models=_records(judged, lambda forecast: forecast.model or UNKNOWN_MODEL),
        single_best=_count_calls(settled, _calls_of_single_best(settled)),
        vote_before=_count_calls(settled, [_majority(each, _first_call) for each in settled]),
        vote_after=_count_calls(settled, [_majority(each, _last_call) for each in settled]),
        voters=_estimate_voters(settled),
    )


# Reads one side of a forecast: 1 for right, -1 for wrong, 0 for one half; None without a forecast.
CallReader = Callable[[SeatForecast], int | None]


def _first_call(forecast: SeatForecast) -> int | None:
    return _call(forecast.first_stance, forecast.first_sure)


def _last_call(forecast: SeatForecast) -> int | None:
    return _call(forecast.last_stance, forecast.last_sure)


# Exact fractions are slow, and thousands of votes use a few dozen confidences: so cache them.


@lru_cache(maxsize=_CACHE_SIZE)
def _call(stance: str, sure: str) -> int | None:
    value = forecast_of(stance, Fraction(sure)) if sure else None
    return None if value is None else (value > _HALF) - (value < _HALF)


@lru_cache(maxsize=_CACHE_SIZE)
def _scored(stance: str, sure: str, outcome: Outcome) -> ScoredForecast | None:
    return score(stance, Fraction(sure), outcome) if sure else None


@lru_cache(maxsize=_CACHE_SIZE)
def _score(stance: str, sure: str, outcome: Outcome) -> Fraction | None:
    scored = _scored(stance, sure, outcome)
    return None if scored is None else scored.score


class _VotePair(NamedTuple):
    """A participant's first and last vote, and the outcome."""

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
    """Counts for one participant or model; equal votes are counted together."""

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
    """Return by how much a changed vote improved the score; 0 for an unchanged vote."""
    first, last = pair.first, pair.last
    if first is None or last is None or first.forecast == last.forecast:
        return Fraction(0)
    return first.score - last.score


def _is_right(forecast: ScoredForecast) -> bool:
    """Return whether the forecast is on the right side of one half; one half itself is not."""
    return forecast.forecast > _HALF if forecast.was_right else forecast.forecast < _HALF


def _records(
    judged: Sequence[JudgedDecision], name_of: Callable[[SeatForecast], str]
) -> tuple[Record, ...]:
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for each in judged:
        for forecast in each.forecasts:
            tallies[name_of(forecast)].add(forecast, each.outcome)
    return tuple(tallies[name].as_record(name) for name in sorted(tallies))


def _majority(judged: JudgedDecision, read_call: CallReader) -> bool | None:
    """Return what the majority of heads called it: right, wrong, or None in a tie."""
    balance = sum(read_call(forecast) or 0 for forecast in judged.forecasts)
    return None if balance == 0 else balance > 0


class _RunningMean:
    """A mean of scores, each a whole number of one unit: exact and quick to compare."""

    def __init__(self) -> None:
        self.total = self.count = 0

    def is_below(self, other: _RunningMean) -> bool:
        return self.total * other.count < other.total * self.count


def _calls_of_single_best(settled: Sequence[JudgedDecision]) -> list[bool | None]:
    """For each decision, return the call of the participant with the best score before it."""
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
    """Yield (agent, score) for the last vote of each participant."""
    for each in settled:
        for forecast in each.forecasts:
            value = _score(forecast.last_stance, forecast.last_sure, each.outcome)
            if value is not None:
                yield forecast.agent, value


def _count_calls(settled: Sequence[JudgedDecision], calls: Sequence[bool | None]) -> WayToDecide:
    right = wrong = left = 0
    for each, call in zip(settled, calls, strict=True):
        if call is None:
            left += 1
        elif call == (each.outcome is Outcome.RIGHT):
            right += 1
        else:
            wrong += 1
    return WayToDecide(right, wrong, left)


def _estimate_voters(settled: Sequence[JudgedDecision]) -> EffectiveVoters | None:
    """Estimate n_eff over agents with enough shared outcomes, dropping those with fewest first."""
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
    """Return for each agent that made a call in its last vote whether it erred."""
    was_right = judged.outcome is Outcome.RIGHT
    calls = {forecast.agent: _last_call(forecast) for forecast in judged.forecasts}
    return {name: (call > 0) is not was_right for name, call in calls.items() if call}


# The last vote, weighted by how often each agent was right before: shown as a note, never binding.
#
# An agent that was right r times and wrong w times weighs log((r + 1) / (w + 1)): zero if it
# was right half the time, negative if it was mostly wrong. This would be the best count if errors
# were independent. They are not, so it decides nothing.

_SIGNS: Final = {"approve": 1, "reject": -1}


class CalibratedVote(NamedTuple):
    """`balance` is above 0 for the motion, below 0 against; `counted` are those with a record."""

    balance: float
    counted: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def sentence(self) -> str:
        side = "for" if self.balance > 0 else "against" if self.balance < 0 else "split over"
        left = f"; without a record: {', '.join(self.left_out)}" if self.left_out else ""
        return (
            f"counted by how often each was right before, it is {side} the motion "
            f"({', '.join(self.counted)}{left}); this binds nobody"
        )


def calibrate_vote(records: Iterable[Record], stances: Mapping[str, str]) -> CalibratedVote | None:
    """Weight the votes by track record; None if no voter has enough judged outcomes."""
    known = {record.name: record for record in records if record.scored >= FEWEST_OUTCOMES}
    voting = [name for name, stance in stances.items() if stance in _SIGNS]
    counted = tuple(name for name in voting if name in known)
    if not counted:
        return None
    balance = math.fsum(_SIGNS[stances[name]] * _weight(known[name]) for name in counted)
    return CalibratedVote(balance, counted, tuple(name for name in voting if name not in known))


def _weight(record: Record) -> float:
    wrong = record.scored - record.right
    return math.log((record.right + 1) / (wrong + 1))
