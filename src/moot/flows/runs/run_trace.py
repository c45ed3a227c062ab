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
from moot.flows.runs.runnable_trace import Ground, TraceDesk
from moot.flows.runs.seats import require_key, seated, seats_of
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
) -> Ran:
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
    sitting = seated(specs, room)
    for one in specs:
        require_key(space, one)
    question = ask.AskQuestion(
        question=state.task[:MAX_QUESTION],
        seats=seats_of(space, players, specs, sitting),
        chamber=ChamberKind.TRACE,
        rule="critic",
        rounds=1,
    )
    decision = f"{PREFIX}{tracing.short(stream)}"
    begin(space.engine, decision, question, ask.OpenSession(session=stream))
    desk = TraceDesk(space, stream, specs, ground, DecisionBooks(space.engine, decision))
    runner = Runner(
        desk,
        sitting,
        space.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    )
    return Ran(runner.run(), desk.standing(), decision)
