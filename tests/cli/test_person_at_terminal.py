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

from moot.flows.launch.tool_around import MARKS
from moot.flows.presence.everyday import name_of_user
from tests.cli.founding import found
from tests.cli.project import MOOT, Project
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import held


@pytest.fixture
def shop(bare: Project) -> Project:
    found(bare)
    return bare


def names(shop: Project) -> list[str]:
    return [one["agent"] for one in shop.ok("agent", "list")["agents"]]


def test_reserve_just_works_at_a_terminal(shop: Project) -> None:
    seen = on_a_terminal(shop, "reserve", "src")
    assert f"{name_of_user()} holds src" in seen
    assert held(shop) == [("src", name_of_user())]
    on_a_terminal(shop, "reserve", "docs")
    assert names(shop) == [name_of_user()]
    on_a_terminal(shop, "release", "--all")
    assert held(shop) == []


def test_init_at_a_terminal_makes_the_name_and_says_it(bare: Project) -> None:
    seen = on_a_terminal(bare, "init", "--tools", "none", typed=["", ""])
    assert f"{name_of_user()}: this name acts when you name nobody" in seen
    (agent,) = bare.ok("agent", "list")["agents"]
    assert (agent["agent"], agent["class"]) == (name_of_user(), "agent")
    (key,) = bare.keys.glob(f"*/{name_of_user()}.*.key")
    assert json.loads(key.read_bytes())["locked"] is None
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_without_a_terminal_nobody_acts(shop: Project) -> None:
    assert shop.refused("reserve", "src") == ("actor_required", 1)
    assert names(shop) == []


@pytest.mark.parametrize("mark", MARKS)
def test_below_a_coding_tool_nobody_acts(shop: Project, mark: str) -> None:
    marks: dict[str, Any] = {mark: "1"}
    assert "actor_required" in on_a_terminal(shop, "reserve", "src", **marks)
    assert names(shop) == []


def test_a_tool_that_leaves_no_mark_is_seen_among_the_processes_above(
    shop: Project, tmp_path: Path
) -> None:
    """A stand-in that is called claude, and runs the command on a terminal of its own."""
    tool = tmp_path / "claude"
    tool.write_text(f"#!{sys.executable}\nimport subprocess, sys\nsubprocess.call(sys.argv[1:])\n")
    tool.chmod(0o755)
    seen = on_a_terminal(shop, "reserve", "src", through=[str(tool)])
    assert "actor_required" in seen
    assert names(shop) == []


def test_whoever_is_named_acts_all_the_same(shop: Project) -> None:
    shop.ok("agent", "register", "amber-otter")
    assert "amber-otter holds src" in on_a_terminal(shop, "--as", "amber-otter", "reserve", "src")
    assert "amber-otter holds a" in on_a_terminal(shop, "reserve", "a", "--agent", "amber-otter")
    assert names(shop) == ["amber-otter"]


def test_the_everyday_key_is_never_good_for_deciding(shop: Project, passphrase: str) -> None:
    on_a_terminal(shop, "reserve", "src")
    shop.ok("ask", "Ship it?", "--with", "rules:approve,rules:approve")
    words = ("decide", "q-1", "approve", "--reason", "fine")
    assert shop.refused("--as", name_of_user(), *words) == ("human_key_required", 1)
    assert "human_key_required" in on_a_terminal(shop, *words)
    shop.ok("agent", "register", "ada-person", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    secret = Path(passphrase).read_text().strip()
    assert "human_key_required" not in on_a_terminal(shop, *words, typed=[secret])


def test_a_program_does_not_get_the_everyday_name(shop: Project) -> None:
    on_a_terminal(shop, "reserve", "src")
    words = ("run", "--name", name_of_user(), "--", "true")
    assert shop.refused(*words) == ("name_taken", 1)
    assert held(shop) == [("src", name_of_user())]
    inner = (*MOOT, "reserve", "docs")
    code = "import pty, os, sys; os.environ.pop('MOOT_AGENT'); pty.spawn(sys.argv[1:])"
    seen = on_a_terminal(
        shop, "run", "--name", "amber-otter", "--", sys.executable, "-c", code, *inner
    )
    assert "actor_required" in seen  # its folder holds one agent's key


def test_a_name_that_others_have_is_numbered(shop: Project) -> None:
    shop.ok("agent", "register", name_of_user())
    on_a_terminal(shop, "reserve", "src")
    assert held(shop) == [("src", f"{name_of_user()}-2")]


def test_when_its_key_has_ended_a_new_one_is_made(shop: Project) -> None:
    on_a_terminal(shop, "reserve", "src")
    shop.ok("agent", "retire", name_of_user())
    on_a_terminal(shop, "reserve", "src")
    assert held(shop) == [("src", f"{name_of_user()}-2")]


@pytest.mark.parametrize(
    ("login", "name"),
    [("Ada", "ada"), ("al", "al-person"), ("system", "system-person"), ("ä ü", "person")],
)
def test_the_name_is_made_of_the_login(
    monkeypatch: pytest.MonkeyPatch, login: str, name: str
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: login)
    assert name_of_user() == name


def test_an_unknown_name_says_how_to_register_it(shop: Project) -> None:
    done = shop.json("--as", "jade-heron", "reserve", "src")
    assert (done.code, done.error["code"]) == (1, "agent_not_found")
    assert "`moot agent register jade-heron`" in done.error["hint"]
    shop.ok("agent", "register", "jade-heron")
    shop.ok("--as", "jade-heron", "reserve", "src")


def test_join_says_what_to_do_with_its_last_line(shop: Project) -> None:
    lines = shop.run("join", "--register", "jade-heron").out.splitlines()
    assert "run the next line" in lines[-2] or "run the next line" in "\n".join(lines)
    (line,) = (line for line in lines if line.startswith("export "))
    settings = dict(word.split("=", 1) for word in line.split()[1:])
    assert settings == {"MOOT_AGENT": "jade-heron", "MOOT_EPOCH": "1"}
    shop.ok("reserve", "src", **settings)
    assert os.environ.get("MOOT_AGENT") is None
