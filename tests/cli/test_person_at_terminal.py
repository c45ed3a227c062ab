"""A person at the terminal is somebody, under an everyday name; a coding tool there is not."""

from __future__ import annotations

import getpass
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.presence.starting_names import name_of_user
from moot.coding_tools import all_tools
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import held
from tests.project import MOOT, Project


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init()
    return bare


def names(project: Project) -> list[str]:
    return [one["agent"] for one in project.ok("agent", "list")["agents"]]


def test_reserve_just_works_at_a_terminal(project: Project) -> None:
    seen = on_a_terminal(project, "reserve", "src")
    assert f"{name_of_user()} holds src" in seen
    assert held(project) == [("src", name_of_user())]
    on_a_terminal(project, "reserve", "docs")
    assert names(project) == [name_of_user()]
    on_a_terminal(project, "release", "--all")
    assert held(project) == []


def test_init_at_a_terminal_makes_the_name_and_says_it(bare: Project) -> None:
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=["", ""])
    assert f"{name_of_user()}: this name acts at a terminal if you name no agent" in seen
    (agent,) = bare.ok("agent", "list")["agents"]
    assert (agent["agent"], agent["class"]) == (name_of_user(), "agent")
    (key,) = bare.keys.glob(f"*/{name_of_user()}.*.key")
    assert json.loads(key.read_bytes())["locked"] is None
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_without_a_terminal_nobody_acts(project: Project) -> None:
    assert project.refused("reserve", "src") == ("actor_required", 1)
    assert names(project) == []


@pytest.mark.parametrize("mark", [mark for tool in all_tools() for mark in tool.marks])
def test_below_a_coding_tool_nobody_acts(project: Project, mark: str) -> None:
    marks: dict[str, Any] = {mark: "1"}
    assert "actor_required" in on_a_terminal(project, "reserve", "src", **marks)
    assert names(project) == []


def test_a_tool_that_leaves_no_mark_is_seen_among_the_processes_above(
    project: Project, tmp_path: Path
) -> None:
    """A stand-in that is called claude, and runs the command on a terminal of its own."""
    tool = tmp_path / "claude"
    tool.write_text(f"#!{sys.executable}\nimport subprocess, sys\nsubprocess.call(sys.argv[1:])\n")
    tool.chmod(0o755)
    seen = on_a_terminal(project, "reserve", "src", through=[str(tool)])
    assert "actor_required" in seen
    assert names(project) == []


def test_anyone_who_is_named_acts_all_the_same(project: Project) -> None:
    project.ok("agent", "register", "amber-otter")
    assert "amber-otter holds src" in on_a_terminal(
        project, "--as", "amber-otter", "reserve", "src"
    )
    assert "amber-otter holds a" in on_a_terminal(project, "reserve", "a", "--agent", "amber-otter")
    assert names(project) == ["amber-otter"]


def test_the_everyday_key_is_never_good_for_deciding(project: Project, passphrase: str) -> None:
    on_a_terminal(project, "reserve", "src")
    project.ok("ask", "Ship it?", "--with", "rules:approve,rules:approve")
    words = ("decide", "q-1", "approve", "--reason", "fine")
    assert project.refused("--as", name_of_user(), *words) == ("human_key_required", 1)
    assert "human_key_required" in on_a_terminal(project, *words)
    project.ok("agent", "register", "ada-person", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    secret = Path(passphrase).read_text().strip()
    assert "human_key_required" not in on_a_terminal(project, *words, typed=[secret])


def test_a_program_does_not_get_the_everyday_name(project: Project) -> None:
    on_a_terminal(project, "reserve", "src")
    words = ("run", "--name", name_of_user(), "--", "true")
    assert project.refused(*words) == ("name_taken", 1)
    assert held(project) == [("src", name_of_user())]
    inner = (*MOOT, "reserve", "docs")
    code = "import pty, os, sys; os.environ.pop('MOOT_AGENT'); pty.spawn(sys.argv[1:])"
    seen = on_a_terminal(
        project, "run", "--name", "amber-otter", "--", sys.executable, "-c", code, *inner
    )
    assert "actor_required" in seen  # its folder holds one agent's key


def test_a_name_that_others_have_is_numbered(project: Project) -> None:
    project.ok("agent", "register", name_of_user())
    on_a_terminal(project, "reserve", "src")
    assert held(project) == [("src", f"{name_of_user()}-2")]


def test_when_its_key_has_ended_a_new_one_is_made(project: Project) -> None:
    on_a_terminal(project, "reserve", "src")
    project.ok("agent", "retire", name_of_user())
    on_a_terminal(project, "reserve", "src")
    assert held(project) == [("src", f"{name_of_user()}-2")]


@pytest.mark.parametrize(
    ("login", "name"),
    [("Ada", "ada"), ("al", "al-person"), ("system", "system-person"), ("ä ü", "person")],
)
def test_the_name_is_made_of_the_login(
    monkeypatch: pytest.MonkeyPatch, login: str, name: str
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: login)
    assert name_of_user() == name


def test_an_unknown_name_says_how_to_register_it(project: Project) -> None:
    done = project.json("--as", "jade-heron", "reserve", "src")
    assert (done.code, done.error["code"]) == (1, "agent_not_found")
    assert "`moot agent register jade-heron`" in done.error["hint"]
    project.ok("agent", "register", "jade-heron")
    project.ok("--as", "jade-heron", "reserve", "src")


def test_join_says_what_to_do_with_its_last_line(project: Project) -> None:
    lines = project.run("join", "--register", "jade-heron").out.splitlines()
    assert lines[-2] == "to act as jade-heron in this shell, run:"
    (line,) = (line for line in lines if line.startswith("export "))
    settings = dict(word.split("=", 1) for word in line.split()[1:])
    assert settings == {"MOOT_AGENT": "jade-heron", "MOOT_EPOCH": "1"}
    project.ok("reserve", "src", **settings)
    assert os.environ.get("MOOT_AGENT") is None
