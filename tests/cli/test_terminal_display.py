"""What a person sees: short local times, colours, one line for one path, the screen that stays."""

from __future__ import annotations

import os
import pty
import signal
from datetime import UTC, datetime, timedelta, timezone

import pytest

from moot.surfaces.terminal.local_time import SHORT, shorten, span_since
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_
from tests.project import MOOT, Project
from tests.wait_readable import is_readable

EAST = timezone(timedelta(hours=2))
NOW = datetime(2026, 2, 18, 16, 42, tzinfo=EAST)


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (NOW - timedelta(hours=3), "13:42"),
        (NOW - timedelta(days=3), "Feb 15 16:42"),
        (NOW - timedelta(days=400), "2025 Jan 14 16:42"),
    ],
)
def test_a_time_is_as_short_as_it_can_be(moment: datetime, shown: str) -> None:
    assert shorten(moment.astimezone(EAST), NOW) == shown
    assert SHORT.fullmatch(shown)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_how_long_ago_is_one_number(seconds: int, shown: str) -> None:
    now = datetime(2026, 2, 18, 12, 0, tzinfo=UTC).timestamp() + seconds
    assert span_since("2026-02-18T12:00:00.000Z", int(now * 1000)) == shown


def test_a_terminal_shows_local_time_and_everything_else_what_is_on_record(
    project: Project,
) -> None:
    project.ok(*as_("amber-otter", "reserve", "src"))
    since = project.ok("scope", "list")["reservations"][0]["since"]
    assert since.endswith("Z")
    assert since in project.run("scope", "list").out
    assert since not in on_a_terminal(project, "scope", "list", TZ="Asia/Tokyo")
    assert since in on_a_terminal(project, "scope", "list", "--utc", COLUMNS="120")


def test_who_is_alive_has_a_colour_at_a_terminal_only(project: Project) -> None:
    project.ok("join", "--register", "coral-finch")
    assert "\x1b[32mActive\x1b[0m" in on_a_terminal(project, "status", COLUMNS="80")
    assert "\x1b" not in on_a_terminal(project, "status", NO_COLOR="1")
    assert "SEEN" in project.run("status").out


def test_one_path_is_one_line(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/a.py", "src/b.py"))
    done = project.run("guard", "check", "src/a.py", "lib/c.py", "src")
    assert [line.partition(" ")[0] for line in done.out.splitlines()] == ["held:", "free:", "held:"]
    assert "(and 1 more)" in done.out.splitlines()[2]
    assert done.code == 1


def test_one_refusal_is_one_refusal_however_many_are_in_the_way(project: Project) -> None:
    project.ok("agent", "register", "coral-finch")
    for name, scope in (("amber-otter", "a"), ("teal-crane", "b")):
        project.ok(*as_(name, "reserve", f"{scope}/1", f"{scope}/2", f"{scope}/3"))
    done = project.run(*as_("coral-finch", "reserve", "*"))
    assert done.err.count("error") == 1
    assert done.err.count("try:") == 1
    assert "also: " in done.err
    assert "; and 1 more (`--json` has all)" in done.err
    assert len(project.json(*as_("coral-finch", "reserve", "*")).error["findings"]) == 6


def test_a_prompt_is_one_line_and_silent_where_there_is_nothing(
    project: Project, bare: Project
) -> None:
    project.ok(*as_("amber-otter", "send", "teal-crane", "INFO: done"))
    assert project.run("--as", "teal-crane", "prompt").out == "moot: teal-crane · 1 new\n"
    outside = bare.run("prompt", cwd=bare.root.parent)
    assert (outside.code, outside.err) == (0, "")


def test_a_watched_status_shows_what_changes_until_it_is_interrupted(project: Project) -> None:
    pid, master = pty.fork()
    if pid == 0:  # the child
        os.chdir(project.root)
        os.execvpe(MOOT[0], [*MOOT, "status", "--watch"], {**project.env, "TERM": "xterm"})
    seen = _read_until(master, "nothing is due")
    project.ok(*as_("amber-otter", "reserve", "src/seen"))
    seen += _read_until(master, "src/seen")
    os.write(master, b"\x03")
    try:
        while os.read(master, 65_536):
            pass
    except OSError:  # Linux says so when the child has closed its end
        pass
    os.close(master)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert project.json("status", "--watch").error["code"] == "usage"


def _read_until(master: int, text: str) -> str:
    seen = ""
    while text not in seen:
        ready = is_readable(master, 30)
        if not ready:
            os.kill(os.tcgetpgrp(master), signal.SIGTERM)
            raise AssertionError(f"{text} never came: {seen}")
        seen += os.read(master, 65_536).decode()
    return seen
