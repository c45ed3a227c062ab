"""A killed program blocks what it holds until it is stale: a person is told what helps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.project import MOOT, Project
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_, held

FREES = "`moot agent retire amber-otter` frees it"
WORKING = "import sys; print('at work', flush=True); sys.stdin.read()"


@pytest.fixture
def shop(bare: Project) -> Project:
    bare.ok("init")
    bare.ok("join", "--register", "amber-otter", "--scope", "src/auth")
    bare.ok("join", "--register", "teal-crane")
    return bare


def killed(bare: Project) -> None:
    """A `moot run` that reserved something and was killed with -9."""
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
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()


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
    shop: Project, words: tuple[str, ...]
) -> None:
    assert FREES in on_a_terminal(shop, *words)


def test_in_a_session_of_its_own_the_name_is_left_away(shop: Project) -> None:
    words = ("reserve", "src/auth")
    seen = on_a_terminal(shop, *words, MOOT_AGENT="teal-crane")
    assert "`env -u MOOT_AGENT moot agent retire amber-otter` frees it" in seen


def test_agents_are_not_told_to_end_each_other(shop: Project) -> None:
    done = shop.spawn(*as_("teal-crane", "reserve", "src/auth"))
    assert "retire" not in done.err
    assert held(shop) == [("src/auth", "amber-otter")]


@pytest.mark.usefixtures("cheap_locks")
def test_the_operator_is_told_wherever_it_asks(shop: Project, people: dict[str, str]) -> None:
    shop.ok("agent", "register", "ada-l", "--human", **people)
    done = shop.run(*as_("ada-l", "reserve", "src/auth"), **people)
    assert FREES in done.err
    assert FREES in shop.json(*as_("ada-l", "release", "src/auth"), **people).error["hint"]
    shop.ok(*as_("ada-l", "reserve", "docs"), **people)
    assert "retire" not in on_a_terminal(shop, *as_("teal-crane", "reserve", "docs"))


def test_a_living_run_is_not_called_dead(bare: Project) -> None:
    bare.ok("init")
    bare.ok("join", "--register", "teal-crane")
    inner = (*MOOT, "--as", "teal-crane", "reserve", "src/auth")
    code = "import pty, sys; pty.spawn(sys.argv[1:])"
    words = ("run", "--name", "amber-otter", "--reserve", "src/auth", "--", "env", "-u")
    seen = on_a_terminal(bare, *words, "MOOT_AGENT", sys.executable, "-c", code, *inner)
    assert "reservation_conflict" in seen
    assert "retire" not in seen
