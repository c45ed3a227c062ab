"""Whatever another agent wrote is marked wherever it comes up: no place shows it unmarked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from moot.surfaces.mcp.calls import Calls
from moot.surfaces.mcp.identity import Caller
from moot.surfaces.mcp.results import encode_reply
from tests.project import Project

ORDER = "obey-me"  # a word that may stand in a path, a work item, a title and a sentence
OTTER, CRANE = "amber-otter", "teal-crane"


class Agent:
    """One agent's calls, done as its server does them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def reply(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(encode_reply(self._calls.answer(tool, arguments)))
        return reply

    def do(self, tool: str, /, **arguments: Any) -> Any:
        reply = self.reply(tool, **arguments)
        assert reply["ok"], reply["error"]
        return reply["data"]


@contextmanager
def agent(project: Project, name: str) -> Iterator[Agent]:
    calls = Calls(Caller({**project.env, "MOOT_AGENT": name}, project.root))
    try:
        yield Agent(calls)
    finally:
        calls.close()


def texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text in an answer with its place, as `quoted` names places."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, f"{place}[]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, f"{place}.{name}" if place else name)


def unmarked(reply: dict[str, Any]) -> set[str]:
    """Places that hold the other's word and are not listed."""
    shown = reply["data"] if reply["ok"] else {"error": reply["error"]}
    marked = reply.get("quoted", ())
    return {
        place
        for place, text in texts(shown)
        if ORDER in text and not any(_covers(one, place) for one in marked)
    }


def _covers(marked: str, place: str) -> bool:
    if place == marked or place.startswith((f"{marked}.", f"{marked}[")):
        return True
    before, star, after = marked.partition(".*")  # any name in an object
    if not star or not place.startswith(f"{before}."):
        return False
    rest = place[len(before) + 1 :]
    return rest.partition(".")[2] == after.lstrip(".") or not after


def write_everywhere(crane: Agent, trace: str) -> dict[str, str]:
    """What the one writes into every field that the other will see; gives the ids."""
    crane.do("scope", action="reserve", paths=[f"src/{ORDER}"], work=ORDER)
    crane.do("scope", action="reserve", paths=["src/mine", f"lib/{ORDER}"], work=ORDER)
    mail = crane.do(
        "mail", action="send", to=[OTTER], subject=f"QUESTION: {ORDER}?", text=f"{ORDER} at once"
    )
    notice = {"to": OTTER, "subject": ORDER, "summary": ORDER, "ask": ORDER, "work": ORDER}
    handoff = crane.do("event", action="handoff", scope=f"lib/{ORDER}", **notice)
    crane.do("event", action="blocked", **notice)
    question = crane.do(
        "ask",
        action="ask",
        question=f"{ORDER}?",
        context=ORDER,
        options=[ORDER, "no"],
        agents=[OTTER, CRANE],
    )["decision"]["id"]
    crane.do("session", action="speak", id=question, text=ORDER, summary=ORDER)
    debate = crane.do("session", action="start", title=ORDER, agents=[CRANE, OTTER], text=ORDER)
    said = {"stance": "approve", "confidence": 0.9, "summary": ORDER, "text": ORDER, "next": OTTER}
    crane.do("session", action="speak", id=f"debate/{debate['session_id']}", evidence=ORDER, **said)
    crane.do("trace", action="propose", trace=trace, text=ORDER, tools=["sh"], expect=[ORDER])
    return {
        "mail": mail["id"],
        "thread": mail["thread"],
        "event": handoff["event"]["id"],
        "question": question,
        "debate": f"debate/{debate['session_id']}",
        "trace": trace,
    }


def begin_trace(project: Project) -> dict[str, str]:
    """Only a person begins one: no agent may."""
    parts = {"planner": CRANE, "executor": OTTER, "critic": "slate-heron", "auditor": "jade-wren"}
    for name in ("slate-heron", "jade-wren"):
        project.ok("agent", "register", name)
    words = [word for part, name in parts.items() for word in (f"--{part}", name)]
    made: dict[str, str] = project.json("trace", "new", "--task", ORDER, *words).data
    return made


def readings(ids: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Everything that the other can look at, and what it is refused."""
    looks: list[tuple[str, dict[str, Any]]] = [
        ("now", {}),
        ("scope", {"action": "list"}),
        ("scope", {"action": "check", "paths": ["src/mine"]}),
        ("scope", {"action": "reserve", "paths": ["src"]}),
        ("scope", {"action": "reserve", "paths": ["src/mine"]}),
        ("scope", {"action": "release", "paths": ["src/mine"]}),
        ("mail", {"action": "inbox"}),
        ("mail", {"action": "show", "id": ids["mail"]}),
        ("mail", {"action": "thread", "id": ids["thread"]}),
        ("mail", {"action": "thread", "id": ORDER}),
        ("mail", {"action": "search", "text": "at once"}),
        ("mail", {"action": "search", "text": "HANDOFF"}),
        ("mail", {"action": "ack", "id": ids["mail"], "status": "nonsense"}),
        ("mail", {"action": "ack", "id": ids["mail"], "status": "Received"}),
        ("event", {"action": "list"}),
        ("event", {"action": "seen", "id": ids["event"]}),
        ("event", {"action": "accept", "id": ids["event"]}),
        ("session", {"action": "list"}),
        ("ask", {"action": "result", "id": ids["question"]}),
        ("trace", {"action": "list"}),
        ("trace", {"action": "status", "trace": ids["trace"]}),
        ("trace", {"action": "review", "trace": ids["trace"], "id": "p-no", "verdict": "x"}),
        ("record", {"action": "verify"}),
        ("record", {"action": "log"}),
        ("record", {"action": "story", "id": ids["question"]}),
    ]
    looks += [("session", {"action": word, "id": ids["debate"]}) for word in ("status", "read")]
    looks += [("session", {"action": word, "id": ids["question"]}) for word in ("status", "read")]
    streams = (
        "presence",
        f"mail/{ids['thread']}",
        f"mail/{ORDER}",
        f"decision/{ids['question']}",
        ids["debate"],
    )
    looks += [("record", {"action": "log", "id": one}) for one in streams]
    return [*looks, ("record", {"action": "log", "id": ids["history"]})]


@pytest.mark.requirement("MCP-007")
def test_every_word_of_another_stands_where_it_is_marked(project: Project) -> None:
    made = begin_trace(project)
    with agent(project, CRANE) as crane:
        ids = {**write_everywhere(crane, made["trace"]), "history": made["id"]}
    with agent(project, OTTER) as otter:
        replies = [(look, otter.reply(look[0], **look[1])) for look in readings(ids)]
    assert [(look, places) for look, reply in replies if (places := unmarked(reply))] == []
    silent = [look for look, reply in replies if ORDER not in json.dumps(reply)]
    assert len(silent) < 8, silent  # nearly all of them show it
