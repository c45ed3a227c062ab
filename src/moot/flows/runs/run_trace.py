"""Run a trace: its roles are played by participants, its intents run by its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Refused
from moot.flows.runs.run_record import DecisionRunRecord, begin_decision
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_trace import Ground, TraceDesk
from moot.flows.runs.seats import recorded_seats, seat_participants
from moot.flows.trace import tracing
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.trace.model import Role, State
from moot.workspace.workspace import Workspace

PREFIX: Final = "trace-"


def run_trace(
    space: Workspace,
    name: str,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
    ground: Ground | None = None,
) -> FinishedRun:
    """Let the participants work until it is verified; commands run only with `ground`."""
    stream = tracing.existing(space, name)
    state: State = space.engine.state(stream)
    players = tuple(dict.fromkeys(tracing.player(state, role) for role in Role))
    for one in specs:
        if one not in players:
            raise Refused(
                "role_empty",
                f"{one} plays no part in this",
                hint=f"those who do: {', '.join(players)}",
            )
    participants = seat_participants(specs, room, space)
    question = ask.AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=recorded_seats(space, players, specs, participants),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short(stream)}"
    begin_decision(space.engine, decision, question, ask.OpenSession(session=stream))
    record = DecisionRunRecord(space.engine, decision)
    runnable = TraceDesk(space, stream, specs, ground, record)
    return run_seats(runnable, participants, space.engine.clock, decision, limits, watch)
