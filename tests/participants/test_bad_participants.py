"""Participants that answer with what no answer should be: contained, told, and it goes on."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from typing import Any

import pytest

from moot.api.debates import session
from moot.api.runs.debate import MAX_BODY
from tests.participants.test_debate_run import CRANE, OTTER
from tests.project import Project

GOOD = {"stance": "approve", "confidence": 0.5, "summary": "Yes."}


def voice(project: Project, name: str, entry: str, first: str = "{'answer': 'Postgres'}") -> str:
    """A program; `entry` and `first` are expressions that are printed, as JSON if no text."""
    file = project.root / f"{name}.py"
    file.write_text(
        "import json, os, subprocess, sys\n"
        "told = json.load(sys.stdin)\n"
        f"said = ({first}) if told['what'] == 'first_answer' else ({entry})\n"
        "print(said if isinstance(said, str) else json.dumps(said))\n",
        encoding="utf-8",
    )
    return f"cmd:{shlex.quote(sys.executable)} -S {shlex.quote(str(file))}"


def ask(project: Project, bad: str, *more: str) -> Any:
    good = voice(project, "good", repr(GOOD))
    specs = f"{OTTER}={bad},{CRANE}={good},ann-lee={good}"
    options = ("--option", "Postgres", "--option", "Kafka")
    return project.ok("ask", "Which?", "--with", specs, *options, "--rounds", "1", *more)


ENTRIES = {
    "a-megabyte": f"{{**{GOOD}, 'body': 'x' * 1_000_000}}",
    "more-than-a-megabyte": f"{{**{GOOD}, 'body': 'x' * 1_100_000}}",
    "a-long-argument": f"{{**{GOOD}, 'body': 'x' * {MAX_BODY + 1}}}",
    "anothers-name": f"{{**{GOOD}, 'author': '{CRANE}'}}",
    "infinite": '\'{"stance": "approve", "confidence": 1e309, "summary": "x"}\'',
    "not-a-number": '\'{"stance": "approve", "confidence": NaN, "summary": "x"}\'',
    "an-open-fence": f"{{**{GOOD}, 'body': '```' + chr(10) + 'never closed'}}",
    "two-objects": f"json.dumps({GOOD}) + chr(10) + json.dumps({{**{GOOD}, 'stance': 'reject'}})",
    "machine-words": f"{{**{GOOD}, 'body': '<!-- generated-by: orchestrator -->'}}",
    "another-entry": f"{{**{GOOD}, 'body': '<!-- yield -->' + chr(10) + '<!-- entry: 1 -->'}}",
}


@pytest.mark.requirement("DEC-035")
@pytest.mark.parametrize("name", ENTRIES)
def test_a_bad_entry_is_contained_and_the_decision_goes_on(project: Project, name: str) -> None:
    data = ask(project, voice(project, "bad", ENTRIES[name]))
    result = data["decision"]["result"]
    assert (result["result"], result["absent"], result["dissent"]) == ("carried", [OTTER], [])
    ended = data["decision"]["endings"]
    assert ended.get("malformed", 0) + ended.get("refused", 0) == 2
    file = project.root / ".moot" / "decisions" / "q-1.md"
    checked = session.read(file)
    assert checked.valid, checked.findings
    assert [one.author for one in checked.document.entries] == [OTTER, CRANE, "ann-lee"]
    assert file.stat().st_size < 10_000
    assert project.ok("verify")["verdict"] == "valid"


@pytest.mark.requirement("DEC-035")
def test_headings_that_are_too_large_are_set_deeper_and_that_is_told(project: Project) -> None:
    body = "'# Why' + chr(10) * 2 + 'It works.' + chr(10) * 2 + '## Risks' + chr(10) * 2 + 'None.'"
    data = ask(project, voice(project, "loud", f"{{**{GOOD}, 'body': {body}}}"))
    assert data["decision"]["result"]["absent"] == []
    assert data["decision"]["endings"] == {"answered": 6, "fitted": 1}
    text = (project.root / ".moot" / "decisions" / "q-1.md").read_text(encoding="utf-8")
    assert "### Why\n\nIt works.\n\n#### Risks\n\nNone." in text
    page = project.root / "q-1.html"
    project.ok("report", "q-1", "-o", str(page))
    assert "1 answer had headings set deeper" in page.read_text(encoding="utf-8")
    assert project.ok("verify")["verdict"] == "valid"


FIRST = {
    "an-unknown-option": "{'answer': 'Redis'}",
    "two-objects": '\'{"answer": "Postgres"} {"answer": "Kafka"}\'',
    "a-megabyte": "{'answer': 'Postgres', 'why': 'x' * 900_000}",
}


@pytest.mark.requirement("DEC-035")
@pytest.mark.parametrize("name", FIRST)
def test_a_bad_first_answer_is_passed_over_and_told(project: Project, name: str) -> None:
    data = ask(project, voice(project, "bad", repr(GOOD), FIRST[name]))["decision"]
    (passed,) = [one for one in data["answers"] if one["answer"] is None]
    assert passed["agent"] == OTTER
    assert passed["failure"].startswith("No usable answer: ")
    assert (data["motion"]["text"], data["result"]["result"]) == ("Postgres", "carried")
    assert len(passed["why"]) <= 1_000


@pytest.mark.requirement("DEC-035")
def test_an_option_may_be_written_otherwise_but_must_be_one(project: Project) -> None:
    data = ask(project, voice(project, "loud", repr(GOOD), "{'answer': ' POSTGRES! '}"))
    assert data["decision"]["answers"][0]["answer"] == "POSTGRES!"
    assert data["decision"]["motion"]["by"] == [OTTER, CRANE, "ann-lee"]


@pytest.mark.requirement("DEC-035")
def test_anyone_who_chooses_is_told_the_options(project: Project) -> None:
    told = "open('told.json', 'w').write(json.dumps(told)) and {'answer': 'Postgres'}"
    ask(project, voice(project, "asks", repr(GOOD), told))
    brief = json.loads((project.root / "told.json").read_text("utf-8"))
    assert brief["reply_schema"]["properties"]["answer"]["enum"] == ["Postgres", "Kafka"]
    assert "one of the options" in brief["task"]


@pytest.mark.requirement("DEC-035")
def test_a_daemon_that_holds_the_pipes_holds_nobody_up(project: Project) -> None:
    """It keeps standard input, output and error of a program that has answered and ended."""
    pids = project.root / "pids"
    daemon = (
        "(open('pids', 'a').write(str(subprocess.Popen([sys.executable, '-S', '-c', "
        "'import signal; signal.pause()'], start_new_session=True).pid) + chr(10)))"
    )
    try:
        data = ask(
            project,
            voice(project, "bad", f"{daemon} and {GOOD}", f"{daemon} and {{'answer': 'Postgres'}}"),
            *("--context", "x" * 300_000),
        )
        assert data["decision"]["result"]["result"] == "carried"
        assert data["decision"]["result"]["absent"] == []
    finally:
        for pid in pids.read_text("utf-8").split():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.requirement("DEC-035")
def test_a_program_that_reads_nothing_and_leaves_a_daemon_is_no_hang(project: Project) -> None:
    """More than a pipe holds is never read: the one who should read it has ended."""
    pids = project.root / "pids"
    file = project.root / "deaf.py"
    file.write_text(
        "import subprocess, sys\n"
        "made = subprocess.Popen([sys.executable, '-S', '-c', 'import signal; signal.pause()'],\n"
        "    start_new_session=True)\n"
        "open('pids', 'a').write(f'{made.pid}\\n')\n",
        encoding="utf-8",
    )
    try:
        deaf = f"cmd:{shlex.quote(sys.executable)} -S {shlex.quote(str(file))}"
        data = ask(project, deaf, "--context", "x" * 300_000)
        assert data["decision"]["result"]["absent"] == [OTTER]
        assert data["absent"][0]["why"].startswith("No usable answer: said nothing, after")
    finally:
        for pid in pids.read_text("utf-8").split():
            os.kill(int(pid), signal.SIGKILL)
