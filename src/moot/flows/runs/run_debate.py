"""Run a debate to its end: seat the participants, let the runner go, record what came out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.agents.budget import Budget
from moot.agents.outcome import Ended
from moot.agents.participant import Participant
from moot.agents.runner import TURN_SECONDS, Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.clock import Clock
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.mending import Lost, mend
from moot.flows.debate.outcome import in_words
from moot.flows.debate.record import place_of
from moot.flows.runs.run_record import Books, DecisionBooks, NoBooks, begin
from moot.flows.runs.runnable_debate import DebateDesk
from moot.flows.runs.seats import require_key, seated, seats_of
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, DecisionResult, Stage, State
from moot.workspace.workspace import Workspace

RESULTS: Final[Mapping[str, DecisionResult]] = {
    "ended:consensus": DecisionResult.CARRIED,
    "ended:deadlock": DecisionResult.DEADLOCK,
    "ended:max-rounds": DecisionResult.NOT_CARRIED,
    "ended:closed-by-operator": DecisionResult.CLOSED,
}


class Limits(NamedTuple):
    """How far a run may go."""

    budget: Budget = Budget()
    turn_seconds: float = TURN_SECONDS


USUAL: Final = Limits()


class Ran(NamedTuple):
    """How a run ended, where the session stands, and under which id it is recorded.

    `lost` says what had become of its file before, if it had to be put back.
    """

    ended: Ended
    standing: dict[str, Any]
    decision: str | None
    lost: Lost | None = None


class Hall(NamedTuple):
    """A debate about to be run: its file, who sits there, and the workspace if there is one."""

    file: Path
    sitting: Mapping[str, Participant]
    clock: Clock
    space: Workspace | None
    books: Books


def run_debate(
    file: Path,
    specs: Mapping[str, Spec],
    room: Room,
    clock: Clock,
    space: Workspace | None = None,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Ran:
    """Run the debate in this file with these participants until it is over or they are stuck."""
    lost = mend(space, file) if space is not None and file.exists() else None
    checked = session.read(file)
    names = require_course(checked).rules.agents
    _require_listed(specs, names)
    sitting = seated(specs, room)
    if space is None:
        return run_in(Hall(file, sitting, clock, None, NoBooks()), None, limits, watch)
    for name in specs:
        require_key(space, name)
    decision = _opened(space, file, checked, specs, sitting)
    books = DecisionBooks(space.engine, decision)
    ran = run_in(Hall(file, sitting, clock, space, books), decision, limits, watch)
    return ran._replace(lost=lost)


def _require_listed(specs: Mapping[str, Spec], names: tuple[str, ...]) -> None:
    for name in specs:
        if name not in names:
            raise Refused(
                "unknown_agent",
                f"{name} is not one of the agents of this session",
                hint=f"the agents are {', '.join(names)}",
            )
    if not specs:
        raise Refused("bad_participants", "nobody takes part", hint="--participant NAME=SPEC")


def run_in(hall: Hall, decision: str | None, limits: Limits, watch: Watch | None) -> Ran:
    """Let the runner go; when the session is over, its result goes on record."""
    desk = DebateDesk(hall.file, hall.clock, hall.space, hall.books)
    runner = Runner(
        desk,
        hall.sitting,
        hall.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    )
    ended = runner.run()
    if hall.space is not None and decision is not None:
        record_result(hall.space, decision, session.read(hall.file))
    return Ran(ended, desk.standing(), decision)


def _opened(
    space: Workspace,
    file: Path,
    checked: CheckedSession,
    specs: Mapping[str, Spec],
    sitting: Mapping[str, Participant],
) -> str:
    """The record of decisions for this session: begun once, under the session's own id."""
    rules = require_course(checked).rules
    question = ask.AskQuestion(
        question=checked.document.name[:MAX_QUESTION],
        seats=seats_of(space, rules.agents, specs, sitting),
        chamber=ChamberKind.DEBATE,
        rule=rules.consensus_mode.value,
        rounds=rules.max_rounds,
    )
    decision = checked.document.session_id
    opened = ask.OpenSession(session=f"debate/{decision}", file=place_of(space, file))
    return begin(space.engine, decision, question, opened)


def record_result(space: Workspace, decision: str, checked: CheckedSession) -> None:
    """What came out, once; a session that goes on has no result yet."""
    state: State = space.engine.state(stream_of(decision))
    result = RESULTS.get(require_course(checked).phase.value)
    if state.stage is not Stage.ARGUING or result is None:
        return
    consensus = view_consensus(checked)
    command = ask.RecordResult(
        result=result,
        summary=in_words(consensus),
        score="" if consensus.score is None else f"{consensus.score:.4f}",
        approvers=consensus.approvers,
        dissent=consensus.rejecters,
    )
    space.engine.execute(stream_of(decision), command, SYSTEM, key="result")


def standing_words(standing: dict[str, Any]) -> str:
    """Where a session stands after a run, in one line."""
    score = "no score" if standing["score"] is None else f"score {standing['score']:.2f}"
    sides = ", ".join(
        f"{name}: {', '.join(standing[key])}"
        for key, name in (("approvers", "approve"), ("rejecters", "reject"), ("neutral", "neutral"))
        if standing[key]
    )
    return (
        f"round {standing['round']}, {standing['state']}, {score}{f' ({sides})' if sides else ''}"
    )
