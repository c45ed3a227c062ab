"""Views of a decision, for people and agents."""

from __future__ import annotations

from typing import Final

import msgspec

from moot.core.clock import to_text
from moot.core.machine import fill_from
from moot.core.text import Quoted
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
from moot.protocols.decision.rankings import RankingReport, report_rankings

MAX_TITLE: Final = 120


class ParticipantView(DecisionSeat, frozen=True, kw_only=True):
    """A seat, and what its calls have cost so far."""

    cost: CallCost


class RulingView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person ruled, with the time as text; `text` is the hash of an amended text."""

    word: Stage
    by: str
    reason: Quoted
    at: str
    attended: bool
    text: str | None


class DecisionView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole decision; decimals are text, as in the record.

    `session` is where it is argued now, `sessions` are all of them, one for each round;
    `shared_models` lists participants that run on the same model or program; `custodians` counts
    the folders that keep their keys.
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
    """Build the view that `moot ask` and `moot decide` return."""
    return fill_from(
        DecisionView,
        state,
        id=decision,
        asked_at=to_text(state.asked_at),
        participants=tuple(_participant(state, seat) for seat in state.seats),
        answers=tuple(list_answers(state)),
        result=state.verdict,
        word=None if state.word is None else _ruling(state.word),
        sent_back=tuple(map(_ruling, state.sent_back)),
        endings=dict(sorted(state.endings.items())),
        shared_models=find_shared_models(state),
        custodians=len({seat.custodian for seat in state.seats}),
        ranking=report_rankings(state),
    )


def _participant(state: State, seat: DecisionSeat) -> ParticipantView:
    cost = state.purses.get(seat.agent, CallCost())
    return ParticipantView(**msgspec.structs.asdict(seat), cost=cost)


def _ruling(ruling: PersonsRuling) -> RulingView:
    return fill_from(RulingView, ruling, at=to_text(ruling.at))


def suggest_decide_command(decision: str, result: DecisionResult | None = None) -> str:
    """Return the command with which a person decides, to paste, and the alternatives.

    For a motion that was not carried, veto comes first, so that a person does not approve it by
    habit.
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
    """Return words such as `against the vote (not carried)` for such an approval; else empty."""
    return AGAINST_THE_RESULT.get(state.result, "") if state.stage is Stage.APPROVED else ""


def shorten_question(question: str) -> str:
    """Return the first line of the question, shortened, as a title."""
    line = next((" ".join(row.split()) for row in question.splitlines() if row.strip()), "")
    if len(line) <= MAX_TITLE:
        return line
    cut = line[: MAX_TITLE - 1]
    words = cut.rpartition(" ")[0]  # cut between words; a single long word is cut inside
    return f"{words or cut}…"


def list_answers(state: State) -> list[FirstAnswer]:
    """List the first answers in the order of the seats."""
    return [state.answers[seat.agent] for seat in state.seats if seat.agent in state.answers]


def find_shared_models(state: State) -> dict[str, list[str]]:
    """Find models with more than one seat; a program counts if it names no model.

    Agreement between seats of one model proves less, so readers must see it (DEC-019, AGT-081).
    """
    voices: dict[str, list[str]] = {}
    for seat in state.seats:
        if not seat.scripted and (seat.model or (seat.spec and seat.kind != "human")):
            voices.setdefault(seat.model or seat.spec, []).append(seat.agent)
    return {model: names for model, names in voices.items() if len(names) > 1}
