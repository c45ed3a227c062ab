"""Record how decisions turned out, as a person judges, and count each participant's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.decisions.questions import decision_id, require_question
from moot.api.operation import operation
from moot.api.rehearsal import require_allowed
from moot.core.clock import Millis
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import OPERATOR
from moot.core.text import Quoted
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import JudgeOutcome
from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.machine import MACHINE, OUTCOMES, QUESTIONS
from moot.protocols.decision.model import CallCost, SeatForecast, State
from moot.protocols.decision.track_record import JudgedDecision as TrackedDecision
from moot.protocols.decision.track_record import TrackRecord, calibrate_vote, count_track_record
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.decision.track_record import Record


class JudgedDecision(msgspec.Struct, frozen=True):
    """A person's judgement of one decision; `first` is the first one, if it was corrected."""

    decision: str
    outcome: str
    by: str
    attended: bool
    answer: Quoted
    reason: Quoted
    first: str


class JudgedDecisions(msgspec.Struct, frozen=True):
    judged: list[JudgedDecision]


class Range(msgspec.Struct, frozen=True):
    """An interval that contains the true value 19 times in 20."""

    low: float
    high: float


class ParticipantRecord(msgspec.Struct, frozen=True):
    """How one participant or model did. Scores are Brier's: 0 perfect, 0.25 knowing nothing.

    `helped` and `hurt` count changes of mind. `usd_per_right` is what each right forecast cost.
    """

    name: str
    decisions: int
    scored: int
    unscored: int
    right: int
    first_score: float | None
    last_score: float | None
    interval: Range
    helped: int
    hurt: int
    usd_per_right: float | None


class DecidingWay(msgspec.Struct, frozen=True):
    """How often one way to decide was right; `open` are ties and cases without a forecast."""

    right: int
    wrong: int
    open: int


class IndependentVoters(msgspec.Struct, frozen=True):
    """How many independent voters would vary as much; it is an equivalent in variance only."""

    participants: int
    decisions: int
    correlation: float
    voters: float
    interval: Range


class Track(msgspec.Struct, frozen=True):
    """The track record so far.

    `decisions` counts all, `judged` those with an outcome. Below 30 outcomes `enough` is False:
    the counts are then no ranking. `voters` is None below 30 shared outcomes.
    """

    decisions: int
    judged: int
    mixed: int
    enough: bool
    participants: list[ParticipantRecord]
    models: list[ParticipantRecord]
    single_best: DecidingWay
    vote_before: DecidingWay
    vote_after: DecidingWay
    voters: IndependentVoters | None


@operation("outcome", writes=True)
def judge(
    session: Session, decisions: Sequence[str], outcome: str, reason: str, *, answer: str = ""
) -> JudgedDecisions:
    """Record how decisions turned out, as a person judges: right, wrong or mixed.

    The judgement is about the answer acted on; `answer` names the one that proved right. A later
    judgement corrects an earlier one, which stays on record. All decisions are checked before the
    first is judged. An agent is refused (human_key_required); a decision without an answer is
    `nothing_to_judge`. A repeat only records the same judgement again, so it needs no key.
    """
    names = list(dict.fromkeys(decision_id(each) for each in decisions))
    session.require_no_agent("an outcome")
    for name in names:
        require_judgeable(session.workspace, name, outcome, reason)
    person = session.person("an outcome")
    judged = []
    for name in names:
        state = judge_outcome(session.workspace, name, person, outcome, reason, answer)
        newest, first = state.outcome, state.first_outcome
        assert newest is not None
        assert first is not None
        judged.append(
            JudgedDecision(
                decision=name,
                outcome=newest.outcome,
                by=newest.by,
                attended=newest.attended,
                answer=Quoted(newest.answer),
                reason=Quoted(newest.reason),
                first=first.outcome,
            )
        )
    return JudgedDecisions(judged)


