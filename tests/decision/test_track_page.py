"""The page of the track record: dots below 30 outcomes, intervals from there on, nobody ranked by
chance."""

from __future__ import annotations

import random

from moot.api.decisions.track_page import RIGHT, WRONG, build_track_page
from moot.pages import IntervalChart, Report, Table, to_html, to_json, to_markdown
from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.model import SeatForecast
from moot.protocols.decision.track_record import JudgedDecision, count_track_record


def forecast(agent: str, stance: str, sure: str = "0.8") -> SeatForecast:
    return SeatForecast(
        agent=agent,
        model="",
        first_stance=stance,
        first_sure=sure,
        last_stance=stance,
        last_sure=sure,
        source="stated",
        micros=1_000,
    )


def judged(count: int, unasked: int = 2) -> Report:
    """`count` decisions that were right: ada approves all, bo nine of ten, cy only the first."""
    decisions = [
        JudgedDecision(
            f"q-{number}",
            Outcome.RIGHT,
            number,
            (
                forecast("ada", "approve"),
                forecast("bo", "reject" if number % 10 == 9 else "approve"),
                *((forecast("cy", "reject"),) if number == 0 else ()),
            ),
        )
        for number in range(count)
    ]
    return build_track_page(count_track_record(decisions), count + unasked)


def charts(report: Report) -> list[IntervalChart]:
    return [block for block in report.blocks if isinstance(block, IntervalChart)]


def participants(report: Report) -> Table:
    return next(block for block in report.blocks if isinstance(block, Table))


def test_without_outcomes_it_says_what_to_do() -> None:
    report = judged(0)
    assert "moot outcome" in report.decision.statement
    assert report.verdict.label == "TOO FEW TO RANK"
    assert charts(report) == []


def test_few_outcomes_are_dots_and_counts_in_the_order_of_names() -> None:
    report = judged(29)
    assert charts(report) == []
    table = participants(report)
    assert [row[0] for row in table.rows] == ["ada", "bo", "cy"]
    dots = [str(row[1]) for row in table.rows]
    assert [(row.count(RIGHT), row.count(WRONG)) for row in dots] == [(29, 0), (27, 2), (0, 1)]
    assert "29 of 31 decisions have an outcome; 2 have none" in report.subtitle
    assert "too few to rank" in table.caption


def test_from_thirty_outcomes_on_there_are_scores_with_intervals_the_best_first() -> None:
    report = judged(30)
    ways, scores, *_models = charts(report)
    assert [each.label for each in scores.intervals] == ["ada", "bo"]  # cy has one forecast
    for each in (*ways.intervals, *scores.intervals):
        assert each.low <= each.value <= each.high
    assert scores.mark is not None
    dots = {row[0]: str(row[1]) for row in participants(report).rows}
    assert dots == {"ada": "30", "bo": "30", "cy": WRONG}


def test_it_has_every_form_and_hostile_names_stay_text() -> None:
    chance = random.Random(7)
    decisions = [
        JudgedDecision(
            f"q-{number}",
            chance.choice(list(Outcome)),
            number,
            tuple(
                forecast(name, chance.choice(("approve", "reject", "neutral")))
                for name in ("<script>x</script>", "ada")
            ),
        )
        for number in range(80)
    ]
    report = build_track_page(count_track_record(decisions), 80)
    assert "<script>" not in to_html(report).split("</style>")[1]
    assert "ada" in to_markdown(report)
    assert b"interval_chart" in to_json(report)
