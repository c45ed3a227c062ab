"""The track record as a page: counts and dots for few outcomes, scores with intervals for many.

Participants with fewer than 30 scored forecasts are not ranked and get no diagram: chance would
decide who is first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from moot import pages as page
from moot.core.numbers import share_interval
from moot.core.text import plural
from moot.protocols.decision.forecasts import FEWEST_OUTCOMES
from moot.protocols.decision.track_record import Record, TrackRecord, WayToDecide

RIGHT: Final = "●"
WRONG: Final = "○"
_KNOWING_NOTHING: Final = page.ChartThreshold(Decimal("0.25"), "knowing nothing")
_SCORES: Final = (
    "Brier's score of the last forecast, the best first: 0 is perfect, 0.25 is knowing nothing, 1 "
    "is sure and wrong. The line contains the true score 19 times in 20."
)
_DOTS: Final = f"{RIGHT} was right, {WRONG} was wrong. In the order of names: too few to rank."
_PLACES: Final = Decimal("0.001")


def build_track_page(record: TrackRecord, decisions: int) -> page.Report:
    left = decisions - record.judged
    return page.Report(
        kind="track record",
        title="Whom to listen to",
        subtitle=f"{record.judged} of {plural(decisions, 'decision')} have an outcome; "
        f"{left} {'has' if left == 1 else 'have'} none",
        verdict=_verdict(record),
        decision=_card(record),
        dissent=None,
        blocks=tuple(_blocks(record)),
        proof=None,
    )


def _verdict(record: TrackRecord) -> page.VerdictBadge:
    if record.is_enough:
        return page.VerdictBadge(plural(record.judged, "OUTCOME", "OUTCOMES"))
    need = f"{record.judged - record.mixed} of {FEWEST_OUTCOMES} outcomes that settle something"
    return page.VerdictBadge("TOO FEW TO RANK", "caution", need)


def _ways(record: TrackRecord) -> tuple[tuple[str, WayToDecide], ...]:
    return (
        ("the single best so far", record.single_best),
        ("the vote before arguing", record.vote_before),
        ("the vote after arguing", record.vote_after),
    )


def _card(record: TrackRecord) -> page.DecisionCard:
    facts = tuple(page.Fact(label, _count(way)) for label, way in _ways(record))
    return page.DecisionCard(_summary(record), facts, heading="Did asking several help?")


def _summary(record: TrackRecord) -> str:
    if not record.judged:
        return 'No outcome is known yet: moot outcome ID right --reason "..." records one.'
    before, after = record.vote_before, record.vote_after
    parts = [
        f"{word} in {plural(abs(more), 'decision')} {'more' if more > 0 else 'fewer'}"
        for word, more in (
            ("right", after.right - before.right),
            ("wrong", after.wrong - before.wrong),
        )
        if more
    ]
    moved = (
        f"After arguing the vote was {' and '.join(parts)}"
        if parts
        else "Arguing changed nothing about how often the vote was right"
    )
    return f"{moved}. {'' if record.is_enough else 'So few outcomes prove nothing.'}".strip()


def _count(way: WayToDecide) -> str:
    left = f", {way.open} open" if way.open else ""
    return f"right {way.right}, wrong {way.wrong}{left}"


def _blocks(record: TrackRecord) -> Iterator[page.Block]:
    if record.is_enough:
        yield _ways_chart(record)
    yield from _records("Participants", record.participants, record.is_enough)
    yield from _records("Models", record.models, record.is_enough)
    if record.voters is not None:
        voters = record.voters
        yield page.Prose(
            f"{voters.participants} participants scattered like {voters.voters:.1f} independent "
            f"ones ({voters.interval.low:.1f} to {voters.interval.high:.1f}), over "
            f"{plural(voters.decisions, 'shared outcome')}. It is an equivalent in variance, no "
            "more.",
            title="How many voters there really were",
        )


def _ways_chart(record: TrackRecord) -> page.IntervalChart:
    intervals = []
    for label, way in _ways(record):
        total = way.right + way.wrong
        if total:
            low, high = share_interval(way.right, total)
            share = Fraction(way.right, total)
            intervals.append(_interval(label, share, low, high, f"{way.right} of {total}"))
    return page.IntervalChart(
        tuple(intervals),
        title="How often each way to decide was right",
        caption="The line contains the true share 19 times in 20.",
    )


def _interval(
    label: str, value: Fraction | float, low: float, high: float, note: str
) -> page.Interval:
    return page.Interval(label, _decimal(value), _decimal(low), _decimal(high), note)


def _decimal(value: Fraction | float) -> Decimal:
    return Decimal(float(value)).quantize(_PLACES)


def _records(title: str, records: Sequence[Record], enough: bool) -> Iterator[page.Block]:
    """Rank participants with enough outcomes by score; list all in a table by name."""
    ranked = [each for each in records if enough and each.scored >= FEWEST_OUTCOMES]
    if ranked:
        yield _scores_chart(title, ranked)
    yield page.Table(
        (
            "Who",
            "Forecasts",
            "Right",
            "Wrong",
            "Not scored",
            "Mind changed",
            "Cost per right",
        ),
        tuple(_row(each, each in ranked) for each in sorted(records, key=lambda one: one.name)),
        title="" if ranked else title,
        caption="" if ranked else _DOTS,
    )


def _scores_chart(title: str, ranked: list[Record]) -> page.IntervalChart:
    best_first = sorted(ranked, key=lambda each: (each.last_score or Fraction(1), each.name))
    return page.IntervalChart(
        tuple(
            _interval(
                each.name,
                each.last_score or Fraction(0),
                each.interval.low,
                each.interval.high,
                f"{plural(each.scored, 'forecast')}, first score {_score(each.first_score)}",
            )
            for each in best_first
        ),
        mark=_KNOWING_NOTHING,
        title=title,
        caption=_SCORES,
    )


def _row(record: Record, is_ranked: bool) -> tuple[str, ...]:
    wrong, micros = record.scored - record.right, record.micros_per_right
    dots = " ".join((*RIGHT * record.right, *WRONG * wrong))
    return (
        record.name,
        str(record.scored) if is_ranked or record.scored >= FEWEST_OUTCOMES else dots,
        str(record.right),
        str(wrong),
        str(record.unscored),
        f"helped {record.helped}, hurt {record.hurt}" if record.helped or record.hurt else "never",
        "not known" if micros is None else f"${micros / 1_000_000:.4f}",
    )


def _score(score: Fraction | None) -> str:
    return "none" if score is None else f"{float(score):.3f}"
