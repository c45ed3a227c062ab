"""`moot story ID` of a decision: what was asked, who stood where, the vote, the person's word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.project import Project

VOICES = "amber-otter=rules:approve,teal-crane=rules:sceptic,coral-finch=rules:reject"
ASK = ("ask", "Postgres or Kafka?", "--option", "Postgres", "--option", "Kafka", "--with", VOICES)


@pytest.fixture
def peopled(bare: Project, passphrase: str) -> Project:
    bare.init(MOOT_PASSPHRASE_FILE=passphrase)
    return bare


def page_of(project: Project, named: str) -> Any:
    project.ok("story", named, "-o", "story.json")
    return json.loads((project.root / "story.json").read_text("utf-8"))


def test_a_question_of_many_lines_has_its_first_as_the_title_and_stands_in_full(
    project: Project,
) -> None:
    question = "Postgres or Kafka?\n\nWe have one server, and nobody is on call."
    project.ok("ask", question, "--with", "amber-otter=rules:approve,teal-crane=rules:approve")
    page = page_of(project, "q-1")
    assert page["title"] == "Postgres or Kafka?"
    (about,) = [one for one in page["blocks"] if one.get("title") == "What it is about"]
    assert about["text"] == question


def test_a_decisions_story_tells_its_debate_in_one_line_a_voice(
    peopled: Project, passphrase: str
) -> None:
    peopled.ok(*ASK)
    word = ("decide", "q-1", "approve", "--reason", "We can run that.")
    peopled.ok(*word, MOOT_PASSPHRASE_FILE=passphrase)
    told = peopled.run("story", "q-1").out.splitlines()
    at = told.index("round 2")
    share = "majority, 2 of 3 votes, more than half needed; confidence 0.775"
    assert told[:2] == ["Postgres or Kafka?", "q-1: approved, argued in a debate"]
    assert "first answer of amber-otter: Postgres" in told
    assert "motion: Kafka" in told
    assert told[at + 1 : at + 7] == [
        "  amber-otter approve 0.8: By rule: always approve.",
        "  teal-crane approve 0.75: By rule: heard the others, and gives way.",
        "  coral-finch reject 0.8: By rule: always reject.",
        f"the vote: carried: 2 approve, 1 reject: agreed ({share})",
        "dissent: coral-finch",
        "operator ruled: approved: We can run that.",
    ]
    assert not [line for line in told if "decision." in line or "call noted" in line]


def test_its_page_has_the_question_for_a_title_and_the_word_for_a_badge(project: Project) -> None:
    project.ok(*ASK)
    page = page_of(project, "q-1")
    assert (page["title"], page["subtitle"]) == ("Postgres or Kafka?", "q-1, argued in a debate")
    assert page["verdict"]["label"] == "WAITING FOR A PERSON"
    assert page["decision"]["statement"] == "Kafka"
    titles = [block.get("title") for block in page["blocks"]]
    assert "Steps" not in titles
    said = page["blocks"][titles.index("q-1: what was said in the debate")]["rows"]
    assert [row[:2] for row in said][:3] == [
        ["1", "amber-otter"], ["1", "teal-crane"], ["1", "coral-finch"],
    ]  # fmt: skip


def test_every_record_of_all_streams_is_in_the_data(project: Project) -> None:
    sessions = [each["id"] for each in project.ok(*ASK)["decision"]["sessions"]]
    assert len(sessions) == 2
    data = project.ok("story", "q-1")
    assert {moment["stream"] for moment in data["moments"]} == {"decision/q-1", *sessions}
    assert [one["id"] for one in data["decisions"]] == ["q-1"]
    assert "decision.call_noted" in {moment["what"] for moment in data["moments"]}


def test_a_parliaments_ballots_are_told_too(project: Project) -> None:
    project.ok(*ASK, "--chamber", "parliament")
    told = project.run("story", "q-1").out.splitlines()
    assert "q-1: waiting for a person, argued in a parliament" in told
    assert "  coral-finch NO: By rule: always NO." in told
    assert "dissent: teal-crane, coral-finch" in told


def test_an_amendment_and_a_veto_are_told_with_what_came_of_them(
    peopled: Project, passphrase: str
) -> None:
    peopled.ok(*ASK)
    peopled.ok("decide", "q-1", "veto", "--reason", "No.", MOOT_PASSPHRASE_FILE=passphrase)
    assert peopled.run("story", "q-1").out.splitlines()[1].startswith("q-1: vetoed")
    assert "superseded by: q-2" in peopled.run("story", "q-1").out.splitlines()
    peopled.ok("ask", "--resume", "q-2")
    (peopled.root / "text.md").write_text("Postgres, for a year.", encoding="utf-8")
    words = ("decide", "q-2", "amend", "--reason", "A limit.", "--text", "text.md")
    peopled.ok(*words, MOOT_PASSPHRASE_FILE=passphrase)
    told = peopled.run("story", "q-2").out.splitlines()
    assert "decided instead: Postgres, for a year." in told
    assert "supersedes: q-1" in told


def test_one_that_nobody_has_argued_yet_has_a_story(project: Project) -> None:
    project.json(*ASK, "--max-turns", "1")
    told = project.run("story", "q-1").out.splitlines()
    assert told[:2] == ["Postgres or Kafka?", "q-1: not decided, argued in a debate"]
    assert page_of(project, "q-1")["decision"]["statement"] == "No motion was set."
