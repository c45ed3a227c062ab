"""Run the mail: whoever owes an answer is asked for it, and what that costs is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.engine.agents import find_agent
from moot.flows.runs.run_record import DecisionRunRecord, begin_decision
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_mail import RunnableMail
from moot.flows.runs.seats import recorded_seats, require_somebody, seat_participants
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import ChamberKind
from moot.workspace.workspace import Workspace

PREFIX: Final = "mail-"


def run_mail(
    space: Workspace,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Let the participants answer what they owe; an answer that was given is not asked for."""
    require_somebody(specs)
    for name in specs:
        find_agent(space.engine, name)
    participants = seat_participants(specs, room, space)
    names = tuple(sorted(specs))
    question = ask.AskQuestion(
        question=f"What does {', '.join(names)} owe an answer to?",
        seats=recorded_seats(space, names, specs, participants),
        chamber=ChamberKind.MAIL,
        rule="each for itself",
        rounds=1,
    )
    opening = ask.OpenSession(session="mail")
    decision = begin_decision(space.engine, _decision_of(names), question, opening)
    runnable = RunnableMail(space, specs, DecisionRunRecord(space.engine, decision))
    return run_seats(runnable, participants, space.engine.clock, decision, limits, watch)


def _decision_of(names: tuple[str, ...]) -> str:
    """The same for the same participants: what a first run has spent counts for the second."""
    if len(names) == 1:
        return f"{PREFIX}{names[0]}"
    return f"{PREFIX}{hashlib.sha256(' '.join(names).encode()).hexdigest()[:12]}"