@operation("track")
def track(session: Session, *, file: Path | None = None) -> Track:
    """Count how often each participant, each model and the vote were right.

    With `file` (FILE.html, FILE.md or FILE.json) the result is also written as a page.
    """
    from moot.api.decisions.track_page import build_track_page
    from moot.api.page.files import require_page_name, write_page

    require_page_name(file)
    record, decisions = read_track_record(session.workspace)
    if file is not None:
        write_page(file, build_track_page(record, decisions))
    voters = record.voters
    return Track(
        decisions=decisions,
        judged=record.judged,
        mixed=record.mixed,
        enough=record.is_enough,
        participants=[_describe_participant(each) for each in record.participants],
        models=[_describe_participant(each) for each in record.models],
        single_best=DecidingWay(*record.single_best),
        vote_before=DecidingWay(*record.vote_before),
        vote_after=DecidingWay(*record.vote_after),
        voters=None
        if voters is None
        else IndependentVoters(
            voters.participants,
            voters.decisions,
            voters.correlation,
            voters.voters,
            Range(*voters.interval),
        ),
    )


def _describe_participant(record: Record) -> ParticipantRecord:
    micros = record.micros_per_right
    return ParticipantRecord(
        name=record.name,
        decisions=record.decisions,
        scored=record.scored,
        unscored=record.unscored,
        right=record.right,
        first_score=_to_float(record.first_score),
        last_score=_to_float(record.last_score),
        interval=Range(*record.interval),
        helped=record.helped,
        hurt=record.hurt,
        usd_per_right=None if micros is None else micros / 1_000_000,
    )


def _to_float(score: Fraction | None) -> float | None:
    return None if score is None else float(score)


MAX_DECISIONS: Final = 1_000_000
# The confidence of `rules` participants is computed; all others state theirs.
_CONFIDENCE_SOURCES: Final = {"rules": "derived"}


def require_judgeable(workspace: Workspace, decision: str, outcome: str, reason: str) -> None:
    """Apply the rules before a person is asked for a passphrase."""
    state = require_question(workspace, decision)
    acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN)
    command = JudgeOutcome(outcome=outcome, reason=reason)
    require_allowed(workspace, MACHINE, stream_of(decision), command, acting, state=state)


def judge_outcome(
    workspace: Workspace, decision: str, person: str, outcome: str, reason: str, answer: str
) -> State:
    """Record the outcome, with what each participant had forecast."""
    state = require_question(workspace, decision)
    command = JudgeOutcome(
        outcome=outcome,
        reason=reason,
        answer=answer,
        forecasts=list_forecasts(workspace, decision, state),
    )
    done = workspace.engine.execute(stream_of(decision), command, person)
    return MACHINE.require_state(done.state)


def list_forecasts(workspace: Workspace, decision: str, state: State) -> tuple[SeatForecast, ...]:
    """Return the first and the last vote of each voter, in the order of the seats."""
    from moot.api.decisions.receipt_content import summarize_argument  # loads pages

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
                    source=_CONFIDENCE_SOURCES.get(seat.kind, "stated"),
                    micros=state.purses.get(seat.agent, CallCost()).micros,
                )
            )
    return tuple(forecasts)


def describe_calibrated_vote(
    workspace: Workspace, decision: str, content: Mapping[str, Any]
) -> str:
    """Weigh the last vote by the voters' record in other decisions; empty below 30 outcomes."""
    record, _ = read_track_record(workspace, without=decision)
    votes = content["argument"]["votes"]
    last = max((vote["round"] for vote in votes), default=0)
    stances = {vote["agent"]: vote["stance"] for vote in votes if vote["round"] == last}
    calibrated = calibrate_vote(record.participants, stances) if record.is_enough else None
    return "" if calibrated is None else calibrated.sentence


def read_track_record(workspace: Workspace, without: str = "") -> tuple[TrackRecord, int]:
    """Return the track record, `without` one decision, and the number of all decisions."""
    with workspace.store.read() as view:
        asked = sum(1 for _ in view.rows(QUESTIONS, limit=MAX_DECISIONS))
        rows = view.rows(OUTCOMES, limit=MAX_DECISIONS)
    judged = []
    for row in rows:
        name, newest = row.key.removeprefix(stream_of("")), _decode_outcome(row.value)
        if name != without:
            judged.append(TrackedDecision(name, newest.outcome, newest.at, newest.forecasts))
    return count_track_record(judged), asked


class _OutcomeRow(msgspec.Struct):
    """What the index holds of a decision's newest outcome."""

    outcome: Outcome
    at: Millis
    forecasts: tuple[SeatForecast, ...] = ()


_decode_outcome: Final = msgspec.json.Decoder(_OutcomeRow).decode
