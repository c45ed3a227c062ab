"""Run a trace: its roles are played by participants, its intents run by its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.core.errors import Refused
from moot.flows.runs.run_record import DecisionRunRecord, begin_decision
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_trace import ExecutionSite, RunnableTrace
from moot.flows.runs.seats import recorded_seats, seat_participants
from moot.flows.trace import tracing
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role
from moot.workspace.workspace import Workspace

PREFIX: Final = "trace-"


def run_trace(
    workspace: Workspace,
    name: str,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
    site: ExecutionSite | None = None,
) -> FinishedRun:
    """Let the participants work until it is verified; commands run only with `site`."""
    stream = tracing.require_trace(workspace, name)
    state = workspace.engine.state(TRACE, stream)
    players = tuple(dict.fromkeys(tracing.agent_in_role(state, role) for role in Role))
    for agent in specs:
        if agent not in players:
            raise Refused(
                "role_empty",
                f"{agent} plays no part in this",
                hint=f"those who do: {', '.join(players)}",
            )
    participants = seat_participants(specs, room, workspace)
    question = ask.AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=recorded_seats(workspace, players, specs, participants),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short_name(stream)}"
    begin_decision(workspace.engine, decision, question, ask.OpenSession(session=stream))
    record = DecisionRunRecord(workspace.engine, decision)
    runnable = RunnableTrace(workspace, stream, specs, site, record)
    return run_seats(runnable, participants, workspace.engine.clock, decision, limits, watch)
