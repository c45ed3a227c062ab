"""Each real tool with `moot mcp`: its model looks, is refused, reserves, asks, and decides."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools.hook_command import moot_words
from tests.project import CRANE, OTTER
from tests.real_tools.scripted_model import Model, Use
from tests.real_tools.tool_project import ToolProject
from tests.real_tools.tools import TOOLS, Tool

EACH = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
# Those that start a project's server, or call it, only on a person's yes.
ASKS = ("claude", "gemini")
# What the model calls our tool, in each of them.
NAMES: dict[str, Callable[[str], str]] = {
    "claude": lambda tool: f"mcp__moot__{tool}",
    "codex": lambda tool: tool,
    "gemini": lambda tool: f"mcp_moot_{tool}",
    "opencode": lambda tool: f"moot_{tool}",
}


@pytest.fixture
def project(tmp_path: Path, tool: Tool) -> ToolProject:
    """As a person sets it up who says yes to what the tool would ask."""
    made = ToolProject(tmp_path, tool)
    made.ok("hook", "install", tool.name, *(("--trust",) if tool.name in ASKS else ()))
    return made


def search(tool: Tool) -> tuple[Use, ...]:
    """The server must have started: a real model thinks that long, ours runs two commands.

    Newer models of Codex then look for tools before they see any of a server's. Its shells are
    login shells, in which `moot` may not be found, and what is not found takes no time.
    """
    words = "moot reserve files, mail, what is due now, session speak, ask"
    found = Use("tool_search", {"query": words, "limit": 8})
    moot = shlex.join(moot_words()) if tool.name == "codex" else "moot"
    first = (tool.shell(f"{moot} verify"), tool.shell(f"{moot} status"))
    return (*first, found) if tool.name == "codex" else first


def use(tool: Tool, name: str, /, **arguments: Any) -> Use:
    return Use(NAMES[tool.name](name), arguments)


@EACH
def test_the_model_looks_is_refused_reserves_and_asks_the_holder(
    project: ToolProject, tool: Tool
) -> None:
    project.reserve(CRANE, "held.txt", work="bb-12")
    model = project.play(
        *search(tool),
        use(tool, "now"),
        use(tool, "scope", action="reserve", paths=["held.txt"]),
        use(tool, "scope", action="reserve", paths=["free.txt"]),
        use(tool, "mail", action="send", to=[CRANE], subject="QUESTION: May I have held.txt?"),
    )
    assert '"you":"amber-otter"' in model.heard.replace("\\", "")
    assert "reservation_conflict" in model.heard
    assert project.owners() == {"held.txt": CRANE, "free.txt": OTTER}
    (message,) = project.json("inbox", MOOT_AGENT=CRANE).data["messages"]
    assert (message["from"], message["subject"]) == (OTTER, "QUESTION: May I have held.txt?")
    answer = ("--status", "Completed", "--notes", "you may have it at noon")
    project.ok("mail", "ack", message["id"], *answer, MOOT_AGENT=CRANE)
    asked = use(tool, "mail", action="show", id=message["id"])
    heard = project.play(*search(tool), use(tool, "now"), asked).heard
    assert "you may have it at noon" in heard


@pytest.mark.parametrize("tool", [TOOLS["codex"]], ids=["codex"])
def test_codex_reserves_from_inside_its_sandbox(project: ToolProject, tool: Tool) -> None:
    """Its shell may not write to the ledger; the server runs outside of the sandbox."""
    words = ("codex", "exec", "--sandbox", "read-only", "--dangerously-bypass-hook-trust")
    project.tool = tool._replace(command=(*words, "-m", "gpt-5.5", "--json", "do it"))
    project.play(*search(tool), use(tool, "scope", action="reserve", paths=["free.txt"]))
    assert project.owners() == {"free.txt": OTTER}


@EACH
def test_below_a_run_the_server_is_its_agent(project: ToolProject, tool: Tool) -> None:
    """With a key folder of its own, and the run doing what needs the ledger's key."""
    project.reserve(CRANE, "held.txt")
    model = Model(
        *search(tool),
        use(tool, "scope", action="reserve", paths=["held.txt"]),
        use(tool, "scope", action="reserve", paths=["free.txt"]),
        use(tool, "session", action="start", title="Cache?", agents=["blue-heron", CRANE]),
    )
    run = ("moot", "run", "--name", "blue-heron", "--")
    played = project.perform(model, (*run, *project.tool.command))
    assert played.exit_status == 0, played.err
    assert f"{CRANE}" in model.heard
    assert "reservation_conflict" in model.heard
    reserved = project.json("ledger", "log", "presence").data["events"]
    mine = [event for event in reserved if event["actor"] == "blue-heron"]
    assert "presence.scope_reserved" in {event["type"] for event in mine}
    histories = project.json("ledger", "log").data["streams"]
    assert any(row["id"].startswith("debate/") for row in histories)


@EACH
def test_without_a_name_hooks_and_server_are_one_agent(project: ToolProject, tool: Tool) -> None:
    project.play(
        *search(tool),
        tool.write("mine.txt"),
        use(tool, "scope", action="reserve", paths=["more.txt"]),
        use(tool, "mail", action="send", to=[CRANE], subject="INFO: here I am"),
        agent=None,
    )
    (message,) = project.json("inbox", MOOT_AGENT=CRANE).data["messages"]
    presence = project.json("ledger", "log", "presence").data["events"]
    reserved = [one["actor"] for one in presence if one["type"] == "presence.scope_reserved"]
    assert set(reserved) == {message["from"]}
    assert len(reserved) == 2
    assert message["from"] not in (OTTER, CRANE)


@pytest.mark.parametrize("tool", [TOOLS["codex"]], ids=["codex"])
def test_codex_starts_the_server_in_another_worktree(project: ToolProject, tool: Tool) -> None:
    """Of the worktree's own settings, although its hooks are those of the main checkout."""
    other = project.add_worktree()
    project.ok("hook", "install", "codex", cwd=other)
    reserve = use(tool, "scope", action="reserve", paths=["free.txt"])
    project.play(*search(tool), reserve, cwd=other)
    assert project.owners() == {"free.txt": OTTER}


@EACH
def test_two_of_them_decide_a_question(project: ToolProject, tool: Tool) -> None:
    asked = ("council", "ask", "Which cache?", "--with", f"{OTTER},{CRANE}", "--key", "k")
    decision = project.json(*asked, MOOT_AGENT=OTTER).data["decision"]["id"]
    named = {"action": "speak", "id": f"decision/{decision}", "text": "Redis"}
    for agent in (OTTER, CRANE):
        project.play(*search(tool), use(tool, "session", **named), agent=agent)
    standing = project.json("council", "result", decision).data
    assert standing["decision"]["stage"] == "arguing"
    entry = {"stance": "approve", "confidence": 0.9, "summary": "It is there already"}
    turn = {"action": "speak", "id": standing["debate"], **entry}
    for agent in (OTTER, CRANE):
        project.play(*search(tool), use(tool, "session", **turn), agent=agent)
    done = project.json("council", "result", decision).data["decision"]
    assert (done["stage"], done["result"]["result"]) == ("waiting", "carried")
