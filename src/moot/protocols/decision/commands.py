"""The commands of a decision."""

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
    """Commit to your answer without showing it; `prompt` is the prompt you were given."""

    commitment: str
    prompt: ArtifactRef | None = None


class CloseSeals(Command, frozen=True):
    """Record that all answers are sealed, with the checkpoint that covers them.

    `note` is the signed checkpoint, `number` its number; `index` and `path` prove that it covers
    the newest event of this decision.
    """

    note: str
    number: int
    index: int
    path: tuple[str, ...]


class GiveAnswer(Command, frozen=True):
    """Give your own answer, before you see the others; `nonce` opens a sealed one."""

    answer: str
    why: str = ""
    motives: tuple[str, ...] = ()
    nonce: str = ""


class PassAnswer(Command, frozen=True):
    """Go on without an agent's first answer, and record why there is none.

    `why` may quote the program's output; `failure` is the sentence that readers see.
    """

    agent: str
    why: str
    failure: str = ""


class RankAnswers(Command, frozen=True):
    """Rank all answers, best first, and state how you would vote on each."""

    ranking: tuple[int, ...]
    votes: tuple[AnswerVote, ...]
    summary: str
    body: str = ""


class PassRanking(Command, frozen=True):
    """Go on without an agent's ranking, and record why there is none."""

    agent: str
    why: str
    failure: str = ""


class SetMotion(Command, frozen=True):
    """Put an answer to the vote."""

    text: str
    by: tuple[str, ...]
    chosen: str = ""


class OpenSession(Command, frozen=True):
    """Record in which session the motion is argued."""

    session: str
    file: str = ""


class NoteCall(Command, frozen=True):
    """Record how a call to a participant ended, what it cost, and which model answered."""

    agent: str
    what: str
    subject: str
    ending: str
    attempt: int = 1
    cost: CallCost = CallCost()
    detail: str = ""
    model: str | None = None


class EndRun(Command, frozen=True):
    """Record how a run ended; `stop` names the way, for an interrupted run too."""

    stop: str
    turns: int = 0
    detail: str = ""


class RecordResult(Command, frozen=True):
    """Record the result of the debate or parliament."""

    result: DecisionResult
    summary: str
    score: str = ""
    approvers: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Approve(Command, frozen=True):
    """Approve the result, as a person."""

    reason: str


class Veto(Command, frozen=True):
    """Veto the result, as a person; a later decision supersedes this one."""

    reason: str


class Amend(Command, frozen=True):
    """Decide with a different text, as a person."""

    reason: str
    text: ArtifactRef


class SendBack(Command, frozen=True):
    """Veto a parliament's result, as a person; the parliament continues, with the reason."""

    reason: str


class NameSuccessor(Command, frozen=True):
    """Name the decision that replaces a vetoed one."""

    decision: str


class MakeReceipt(Command, frozen=True):
    """Sign the content of a receipt of this decision, as of now."""

    receipt: ArtifactRef


class JudgeOutcome(Command, frozen=True):
    """Record later, as a person, how the decision turned out; `answer` is what proved right.

    `forecasts` is what each participant forecast, according to the record.
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
