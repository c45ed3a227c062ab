"""Bad input, and things that break: a clear error, one act on record, never a wrong name."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.mcp.wire import MAX_DEPTH, MAX_LINE, Flaw, depth_of, read_message
from tests.mcp.client import SECONDS, connected
from tests.mcp.raw import data_of, raw_server
from tests.project import MOOT, Project

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("fly", {}, "unknown_tool"),
    ("x" * 5_000, {}, "unknown_tool"),
    ("scope", {}, "bad_arguments"),
    ("scope", {"action": "steal"}, "bad_arguments"),
    ("scope", {"action": "reserve"}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": "src"}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": [1]}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": ["a"], "agent": "teal-crane"}, "bad_arguments"),
    ("scope", {"action": "list", "paths": ["a"]}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": ["a"], "key": ""}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": ["a"], "key": "k" * 101}, "bad_arguments"),
    ("scope", {"action": "reserve", "paths": ["../x"]}, "scope_outside"),
    ("now", {"wait": 51}, "bad_arguments"),
    ("now", {"wait": "long"}, "bad_arguments"),
    ("now", {"wait": -1}, "bad_arguments"),
    ("session", {"action": "speak", "id": "/etc/passwd"}, "bad_arguments"),
    ("session", {"action": "status", "id": "debate/../../x"}, "session_not_found"),
    ("session", {"action": "status", "id": "debate/nope"}, "session_not_found"),
    ("trace", {"action": "new", "text": "t", "parts": {"planner": "a-b"}}, "bad_arguments"),
    ("record", {"action": "log", "limit": 0}, "bad_arguments"),
    ("record", {"action": "log", "id": "no/such"}, "not_found"),
    ("ask", {"action": "ask", "question": "?", "agents": ["no-body"]}, "unknown_agent"),
    ("ask", {"action": "ask", "question": "?", "agents": ["cmd:sh"]}, "unknown_agent"),
]


def events(project: Project) -> int:
    with project.workspace() as workspace, workspace.store.read() as view:
        return view.count_streams_and_events()[1]


@pytest.mark.requirement("MCP-010")
def test_bad_calls_are_refused_by_name_and_leave_nothing(project: Project) -> None:
    with connected(project, "amber-otter") as client:
        before = events(project)
        for tool, arguments, code in BAD:
            assert client.refused(tool, **arguments) == code, (tool, arguments)
        assert events(project) == before


@pytest.mark.requirement("MCP-010")
def test_lines_that_are_no_messages_are_answered_and_the_server_goes_on(project: Project) -> None:
    deep = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + b"[" * 40 + b"]" * 40 + b"}}"
    with raw_server(project) as server:
        server.greet()
        for line, code, number in (
            (b"hello", -32700, None),
            (b'{"id":3,', -32700, None),
            (b"[1,2]", -32600, None),
            (deep, -32600, 7),
            (b'{"x":"' + b"a" * (MAX_LINE + 10) + b'"}', -32600, None),
            (b"\xff\xfe", -32700, None),
        ):
            server.write(line)
            answer = server.read()
            assert (answer["error"]["code"], answer["id"]) == (code, number)
        server.write(b"")
        server.call(1, "now")
        assert data_of(server.read())["you"] == "amber-otter"
        assert server.end() == 0


@pytest.mark.parametrize(
    ("text", "depth"),
    [("{}", 1), ('{"a":"[[["}', 1), ('{"a":"\\"["}', 1), ("[" * 33, 33), ('"' + "[" * 99, 0)],
)
def test_depth_counts_brackets_outside_of_texts(text: str, depth: int) -> None:
    assert depth_of(text.encode()) == depth
    flaw = read_message(("[" * (MAX_DEPTH + 1)).encode())
    assert isinstance(flaw, Flaw)
    assert flaw.code == -32600


def test_a_second_request_with_the_same_id_does_nothing(project: Project) -> None:
    with raw_server(project) as server:
        server.greet()
        server.call(5, "now", wait=50)
        server.call(5, "scope", action="reserve", paths=["src"])
        answer = server.read()
        assert answer["id"] == 5
        assert answer["result"]["structuredContent"]["error"]["code"] == "duplicate_id"
        server.call(6, "scope", action="list")
        assert data_of(server.read())["reservations"] == []


def test_a_waiting_now_blocks_nobody_and_returns_when_something_is_due(project: Project) -> None:
    with raw_server(project) as server:
        server.greet()
        server.call(1, "now", wait=50)
        server.call(2, "scope", action="reserve", paths=["src"])
        answer = server.read()
        assert answer["id"] == 2
        assert data_of(answer)["agent"] == "amber-otter"
        project.ok("send", "amber-otter", "QUESTION: Are you there?", MOOT_AGENT="teal-crane")
        answer = server.read()
        assert answer["id"] == 1
        assert [item["what"] for item in data_of(answer)["due"]] == ["answer"]


def test_a_cancelled_wait_ends_and_what_was_committed_stays(project: Project) -> None:
    with raw_server(project) as server:
        server.greet()
        server.call(1, "scope", action="reserve", paths=["src"])
        assert data_of(server.read())["reserved"]
        cancel = {"requestId": 1, "reason": "done"}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
        server.call(2, "now", wait=50)
        cancel = {"requestId": 2, "reason": "enough"}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
        server.call(3, "scope", action="list")
        answer = server.read()
        while answer["id"] != 3:
            answer = server.read()
        assert [row["scope"] for row in data_of(answer)["reservations"]] == ["src"]
        assert server.end() == 0


@pytest.mark.requirement("MCP-003")
@pytest.mark.parametrize("when", ["at once", "after it was done"])
def test_a_server_killed_before_it_answers_did_it_once(project: Project, when: str) -> None:
    """Whether the call was done nobody knows: the repeat with the same key settles it."""
    with raw_server(project) as server:
        server.greet()
        server.call(1, "mail", action="send", to=["teal-crane"], subject="INFO: x", key="k-1")
        if when == "after it was done":
            assert server.read()["id"] == 1  # and the client forgets it
        server.process.kill()
        server.process.wait(SECONDS)
    with connected(project, "amber-otter") as client:
        one = client.call("mail", action="send", to=["teal-crane"], subject="INFO: x", key="k-1")
        two = client.call("mail", action="send", to=["teal-crane"], subject="INFO: x", key="k-1")
        assert one["id"] == two["id"]
    assert len(project.json("inbox", MOOT_AGENT="teal-crane").data["messages"]) == 1


@pytest.mark.requirement("MCP-014")
@pytest.mark.parametrize("ending", ["end of input", "SIGTERM", "SIGINT"])
def test_anyone_who_joined_leaves_however_the_client_goes(project: Project, ending: str) -> None:
    with raw_server(project, None) as server:
        server.greet()
        server.call(1, "scope", action="reserve", paths=["src"])
        assert data_of(server.read())["reserved"]
        server.call(2, "now", wait=50)  # the client goes in the middle of this
        if ending == "end of input":
            assert server.end() == 0
        else:
            server.process.send_signal(getattr(signal, ending))
            assert server.process.wait(SECONDS) == 0
    assert project.json("scope", "list").data["reservations"] == []
    assert project.json("verify").data["verdict"] == "valid"


@pytest.mark.requirement("MCP-014")
def test_a_client_that_no_longer_reads_does_not_keep_what_it_holds(project: Project) -> None:
    with raw_server(project, None) as server:
        server.greet()
        server.call(1, "scope", action="reserve", paths=["src"])
        assert data_of(server.read())["reserved"]
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.call(2, "scope", action="list")  # nobody hears the answer
        assert server.end() == 0
    assert project.json("scope", "list").data["reservations"] == []


def test_a_line_that_is_no_request_is_answered_and_not_waited_for(project: Project) -> None:
    with raw_server(project) as server:
        server.greet()
        for number, line in enumerate(
            (
                b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
                b'{"jsonrpc":"1.0","id":4,"method":"ping"}',
                b'{"jsonrpc":"2.0","id":4,"method":5}',
                b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}',
            ),
            5,
        ):
            server.write(line)
            assert server.read()["error"]["code"] == -32600, line
            server.send({"jsonrpc": "2.0", "id": 99, "result": {}})  # nobody asked for it
            server.request("ping", number)
            assert server.read() == {"jsonrpc": "2.0", "id": number, "result": {}}, line


def test_messages_arrive_whole_however_they_are_cut(project: Project) -> None:
    with raw_server(project) as server:
        server.greet()
        assert server.process.stdin is not None
        text = (
            b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}'
        )
        for byte in (*text, *b"\n\n"):
            server.process.stdin.write(bytes([byte]))
            server.process.stdin.flush()
        assert [server.read()["id"], server.read()["id"]] == [1, 2]
        server.process.stdin.write(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')  # and no more
        server.process.stdin.close()
        assert server.read()["id"] == 3
        assert server.process.wait(SECONDS) == 0


def test_lines_in_a_file_are_served_too(project: Project, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.write_bytes(
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    )
    with asked.open("rb") as lines:
        done = subprocess.run(
            (*MOOT, "mcp"),
            stdin=lines,
            capture_output=True,
            cwd=project.root,
            env={**project.env, "MOOT_AGENT": "amber-otter"},
            timeout=SECONDS,
            check=True,
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]


def test_a_ledger_that_is_locked_is_an_error_and_not_the_end(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = project.keys.parent / "impatient"
    impatient.mkdir()
    (impatient / "sitecustomize.py").write_text(
        "from moot.store.sqlite import SqliteStore\n"
        "SqliteStore.__init__.__kwdefaults__['busy_seconds'] = 1.0\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(impatient))  # half a minute is long enough for people
    with raw_server(project) as server:
        server.greet()
        server.call(1, "now")
        assert data_of(server.read())
        lock = sqlite3.connect(project.ledger, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        server.call(2, "scope", action="reserve", paths=["src"])
        answer = server.read()
        lock.execute("ROLLBACK")
        lock.close()
        assert answer["result"]["structuredContent"]["error"]["code"] == "store_busy"
        server.call(3, "scope", action="reserve", paths=["src"])
        assert data_of(server.read())["reserved"]


def test_a_damaged_ledger_is_told_and_nothing_is_written(project: Project) -> None:
    project.ledger.write_bytes(b"this was a ledger" * 1_000)
    with connected(project, "amber-otter") as client:
        code = client.refused("now")
        assert code not in ("internal_error", "")
        assert client.refused("scope", action="reserve", paths=["src"]) == code


def test_without_a_workspace_every_call_says_so(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with connected(Project(empty, tmp_path / "other-keys"), "amber-otter") as client:
        assert client.refused("now") == "no_workspace"
        assert len(client.tools().tools) == 8


def test_what_is_printed_by_accident_does_not_reach_the_client(project: Project) -> None:
    """A module that prints when it is loaded: standard output is not its to write to."""
    noisy = project.keys.parent / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import atexit, os, threading\n"
        "def shout():\n    print('noise', flush=True)\n    os.write(1, b'more noise\\n')\n"
        "import moot.api.presence.status as s\n"
        "old = s.status\n"
        "import functools\n"
        "s.status = functools.wraps(old)(lambda session: (shout(), old(session))[1])\n"
    )
    with connected(project, "amber-otter", PYTHONPATH=str(noisy)) as client:
        assert client.call("now")["you"] == "amber-otter"
        assert client.call("now")["you"] == "amber-otter"


@pytest.mark.requirement("MCP-009")
def test_more_than_ten_messages_a_minute_are_refused(project: Project) -> None:
    with connected(project, "amber-otter") as client:
        for number in range(10):
            client.call("mail", action="send", to=["teal-crane"], subject=f"INFO: {number}")
        before = events(project)
        more = {"action": "send", "to": ["teal-crane"], "subject": "INFO: again"}
        assert client.refused("mail", **more) == "too_many"
        asked = {"action": "ask", "question": "Why?", "agents": ["amber-otter", "teal-crane"]}
        assert client.refused("ask", **asked) == "too_many"
        help_ = {"to": "teal-crane", "subject": "x", "summary": "y", "ask": "z", "work": "T-1"}
        assert client.refused("event", action="blocked", **help_) == "too_many"
        assert events(project) == before
        with connected(project, "amber-otter") as other:
            assert other.refused("mail", **more) == "too_many"
    with connected(project, "teal-crane") as client:
        client.call("mail", action="send", to=["amber-otter"], subject="INFO: slower")
    findings = project.json("doctor").data["findings"]
    assert "unknown_file" not in {finding["code"] for finding in findings}


def test_a_repeat_with_the_same_key_is_no_further_message(project: Project) -> None:
    def letter(number: int) -> dict[str, Any]:
        subject, key = f"INFO: {number}", f"k-{number}"
        return {"action": "send", "to": ["teal-crane"], "subject": subject, "key": key}

    with connected(project, "amber-otter") as client:
        sent = [client.call("mail", **letter(number))["id"] for number in range(9)]
        assert client.call("mail", **letter(8))["id"] == sent[8]
        asked = {"question": "Why?", "agents": ["amber-otter", "teal-crane"], "key": "q-1"}
        question = client.call("ask", action="ask", **asked)["decision"]
        before = events(project)
        assert client.refused("mail", **letter(10)) == "too_many"
        assert client.refused("mail", **{**letter(8), "subject": "INFO: other"}) == "too_many"
        assert client.call("mail", **letter(8))["id"] == sent[8]
        assert client.call("ask", action="ask", **asked)["decision"] == question
        assert events(project) == before
    assert len(project.json("inbox", MOOT_AGENT="teal-crane").data["messages"]) == 9


def test_answers_stay_json_whatever_stands_in_them(project: Project) -> None:
    text = 'line\u2028one \x00\x1b[31m 😀 "quoted" </script>'
    with connected(project, "amber-otter") as client:
        sent = client.call("mail", action="send", to=["teal-crane"], subject="INFO: odd", text=text)
        shown = client.reply("mail", action="show", id=sent["id"])
        assert "message.body" in shown["quoted"]
        assert json.loads(json.dumps(shown)) == shown
