"""The nouns of a decision."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import SECOND, Millis

MAX_QUESTION: Final = 4_000
MAX_ANSWER: Final = 2_000
MAX_TEXT: Final = 8_000
MAX_SEATS: Final = 100
STANCES: Final = ("approve", "reject", "neutral", "defer")
MAX_MOTIVES: Final = 3
MAX_MOTIVE_LENGTH: Final = 60


class Stage(StrEnum):
    """`moved`: a motion is set; `waiting`: a result is there, for a person to judge."""

    NEW = "new"
    ANSWERING = "answering"
    MOVED = "moved"
    ARGUING = "arguing"
    WAITING = "waiting"
    APPROVED = "approved"
    VETOED = "vetoed"
    AMENDED = "amended"


class ChamberKind(StrEnum):
    """Where a question is argued. For runs in mail and traces, only the cost is recorded here."""

    DEBATE = "debate"
    PARLIAMENT = "parliament"
    TRACE = "trace"
    MAIL = "mail"


class DecisionResult(StrEnum):
    CARRIED = "carried"
    NOT_CARRIED = "not-carried"
    DEADLOCK = "deadlock"
    CLOSED = "closed"
    NO_QUORUM = "no-quorum"


class DecisionSeat(msgspec.Struct, frozen=True):
    """A participant: its name, the program or person behind it, and who keeps its key.

    `scripted`: a script answers, neither a model nor a person. `motives` are the aims that the
    asker gave this seat in a parliament.
    """

    agent: str
    kind: str
    spec: str
    model: str | None = None
    custodian: str = ""
    scripted: bool = False
    motives: tuple[str, ...] = ()


class FirstAnswer(msgspec.Struct, frozen=True):
    """One seat's answer before it saw the others, and its motives; or why there is no answer.

    `failure` is the sentence that readers see for a missing answer.
    """

    agent: str
    answer: str | None
    why: str = ""
    motives: tuple[str, ...] = ()
    failure: str = ""


class SealedAnswer(msgspec.Struct, frozen=True):
    """An author's commitment to its answer; `prompt` is the hash of the prompt it got.

    `refused` counts attempts to open it with another text.
    """

    commitment: str
    prompt: str | None = None
    refused: int = 0


class AnswerVote(msgspec.Struct, frozen=True):
    """A seat's vote in case one certain answer becomes the motion; `sure` is a decimal as text."""

    stance: str
    sure: str


class AnswerRanking(msgspec.Struct, frozen=True):
    """How one seat ranks the answers, best first by their numbers, and its first vote.

    Numbers count from 0 in the order in which the answers are listed; `votes` has one for each.
    A seat that ranked nothing has an empty ranking, and `failure` says why.
    """

    agent: str
    ranking: tuple[int, ...] = ()
    votes: tuple[AnswerVote, ...] = ()
    summary: str = ""
    body: str = ""
    failure: str = ""


class CallCost(msgspec.Struct, frozen=True):
    """What calls cost: `micros` in millionths of a US dollar; `unpriced` counts calls without."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    micros: int = 0
    unpriced: int = 0
    millis: int = 0

    def __add__(self, other: CallCost) -> CallCost:
        names = self.__struct_fields__
        return CallCost(*(getattr(self, name) + getattr(other, name) for name in names))


class DecisionMotion(msgspec.Struct, frozen=True):
    """The answer that is put to the vote, and who gave it.

    `chosen` is the rule that chose it from the rankings, or `picked` if the asker did; empty for
    the most frequent answer.
    """

    text: str
    by: tuple[str, ...]
    chosen: str = ""


class ArguedSession(msgspec.Struct, frozen=True):
    """The debate or parliament in which it is argued: its id and its file."""

    id: str
    file: str = ""


class ChamberVerdict(msgspec.Struct, frozen=True):
    """The result; `score` is text, as the chamber wrote it, and `dissent` names who objected.

    `absent` are agents without a vote in the last round: they failed or timed out.
    """

    result: DecisionResult
    summary: str
    score: str = ""
    approvers: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class SeatForecast(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one participant forecast, in its first and in its last vote.

    Confidence is text, as the chamber wrote it; empty where the chamber knows none. `source` says
    where it comes from: `stated` by the participant, `derived` by a rule, `default` if it
    is missing. `micros` is what its calls cost, in millionths of a US dollar.
    """

    agent: str
    model: str = ""
    first_stance: str = ""
    first_sure: str = ""
    last_stance: str = ""
    last_sure: str = ""
    source: str = "stated"
    micros: int = 0


