"""Run a trace: its roles are played by participants, its intents run by its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.agents.runner import Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Refused
from moot.flows.runs.run_debate import USUAL, Limits, Ran
from moot.flows.runs.run_record import DecisionBooks, begin
from moot.flows.runs.runnable_trace import ExecutionSite, RunnableTrace
from moot.flows.runs.seats import require_key, seated, seats_of
from moot.flows.trace import tracing
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.trace.model import Role, State
from moot.workspace.workspace import Workspace

PREFIX: Final = "trace-"


def run_trace(
    workspace: Workspace,
    name: str,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
    site: ExecutionSite | None = None,
) -> Ran:
    """Let the participants work until it is verified; commands run only with `site`."""
    stream = tracing.require_trace(workspace, name)
    state: State = workspace.engine.state(stream)
    players = tuple(dict.fromkeys(tracing.agent_in_role(state, role) for role in Role))
    for agent in specs:
        if agent not in players:
            raise Refused(
                "role_empty",
                f"{agent} plays no part in this",
                hint=f"those who do: {', '.join(players)}",
            )
    participants = seated(specs, room)
    for agent in specs:
        require_key(workspace, agent)
    question = ask.AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=seats_of(workspace, players, specs, participants),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short_name(stream)}"
    begin(workspace.engine, decision, question, ask.OpenSession(session=stream))
    runnable = RunnableTrace(
        workspace, stream, specs, site, DecisionBooks(workspace.engine, decision)
    )
    runner = Runner(
        runnable,
        participants,
        workspace.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    )
    return Ran(runner.run(), runnable.standing(), decision)
