"""`moot report ID`: one command for the page of a decision, debate, parliament, trace or path."""

from __future__ import annotations

import json

import pytest

from tests.project import Project

VOICES = "amber-otter=rules:approve,teal-crane=rules:sceptic"


@pytest.fixture
def asked(project: Project) -> Project:
    project.ok("ask", "Ship it?", "--with", VOICES)
    return project


def session_of(project: Project, decision: str = "q-1") -> str:
    events = project.ok("ledger", "log", f"decision/{decision}")["events"]
    opened = [one for one in events if one["type"] == "decision.session_opened"]
    session: str = opened[0]["data"]["session"]
    return session


@pytest.mark.requirement("DEC-025")
def test_a_decision_and_its_debate_each_have_a_page(asked: Project) -> None:
    made = asked.ok("report", "q-1")
    assert (made["kind"], made["report"]["title"]) == ("decision", "Ship it?")
    assert asked.ok("report", "decision/q-1")["report"] == made["report"]
    stream = session_of(asked)
    debate = asked.ok("report", stream)
    assert debate["kind"] == "debate"
    assert asked.ok("report", stream.partition("/")[2])["kind"] == "debate"


@pytest.mark.requirement("DEC-025")
def test_looking_writes_nothing(asked: Project) -> None:
    before = asked.ok("ledger", "log", "decision/q-1")["events"]
    asked.ok("report", "q-1", "-o", "q.html")
    assert asked.ok("ledger", "log", "decision/q-1")["events"] == before


@pytest.mark.requirement("DEC-025")
def test_a_parliament_and_a_trace_have_one(project: Project) -> None:
    project.ok(
        *("ask", "Ship it?", "--chamber", "parliament", "--with"),
        "amber-otter=rules:approve,teal-crane=rules:approve",
    )
    parliament = session_of(project).partition("/")[2]
    assert project.ok("report", parliament)["kind"] == "parliament"
    project.ok("agent", "register", "coral-finch")
    project.ok("agent", "register", "jade-heron")
    roles = ("--planner", "amber-otter", "--executor", "teal-crane")
    more = ("--critic", "coral-finch", "--auditor", "jade-heron")
    trace = project.ok("trace", "new", "--task", "Measure it", *roles, *more)["trace"]
    made = project.ok("report", trace)
    assert (made["kind"], made["report"]["title"]) == ("trace", "Measure it")


@pytest.mark.requirement("DEC-025")
def test_a_session_run_by_itself_is_shown_as_what_it_is(project: Project) -> None:
    """Its books are a decision of the same id."""
    rep = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok("parliament", "new", "bill", "--problem", "Slow.", "--issue", "speed", *rep)
    seats = ("amber-otter=rules:approve", "teal-crane=rules:approve")
    words = [word for seat in seats for word in ("--participant", seat)]
    project.ok("parliament", "run", "bill", *words)
    session = json.loads((project.root / "bill" / "session.json").read_text("utf-8"))
    name = session["parliament_id"]
    assert project.ok("report", name)["kind"] == "parliament"
    assert project.ok("report", f"decision/{name}")["kind"] == "decision"


SCRIPTED = "amber-otter, teal-crane: scripted; no model and no person thought about these words"


@pytest.mark.requirement("DEC-025")
def test_a_parliaments_page_says_which_voices_were_scripted(project: Project) -> None:
    """Run by a question or by the session itself; and in every form of the page."""
    voices = "amber-otter=rules:approve,teal-crane=rules:approve"
    project.ok("ask", "Ship it?", "--chamber", "parliament", "--with", voices)
    asked = session_of(project).partition("/")[2]
    rep = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok("parliament", "new", "bill", "--problem", "Slow.", "--issue", "speed", *rep)
    words = [word for seat in voices.split(",") for word in ("--participant", seat)]
    project.ok("parliament", "run", "bill", *words)
    project.ok("parliament", "final", "bill", "-o", "bill.html")
    assert SCRIPTED in (project.root / "bill.html").read_text("utf-8")
    for name in (asked, "bill"):
        file = project.root / name / "session.json"
        known = json.loads(file.read_text("utf-8"))["parliament_id"] if name == "bill" else name
        decision = project.ok("report", known)["report"]["decision"]
        assert SCRIPTED in [fact["value"] for fact in decision["facts"]]


@pytest.mark.requirement("DEC-025")
def test_a_parliament_in_which_nobody_was_scripted_says_nothing_of_it(project: Project) -> None:
    rep = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok("parliament", "new", "bill", "--problem", "Slow.", "--issue", "speed", *rep)
    project.ok("parliament", "final", "bill", "-o", "bill.html")
    assert "scripted" not in (project.root / "bill.html").read_text("utf-8")


@pytest.mark.requirement("DEC-025")
def test_what_has_no_page_of_its_own_is_told_as_a_story(project: Project) -> None:
    sent = project.ok("--as", "amber-otter", "send", "teal-crane", "INFO: done")
    assert project.ok("report", sent["id"])["kind"] == "story"


@pytest.mark.requirement("DEC-025")
@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_it_is_written_in_the_form_its_name_asks_for(asked: Project, form: str) -> None:
    data = asked.ok("report", "q-1", "-o", f"q.{form}")
    text = (asked.root / f"q.{form}").read_text("utf-8")
    assert (data["file"], data["kind"]) == (f"q.{form}", "decision")
    assert "Ship it?" in text
    assert "<script" not in text
    if form == "json":
        assert json.loads(text)["format"] == "moot-report-1"


@pytest.mark.requirement("DEC-025")
def test_it_is_drawn_from_the_record_not_from_the_file(asked: Project) -> None:
    stream = session_of(asked)
    before = asked.ok("report", stream)["report"]
    file = asked.root / ".moot" / "decisions" / "q-1.md"
    file.write_text(file.read_text("utf-8").replace("approve", "reject"), encoding="utf-8")
    assert asked.ok("report", stream)["report"] == before


@pytest.mark.requirement("DEC-025")
@pytest.mark.parametrize("name", ["q-9", "debate/none", "../../etc", "", "ä ö"])
def test_an_unknown_id_is_said_to_be_unknown(asked: Project, name: str) -> None:
    assert asked.refused("report", name) == ("not_found", 1)


@pytest.mark.requirement("DEC-025")
def test_without_a_file_it_is_printed_as_markdown(asked: Project) -> None:
    done = asked.run("report", "q-1")
    assert done.code == 0
    assert done.out.startswith("# Ship it?\n")
    assert "## Dissent" in done.out
