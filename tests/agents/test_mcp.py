"""Each real tool with `moot mcp`: its model looks, is refused, reserves, asks, and decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.flows.tools import mcp_entries
from tests.agents.loopback import Use
from tests.agents.stage import Stage
from tests.agents.tools import TOOLS, Tool
from tests.hooks.yard import CRANE, OTTER

EACH = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
# What the model calls our tool, in each of them.
NAMES: dict[str, Callable[[str], str]] = {
    "claude": lambda tool: f"mcp__moot__{tool}",
    "codex": lambda tool: tool,
    "gemini": lambda tool: f"mcp_moot_{tool}",
    "opencode": lambda tool: f"moot_{tool}",
}


def add_server(stage: Stage) -> None:
    """As `docs/mcp.md` says to do it by hand."""
    tool, root = stage.tool.name, stage.yard.root
    command = (str(stage.bin / "moot"), "mcp")
    file = root / mcp_entries.TOOLS[tool].file
    file.parent.mkdir(exist_ok=True)
    if tool == "codex":
        known = file.read_text("utf-8") if file.exists() else ""
        file.write_text(mcp_entries.add_to_toml(known, command), "utf-8")
        return
    settings = json.loads(file.read_text("utf-8")) if file.exists() else {}
    entry = mcp_entries.make_entry(tool, command, trust=True)
    file.write_text(json.dumps(mcp_entries.add_to_json(settings, tool, entry)), "utf-8")


@pytest.fixture
def stage(tmp_path: Path, tool: Tool) -> Stage:
    made = Stage(tmp_path, tool)
    if tool.name == "claude":  # a project's server is enabled once, by a person
        words = (*tool.command, "--mcp-config", ".mcp.json")
        made.tool = tool._replace(command=words)
    add_server(made)
    return made


def search(tool: Tool) -> tuple[Use, ...]:
    """Newer models of Codex look for tools before they see any of a server's.

    What they look for must have started: a real model thinks that long, ours runs two commands.
    """
    words = "moot reserve files, mail, what is due now, session speak, ask"
    found = Use("tool_search", {"query": words, "limit": 8})
    first = (tool.shell("moot verify"), tool.shell("moot status"))
    return (*first, found) if tool.name == "codex" else ()


def use(tool: Tool, name: str, /, **arguments: Any) -> Use:
    return Use(NAMES[tool.name](name), arguments)


@EACH
def test_the_model_looks_is_refused_reserves_and_asks_the_holder(stage: Stage, tool: Tool) -> None:
    stage.yard.reserve(CRANE, "held.txt", work="bb-12")
    model = stage.play(
        *search(tool),
        use(tool, "now"),
        use(tool, "scope", action="reserve", paths=["held.txt"]),
        use(tool, "scope", action="reserve", paths=["free.txt"]),
        use(tool, "mail", action="send", to=[CRANE], subject="QUESTION: May I have held.txt?"),
    )
    assert '"you":"amber-otter"' in model.heard.replace("\\", "")
    assert "reservation_conflict" in model.heard
    assert stage.yard.owners() == {"held.txt": CRANE, "free.txt": OTTER}
    (message,) = stage.yard.json("inbox", MOOT_AGENT=CRANE).data["messages"]
    assert (message["from"], message["subject"]) == (OTTER, "QUESTION: May I have held.txt?")


@pytest.mark.parametrize("tool", [TOOLS["codex"]], ids=["codex"])
def test_codex_reserves_from_inside_its_sandbox(stage: Stage, tool: Tool) -> None:
    """Its shell may not write to the ledger; the server runs outside of the sandbox."""
    words = ("codex", "exec", "--sandbox", "read-only", "--dangerously-bypass-hook-trust")
    stage.tool = tool._replace(command=(*words, "-m", "gpt-5.5", "--json", "do it"))
    stage.play(*search(tool), use(tool, "scope", action="reserve", paths=["free.txt"]))
    assert stage.yard.owners() == {"free.txt": OTTER}


@EACH
def test_two_of_them_decide_a_question(stage: Stage, tool: Tool) -> None:
    asked = ("council", "ask", "Which cache?", "--with", f"{OTTER},{CRANE}", "--key", "k")
    decision = stage.yard.json(*asked, MOOT_AGENT=OTTER).data["decision"]["id"]
    named = {"action": "speak", "id": f"decision/{decision}", "text": "Redis"}
    for agent in (OTTER, CRANE):
        stage.play(*search(tool), use(tool, "session", **named), agent=agent)
    standing = stage.yard.json("council", "result", decision).data
    assert standing["decision"]["stage"] == "arguing"
    entry = {"stance": "approve", "confidence": 0.9, "summary": "It is there already"}
    turn = {"action": "speak", "id": standing["debate"], **entry}
    for agent in (OTTER, CRANE):
        stage.play(*search(tool), use(tool, "session", **turn), agent=agent)
    done = stage.yard.json("council", "result", decision).data["decision"]
    assert (done["stage"], done["result"]["result"]) == ("waiting", "carried")
