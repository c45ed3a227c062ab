"""The output of a run in progress: a table at a terminal, lines for logs, labels for voices."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from moot.agents.cost import cost_of_call
from moot.agents.outcome import CallEnding, CallOutcome
from moot.core.machine import Due
from moot.surfaces.cli.runs.live import Lines, ending_line
from tests.cli.terminal import on_a_terminal
from tests.project import Project

WORDS = ("ask", "Ship it?", "--with", "rules:approve,rules:sceptic")
COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.mark.requirement("AGT-080")
def test_on_a_terminal_a_table_shows_who_speaks_and_what_it_costs(project: Project) -> None:
    seen = COLOURS.sub("", on_a_terminal(project, *WORDS, COLUMNS="140"))
    assert "q-1: Ship it?" in seen
    assert "participant" in seen
    assert "rules:sceptic (scripted voice)" in seen
    assert re.search(r"round 2 · score \d\.\d\d|round 1 · score", seen)
    assert "waiting for you: " in seen
    assert "moot decide q-1" in seen


@pytest.mark.requirement("AGT-080")
def test_elsewhere_there_are_plain_lines_on_standard_error(project: Project) -> None:
    done = project.spawn(*WORDS)
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert re.search(r"asking \S+, rules:approve \(scripted voice\): first answer", done.err)
    assert ": round 1, entry 1: answered [1 call, 0.0 s]" in done.err
    assert project.spawn("--json", *WORDS).out.count("\n") == 1


@pytest.mark.requirement("AGT-080")
def test_what_a_program_said_last_cannot_play_with_the_terminal() -> None:
    outcome = CallOutcome(
        agent="amber-otter",
        what="entry",
        subject="round 1, entry 1",
        ending=CallEnding.CRASHED,
        cost=cost_of_call(10, 5),
        detail="\x1b[2Jgone",
    )
    line = ending_line(outcome)
    assert line.isprintable()
    assert line.startswith(
        "amber-otter: round 1, entry 1: crashed (\\x1b[2Jgone) [1 call, 15 tokens"
    )


@pytest.mark.requirement("AGT-080")
def test_anyone_who_waits_is_told_once_how_to_wait_less(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines("Ctrl-C keeps everything")
    for name in ("amber-otter", "teal-crane"):
        lines.on_waiting(Due(who=name, what="entry", subject="round 1"), 300)
    assert capsys.readouterr().err.splitlines() == [
        "waiting 300 s until amber-otter's turn times out",
        "Ctrl-C keeps everything",
        "waiting 300 s until teal-crane's turn times out",
    ]


@pytest.mark.requirement("AGT-080")
def test_one_broken_participant_is_not_waited_for(project: Project) -> None:
    """Its turn would have five minutes; it has certainly failed, so nobody waits for them."""
    words = ("ask", "Ship it?", "--with", "amber-otter=cmd:false,teal-crane=rules:approve")
    shown = project.run(*words, "--rounds", "1")
    assert shown.code == 0, shown
    assert "amber-otter: round 1, entry 1: crashed" in shown.err
    assert "waiting" not in shown.err
    assert "no-quorum: 1 approve, 1 absent: agreed" in shown.out


@pytest.mark.requirement("AGT-009")
def test_a_person_at_a_terminal_takes_part(project: Project) -> None:
    typed = ["Yes", "I know it", "approve", "0.9", "It is ready.", "Tests pass.", "n/a", "n/a"]
    words = ("ask", "Ship it?", "--with", "human,rules:approve", "--rounds", "1")
    seen = on_a_terminal(project, *words, typed=typed, COLUMNS="140")
    assert "Your own answer, please." in seen
    assert "How sure you are, from 0 (not at all) to 1 (entirely)" in seen
    assert "JSON" not in seen
    file = project.root / ".moot" / "decisions" / "q-1.md"
    text = file.read_text("utf-8")
    assert "summary: It is ready." in text
    assert "Tests pass." in text


def test_help_and_light_commands_import_nothing_of_this() -> None:
    source = (
        "import sys\nfrom moot.surfaces.cli.main import run\nrun(['--help'])\n"
        "run(['ask', '--help'])\nrun(['debate', 'run', '--help'])\n"
        "print([n for n in ('pydantic_ai', 'openai', 'rich', 'asyncio') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")
