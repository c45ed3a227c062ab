"""The nouns of a decision."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis

MOST_QUESTION: Final = 4_000
MOST_ANSWER: Final = 2_000
MOST_TEXT: Final = 8_000
MOST_SEATS: Final = 100
MOST_MOTIVES: Final = 3
MOST_MOTIVE: Final = 60


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


class Chamber(StrEnum):
    """Where it is argued. Of runs in mail and traces only the cost is recorded here."""

    DEBATE = "debate"
    PARLIAMENT = "parliament"
    TRACE = "trace"
    MAIL = "mail"


class Result(StrEnum):
    CARRIED = "carried"
    NOT_CARRIED = "not-carried"
    DEADLOCK = "deadlock"
    CLOSED = "closed"


class Seat(msgspec.Struct, frozen=True):
    """A participant: its name, what sits there, and who keeps its key.

    `scripted` says that no model and no person thought about its words; `motives` are what it was
    told to stand for in a parliament.
    """

    agent: str
    kind: str
    spec: str
    model: str | None = None
    custodian: str = ""
    scripted: bool = False
    motives: tuple[str, ...] = ()


class FirstAnswer(msgspec.Struct, frozen=True):
    """What one seat would answer alone, and what matters to it; or why there is no answer."""

    agent: str
    answer: str | None
    why: str = ""
    motives: tuple[str, ...] = ()


class Purse(msgspec.Struct, frozen=True):
    """What calls cost; money in millionths of a US dollar, `unpriced` calls without a price."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    micros: int = 0
    unpriced: int = 0
    millis: int = 0

    def __add__(self, other: Purse) -> Purse:
        names = self.__struct_fields__
        return Purse(*(getattr(self, name) + getattr(other, name) for name in names))


class Motion(msgspec.Struct, frozen=True):
    """The answer that is put to the vote, and who gave it."""

    text: str
    by: tuple[str, ...]


class Session(msgspec.Struct, frozen=True):
    """Where it is argued: the chamber's own id and its file."""

    id: str
    file: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """The result; `score` is text, as the chamber wrote it, and `dissent` names who objected."""

    result: Result
    summary: str
    score: str = ""
    approvers: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()


class PersonsWord(msgspec.Struct, frozen=True):
    """What a person decided; `attended`: they unlocked their key by hand."""

    word: Stage
    by: str
    reason: str
    at: Millis
    attended: bool
    text: str | None = None


class State(msgspec.Struct, frozen=True):
    """One decision. Calls and runs are only summed up: their number has no bound.

    `sent_back`: vetoes after which a parliament went on; `word` is the last one.
    `receipt` is what the newest receipt says (its hash), as long as nothing has happened since.
    """

    stage: Stage = Stage.NEW
    question: str = ""
    asked_by: str = ""
    asked_at: Millis = 0
    context: str | None = None
    options: tuple[str, ...] = ()
    chamber: Chamber = Chamber.DEBATE
    rule: str = ""
    rounds: int = 0
    seats: tuple[Seat, ...] = ()
    answers: Map[str, FirstAnswer] = Map()
    motion: Motion | None = None
    session: Session | None = None
    verdict: Verdict | None = None
    word: PersonsWord | None = None
    sent_back: tuple[PersonsWord, ...] = ()
    supersedes: str | None = None
    superseded_by: str | None = None
    purses: Map[str, Purse] = Map()
    endings: Map[str, int] = Map()
    turns: int = 0
    runs: int = 0
    stopped: str | None = None
    receipt: str | None = None

    def seat(self, agent: str) -> Seat | None:
        return next((seat for seat in self.seats if seat.agent == agent), None)

    def motives(self, agent: str) -> tuple[str, ...]:
        """What this seat was told to stand for, else what it said matters to it (DEC-027)."""
        seat, answer = self.seat(agent), self.answers.get(agent)
        return (seat.motives if seat else ()) or (answer.motives if answer else ())

    @property
    def unanswered(self) -> tuple[str, ...]:
        return tuple(seat.agent for seat in self.seats if seat.agent not in self.answers)

    @property
    def result(self) -> Result | None:
        return None if self.verdict is None else self.verdict.result

    @property
    def cost(self) -> Purse:
        return sum(self.purses.values(), Purse())
