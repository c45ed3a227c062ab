"""Who a server acts as: a name it was given, one of its own, or that of the hooks beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from moot.system.process_tree import find_tool_process, read_process
from tests.mcp.client import SECONDS, connected
from tests.project import MOOT, Project

AGENT = "amber-otter"


def hook(project: Project, event: str, session: str = "s-1") -> None:
    """A hook of Claude Code, started as the tool does it: below a shell."""
    sent = {"hook_event_name": event, "session_id": session, "cwd": str(project.root)}
    sent |= {"source": "startup"} if event == "SessionStart" else {"reason": "exit"}
    words = " ".join((*MOOT, "hook", "claude"))
    done = subprocess.run(
        ["sh", "-c", f"{words} || exit 2"],
        input=json.dumps(sent),
        text=True,
        capture_output=True,
        cwd=project.root,
        env=project.env,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def names(project: Project) -> list[str]:
    return [row["agent"] for row in project.json("agent", "list", "--all").data["agents"]]


def status_of(project: Project, name: str) -> str:
    rows = project.json("agent", "list", "--all").data["agents"]
    (status,) = [row["status"] for row in rows if row["agent"] == name]
    assert isinstance(status, str)
    return status


def joined_name(project: Project) -> str:
    (name,) = set(names(project)) - {AGENT, "teal-crane"}
    return name


def test_under_a_name_any_number_of_servers_are_that_agent(project: Project) -> None:
    with connected(project, AGENT) as one, connected(project, AGENT) as other:
        one.call("scope", action="reserve", paths=["src/a"])
        assert [held["scope"] for held in other.call("now")["holds"]] == ["src/a"]
        other.call("scope", action="release", paths=["src/a"])
    assert status_of(project, AGENT) == "active"


@pytest.mark.requirement("MCP-011")
def test_without_a_name_an_agent_joins_with_the_first_call_and_leaves_at_the_end(
    project: Project,
) -> None:
    with connected(project) as client:
        client.tools()
        assert len(names(project)) == 2  # listing tools is no call of one
        name = client.call("now")["you"]
        client.call("scope", action="reserve", paths=["src/a"])
        assert project.json("scope", "list").data["reservations"][0]["owner"] == name
    assert project.json("scope", "list").data["reservations"] == []
    assert status_of(project, name) == "retired"
    (joined, *_) = project.json("ledger", "log", "presence").data["events"]
    key = "from moot.system.process_tree import find_tool_process as f; print(f())"
    assert joined["data"]["process_key"] == _printed([sys.executable, "-c", key])


def test_a_server_that_comes_again_has_the_next_name_of_its_family(project: Project) -> None:
    with connected(project) as client:
        first = client.call("now")["you"]
        with connected(project) as beside:
            assert beside.call("now")["you"] == f"{first}-2"
    with connected(project) as again:
        assert again.call("now")["you"] == f"{first}-3"


def test_a_server_acts_as_the_agent_of_the_hooks_before_it(project: Project) -> None:
    hook(project, "SessionStart")
    name = joined_name(project)
    with connected(project) as client:
        assert client.call("now")["you"] == name
        client.call("scope", action="reserve", paths=["src/a"])
    # The session goes on without its server.
    assert status_of(project, name) == "active"
    assert project.json("scope", "list").data["reservations"][0]["owner"] == name
    hook(project, "SessionEnd")
    assert project.json("scope", "list").data["reservations"] == []


def test_hooks_act_as_the_agent_of_the_server_before_them(project: Project) -> None:
    with connected(project) as client:
        name = client.call("now")["you"]
        hook(project, "SessionStart")
        assert joined_name(project) == name
        assert client.call("now")["you"] == name
    assert status_of(project, name) == "active"  # the session has it now
    with connected(project) as again:
        assert again.call("now")["you"] == name


def test_two_sessions_of_one_process_are_never_one_agent(project: Project) -> None:
    hook(project, "SessionStart", "s-1")
    hook(project, "SessionStart", "s-2")
    assert len(names(project)) == 4
    with connected(project) as client:
        first = client.call("now")["you"]
        hook(project, "SessionStart", "s-3")
        assert client.call("now")["you"] != first
    assert len(names(project)) == 5


def test_another_process_is_another_agent() -> None:
    """The tool's process is the nearest that is no shell; that of the tests is another one."""
    key = "from moot.system.process_tree import find_tool_process as f; print(f())"
    below_shell = _printed(["sh", "-c", f"{sys.executable} -c '{key}'; true"])
    directly = _printed([sys.executable, "-c", key])
    tool = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {key!r}])"
    below_tool = _printed([sys.executable, "-c", tool])
    assert below_shell == directly != below_tool
    assert directly.startswith("process:")
    assert find_tool_process() != directly


def _printed(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout.strip()


def test_a_process_that_is_gone_is_not_found() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(SECONDS)
    assert read_process(child.pid) is None


@pytest.mark.requirement("MCP-012")
def test_a_name_that_was_adopted_meanwhile_is_refused_and_nothing_is_signed(
    project: Project,
) -> None:
    with connected(project, AGENT, MOOT_EPOCH="1") as client:
        client.call("scope", action="reserve", paths=["src/a"])
        adopt(project)
        before = project.json("ledger", "log").data
        for tool, arguments in _CALLS:
            assert client.refused(tool, **arguments) == "session_replaced"
        assert project.json("ledger", "log").data == before


_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("now", {}),
    ("now", {"wait": 1}),
    ("scope", {"action": "list"}),
    ("scope", {"action": "reserve", "paths": ["docs"]}),
    ("mail", {"action": "send", "to": ["teal-crane"], "subject": "INFO: still here"}),
    ("record", {"action": "log"}),
]


def adopt(project: Project) -> None:
    """Another session takes the name over: what it left behind proves that it worked there."""
    (project.root / "src").mkdir(exist_ok=True)
    (project.root / "src" / "a").write_text("unfinished")
    subprocess.run(["git", "init", "-q"], cwd=project.root, timeout=SECONDS, check=True)
    project.ok("join", "--adopt", AGENT, BB_AGENT_STALE_MINUTES="1")


@pytest.mark.requirement("MCP-013")
def test_a_person_s_name_is_refused(project: Project) -> None:
    file = project.keys.parent / "passphrase"
    file.write_text("correct horse battery staple")
    file.chmod(0o600)
    project.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=str(file))
    with connected(project, "operator", MOOT_PASSPHRASE_FILE=str(file)) as client:
        assert client.refused("now") == "not_an_agent"
        assert client.refused("mail", action="inbox") == "not_an_agent"


@pytest.mark.parametrize("name", ["nobody-here", "Not A Name"])
def test_a_name_that_nobody_has_signs_nothing(project: Project, name: str) -> None:
    with connected(project, name) as client:
        assert client.refused("scope", action="reserve", paths=["src"])
        assert client.call("scope", action="list")["reservations"] == []
    assert len(names(project)) == 2
