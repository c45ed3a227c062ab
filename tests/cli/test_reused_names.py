"""A name can be used again: as it is, by going on with its work, or as the next of its family."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_
from tests.project import MOOT, Project

PYTHON = sys.executable
SAY_NAME = "import os; print(os.environ['MOOT_AGENT'])"
NOTICE = ("--subject", "s", "--summary", "half done", "--next-action", "test it", "--work", "T-7")


@pytest.fixture
def project(bare: Project) -> Project:
    """A repository with a workspace, and nobody in it."""
    bare.init_git()
    bare.init()
    return bare


def run_as(project: Project, name: str, *options: str) -> str:
    """The name that a program started as `name` really has."""
    done = project.spawn("run", "--name", name, *options, "--", PYTHON, "-c", SAY_NAME)
    assert done.code == 0, done.err
    return done.out.strip()


@contextmanager
def running(project: Project, *words: str) -> Iterator[str]:
    """A run that lasts as long as the block; the name it has."""
    script = f"{SAY_NAME[:-1]}, flush=True); input()"
    program = subprocess.Popen(
        [*MOOT, "run", *words, "--", PYTHON, "-c", script],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert program.stdout is not None
    try:
        yield program.stdout.readline().decode().strip()
    finally:
        program.communicate(b"\n", timeout=60)


def leave_work(project: Project, name: str) -> None:
    """`name` has joined, holds src and left a file there that is not committed."""
    project.ok("join", "--register", name, "--scope", "src/*")
    (project.root / "src").mkdir()
    (project.root / "src" / "a.py").write_text("half done")


def keys(project: Project, name: str) -> list[str]:
    return sorted(path.name for path in project.keys.glob(f"*/{name}.*.key"))


def epoch_of(project: Project, name: str) -> int:
    number: int = project.ok("agent", "show", name)["epoch"]
    return number


def test_a_name_that_was_only_registered_starts_as_it_is(project: Project) -> None:
    kid = project.ok("agent", "register", "alice")["kid"]
    assert run_as(project, "alice") == "alice"
    shown = project.ok("agent", "show", "alice")
    assert (shown["kid"], shown["epoch"], shown["status"]) == (kid, 1, "retired")


@pytest.mark.parametrize("how", ["--name", "MOOT_AGENT", "--as"])
def test_a_name_may_be_given_in_three_ways(project: Project, how: str) -> None:
    words = ("run", "--", PYTHON, "-c", SAY_NAME)
    ways = {
        "--name": lambda: project.spawn("run", "--name", "alice", *words[1:]),
        "MOOT_AGENT": lambda: project.spawn(*words, MOOT_AGENT="alice"),
        "--as": lambda: project.spawn("--as", "alice", *words),
    }
    assert ways[how]().out == "alice\n"


def test_after_its_end_the_next_of_the_family_starts(project: Project) -> None:
    assert [run_as(project, "alice") for _ in range(3)] == ["alice", "alice-2", "alice-3"]
    assert run_as(project, "alice-2") == "alice-4"
    listed = project.ok("agent", "list", "--all")["agents"]
    assert {one["agent"]: one["family"] for one in listed} == {
        "alice": "alice",
        "alice-2": "alice",
        "alice-3": "alice",
        "alice-4": "alice",
    }
    assert project.ok("agent", "list")["agents"] == []


def test_two_runs_of_one_name_at_once_are_two_agents(project: Project) -> None:
    with (
        running(project, "--name", "alice") as first,
        running(project, "--name", "alice") as second,
    ):
        assert (first, second) == ("alice", "alice-2")
        assert project.refused("run", "--adopt", "alice", "--", PYTHON, "-c", SAY_NAME) == (
            "agent_alive",
            1,
        )


def test_many_runs_of_one_name_at_once_all_start_and_none_is_anothers(project: Project) -> None:
    words = [*MOOT, "run", "--name", "alice", "--", PYTHON, "-c", SAY_NAME]
    started = [
        subprocess.Popen(
            words,
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(6)
    ]
    names = [one.communicate(timeout=120)[0].decode().strip() for one in started]
    assert len(set(names)) == 6
    assert {name.partition("-")[0] for name in names} == {"alice"}


def test_unfinished_work_is_continued_with_adopt(project: Project) -> None:
    leave_work(project, "amber-otter")
    before = project.ok("agent", "show", "amber-otter")["kid"]
    with running(project, "--adopt", "amber-otter") as name:
        assert name == "amber-otter"
        (held,) = project.ok("scope", "list")["reservations"]
        assert (held["owner"], held["scope"]) == ("amber-otter", "src/*")
        shown = project.ok("agent", "show", "amber-otter")
        assert (shown["epoch"], shown["liveness"]) == (2, "active")
        assert shown["kid"] != before
    (row,) = project.ok("event", "list")["events"]
    assert row["kind"] == "RESUME"


def test_without_a_terminal_nobody_is_asked_and_nothing_adopted(project: Project) -> None:
    leave_work(project, "amber-otter")
    done = project.spawn("run", "--name", "amber-otter", "--", PYTHON, "-c", SAY_NAME)
    assert done.out == "amber-otter-2\n"
    assert "uncommitted" in done.err
    assert "--adopt" in done.err
    assert epoch_of(project, "amber-otter") == 1


@pytest.mark.parametrize(("answer", "name"), [("y", "amber-otter"), ("n", "amber-otter-2")])
def test_at_a_terminal_a_yes_adopts_and_a_no_does_not(
    project: Project, answer: str, name: str
) -> None:
    leave_work(project, "amber-otter")
    words = ("run", "--name", "amber-otter", "--", PYTHON, "-c", SAY_NAME)
    shown = on_a_terminal(project, *words, typed=[answer])
    assert "continue as amber-otter?" in shown
    assert name in shown.splitlines()
    assert epoch_of(project, "amber-otter") == (2 if answer == "y" else 1)


def test_what_may_not_be_adopted_is_refused_and_starts_nothing(project: Project) -> None:
    project.ok("join", "--register", "amber-otter", "--scope", "src/*")
    events = project.ok("status")["record"]["events"]
    words = ("run", "--adopt", "amber-otter", "--", PYTHON, "-c", SAY_NAME)
    assert project.refused(*words) == ("adoption_rejected", 1)
    assert project.refused("run", "--adopt", "nobody-here", *words[3:]) == ("agent_not_found", 1)
    assert project.refused("run", "--adopt", *words[3:]) == ("no_name", 1)
    assert project.ok("status")["record"]["events"] == events


def test_a_name_whose_last_of_the_family_crashed_goes_on_with_that(project: Project) -> None:
    run_as(project, "alice")
    leave_work(project, "alice-2")
    with running(project, "--name", "alice", "--adopt") as name:
        assert name == "alice-2"


def test_a_persons_name_is_no_programs(project: Project, passphrase: str) -> None:
    project.env["MOOT_PASSPHRASE_FILE"] = passphrase
    project.ok("agent", "register", "ada-person", "--human")
    words = ("run", "--name", "ada-person", "--", PYTHON, "-c", SAY_NAME)
    assert project.refused(*words) == ("name_taken", 1)


def test_an_agents_program_takes_on_nobody_elses_name(project: Project) -> None:
    """Below an agent a name that exists is the next of its family, whatever is left of its work."""
    leave_work(project, "amber-otter")
    inner = [*MOOT, "run", "--name", "amber-otter", "--", PYTHON, "-c", SAY_NAME]
    adopting = [*MOOT, "run", "--adopt", "amber-otter", "--json", "--", PYTHON, "-c", SAY_NAME]
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    outer = ("run", "--name", "teal-crane", "--", PYTHON, "-c", call)
    assert project.spawn(*outer, *inner).out == "amber-otter-2\n"
    done = project.spawn(*outer, *adopting)
    assert (done.code, done.error["code"]) == (1, "not_you")
    assert epoch_of(project, "amber-otter") == 1


def test_keys_of_ended_sessions_are_removed_and_the_rest_stays(project: Project) -> None:
    project.ok("join", "--register", "teal-crane")
    run_as(project, "alice")
    assert keys(project, "alice") == []
    leave_work(project, "amber-otter")
    old = keys(project, "amber-otter")
    with running(project, "--adopt", "amber-otter"):
        assert len(keys(project, "amber-otter")) == 2
    assert keys(project, "amber-otter") == []
    assert len(old) == len(keys(project, "teal-crane")) == 1
    assert project.ok("verify")["verdict"] == "valid"


def test_mail_and_handoffs_to_a_name_reach_the_living_of_its_family(project: Project) -> None:
    project.ok("join", "--register", "teal-crane")
    run_as(project, "alice")
    assert project.refused(*as_("teal-crane", "send", "alice", "INFO: x")) == ("agent_retired", 1)
    with running(project, "--name", "alice") as second:
        assert second == "alice-2"
        sent = project.ok(*as_("teal-crane", "send", "alice", "INFO: hello"))
        assert sent["to"] == ["alice-2"]
        passed = project.ok(*as_("teal-crane", "handoff", "alice", *NOTICE))
        assert passed["event"]["to_agent"] == "alice-2"
        with running(project, "--name", "alice"):
            before = project.ok("status")["record"]["events"]
            refused = project.json(*as_("teal-crane", "send", "alice", "INFO: which?"))
            assert (refused.code, refused.error["code"]) == (1, "which_agent")
            assert "alice-2, alice-3" in refused.error["message"]
            assert project.refused(*as_("teal-crane", "handoff", "alice", *NOTICE)) == (
                "which_agent",
                1,
            )
            assert project.ok("status")["record"]["events"] == before
            again = project.ok(*as_("teal-crane", "send", "alice-3", "INFO: you"))
            assert again["to"] == ["alice-3"]


def test_lists_show_the_living_first_and_the_ended_only_on_request(project: Project) -> None:
    run_as(project, "alice")
    project.ok("agent", "register", "aaa-not-here")
    project.ok("join", "--register", "teal-crane", "--work", "T-7")
    (first, second) = project.ok("agent", "list")["agents"]
    assert (first["agent"], first["work"], first["liveness"]) == ("teal-crane", "T-7", "active")
    assert first["last_seen_at"] is not None
    assert second["agent"] == "aaa-not-here"
    assert "alice" not in project.run("agent", "list").out
    everyone = [one["agent"] for one in project.ok("agent", "list", "--all")["agents"]]
    assert everyone == ["teal-crane", "aaa-not-here", "alice"]


def test_lists_name_the_tool_of_an_agent(project: Project) -> None:
    start = {"hook_event_name": "SessionStart", "session_id": "5d6c8e82", "cwd": str(project.root)}
    subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=project.root,
        env=project.env,
        input=json.dumps(start).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    (listed,) = project.ok("agent", "list")["agents"]
    (seen,) = project.ok("status")["agents"]
    name = listed["agent"]
    assert (listed["tool"], seen["tool"]) == ("claude", "claude")
    assert project.ok("agent", "show", name)["tool"] == "claude"
    assert f"{name} · claude" in project.run("agent", "list").out
    assert f"{name} · claude" in project.run("status").out


def test_voices_keep_their_name_and_key_and_are_in_no_status(project: Project) -> None:
    words = ("ask", "Ship it?", "--with", "rules:approve,rules:approve")
    first = project.ok(*words)["decision"]["participants"]
    assert [one["agent"] for one in first] == ["approve", "approve-2"]
    before = keys(project, "approve*")
    again = project.ok(*words)["decision"]["participants"]
    assert [one["agent"] for one in again] == ["approve", "approve-2"]
    assert keys(project, "approve*") == before
    assert project.ok("status")["agents"] == []
    assert {one["voice"] for one in project.ok("agent", "list")["agents"]} == {True}