class JudgedOutcome(msgspec.Struct, frozen=True):
    """A person's later judgement of how a decision turned out; `answer` is what proved right."""

    outcome: str
    by: str
    reason: str
    at: Millis
    attended: bool
    answer: str = ""


class PersonsRuling(msgspec.Struct, frozen=True):
    """What a person decided; `attended`: they unlocked their key by hand."""

    word: Stage
    by: str
    reason: str
    at: Millis
    attended: bool
    text: str | None = None


class State(msgspec.Struct, frozen=True):
    """One decision. It keeps only sums of calls and runs, because their number has no bound.

    `session` is where it is argued now, `earlier_sessions` where it was argued before.
    `quorum` is how many seats must take part in the last vote, 0 for more than half of them.
    `is_sealed`: first answers are sealed, and opened once a checkpoint covers all seals; its number
    is `seals_checkpoint`, None before that.
    `sent_back`: vetoes after which a parliament continued; `word` is the final ruling.
    `first_outcome` never changes; `outcome` is the newest judgement.
    `answer_seconds` limits the wait for first answers, if set.
    `receipt` is the hash of the newest receipt's content; None after any later event.
    """

    stage: Stage = Stage.NEW
    question: str = ""
    asked_by: str = ""
    asked_at: Millis = 0
    context: str | None = None
    options: tuple[str, ...] = ()
    chamber: ChamberKind = ChamberKind.DEBATE
    rule: str = ""
    rounds: int = 0
    seats: tuple[DecisionSeat, ...] = ()
    choose: str = ""
    quorum: int = 0
    is_sealed: bool = False
    seals: Map[str, SealedAnswer] = Map()
    seals_checkpoint: int | None = None
    answers: Map[str, FirstAnswer] = Map()
    rankings: Map[str, AnswerRanking] = Map()
    motion: DecisionMotion | None = None
    session: ArguedSession | None = None
    earlier_sessions: tuple[ArguedSession, ...] = ()
    verdict: ChamberVerdict | None = None
    word: PersonsRuling | None = None
    sent_back: tuple[PersonsRuling, ...] = ()
    supersedes: str | None = None
    superseded_by: str | None = None
    purses: Map[str, CallCost] = Map()
    endings: Map[str, int] = Map()
    turns: int = 0
    runs: int = 0
    stopped: str | None = None
    receipt: str | None = None
    first_outcome: JudgedOutcome | None = None
    outcome: JudgedOutcome | None = None
    answer_seconds: int | None = None

    def find_seat(self, agent: str) -> DecisionSeat | None:
        return next((seat for seat in self.seats if seat.agent == agent), None)

    def motives_of(self, agent: str) -> tuple[str, ...]:
        """Return the motives that the asker gave this seat, else its own (DEC-027)."""
        seat, answer = self.find_seat(agent), self.answers.get(agent)
        return (seat.motives if seat else ()) or (answer.motives if answer else ())

    @property
    def sessions(self) -> tuple[ArguedSession, ...]:
        """All sessions in which it was argued, oldest first."""
        return (*self.earlier_sessions, *((self.session,) if self.session is not None else ()))

    @property
    def answers_by(self) -> Millis | None:
        """The deadline: after it, a run goes on without the missing answers."""
        seconds = self.answer_seconds
        return None if seconds is None else self.asked_at + seconds * SECOND

    @property
    def unsealed(self) -> tuple[str, ...]:
        """Agents that have neither sealed an answer nor been passed over."""
        return tuple(name for name in self.unanswered if name not in self.seals)

    @property
    def unanswered(self) -> tuple[str, ...]:
        return tuple(seat.agent for seat in self.seats if seat.agent not in self.answers)

    @property
    def result(self) -> DecisionResult | None:
        return None if self.verdict is None else self.verdict.result

    @property
    def cost(self) -> CallCost:
        return sum(self.purses.values(), CallCost())
