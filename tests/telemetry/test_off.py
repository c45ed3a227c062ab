"""Where telemetry is off, nothing of it is loaded and nothing is done for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from moot.core.debug import DecisionLine, read_decision, write_decision
from moot.usage.telemetry.conventions import RecordCounts
from moot.usage.telemetry.switch import started_telemetry
from tests.hooks.tool_calls import call
from tests.project import Project, make_project

LOADED = (
    "names = [n for n in sys.modules if n.startswith(('opentelemetry', 'google.protobuf', 'h11',"
    " 'moot.usage.telemetry', 'moot.usage.receiver'))]; sys.stderr.write(' '.join(sorted(names)))"
)
COMMAND = f"import sys\nfrom moot.surfaces.cli.main import run\nrun(sys.argv[1:])\n{LOADED}"
HOOK = (
    "import os, sys\nfrom moot.surfaces.hooks.entry import answer\n"
    f"answer('claude', sys.stdin.buffer.read(), dict(os.environ), os.getcwd())\n{LOADED}"
)
SWITCH = {"moot.usage.telemetry", "moot.usage.telemetry.switch"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, "amber-otter")


def loaded_by(project: Project, code: str, *words: str, given: str = "", **env: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words],
        cwd=project.root,
        env={**project.env, **env},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split()) if done.stderr else set()


@pytest.mark.parametrize("switch", [{}, {"MOOT_OTEL": "0"}, {"MOOT_OTEL": ""}])
@pytest.mark.parametrize("words", [("--version",), ("log",), ("agenda",), ("reserve", "src")])
def test_a_command_loads_only_the_question_whether_it_is_on(
    project: Project, words: tuple[str, ...], switch: dict[str, str]
) -> None:
    loaded = loaded_by(project, COMMAND, "--as", "amber-otter", *words, **switch)
    assert loaded <= SWITCH


def test_a_run_loads_no_more(project: Project) -> None:
    ended = ("run", "--", sys.executable, "-c", "pass")
    assert loaded_by(project, COMMAND, *ended) <= SWITCH


def test_a_hook_loads_nothing_at_all(project: Project) -> None:
    said = json.dumps(call("claude-write", project.root))
    assert loaded_by(project, HOOK, given=said, MOOT_AGENT="amber-otter") == set()


def test_nothing_is_started(project: Project) -> None:
    project.ok("status")
    assert started_telemetry() is None


def test_a_decision_is_read_from_its_line_as_it_was_written() -> None:
    for line in (
        DecisionLine("presence", "Reserve", None, ("presence.scope_reserved",)),
        DecisionLine("presence", "Reserve", "reservation_conflict", ("presence.incursion_noted",)),
        DecisionLine("mail/a", "Send", "too_long", ()),
        DecisionLine("presence", "Leave", None, ()),
    ):
        assert read_decision(write_decision(*line)) == line


def test_only_what_was_committed_counts() -> None:
    counts = RecordCounts()
    accepted = write_decision("presence", "Reserve", None, ("a", "b"))
    counts("decide", accepted)
    counts("rollback", "ledger.db")
    assert counts.take() == ({}, {})
    counts("decide", accepted)
    counts("decide", write_decision("presence", "Reserve", "held", ("a",)))
    counts("commit", "ledger.db")
    assert counts.take() == ({"a": 2, "b": 1}, {"held": 1})
    assert counts.take() == ({}, {})
