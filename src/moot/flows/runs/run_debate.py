"""Run a debate to its end: seat the participants, let the runner go, record what came out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from moot.agents.participant import Participant
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.core.clock import Clock
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.mending import restore_file
from moot.flows.debate.record import recorded_path
from moot.flows.runs.debate_verdict import judge_debate
from moot.flows.runs.run_record import DecisionRunRecord, NoRunRecord, begin_decision
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_debate import NO_ROUNDS_BEFORE, EarlierRounds, RunnableDebate
from moot.flows.runs.seats import recorded_seats, require_somebody, seat_participants
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.views import require_course
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, Stage
from moot.workspace.workspace import Workspace


class SeatedDebate(NamedTuple):
    """A debate about to be run: its file and who sits there.

    In a workspace `decision` keeps what the run costs and what comes out; without one nothing does.
    `earlier` is what was argued about the same motion before, in other sessions; `cast_votes` are
    votes that were given before this one began.
    """

    file: Path
    participants: Mapping[str, Participant]
    clock: Clock
    workspace: Workspace | None = None
    decision: str | None = None
    earlier: EarlierRounds = NO_ROUNDS_BEFORE
    cast_votes: Mapping[str, dict[str, Any]] = {}


def run_debate(
    file: Path,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    clock: Clock,
    workspace: Workspace | None = None,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run the debate in this file with these participants until it is over or they are stuck
    (AGT-060)."""
    lost = restore_file(workspace, file) if workspace is not None and file.exists() else None
    checked = session.read(file)
    _require_listed(specs, require_course(checked).rules.agents)  # AGT-063
    require_somebody(specs)
    participants = seat_participants(specs, room, workspace)
    debate = SeatedDebate(file, participants, clock, workspace)
    if workspace is not None:
        debate = debate._replace(decision=_open_decision(workspace, debate, checked, specs))
    finished = run_seated(debate, limits, watch)._replace(lost=lost)
    if workspace is not None and debate.decision is not None:
        record_result(workspace, debate.decision, session.read(file))
    return finished


def _require_listed(specs: Mapping[str, Spec], names: tuple[str, ...]) -> None:
    for name in specs:
        if name not in names:
            raise Refused(
                "unknown_agent",
                f"{name} is not one of the agents of this session",
                hint=f"the agents are {', '.join(names)}",
            )


def run_seated(debate: SeatedDebate, limits: Limits, watch: RunWatcher | None) -> FinishedRun:
    """Let the runner go; what its calls cost goes on record."""
    file, participants, clock, workspace, decision, earlier, cast_votes = debate
    if workspace is None or decision is None:
        bare = RunnableDebate(file, clock, workspace, NoRunRecord(), earlier)
        return run_seats(bare, participants, clock, limits=limits, watch=watch)
    record = DecisionRunRecord(workspace.engine, decision)
    recorded = RunnableDebate(file, clock, workspace, record, earlier, cast_votes)
    return run_seats(recorded, participants, clock, decision, limits, watch)


def _open_decision(
    workspace: Workspace, debate: SeatedDebate, checked: CheckedSession, specs: Mapping[str, Spec]
) -> str:
    """The record of decisions for this session: begun once, under the session's own id."""
    rules = require_course(checked).rules
    question = ask.AskQuestion(
        question=checked.document.name[:MAX_QUESTION],
        seats=recorded_seats(workspace, rules.agents, specs, debate.participants),
        chamber=ChamberKind.DEBATE,
        rule=rules.consensus_mode.value,
        rounds=rules.max_rounds,
    )
    decision = checked.document.session_id
    place = recorded_path(workspace, debate.file)
    opening = ask.OpenSession(session=f"debate/{decision}", file=place)
    return begin_decision(workspace.engine, decision, question, opening)


def record_result(workspace: Workspace, decision: str, checked: CheckedSession) -> None:
    """What came out, once; a session that goes on has no result yet."""
    state = workspace.engine.state(DECISION, stream_of(decision))
    verdict = judge_debate(checked, state.quorum)
    if state.stage is not Stage.ARGUING or verdict.result is None:
        return

    def in_order_of_seats(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(seat.agent for seat in state.seats if seat.agent in names)

    command = ask.RecordResult(
        result=verdict.result,
        summary=verdict.summary,
        score=verdict.score,
        approvers=in_order_of_seats(verdict.approvers),
        dissent=in_order_of_seats(verdict.objectors),
        absent=in_order_of_seats(verdict.absent),
    )
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="result")
