"""What a decision and its receipt say in words: no more was decided than was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.project import Project

ASK = ("ask", "Cache: Redis or none?", "--option", "Redis", "--option", "none")
TIE = "amber-otter=rules:approve,teal-crane=rules:reject"
AGREED = "amber-otter=rules:approve,teal-crane=rules:approve"
WHY = ("--reason", "We know it.")
LONG = "Payments fail\n\n### Item\n\nThe sandbox rejects every card.\n"


@pytest.fixture
def peopled(bare: Project, passphrase: str) -> Project:
    bare.env["MOOT_PASSPHRASE_FILE"] = passphrase
    bare.init()
    return bare


def page(project: Project, form: str = "md", decision: str = "q-1") -> str:
    project.ok("receipt", decision, "-o", f"r.{form}")
    return (project.root / f"r.{form}").read_text("utf-8")


def says(project: Project) -> Any:
    project.ok("receipt", "q-1", "-o", "r.json")
    return json.loads((project.root / "r.json").read_text("utf-8"))["says"]


@pytest.mark.requirement("DEC-023")
@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ((), "## The motion (not decided)"),
        (("decide", "q-1", "veto", *WHY), "## The motion (vetoed)"),
        (("decide", "q-1", "approve", *WHY), "## Decision"),
    ],
)
def test_only_what_was_decided_stands_under_decision(
    peopled: Project, words: tuple[str, ...], heading: str
) -> None:
    peopled.ok(*ASK, "--with", AGREED)
    if words:
        peopled.ok(*words)
    headings = [line for line in page(peopled).splitlines() if line.startswith("## ")]
    assert headings[0] == heading
    assert ("## Decision" in headings) is (heading == "## Decision")


@pytest.mark.requirement("DEC-023")
def test_a_bill_without_a_motion_is_named(project: Project) -> None:
    words = ("parliament", "new", "p", "--problem", LONG, "--issue", "speed", "--issue", "cost")
    reps = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok(*words, *reps)
    voices = ("amber-otter=rules:approve", "teal-crane=rules:approve")
    seated = [word for voice in voices for word in ("--participant", voice)]
    ran = project.ok("parliament", "run", "p", *seated)
    text = page(project, decision=ran["parliament_id"])
    assert "No motion was set." not in text
    assert "## The bill (not decided)" in text
    assert "(version 1)" in text


@pytest.mark.requirement("AGT-077")
def test_an_approval_against_the_vote_says_so_everywhere(peopled: Project) -> None:
    asked = peopled.run(*ASK, "--with", TIE)
    (way,) = [line for line in asked.out.splitlines() if line.startswith("waiting for you")]
    assert way.startswith("waiting for you: moot decide q-1 veto")
    assert "approve, against the vote" in way
    (due,) = peopled.ok("agenda")["due"]
    assert due["hint"] == way.removeprefix("waiting for you: ")
    done = peopled.run("decide", "q-1", "approve", *WHY)
    told = "q-1: approved against the vote (not carried) by operator"
    assert done.out.splitlines()[0].startswith(told)
    assert "approved against the vote (not carried)" in page(peopled)
    assert "approved against the vote (not carried)" in says(peopled)["cautions"]
    assert "against the vote (not carried)" in page(peopled, "html")


@pytest.mark.requirement("AGT-077")
def test_an_approval_of_what_carried_has_no_such_note(peopled: Project) -> None:
    peopled.ok(*ASK, "--with", AGREED)
    done = peopled.run("decide", "q-1", "approve", *WHY)
    assert done.out.startswith("q-1: approved by operator")
    assert "against the vote" not in page(peopled)


@pytest.mark.requirement("DEC-021")
def test_what_is_signed_has_the_words_that_are_shown(peopled: Project) -> None:
    peopled.ok(*ASK, "--with", TIE)
    said = says(peopled)
    assert said["result"]["summary"] == said["argument"]["outcome"]
    assert "1 of 2 votes, more than half needed" in said["result"]["summary"]


@pytest.mark.requirement("DEC-023")
def test_a_question_of_many_lines_is_called_by_its_first(peopled: Project) -> None:
    peopled.ok("ask", LONG, "--with", AGREED)
    (due,) = peopled.ok("agenda")["due"]
    assert due["subject"] == "Payments fail"
    done = peopled.run("receipt", "q-1", "-o", "r.md")
    assert done.out.splitlines()[0] == "q-1: waiting: Payments fail"
    text = (peopled.root / "r.md").read_text("utf-8")
    assert text.startswith("# Payments fail\n")
    assert "The sandbox rejects every card." in text
    assert peopled.run("ask", "--resume", "q-1").out.startswith("q-1: Payments fail\n")


@pytest.mark.requirement("DEC-024")
def test_who_could_sign_for_whom_is_said_in_plain_words(peopled: Project) -> None:
    peopled.ok(*ASK, "--with", AGREED)
    text = page(peopled)
    plain = "all keys lie in one folder: whoever has it could sign as any of them"
    assert plain in text
    assert "scripted voice" in text
    assert "not known" not in text  # a script asks no model, and that is known


@pytest.mark.requirement("AGT-070")
def test_the_id_that_the_agenda_shows_is_taken(peopled: Project) -> None:
    peopled.ok(*ASK, "--with", AGREED)
    (due,) = peopled.ok("agenda")["due"]
    assert due["id"] == "decision/q-1"
    assert peopled.ok("ask", "--resume", due["id"])["decision"]["id"] == "q-1"
    assert peopled.ok("decide", due["id"], "approve", *WHY)["decision"]["stage"] == "approved"


@pytest.mark.requirement("AGT-070")
def test_where_nobody_has_a_person_s_key_that_comes_first(project: Project) -> None:
    lines = project.run(*ASK, "--with", AGREED).out.splitlines()
    first = "`moot agent register operator --human` first; then moot decide q-1 approve"
    assert lines[-1].startswith(f"waiting for you: {first}")


@pytest.mark.requirement("AGT-009")
def test_a_person_who_is_not_there_is_said_before_anybody_is_asked(project: Project) -> None:
    before = project.ok("agent", "list")
    for words in (
        (*ASK, "--with", "human,rules:approve"),
        ("debate", "run", "d.md", "--participant", "amber-otter=human"),
    ):
        if words[0] == "debate":
            agents = ("--agents", "amber-otter,teal-crane")
            project.ok("debate", "new", "d.md", "--title", "x", *agents)
        assert project.refused(*words) == ("nobody_here", 4)
    assert project.ok("agent", "list") == before
    assert project.ok("agenda", "--agent", "operator")["due"] == []


@pytest.mark.requirement("AGT-070")
def test_those_who_took_no_position_are_counted_beside_what_carried(project: Project) -> None:
    broken = "teal-crane=cmd:false"
    words = (*ASK, "--with", f"amber-otter=rules:approve,rules:approve,{broken}")
    data = project.ok(*words)
    assert data["decision"]["result"]["result"] == "carried"
    assert "only 2 of 3 took a position" in data["outcome"]
    assert "only 2 of 3 took a position" in data["decision"]["result"]["summary"]
