"""The second day, typed into a terminal of 80 columns: names, crashes, duties, a plan, settings, a
colleague, and out again. One story; no line of it is wider than the terminal."""

from __future__ import annotations

import re
import shlex
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from moot.api.presence.starting_names import name_of_user
from tests.cli.terminal import on_a_terminal
from tests.cli.test_exited_programs import leave_file, running
from tests.cli.typeable import commands_in
from tests.project import Project, git

COLUMNS = 80
SECRET = "correct horse battery"
PROGRAM = (sys.executable, "-c", "pass")
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Day:
    """A person at a terminal. `screen` is what the last command showed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.screen = ""

    def type(self, line: str, *answers: str) -> str:
        """Type a line after `moot`, and what it asks for; every line of the answer must fit."""
        words = shlex.split(line)
        seen = on_a_terminal(self.project, *words, typed=answers, columns=COLUMNS)
        self.screen = _STYLE.sub("", seen).replace("\r\n", "\n")
        print(f"$ moot {line}\n{self.screen}")  # noqa: T201 - shown if the story fails
        assert [each for each in self.screen.splitlines() if is_too_wide(each)] == []
        return self.screen

    def says(self, *texts: str) -> None:
        """However the lines were broken."""
        flowing = " ".join(self.screen.split())
        assert [text for text in texts if text not in flowing] == []

    def hints(self) -> list[str]:
        return list(commands_in(" ".join(self.screen.split())))


def is_too_wide(line: str) -> bool:
    """A command or a path that one has to copy is never broken: it may stand alone, and wide."""
    is_one_thing = " " not in re.sub(r"`[^`]*`", "", line.strip())
    return width(line) > COLUMNS and not is_one_thing


def width(line: str) -> int:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    return len(line.rstrip("\r")) + wide


@pytest.fixture
def home() -> Iterator[Path]:
    """As short as people's folders are: a path is never broken, however narrow the terminal is."""
    with TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def day(home: Path) -> Day:
    root = home / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    day = Day(Project(root, home / "keys"))
    day.type("status")
    day.says("no_workspace", "moot init")
    day.type("init --tools none", SECRET, SECRET)
    day.says(f"you {name_of_user()}: this name acts at a terminal if you name no agent")
    return day


def test_the_second_day(day: Day, home: Path) -> None:
    names_can_be_typed_again(day)
    a_person_is_somebody(day)
    a_crash_leaves_nothing_behind(day)
    a_crash_with_uncommitted_work_keeps_it(day)
    duties_end(day)
    a_plan_is_shared(day)
    settings_are_a_persons(day)
    what_is_looked_for_is_found(day)
    a_colleague_is_undisturbed(day, home)
    it_can_be_taken_out(day)
    assert day.project.ok("verify")["verdict"] == "valid"


def run_line(*options: str) -> str:
    return shlex.join(("run", *options, "--", *PROGRAM))


def names_can_be_typed_again(day: Day) -> None:
    day.type(run_line("--name", "alice"))
    day.says("alice works here until")
    day.type(run_line("--name", "alice"))
    day.says("alice was used before: this session is alice-2")
    day.type("agent list")
    assert "alice" not in day.screen
    day.type("agent list --all")
    day.says("alice-2 Retired")
    day.type("status --all")
    day.says("alice-2 Retired")


def a_person_is_somebody(day: Day) -> None:
    day.type("reserve notes.md")
    day.says(f"{name_of_user()} holds notes.md")
    day.type("status")
    day.says(f"{name_of_user()} Active")
    day.type("release notes.md")
    day.type("prompt")


def a_crash_leaves_nothing_behind(day: Day) -> None:
    with running(day.project, "--name", "bert", "--reserve", "src") as started:
        day.type("reserve src/x.py")
        day.says("reservation_conflict", "bert")
        assert len(day.hints()) == 1
        started.kill_all()
    day.type("status")
    day.says("bert Gone")
    day.type("reserve src/x.py")
    day.says(f"{name_of_user()} holds src/x.py")
    day.type("release --all")
    day.type("status")
    assert "bert" not in day.screen


def a_crash_with_uncommitted_work_keeps_it(day: Day) -> None:
    with running(day.project, "--name", "cleo", "--reserve", "src") as started:
        leave_file(day.project)
        started.kill_all()
    day.type("reserve src")
    day.says("the program of cleo has exited", "src/a.py", "moot run --adopt cleo")
    day.type(run_line("--adopt", "cleo"))
    day.says("cleo works here until")
    day.type("event list")
    day.says("Refused", "Picked up again")
    with running(day.project, "--name", "dora", "--reserve", "src") as started:
        started.kill_all()
    day.type("release src --force --reason 'I saved it'", SECRET)
    day.says("released by force src")
    git(day.project.root, "add", "src")
    git(day.project.root, "commit", "-q", "-m", "saved")


def duties_end(day: Day) -> None:
    asked = "--subject 'the port' --blocker 'none is named' --requested-action 'name it' --work T-1"
    with running(day.project, "--name", "emil") as started:
        day.type(f"blocked emil {asked}")
        day.type("agenda --agent emil")
        day.says("give input", "the port", "moot event accept", "--agent emil")
        started.kill_all()
    day.type("reserve docs")
    day.type("agenda")
    day.says("nothing is due")
    day.type("inbox")
    day.says("not answered: emil ended")
    day.type("release --all")


def a_plan_is_shared(day: Day) -> None:
    (day.project.root / "plan.md").write_text("1. move the cache\n2. test it\n")
    day.type("plan T-7")
    day.says("no plan of T-7 yet")
    day.type("plan T-7 --amend plan.md --version 0")
    day.type("plan T-7")
    day.says("1. move the cache")
    day.type("plan T-7 --amend plan.md --version 0")
    day.says("error [", "moot plan T-7")


def settings_are_a_persons(day: Day) -> None:
    day.type("config")
    day.type("config stale-minutes 30", SECRET)
    day.says("30")
    (day.project.root / "moot.toml").write_text('[protect]\nunmergd = "block"\n')
    day.type("doctor")
    day.says("did you mean protect.unmerged?")
    (day.project.root / "moot.toml").unlink()
    day.type("doctor")
    day.says("healthy:")


def what_is_looked_for_is_found(day: Day) -> None:
    for line in ("help", "help --all", "log", "explain reservation_conflict", "explain OPR-032"):
        day.type(line)
        assert "error [" not in day.screen
    day.type("clean")
    day.type("--help")


def a_colleague_is_undisturbed(day: Day, home: Path) -> None:
    """A clone of the repository has no workspace, no key and no setting."""
    clone = home / "clone"
    git(day.project.root, "clone", "-q", str(day.project.root), str(clone))
    assert sorted(each.name for each in clone.iterdir()) == [".git", "src"]
    colleague = Day(Project(clone, home / "their-keys"))
    colleague.type("status")
    colleague.says("no_workspace")
    colleague.type("init --tools none", "", "")
    colleague.type("status")
    assert "operator" not in colleague.screen


def it_can_be_taken_out(day: Day) -> None:
    day.type("uninstall")
    day.says("the record")
    day.type("uninstall")
