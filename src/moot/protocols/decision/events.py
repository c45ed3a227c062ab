"""The events of a decision, as the ledger stores them."""

from __future__ import annotations

from moot.core.machine import Event
from moot.protocols.decision.model import (
    AnswerVote,
    CallCost,
    ChamberKind,
    DecisionResult,
    DecisionSeat,
    SeatForecast,
)


class QuestionAsked(Event, frozen=True):
    question: str
    seats: tuple[DecisionSeat, ...]
    chamber: ChamberKind
    rule: str
    rounds: int
    options: tuple[str, ...] = ()
    context: str | None = None
    supersedes: str | None = None
    answer_seconds: int | None = None
    choose: str = ""
    sealed: bool = False
    quorum: int = 0


class AnswerSealed(Event, frozen=True):
    """`commitment` binds the author to its answer; `prompt` is the hash of its prompt."""

    commitment: str
    prompt: str | None = None


class SealsClosed(Event, frozen=True):
    """The checkpoint that covers all seals, and the proof path from the event before this one."""

    note: str
    number: int
    index: int
    path: tuple[str, ...]


class AnswerGiven(Event, frozen=True):
    answer: str
    why: str = ""
    motives: tuple[str, ...] = ()
    nonce: str = ""


class OpeningRefused(Event, frozen=True):
    """An author tried to open its answer with another text; `offered` is its commitment."""

    offered: str


class AnswerPassed(Event, frozen=True):
    agent: str
    why: str
    failure: str = ""


class AnswersRanked(Event, frozen=True):
    """Numbers count from 0; the distinct answers are in the order of the seats."""

    ranking: tuple[int, ...]
    votes: tuple[AnswerVote, ...]
    summary: str
    body: str = ""


class RankingPassed(Event, frozen=True):
    agent: str
    why: str
    failure: str = ""


class MotionSet(Event, frozen=True):
    text: str
    by: tuple[str, ...]
    chosen: str = ""


class SessionOpened(Event, frozen=True):
    session: str
    file: str = ""


class CallNoted(Event, frozen=True):
    agent: str
    what: str
    subject: str
    ending: str
    attempt: int
    cost: CallCost
    detail: str = ""
    model: str | None = None


class RunEnded(Event, frozen=True):
    stop: str
    turns: int
    detail: str = ""


class ResultRecorded(Event, frozen=True):
    result: DecisionResult
    summary: str
    score: str = ""
    approvers: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class PersonApproved(Event, frozen=True):
    reason: str
    attended: bool


class PersonVetoed(Event, frozen=True):
    reason: str
    attended: bool


class PersonAmended(Event, frozen=True):
    """`text` is the hash of the text that was decided instead."""

    reason: str
    attended: bool
    text: str


class PersonSentBack(Event, frozen=True):
    """A veto after which the parliament continues: not a final ruling."""

    reason: str
    attended: bool


class SuccessorNamed(Event, frozen=True):
    decision: str


class ReceiptMade(Event, frozen=True):
    """`receipt` is the hash of the receipt's content; any later event makes it outdated."""

    receipt: str


class OutcomeJudged(Event, frozen=True):
    """How a decision turned out, as a person judged it. A later one corrects it."""

    outcome: str
    reason: str
    attended: bool
    answer: str = ""
    forecasts: tuple[SeatForecast, ...] = ()


EVENTS = (
    *(QuestionAsked, AnswerGiven, AnswerPassed, MotionSet, SessionOpened, CallNoted, RunEnded),
    *(ResultRecorded, PersonApproved, PersonVetoed, PersonAmended, PersonSentBack, SuccessorNamed),
    *(ReceiptMade, OutcomeJudged, AnswersRanked, RankingPassed),
    *(AnswerSealed, SealsClosed, OpeningRefused),
)
