"""A server below `moot run`: it has one agent's key, and the run does what needs the ledger's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.mcp.client import SECONDS, Client, connected
from tests.project import MOOT, Project

# Says what it finds, then waits for the end of its input.
PROGRAM = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"


@contextmanager
def run_of(project: Project, name: str) -> Iterator[dict[str, str]]:
    """A `moot run` under way; gives what its program finds in its environment."""
    words = (*MOOT, "run", "--name", name, "--", sys.executable, "-c", PROGRAM)
    run = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=project.root,
        env=project.env,
    )
    try:
        assert run.stdout is not None
        yield json.loads(run.stdout.readline())
    finally:
        run.communicate(timeout=SECONDS)


@contextmanager
def server_below(project: Project, env: dict[str, str]) -> Iterator[Client]:
    lent = {key: value for key, value in env.items() if key.startswith("MOOT_")}
    with connected(project, **lent) as client:
        yield client


@pytest.mark.requirement("MCP-011")
def test_a_server_of_a_run_is_its_agent_and_the_run_signs_as_the_ledger(project: Project) -> None:
    with run_of(project, "blue-heron") as env, server_below(project, env) as client:
        assert env["MOOT_KEYS"] != project.env["MOOT_KEYS"]
        assert client.call("now")["you"] == "blue-heron"
        client.call("scope", action="reserve", paths=["src"])
        begun = client.call(
            "session", action="start", title="Which cache?", agents=["blue-heron", "teal-crane"]
        )
        turn = {"stance": "approve", "confidence": 0.9, "summary": "Redis is there already"}
        debate = f"debate/{begun['session_id']}"
        added = client.call("session", action="speak", id=debate, **turn, key="mine")
        assert (added["author"], added["recorded"]) == ("blue-heron", "signed")
        again = client.call("session", action="speak", id=debate, **turn, key="mine")
        assert (again["entry"], again["again"]) == (added["entry"], True)
        client.call("record", action="verify")
    assert project.json("scope", "list").data["reservations"] == []
    (joined, *_) = project.json("ledger", "log", "presence").data["events"]
    assert joined["data"]["process_key"] is None  # it has the name of its run


def test_two_servers_of_two_runs_decide_a_question(project: Project) -> None:
    with (
        run_of(project, "blue-heron") as one,
        run_of(project, "red-finch") as two,
        server_below(project, one) as heron,
        server_below(project, two) as finch,
    ):
        agents = ["blue-heron", "red-finch"]
        put = heron.call("ask", action="ask", question="Which cache?", agents=agents, key="once")
        decision = f"decision/{put['decision']['id']}"
        (due,) = finch.call("now")["due"]
        assert due["call"] == f'session {{"action":"read","id":"{decision}"}}'
        for client in (heron, finch):
            standing = client.call("session", action="speak", id=decision, text="Redis", key="a")
        assert standing["decision"]["stage"] == "arguing"
        turn = {"stance": "approve", "confidence": 0.9, "summary": "Redis is there already"}
        for client in (heron, finch):
            client.call("session", action="speak", id=standing["debate"], **turn, key="t")
        done = heron.call("ask", action="result", id=decision)["decision"]
        assert (done["stage"], done["result"]["result"]) == ("waiting", "carried")
        assert done["result"]["approvers"] == agents
    assert project.ok("verify")


def test_a_server_without_the_name_is_an_agent_of_its_own_with_its_own_key(
    project: Project,
) -> None:
    with run_of(project, "blue-heron") as env:
        nameless = {key: env[key] for key in ("MOOT_HOME", "MOOT_KEYS", "MOOT_SOCKET")}
        with server_below(project, nameless) as client:
            name = client.call("now")["you"]
            assert name not in ("blue-heron", "amber-otter", "teal-crane")
            client.call("scope", action="reserve", paths=["docs"])
            owners = {held["owner"] for held in project.json("scope", "list").data["reservations"]}
            assert owners == {name}
        rows = {row["agent"]: row for row in project.json("agent", "list", "--all").data["agents"]}
        assert rows[name]["status"] == "retired"
        assert rows["blue-heron"]["status"] == "active"
    assert project.json("scope", "list").data["reservations"] == []


def test_a_server_that_outlives_its_run_signs_nothing(project: Project) -> None:
    with run_of(project, "blue-heron") as env:
        stack = server_below(project, env)
        client = stack.__enter__()
        assert client.call("now")["you"] == "blue-heron"
    try:
        before = project.json("ledger", "log").data
        refused = client.reply("scope", action="reserve", paths=["src"])
        assert not refused["ok"]
        assert project.json("ledger", "log").data == before
    finally:
        stack.__exit__(None, None, None)
