"""Two sub-agents of one session, in each real tool that tells them apart."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.project import CRANE, OTTER
from tests.real_tools.scripted_model import Model, Step, Use
from tests.real_tools.tool_project import ToolProject, each_of
from tests.real_tools.tools import SECONDS, Tool

FIRST, SECOND = "BE-THE-FIRST", "BE-THE-SECOND"


class Delegation(NamedTuple):
    """How a tool's model starts a sub-agent and, where that does not wait, waits for it."""

    start: Callable[[str], Use]
    wait: tuple[Use, ...] = ()
    options: tuple[str, ...] = ()


def ask_in_codex(who: str) -> Use:
    name = who.lower().replace("-", "_")
    return Use("spawn_agent", {"message": who, "task_name": name, "fork_turns": "none"})


DELEGATION: Mapping[str, Delegation] = {
    "claude": Delegation(
        lambda who: Use(
            "Agent", {"description": who, "prompt": who, "subagent_type": "general-purpose"}
        )
    ),
    "codex": Delegation(
        ask_in_codex,
        (Use("wait_agent", {"timeout_ms": 20000}),),
        ("--enable", "multi_agent_v2"),
    ),
    "gemini": Delegation(
        lambda who: Use("invoke_agent", {"agent_name": "generalist", "prompt": who})
    ),
    "opencode": Delegation(
        lambda who: Use("task", {"description": who, "prompt": who, "subagent_type": "general"})
    ),
}


def command(tool: Tool) -> tuple[str, ...]:
    return (*tool.command[:2], *DELEGATION[tool.name].options, *tool.command[2:])


class Meeting:
    """The second sub-agent begins when the first has written; the first ends after its refusal."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._wrote, self._refused = threading.Event(), threading.Event()

    def before_turn(self, who: str, number: int) -> None:
        if (who, number) == (FIRST, 1):
            self._wrote.set()
            assert self._refused.wait(SECONDS)
        if (who, number) == (SECOND, 0):
            assert self._wrote.wait(SECONDS)
        if (who, number) == (SECOND, self._last):
            self._refused.set()


@each_of("claude", "codex", "opencode")
def test_what_one_wrote_is_kept_from_the_other_while_it_works(
    project: ToolProject, tool: Tool
) -> None:
    shared, own = str(project.file("shared.txt")), str(project.file("own.txt"))
    second: list[Step] = [
        tool.read(shared),
        tool.write(shared, "by the second"),
        tool.write(own),
    ]
    delegation = DELEGATION[tool.name]
    both: Step = [delegation.start(FIRST), delegation.start(SECOND)]
    model = Model(
        both,
        *delegation.wait,
        *delegation.wait,
        sub_agents={FIRST: [tool.write(shared, "by the first")], SECOND: second},
        before_turn=Meeting(len(second)).before_turn,
    )
    project.perform(model, command(tool), agent=OTTER)
    assert project.file("shared.txt").read_text("utf-8") == "by the first\n"
    assert project.file("own.txt").read_text("utf-8") == "written\n"
    held = "shared.txt is held by amber-otter/1 (a sub-agent of your own session)"
    assert held in model.heard
    (noted,) = (event["payload"] for event in project.events("INCURSION"))
    aliases = (noted["owner_alias"], noted["incoming_alias"])
    assert aliases == ("amber-otter/1", "amber-otter/2")


@each_of("claude", "codex", "opencode")
def test_what_one_wrote_is_free_for_the_next_once_it_has_ended(
    project: ToolProject, tool: Tool
) -> None:
    delegation = DELEGATION[tool.name]
    shared = str(project.file("shared.txt"))
    model = Model(
        delegation.start(FIRST),
        *delegation.wait,
        delegation.start(SECOND),
        *delegation.wait,
        sub_agents={
            FIRST: [tool.write(shared, "by the first")],
            SECOND: [tool.shell("echo more >> shared.txt")],
        },
    )
    project.perform(model, command(tool), agent=OTTER)
    assert project.file("shared.txt").read_text("utf-8") == "by the first\nmore\n"
    assert "is held by" not in model.heard


@each_of("claude", "codex", "gemini", "opencode")
def test_a_sub_agent_is_kept_off_what_others_hold(project: ToolProject, tool: Tool) -> None:
    """Also in a tool that does not tell its sub-agents apart."""
    project.reserve(CRANE, "held.txt")
    delegation = DELEGATION[tool.name]
    tried = tool.write(str(project.file("held.txt")))
    model = Model(delegation.start(FIRST), *delegation.wait, sub_agents={FIRST: [tried]})
    project.perform(model, command(tool), agent=OTTER)
    assert not project.file("held.txt").exists()
    assert "held.txt is held by teal-crane" in model.heard
    (noted,) = project.events("INCURSION")
    assert noted["from_agent"] == OTTER
