"""A killed program blocks what it holds until it is stale: a person is told what helps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_, held
from tests.project import MOOT, Project

FREES = "`moot agent retire amber-otter` frees it"
WORKING = "import sys; print('at work', flush=True); sys.stdin.read()"


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init()
    bare.ok("join", "--register", "amber-otter", "--scope", "src/auth")
    bare.ok("join", "--register", "teal-crane")
    return bare


def killed(bare: Project) -> None:
    """A `moot run` that reserved something and was killed with -9."""
    running = start(bare)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=120)


def start(bare: Project) -> subprocess.Popen[bytes]:
    """A `moot run` that has reserved something and is at work until its input ends."""
    words = ("run", "--name", "amber-otter", "--reserve", "src/auth")
    running = subprocess.Popen(
        [*MOOT, *words, "--", sys.executable, "-c", WORKING],
        cwd=bare.root,
        env=bare.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert running.stdout is not None
    running.stdout.readline()
    return running


def test_what_a_killed_run_holds_is_freed_as_the_refusal_says(bare: Project) -> None:
    bare.ok("init")
    killed(bare)
    bare.ok("join", "--register", "teal-crane")
    seen = on_a_terminal(bare, *as_("teal-crane", "reserve", "src/auth"))
    assert "reservation_conflict" in seen
    assert f"if its program is dead, {FREES}" in seen
    bare.ok("agent", "retire", "amber-otter")
    bare.ok(*as_("teal-crane", "reserve", "src/auth"))


@pytest.mark.parametrize(
    "words",
    [
        as_("teal-crane", "reserve", "src/auth/x.py"),
        as_("teal-crane", "reserve", "src", "--takeover-stale"),
        as_("teal-crane", "release", "src/auth"),
        ("join", "--register", "coral-finch", "--scope", "src/auth"),
        ("run", "--reserve", "src/auth", "--", sys.executable, "-c", "pass"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_every_refusal_at_a_terminal_says_what_frees_it(
    project: Project, words: tuple[str, ...]
) -> None:
    assert FREES in on_a_terminal(project, *words)


def test_in_a_session_of_its_own_the_name_is_left_away(project: Project) -> None:
    words = ("reserve", "src/auth")
    seen = on_a_terminal(project, *words, MOOT_AGENT="teal-crane")
    assert "`env -u MOOT_AGENT moot agent retire amber-otter` frees it" in seen


def test_agents_are_not_told_to_end_each_other(project: Project) -> None:
    done = project.spawn(*as_("teal-crane", "reserve", "src/auth"))
    assert "retire" not in done.err
    assert held(project) == [("src/auth", "amber-otter")]


def test_the_operator_is_told_wherever_it_asks(project: Project, people: dict[str, str]) -> None:
    project.ok("agent", "register", "ada-l", "--human", **people)
    done = project.run(*as_("ada-l", "reserve", "src/auth"), **people)
    assert FREES in done.err
    assert FREES in project.json(*as_("ada-l", "release", "src/auth"), **people).error["hint"]
    project.ok(*as_("ada-l", "reserve", "docs"), **people)
    assert "retire" not in on_a_terminal(project, *as_("teal-crane", "reserve", "docs"))


@pytest.mark.parametrize("who", [(), ("--as", "ada-l"), ("--as", "amber-otter")])
def test_anyone_who_may_end_a_name_frees_what_it_holds(
    project: Project, people: dict[str, str], who: tuple[str, ...]
) -> None:
    project.ok("agent", "register", "ada-l", "--human", **people)
    done = project.run(*who, "agent", "retire", "amber-otter", **people)
    assert done.out == "amber-otter has retired\n"
    assert held(project) == []
    project.ok(*as_("teal-crane", "reserve", "src/auth"))
    assert project.ok("verify")["verdict"] == "valid"


def test_what_cannot_be_freed_at_once_is_said(
    bare: Project, people: dict[str, str], tmp_path: Path
) -> None:
    """Only the agent's own key gives back what it holds; where it is not, that goes stale."""
    bare.env["MOOT_CLOCK"] = "2026-02-18T12:00:00.000Z"
    bare.ok("init", **people)
    bare.ok("join", "--register", "teal-crane")
    bare.ok("join", "--register", "amber-otter", "--scope", "src/auth", "--scope", "the docs")
    (key,) = bare.keys.glob("*/amber-otter.*.key")
    key.rename(tmp_path / "elsewhere")
    done = bare.run(*as_("operator", "agent", "retire", "amber-otter"), **people)
    when = "from 2026-02-18T12:15:00.000Z on"
    assert done.out.splitlines() == [
        "amber-otter has retired",
        "it still holds src/auth, the docs: its key was not here to release that",
        f"{when} `moot reserve :/src/auth ':/the docs' --takeover-stale` takes it over",
    ]
    taking = as_("teal-crane", "reserve", "src/auth", "the docs", "--takeover-stale")
    assert bare.refused(*taking) == ("reservation_conflict", 1)
    bare.ok(*taking, MOOT_CLOCK="2026-02-18T12:15:00.000Z")


def test_a_living_run_is_not_called_dead(bare: Project) -> None:
    bare.ok("init")
    bare.ok("join", "--register", "teal-crane")
    running = start(bare)
    try:
        seen = on_a_terminal(bare, *as_("teal-crane", "reserve", "src/auth"))
    finally:
        running.communicate(timeout=120)
    assert "reservation_conflict" in seen
    assert "retire" not in seen
