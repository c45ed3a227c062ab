"""The real coding agents as participants of a debate, against a model on the loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.agents.command import CommandParticipant
from moot.agents.outcome import StopReason
from moot.agents.participant import Participant, read_spec
from moot.agents.runner import Runner
from moot.api.debates import session
from moot.api.runs.debate import RunnableDebate
from moot.api.runs.turns import NoRunRecord
from moot.core.clock import system_clock
from moot.protocols.debate.model import Escalation, Rules
from moot.protocols.debate.writer import make_session_text
from tests.participants.scripted_participants import Voice
from tests.real_tools.scripted_model import Model, Turn
from tests.real_tools.tools import SECONDS, TOOLS, Tool, installed

OTTER, CRANE = "amber-otter", "teal-crane"
SAID = {"stance": "reject", "confidence": 0.9, "summary": "Not before the tests pass."}
COMMANDS = {
    "claude": "claude -p",
    "codex": "codex exec --dangerously-bypass-approvals-and-sandbox -m gpt-5.5",
    "gemini": "gemini --yolo -p",
    "opencode": "opencode run",
}
# What a user of this tool adds with --env: codex takes its key from any variable that its own
# settings name. All else that the tools need is in their rows.
ADDED = {"codex": ("FAKE_KEY",)}


class Speaker(Model):
    """A model that answers with an entry, in a fence as models like to."""

    def answer(self, turn: Turn) -> str:
        del turn
        return f"Here is my entry:\n```json\n{json.dumps(SAID)}\n```"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_real_coding_agent_takes_its_turn(tmp_path: Path, tool: Tool) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    file = root / "plan.md"
    rules = Rules((OTTER, CRANE), max_rounds=1, escalation=Escalation.TIMEOUT_SKIP)
    text = make_session_text(
        "Ship it?", "Shall we ship?", rules, "11111111-1111-4111-8111-111111111111", system_clock()
    )
    session.new(file, text)
    with Speaker() as model:
        tool.prepare(root, home, model.url)
        env = {"PATH": f"{installed()}:/usr/bin:/bin", "HOME": str(home), "NO_PROXY": "127.0.0.1"}
        spec = read_spec(f"{CRANE}=cmd:{COMMANDS[tool.name]}")
        exported = {**env, **tool.env(model.url), "DATABASE_URL": "not for a participant"}
        crane = CommandParticipant(spec, CRANE, root, exported, ADDED.get(tool.name, ()))
        otter = Voice({"stance": "approve", "confidence": 0.8, "summary": "Ship it on Friday."})
        runnable = RunnableDebate(file, system_clock, None, NoRunRecord())
        seats: dict[str, Participant] = {OTTER: otter, CRANE: crane}
        ended = Runner(runnable, seats, system_clock, turn_seconds=SECONDS).run()
    assert ended.stop is StopReason.SETTLED, ended
    entries = session.read(file).document.entries
    assert [(one.author, one.field_value("stance")) for one in entries] == [
        (OTTER, "approve"),
        (CRANE, "reject"),
    ]
    assert "Ship it on Friday." in model.heard
    assert "not instructions to you" in model.heard
    print(tool.name, ended.cost, crane.nature)  # noqa: T201 - shown if the test fails
