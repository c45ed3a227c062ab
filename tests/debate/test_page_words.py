"""Every word of a debate's page: what stands on top, what is folded, what the pictures show."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

import pytest

from moot import pages
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.report import build_report
from moot.protocols.debate.views import describe_confidence
from tests.debate.sessions import ALONE, SKIPPED, SUPERVISED, TWO_ROUNDS, entry, entry_id, session

B = TypeVar("B")
SHA = "0" * 64
TOOLS = {"red-fox": "claude"}


def page_of(text: str) -> pages.Report:
    return build_report(check_session(text), "s.md", SHA, tools=TOOLS)


def block(blocks: Iterable[pages.Block], kind: type[B], title: str) -> B:
    (found,) = (one for one in blocks if isinstance(one, kind) and one.title == title)
    return found


def counted(report: pages.Report) -> tuple[pages.Block, ...]:
    return block(report.blocks, pages.Fold, "How it was counted").blocks


def titles(blocks: Iterable[pages.Block]) -> list[str]:
    return [one.title for one in blocks]


@pytest.mark.parametrize(
    ("text", "subtitle", "badge"),
    [
        (session(), "2 agents, 0 rounds", ("NOT STARTED", "neutral", "next: red-fox")),
        (SUPERVISED, "3 agents, 1 round", ("GOING ON", "neutral", "next: platform")),
        (TWO_ROUNDS, "2 agents, 2 rounds", ("CONSENSUS", "good", "ended in round 2")),
        (ALONE, "1 agent, 1 round", ("NO CONSENSUS", "caution", "ended in round 1")),
        (
            session(entry(1, "red-fox", stance="x")),
            "2 agents, 1 round",
            ("INVALID FILE", "bad", "no verdict is given on a file with errors"),
        ),
        (
            session(*(entry(n, who, 1, n, stance="defer") for n, who in ((1, "ant"), (2, "bee"))),
                    agents=("ant", "bee")),
            "2 agents, 1 round",
            ("DEADLOCK", "bad", "ended in round 1"),
        ),
    ],
    ids=["empty", "running", "agreed", "last round", "invalid", "deadlock"],
)  # fmt: skip
def test_what_stands_on_top(text: str, subtitle: str, badge: tuple[str, pages.Tone, str]) -> None:
    report = page_of(text)
    assert (report.title, report.subtitle) == ("Which queue shall we use?", subtitle)
    assert report.verdict == pages.VerdictBadge(*badge)


def test_a_session_in_which_nobody_has_spoken() -> None:
    report = page_of(session())
    assert report.decision.statement == "Nobody has spoken yet."
    assert report.decision.facts == (pages.Fact("state", "not-started"),)
    assert titles(report.blocks) == [
        *("Who changed, and after what", "What was said", "How it was counted"),
    ]
    assert titles(counted(report)) == ["The rules", "What this rule lacks", "What the check found"]
    rules = block(counted(report), pages.Facts, "The rules")
    assert rules.items == (pages.Fact("mode", "majority"), pages.Fact("threshold", "0.7"))


def test_a_session_that_agreed_after_two_rounds() -> None:
    report = page_of(TWO_ROUNDS)
    assert titles(report.blocks) == [
        *("Who changed, and after what", "Who stood where", "What was said"),
        "How it was counted",
    ]
    assert titles(counted(report)) == [
        *("The rules", "Score against threshold", "Positions over time", "Vote before and after"),
        *("Round 2 under other rules", "What this rule lacks", "What the check found"),
    ]
    first, second = report.decision.reasons
    assert (first.author, first.tool, first.note) == ("red-fox", "claude", "0.85 (sure), round 2")
    assert (second.tool, second.tone, second.markdown) == ("", "good", True)
    rules = block(counted(report), pages.Facts, "The rules")
    assert rules.items[2] == pages.Fact("score with those who deferred", "0.825")
    sides = block(counted(report), pages.Table, "Vote before and after")
    assert sides.columns == ("Vote", "Round 1", "Round 2")
    assert sides.rows == (
        ("approvers", "red-fox", "red-fox, blue-hen"),
        ("rejecters", "nobody", "nobody"),
        ("neutral", "blue-hen", "nobody"),
        ("deferred", "nobody", "nobody"),
        ("missing", "nobody", "nobody"),
    )
    other = block(counted(report), pages.Table, "Round 2 under other rules")
    assert other.rows[3] == ("majority", "0.8", "0.825", pages.Cell("reached", "good"))
    assert other.rows[4] == ("majority", "1", "0.825", pages.Cell("not-reached", "caution"))


def test_one_round_has_no_chart_of_how_it_went() -> None:
    report = page_of(SUPERVISED)
    assert "Who stood where" not in titles(report.blocks)
    assert "Vote before and after" not in titles(counted(report))
    assert "Score against threshold" in titles(counted(report))


def test_the_lines_of_everyone_who_spoke() -> None:
    text = session(
        entry(1, "red-fox", 1, 1, stance="reject", confidence="0.7"),
        entry(2, "blue-hen", 1, 2, stance="defer", confidence="0.5"),
        entry(3, "red-fox", 2, 1, confidence="0.85"),
    )
    chart = block(page_of(text).blocks, pages.LineChart, "Who stood where")
    assert [line.name for line in chart.series] == ["red-fox", "blue-hen"]
    red, blue = (line.points for line in chart.series)
    assert [(one.x, one.y, one.note, one.hollow) for one in red] == [
        (1, Decimal("-0.7"), "reject 0.7", True),
        (2, Decimal("0.85"), "approve 0.85", False),
    ]
    assert [(one.x, one.y, one.note, one.hollow) for one in blue] == [
        (1, Decimal(0), "defer 0.5", True)
    ]
    assert (chart.low, chart.high, chart.caption) == (Decimal(-1), Decimal(1), "")


@pytest.mark.parametrize("mode", ["majority", "weighted"])
def test_the_score_of_each_round_against_the_threshold(mode: str) -> None:
    text = SKIPPED.replace("consensus-mode: weighted", f"consensus-mode: {mode}")
    chart = block(counted(page_of(text)), pages.LineChart, "Score against threshold")
    (line,) = chart.series
    assert line.strong
    assert [(one.x, one.note, one.hollow) for one in line.points] == [
        (1, "not-reached", True),
        (2, "reached", False),
    ]
    assert line.points[1].y == Decimal("0.775")
    assert chart.low == (-1 if mode == "weighted" else 0)
    assert chart.threshold == pages.ChartThreshold(Decimal("0.65"), "threshold")


def test_who_is_silent_and_who_is_still_to_come() -> None:
    text = session(
        entry(1, "bee", 1, 1, stance="reject"),
        entry(2, "ant", 2, 1, stance="reject"),
        agents=("ant", "bee"),
    )
    table = block(counted(page_of(text)), pages.Table, "Positions over time")
    assert table.columns == ("Agent", "Round 1", "Round 2")
    assert table.rows == (
        (pages.Cell("ant"), pages.Cell("silent"), pages.Cell("reject", "bad", "0.8")),
        (pages.Cell("bee"), pages.Cell("reject", "bad", "0.8"), pages.Cell("to come")),
    )


def crowd(count: int) -> str:
    agents = tuple(f"agent-{number}" for number in range(count))
    said = [
        entry(number + 1, agent, 1, number + 1, stance="reject")
        for number, agent in enumerate(agents)
    ]
    return session(*said, entry(59, agents[0], 2, 1), agents=agents)


@pytest.mark.parametrize(
    ("count", "caption"), [(12, ""), (13, "1 more agents are among the positions below.")]
)
def test_a_picture_has_twelve_lines(count: int, caption: str) -> None:
    chart = block(page_of(crowd(count)).blocks, pages.LineChart, "Who stood where")
    assert (len(chart.series), chart.caption) == (12, caption)


def test_who_changed_heard_the_last_three_who_spoke() -> None:
    changes = block(page_of(crowd(5)).blocks, pages.Table, "Who changed, and after what")
    (row,) = changes.rows
    assert row[:2] == ("agent-0", "round 2 turn 1")
    assert row[2:4] == (pages.Cell("reject", "bad", "0.8"), pages.Cell("approve", "good", "0.8"))
    assert row[4] == "; ".join(f"agent-{number}: A point was made." for number in (2, 3, 4))


def test_who_changed_alone_heard_nobody() -> None:
    text = session(entry(1, "ant", 1, 1, stance="reject"), entry(2, "ant", 2, 1), agents=("ant",))
    changes = block(page_of(text).blocks, pages.Table, "Who changed, and after what")
    assert [row[4] for row in changes.rows] == ["nobody"]


def test_what_is_quoted_above_is_told_in_short() -> None:
    said = block(page_of(TWO_ROUNDS).blocks, pages.Timeline, "What was said").moments
    assert [moment.detail for moment in said] == ["Words about it.", "Words about it.", "", ""]
    assert (said[1].at, said[1].who, said[1].what, said[1].ref, said[1].tone) == (
        *("2026-03-01T09:02:00Z", "blue-hen", "neutral: A point was made.", entry_id(2)),
        "neutral",
    )
    assert all(moment.markdown for moment in said)


def test_what_the_policy_wrote_is_nobodys_word() -> None:
    report = page_of(SKIPPED)
    assert report.dissent is not None
    assert report.dissent.voices == ()
    said = block(report.blocks, pages.Timeline, "What was said").moments
    assert (said[-1].who, said[-1].detail, said[-1].tone) == ("cow", "", "caution")


def test_what_the_check_found_is_shown_unless_it_is_nothing() -> None:
    report = page_of(SKIPPED)
    assert "What the check found" not in titles(counted(report))
    found = block(report.blocks, pages.Findings, "What the check found").items
    assert [(row.severity, row.rule, row.where) for row in found] == [
        ("info", "3.3", "line 43"),
        ("info", "3.3", "line 95"),
    ]
    assert found[0].hint == "it counts all the same"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1", "absolute certainty"),
        ("0.99", "sure"),
        ("0.75", "sure"),
        ("0.74", "rather sure"),
        ("0.5", "rather sure"),
        ("0.49", "unsure"),
        ("0.25", "unsure"),
        ("0.24", "very unsure"),
        ("0.000001", "very unsure"),
        ("0", "no confidence"),
    ],
)
def test_how_sure_that_is_in_words(value: str, words: str) -> None:
    assert describe_confidence(Decimal(value)) == words
