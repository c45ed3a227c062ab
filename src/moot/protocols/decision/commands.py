"""What may be asked."""

from __future__ import annotations

from moot.core.machine import Command
from moot.core.record import ArtifactRef
from moot.protocols.decision.model import (
    AnswerVote,
    CallCost,
    ChamberKind,
    DecisionResult,
    DecisionSeat,
    SeatForecast,
)


class AskQuestion(Command, frozen=True):
    """Begin a decision: the question, who takes part, and by which rule it is settled."""

    question: str
    seats: tuple[DecisionSeat, ...]
    chamber: ChamberKind = ChamberKind.DEBATE
    rule: str = "majority"
    rounds: int = 2
    options: tuple[str, ...] = ()
    context: ArtifactRef | None = None
    supersedes: str | None = None
    answer_seconds: int | None = None
    choose: str = ""
    sealed: bool = False
    quorum: int = 0


class SealAnswer(Command, frozen=True):
    """Commit to your answer without showing it; `prompt` is what you were told."""

    commitment: str
    prompt: ArtifactRef | None = None


class CloseSeals(Command, frozen=True):
    """Say that all answers are sealed, and show the checkpoint that covers them.

    `note` is the signed checkpoint, `number` its number; `index` and `path` lead from the newest
    event of this decision to its root.
    """

    note: str
    number: int
    index: int
    path: tuple[str, ...]


class GiveAnswer(Command, frozen=True):
    """Say what you would answer alone, before you hear the others; `nonce` opens a sealed one."""

    answer: str
    why: str = ""
    motives: tuple[str, ...] = ()
    nonce: str = ""


class PassAnswer(Command, frozen=True):
    """Go on without someone's first answer, and say why there is none.

    `why` may hold a program's own words; `failure` is the sentence by which it is told.
    """

    agent: str
    why: str
    failure: str = ""


class RankAnswers(Command, frozen=True):
    """Rank all answers, best first, and say how you would vote on each."""

    ranking: tuple[int, ...]
    votes: tuple[AnswerVote, ...]
    summary: str
    body: str = ""


class PassRanking(Command, frozen=True):
    """Go on without someone's ranking, and say why there is none."""

    agent: str
    why: str
    failure: str = ""


class SetMotion(Command, frozen=True):
    """Put an answer to the vote."""

    text: str
    by: tuple[str, ...]
    chosen: str = ""


class OpenSession(Command, frozen=True):
    """Say where the motion is argued."""

    session: str
    file: str = ""


class NoteCall(Command, frozen=True):
    """Put on record how a participant's call ended, what it cost, and which model answered."""

    agent: str
    what: str
    subject: str
    ending: str
    attempt: int = 1
    cost: CallCost = CallCost()
    detail: str = ""
    model: str | None = None


class EndRun(Command, frozen=True):
    """Put on record how a run ended; each has a name, also one that was cut short."""

    stop: str
    turns: int = 0
    detail: str = ""


class RecordResult(Command, frozen=True):
    """Put on record what the chamber came to."""

    result: DecisionResult
    summary: str
    score: str = ""
    approvers: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Approve(Command, frozen=True):
    """A person says yes to what came out."""

    reason: str


class Veto(Command, frozen=True):
    """A person says no; what is argued next supersedes this."""

    reason: str


class Amend(Command, frozen=True):
    """A person decides with another text."""

    reason: str
    text: ArtifactRef


class SendBack(Command, frozen=True):
    """A person vetoes what a parliament brought, and it argues on with the reason."""

    reason: str


class NameSuccessor(Command, frozen=True):
    """Say which decision takes the place of a vetoed one."""

    decision: str


class MakeReceipt(Command, frozen=True):
    """Sign for what a receipt of this decision says, as it stands now."""

    receipt: ArtifactRef


class JudgeOutcome(Command, frozen=True):
    """A person says, later, how the decision turned out; `answer` names what proved right.

    `forecasts` is what the record says each participant forecast.
    """

    outcome: str
    reason: str
    answer: str = ""
    forecasts: tuple[SeatForecast, ...] = ()


COMMANDS = (
    *(AskQuestion, GiveAnswer, PassAnswer, SetMotion, OpenSession, NoteCall, EndRun),
    *(RecordResult, Approve, Veto, Amend, SendBack, NameSuccessor, MakeReceipt),
    *(JudgeOutcome, RankAnswers, PassRanking, SealAnswer, CloseSeals),
)
PERSONS = (Approve, Veto, Amend, SendBack)
PersonsCommand = Approve | Veto | Amend | SendBack | JudgeOutcome
