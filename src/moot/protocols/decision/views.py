"""What people and agents read of a decision."""

from __future__ import annotations

from typing import Final

import msgspec

from moot.core.clock import to_text
from moot.core.quoted import Quoted
from moot.protocols.decision.model import (
    ArguedSession,
    CallCost,
    ChamberKind,
    ChamberVerdict,
    DecisionMotion,
    DecisionResult,
    DecisionSeat,
    FirstAnswer,
    PersonsRuling,
    Stage,
    State,
)
from moot.protocols.decision.ranking_report import RankingReport, report_rankings

MAX_TITLE: Final = 120


class ParticipantView(DecisionSeat, frozen=True, kw_only=True):
    """A seat, and what its calls have cost so far."""

    cost: CallCost


class RulingView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person ruled, with the time as text; `text` is the hash of what stands instead."""

    word: Stage
    by: str
    reason: Quoted
    at: str
    attended: bool
    text: str | None


class DecisionView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole decision; decimals are text, as they stand in the record.

    `session` is where it is argued, `sessions` all of them, one for each round; `shared_models`:
    participants that are one model or one program; `custodians` counts the folders
    that keep their keys.
    """

    id: str
    stage: Stage
    question: Quoted
    asked_by: str
    asked_at: str
    chamber: ChamberKind
    rule: str
    rounds: int
    participants: tuple[ParticipantView, ...]
    answers: tuple[FirstAnswer, ...]
    motion: DecisionMotion | None
    session: ArguedSession | None
    sessions: tuple[ArguedSession, ...]
    result: ChamberVerdict | None
    word: RulingView | None
    sent_back: tuple[RulingView, ...]
    supersedes: str | None
    superseded_by: str | None
    cost: CallCost
    turns: int
    runs: int
    stopped: str | None
    endings: dict[str, int]
    shared_models: dict[str, list[str]]
    custodians: int
    ranking: RankingReport | None = None

    @property
    def title(self) -> Quoted:
        """The question in one line."""
        return Quoted(shorten_question(self.question))

    @property
    def against_result(self) -> str:
        """`against the vote (not carried)`, if a person approved what was not carried."""
        result = None if self.result is None else self.result.result
        return AGAINST_THE_RESULT.get(result, "") if self.stage is Stage.APPROVED else ""


def describe_decision(decision: str, state: State) -> DecisionView:
    """The whole decision, as `moot ask` and `moot decide` answer with it."""
    return DecisionView(
        id=decision,
        stage=state.stage,
        question=Quoted(state.question),
        asked_by=state.asked_by,
        asked_at=to_text(state.asked_at),
        chamber=state.chamber,
        rule=state.rule,
        rounds=state.rounds,
        participants=tuple(_participant(state, seat) for seat in state.seats),
        answers=tuple(list_answers(state)),
        motion=state.motion,
        session=state.session,
        sessions=state.sessions,
        result=state.verdict,
        word=None if state.word is None else _ruling(state.word),
        sent_back=tuple(map(_ruling, state.sent_back)),
        supersedes=state.supersedes,
        superseded_by=state.superseded_by,
        cost=state.cost,
        turns=state.turns,
        runs=state.runs,
        stopped=state.stopped,
        endings=dict(sorted(state.endings.items())),
        shared_models=find_shared_models(state),
        custodians=len({seat.custodian for seat in state.seats}),
        ranking=report_rankings(state),
    )


def _participant(state: State, seat: DecisionSeat) -> ParticipantView:
    cost = state.purses.get(seat.agent, CallCost())
    return ParticipantView(**msgspec.structs.asdict(seat), cost=cost)


def _ruling(ruling: PersonsRuling) -> RulingView:
    return RulingView(
        word=ruling.word,
        by=ruling.by,
        reason=Quoted(ruling.reason),
        at=to_text(ruling.at),
        attended=ruling.attended,
        text=ruling.text,
    )


def suggest_decide_command(decision: str, result: DecisionResult | None = None) -> str:
    """The command with which a person decides, to paste, and the other words it may say.

    For a motion that was not carried, veto comes first: nobody shall approve it by habit.
    """
    first, others = "approve", "or veto, or amend --text FILE"
    if result in AGAINST_THE_RESULT:
        first, others = "veto", f"or amend --text FILE, or approve, {AGAINST_THE_RESULT[result]}"
    return f'moot decide {decision} {first} --reason "..." ({others})'


AGAINST_THE_RESULT: Final[dict[DecisionResult | None, str]] = {
    DecisionResult.NOT_CARRIED: "against the vote (not carried)",
    DecisionResult.DEADLOCK: "without agreement (deadlock)",
    DecisionResult.CLOSED: "without agreement (closed)",
    DecisionResult.NO_QUORUM: "without a quorum",
}


def describe_approval_against_result(state: State) -> str:
    """`against the vote (not carried)`, if a person approved what was not carried; else empty."""
    return AGAINST_THE_RESULT.get(state.result, "") if state.stage is Stage.APPROVED else ""


def shorten_question(question: str) -> str:
    """The question as a title: its first line, shortened."""
    line = next((" ".join(row.split()) for row in question.splitlines() if row.strip()), "")
    if len(line) <= MAX_TITLE:
        return line
    cut = line[: MAX_TITLE - 1]
    words = cut.rpartition(" ")[0]  # not in the middle of a word, unless it is all one
    return f"{words or cut}…"


def list_answers(state: State) -> list[FirstAnswer]:
    """First answers in the order of the seats."""
    return [state.answers[seat.agent] for seat in state.seats if seat.agent in state.answers]


def find_shared_models(state: State) -> dict[str, list[str]]:
    """Models, or programs that do not name theirs, with more than one seat (DEC-019, AGT-081).

    Agreement between seats that are one model weighs less.
    """
    voices: dict[str, list[str]] = {}
    for seat in state.seats:
        if not seat.scripted and (seat.model or (seat.spec and seat.kind != "human")):
            voices.setdefault(seat.model or seat.spec, []).append(seat.agent)
    return {model: names for model, names in voices.items() if len(names) > 1}


def list_costs(state: State) -> list[tuple[str, CallCost]]:
    """What each participant cost, in the order of the seats, without those who were never asked
    (AGT-081)."""
    names = [seat.agent for seat in state.seats if seat.agent in state.purses]
    return [(name, state.purses[name]) for name in names]
