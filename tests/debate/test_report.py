"""The page of a debate: verdict, dissent, changes, other rules; in every form."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from moot.pages import Report, to_html, to_json, to_markdown
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.report import build_report
from moot.protocols.debate.views import find_position_changes, nearby_thresholds
from tests.debate.sessions import ALONE, SKIPPED, TWO_ROUNDS, VALID, entry, session

SHA = "0" * 64


def page(text: str) -> Report:
    return build_report(check_session(text), "s.md", SHA)


@pytest.mark.parametrize("name", [*VALID, "empty"])
def test_every_session_has_its_page_in_every_form(name: str) -> None:
    made = page(VALID.get(name, session()))
    assert "<html" in to_html(made)
    assert to_markdown(made).startswith("# ")
    assert json.loads(to_json(made))["format"] == "moot-report-1"


def test_the_verdict_and_the_score_stand_on_top() -> None:
    made = page(TWO_ROUNDS)
    assert (made.verdict.label, made.verdict.note) == ("CONSENSUS", "ended in round 2")
    assert made.decision.statement == "Consensus was reached: 2 of 2 approve in round 2."
    assert ("score", "0.825") in [(fact.label, fact.value) for fact in made.decision.facts]


def test_dissent_is_kept_in_full() -> None:
    made = page(ALONE)
    assert made.dissent is not None
    (voice,) = made.dissent.voices
    assert (voice.author, voice.stance) == ("lock-smith", "reject")
    assert "It lies under the mat." in voice.text
    assert voice.refs == ("src/door.py", "a talk of 2025")
    agreed = page(TWO_ROUNDS)
    assert agreed.dissent is not None
    assert agreed.dissent.note


def test_a_change_names_what_was_heard_before_it() -> None:
    course = check_session(TWO_ROUNDS).course
    assert course is not None
    moved = find_position_changes(course)
    assert [(one.agent, one.entry.index) for one in moved] == [("red-fox", 2), ("blue-hen", 3)]
    assert [one.author for one in moved[1].heard] == ["red-fox"]
    assert moved[1].before.stance == "neutral"


def test_other_rules_are_tried_on_the_same_round() -> None:
    text = to_markdown(page(SKIPPED))
    assert "under other rules" in text
    assert "unanimous" in text
    assert nearby_thresholds(Decimal("0.65")) == [
        Decimal(v) for v in ("0.5", "0.55", "0.65", "0.75", "1")
    ]


def test_the_words_of_agents_are_only_words() -> None:
    evil = session(entry(1, "red-fox", stance="reject", body="<script>alert(1)</script>"))
    assert "<script>" not in to_html(page(evil))


def test_a_file_with_errors_gets_no_verdict() -> None:
    made = page(session(entry(1, "red-fox", stance="x")))
    assert made.verdict.label == "INVALID FILE"
