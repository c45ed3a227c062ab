"""Every word of a session's page and of its final document."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

import pytest

from moot import pages
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.documents.final_document import (
    list_bill_versions,
    write_final_document,
)
from moot.protocols.parliament.documents.report import compare_sections, describe_edits, make_report
from tests.parliament.played_sessions import approved, played, proceedings
from tests.parliament.scene import ParliamentScenario, amendment, draft, vote

B = TypeVar("B")
REPS = ("Rep. Pragmatis", "Rep. Securitas", "Rep. Innovatus")


def page_of(scenario: ParliamentScenario) -> pages.Report:
    return make_report(proceedings(scenario), tools={"amber-otter": "claude"})


def block(blocks: Iterable[pages.Block], kind: type[B], title: str) -> B:
    (found,) = (one for one in blocks if isinstance(one, kind) and one.title == title)
    return found


def folded(report: pages.Report, title: str) -> tuple[pages.Block, ...]:
    return block(report.blocks, pages.Fold, title).blocks


def test_a_page_from_above() -> None:
    report = page_of(approved())
    assert (report.title, report.subtitle) == ("A cache", "3 seats, 3 rounds, parl-20260218-001")
    assert report.verdict == pages.VerdictBadge("APPROVED", "good")
    assert report.decision.facts == (
        pages.Fact("bill version", "3"),
        pages.Fact("drafter", "Rep. Pragmatis"),
        pages.Fact("rounds", "3 of 6"),
        pages.Fact("last vote", "2 of 3 for it"),
    )
    first, second = report.decision.reasons
    assert (first.author, first.text, first.tool) == (REPS[0], "rep_1 says YES.", "claude")
    assert (second.tool, second.tone, second.markdown) == ("", "good", True)
    assert [one.title for one in report.blocks] == [
        *("Solution", "Implementation", "Problem", "Scope", "Round by round", "The chamber"),
        *("Amendments", "Turning points", "How it was counted", "How the bill changed"),
    ]
    scope = block(report.blocks, pages.Facts, "Scope")
    assert [(fact.label, fact.value) for fact in scope.items] == [
        ("In scope", "caches"),
        *((name, "none") for name in ("Out of scope", "Assumptions", "Definitions")),
    ]


def test_a_session_that_has_hardly_begun() -> None:
    report = page_of(ParliamentScenario(3))
    assert report.verdict == pages.VerdictBadge("NOT DECIDED", "neutral", "setup")
    assert report.decision.facts == (
        pages.Fact("bill version", "0"),
        pages.Fact("drafter", "none"),
        pages.Fact("rounds", "0 of 6"),
    )
    assert report.dissent is not None
    assert report.dissent.note == "No vote has been counted yet."
    seats = block(report.blocks, pages.Chamber, "The chamber")
    assert seats.centre == "no vote yet"
    assert seats.seats[1] == pages.ChamberSeat(REPS[1], "neutral", "", "security (not scored)")
    assert seats.seats[0].note.startswith("claude; cost efficiency (not scored), time-to-market")
    assert [one.title for one in folded(report, "How it was counted")] == [
        *("Vote record", "Motive satisfaction by round"),
    ]
    assert "Amendments" not in [one.title for one in report.blocks]


def test_who_waits_for_a_person_is_told_so() -> None:
    assert page_of(ParliamentScenario(3).reviewing()).verdict.note == "waiting for a person"


def test_the_voice_of_one_who_was_against_it() -> None:
    report = page_of(approved())
    assert report.dissent is not None
    (voice,) = report.dissent.voices
    assert voice.text == (
        "rep_3 says NO.\n\nUnaddressed: none was named\n\nWould change it: a cheaper cache"
    )
    assert (voice.author, voice.stance, voice.tone, voice.note) == (REPS[2], "NO", "bad", "")
    assert report.dissent.note == ""


def test_a_low_score_and_a_reservation_are_concerns() -> None:
    scenario = ParliamentScenario(3).voting().vote("YES", "YES")
    unhappy = {"innovation": 2}
    scenario.submit(vote(3, "NO", unhappy, reservations="Too slow."))
    scenario.clerk(ask.CountVotes())
    report = page_of(scenario)
    assert report.dissent is not None
    assert "Unaddressed: innovation (2 of 5). Too slow." in report.dissent.voices[0].text
    text = write_final_document(proceedings(scenario))
    assert "**Unaddressed concern:**\n\ninnovation (2 of 5). Too slow.\n" in text


def test_nobody_against_is_told_so() -> None:
    report = page_of(ParliamentScenario(3).reviewing())
    assert report.dissent is not None
    assert report.dissent.voices == ()
    assert report.dissent.note == "Nobody voted against it on the last ballot."


def test_the_seats_and_how_they_voted() -> None:
    seats = block(page_of(approved()).blocks, pages.Chamber, "The chamber")
    assert seats.centre == "2 yes · 1 no"
    assert [(one.name, one.tone, one.stance) for one in seats.seats] == [
        (REPS[0], "good", "YES"),
        (REPS[1], "good", "YES"),
        (REPS[2], "bad", "NO"),
    ]
    assert seats.seats[2].note == "innovation (served 4 of 5)"


def test_how_it_was_counted() -> None:
    counted = folded(page_of(approved()), "How it was counted")
    bars = block(counted, pages.BarChart, "The vote on version 3")
    assert bars.bars == (
        pages.Bar("Yes", Decimal(2), "good", "Rep. Pragmatis, Rep. Securitas"),
        pages.Bar("No", Decimal(1), "bad", "Rep. Innovatus"),
        pages.Bar("Absent", Decimal(0), "plain", ""),
    )
    assert (bars.full, bars.needed) == (
        Decimal(3),
        pages.ChartThreshold(Decimal(2), "needed to pass"),
    )
    ballots = block(counted, pages.Table, "Vote record")
    assert ballots.rows == (
        ("1", "2", "2", "1", "2", "3", pages.Cell("failed", "bad")),
        ("2", "3", "3", "2", "1", "3", pages.Cell("passed", "good")),
    )


def test_the_worst_served_motive_of_each_round() -> None:
    counted = folded(page_of(approved()), "How it was counted")
    chart = block(counted, pages.LineChart, "Motive satisfaction by round")
    assert [line.name for line in chart.series] == list(REPS)
    points = [(one.x, one.y, one.note, one.hollow) for one in chart.series[2].points]
    assert points == [
        (1, Decimal(2), "innovation", True),
        (2, Decimal(4), "innovation", False),
        (3, Decimal(4), "innovation", False),
    ]
    assert chart.threshold == pages.ChartThreshold(Decimal(3), "enough for a vote")
    assert (chart.low, chart.high) == (Decimal(1), Decimal(5))


def test_how_the_bill_changed() -> None:
    (table,) = folded(page_of(approved()), "How the bill changed")
    assert isinstance(table, pages.Table)
    added, removed = pages.Cell("added", "good"), pages.Cell("removed", "bad")
    both = "A shared cache.\n\nBefore deployment there is an audit."
    assert table.rows == (
        ("1", "0", REPS[0], "problem", added, "Pages are slow."),
        ("1", "0", REPS[0], "scope.in_scope", added, "caches"),
        ("1", "0", REPS[0], "solution", added, "A shared cache."),
        ("1", "0", REPS[0], "implementation", added, "In two steps."),
        ("2", "1", REPS[0], "solution", added, "Before deployment there is an audit."),
        ("3", "3", REPS[0], "solution", removed, both),
        ("3", "3", REPS[0], "solution", added, "A shared cache, and an audit."),
    )


def test_a_difference_in_words() -> None:
    versions = [one.draft.sections for one in list_bill_versions(proceedings(approved()))]
    first, second, third = versions
    assert list(describe_edits(compare_sections(first, first))) == []
    assert list(describe_edits(compare_sections(first, second))) == [
        *("solution", "  + Before deployment there is an audit."),
    ]
    assert list(describe_edits(compare_sections(second, third))) == [
        "solution",
        "  - A shared cache.",
        "  - Before deployment there is an audit.",
        "  + A shared cache, and an audit.",
    ]


def test_amendments_with_who_is_for_and_against() -> None:
    scenario = played()
    scenario.decide("veto", "Again.")
    rows = block(page_of(scenario).blocks, pages.Table, "Amendments").rows
    what = "An audit before deployment"
    assert rows == (
        ("amend-001", REPS[2], "solution", what, "1", "0", pages.Cell("incorporated", "good")),
        ("amend-002", REPS[1], "solution", what, "0", "1", pages.Cell("rejected", "bad")),
    )
    pending = ParliamentScenario(3).debating()
    pending.submit(amendment(2))
    (row,) = block(page_of(pending).blocks, pages.Table, "Amendments").rows
    assert row[4:] == ("0", "0", pages.Cell("proposed", "neutral"))


def test_the_turning_points() -> None:
    moments = block(page_of(approved()).blocks, pages.Timeline, "Turning points").moments
    drafted = ("Rep. Pragmatis put forward a version of the bill.", "One cache for all.")
    ruled = "The speaker ruled."
    assert [(one.ref, one.what, one.detail) for one in moments] == [
        ("msg-004", *drafted),
        ("msg-006", "Rep. Innovatus proposed an amendment.", "An audit before deployment"),
        ("msg-009", *drafted),
        ("msg-010", "Rep. Securitas proposed an amendment.", "An audit before deployment"),
        ("msg-015", ruled, "I rule quiet."),
        ("msg-024", ruled, "I rule call_vote."),
        ("msg-028", "The vote on version 2 failed: 1 yes, 2 no.", ""),
        ("msg-030", *drafted),
        ("msg-031", ruled, "I rule call_vote."),
        ("msg-035", "The vote on version 3 passed: 2 yes, 1 no.", ""),
        ("msg-036", "Prime minister had the last word.", "so"),
    ]
    assert moments[0].at == "2026-02-18T16:00:00Z"


def test_round_by_round() -> None:
    rows = block(page_of(approved()).blocks, pages.Table, "Round by round").rows
    assert rows[0] == (
        "1",
        "Round 1 saw 2 exchanges and 2 amendments settled. Nobody moved on any point.",
        "nobody",
        "cost (msg-013 to rep_2 is unanswered)",
    )
    unmet = "votes NO until this is met: a cheaper cache"
    assert [row[2:] for row in rows[1:]] == [
        (
            "Rep. Innovatus scores innovation 4, not 2",
            f"Rep. Securitas {unmet}; Rep. Innovatus {unmet}",
        ),
        ("Rep. Securitas went from NO to YES", f"Rep. Innovatus {unmet}"),
    ]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (2, ("### In scope\n\n- caches\n\n### Out of scope\n\n*None.*\n\n### Assumptions\n\n*None.*"
            "\n\n### Definitions\n\n*None.*\n\n")),
        (5, ("### Round 1\n\nRound 1 saw 2 exchanges and 2 amendments settled. Nobody moved on any "
            "point.\n\n- cost (msg-013 to rep\\_2 is unanswered) (left open)\n\n### Round 2\n\n")),
        (5, ("### Prime minister\n\n- Round 3, approve: so\n\n")),
        (5, ("### Amendments\n\n| Amendment | By | Section | What | Status |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| amend-001 | Rep. Innovatus | solution | An audit before deployment | incorporated "
            "|\n")),
        (6, ("\n### Rep. Innovatus\n\n**Core objection:**\n\nrep\\_3 says NO.\n\n"
            "**Unaddressed concern:**\n\nnone was named\n\n**Conditions:**\n\n"
            "- a cheaper cache\n\n")),
        (7, ("\n| Round | Version | Yes | No | Seats | Result | Forced |\n"
            "| --- | --- | --- | --- | --- | --- | --- |\n| 2 | 2 | 1 | 2 | 3 | failed | no |\n"
            "| 3 | 3 | 2 | 1 | 3 | passed | no |\n\n### The last ballot, round 3\n\n"
            "| Representative | Vote | Reasoning | Reservations |\n| --- | --- | --- | --- |\n"
            "| Rep. Pragmatis | YES | rep\\_1 says YES. |  |\n")),
    ],
)  # fmt: skip
def test_what_a_section_of_the_final_document_says(number: int, said: str) -> None:
    text = write_final_document(proceedings(approved())) + "\n"
    part = text.split(f"\n## {number}. ")[1].split("\n## ")[0] + "\n"
    assert said in part


def test_the_final_document_of_a_session_without_a_vote() -> None:
    text = write_final_document(proceedings(ParliamentScenario(3)))
    assert text.startswith(
        "# No bill was drafted\n\n- Bill: none\n- Parliament: parl-20260218-001\n- Drafter: none\n"
        "- Rounds: 0 of 6\n- Vote: none was taken\n- Status: Not Decided\n\n## 1. Problem\n\n"
    )
    assert text.endswith(
        "## 3. Solution\n\n*No bill.*\n\n## 4. Implementation\n\n*No bill.*\n\n"
        "## 5. Deliberation Record\n\n*No round was held.*\n\n## 6. Dissenting Opinions\n\n"
        "*Nobody voted against the last version that was put to a vote.*\n\n## 7. Vote Record\n\n"
        "*No vote was taken.*\n"
    )


def test_the_prime_ministers_own_version_is_in_the_history() -> None:
    scenario = ParliamentScenario(3).reviewing()
    scenario.decide("amend_and_approve", draft=draft(2, solution="Two caches."))
    (table,) = folded(page_of(scenario), "How the bill changed")
    assert isinstance(table, pages.Table)
    assert [row[:4] for row in table.rows[-2:]] == [("2", "1", "prime minister", "solution")] * 2
    assert page_of(scenario).verdict.label == "APPROVED WITH AMENDMENTS"
