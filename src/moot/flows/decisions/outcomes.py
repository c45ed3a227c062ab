"""How decisions turned out, by a person's word, and the track record that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.errors import Refused
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import OPERATOR
from moot.flows.decisions.questions import require_question
from moot.flows.decisions.receipt_content import summarize_argument
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.calibration import calibrate_vote
from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.machine import MACHINE, OUTCOMES, QUESTIONS
from moot.protocols.decision.model import CallCost, SeatForecast, State
from moot.protocols.decision.track_record import JudgedDecision, TrackRecord, count_track_record
from moot.workspace.workspace import Workspace

MOST_DECISIONS: Final = 1_000_000
# Rules count their confidence together; everybody else says it.
_SOURCES: Final = {"rules": "derived"}


def require_judgeable(workspace: Workspace, decision: str, outcome: str, reason: str) -> None:
    """Refuse whatever can be refused before a person is asked for a passphrase."""
    state = require_question(workspace, decision)
    acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN)
    context = Context(workspace.engine.clock(), acting, stream_of(decision), workspace.trust.origin)
    command = ask.JudgeOutcome(outcome=outcome, reason=reason)
    rehearsed = MACHINE.decide(state, command, context)
    if rehearsed.refused:
        raise Refused.of(rehearsed.findings)


def judge_outcome(
    workspace: Workspace, decision: str, person: str, outcome: str, reason: str, answer: str
) -> State:
    """Put it on record, with what each participant had forecast."""
    state = require_question(workspace, decision)
    command = ask.JudgeOutcome(
        outcome=outcome,
        reason=reason,
        answer=answer,
        forecasts=list_forecasts(workspace, decision, state),
    )
    done = workspace.engine.execute(stream_of(decision), command, person)
    return MACHINE.require_state(done.state)


def list_forecasts(workspace: Workspace, decision: str, state: State) -> tuple[SeatForecast, ...]:
    """The first and the last vote of everybody who voted, in the order of the seats."""
    votes = summarize_argument(workspace, decision, state).votes
    forecasts = []
    for seat in state.seats:
        own = [vote for vote in votes if vote.agent == seat.agent]
        if own:
            first, last = own[0], own[-1]
            forecasts.append(
                SeatForecast(
                    agent=seat.agent,
                    model=seat.model or "",
                    first_stance=first.stance,
                    first_sure=first.sure,
                    last_stance=last.stance,
                    last_sure=last.sure,
                    source=_SOURCES.get(seat.kind, "stated"),
                    micros=state.purses.get(seat.agent, CallCost()).micros,
                )
            )
    return tuple(forecasts)


def describe_calibrated_vote(
    workspace: Workspace, decision: str, content: Mapping[str, Any]
) -> str:
    """The last vote by the voters' record in other decisions; nothing below 30 outcomes."""
    record, _ = read_track_record(workspace, without=decision)
    votes = content["argument"]["votes"]
    last = max((vote["round"] for vote in votes), default=0)
    stances = {vote["agent"]: vote["stance"] for vote in votes if vote["round"] == last}
    calibrated = calibrate_vote(record.participants, stances) if record.is_enough else None
    return "" if calibrated is None else calibrated.sentence


def read_track_record(workspace: Workspace, without: str = "") -> tuple[TrackRecord, int]:
    """The track record, `without` one decision, and how many decisions there are in all."""
    with workspace.store.read() as view:
        asked = sum(1 for _ in view.rows(QUESTIONS, limit=MOST_DECISIONS))
        rows = view.rows(OUTCOMES, limit=MOST_DECISIONS)
    judged = (_judged(row.key, _decode_outcome(row.value)) for row in rows)
    return count_track_record(each for each in judged if each.decision != without), asked


class _OutcomeRow(msgspec.Struct):
    """What the index holds of a decision's newest outcome."""

    outcome: Outcome
    at: Millis
    forecasts: tuple[SeatForecast, ...] = ()


_decode_outcome: Final = msgspec.json.Decoder(_OutcomeRow).decode


def _judged(stream: str, row: _OutcomeRow) -> JudgedDecision:
    name = stream.removeprefix(stream_of(""))
    return JudgedDecision(name, row.outcome, row.at, row.forecasts)
