"""The nouns of a session: seats and their motives, the running round, the bill, the open ballot.

The state holds what decisions need and does not grow with the number of messages: those are in
the ledger, the summaries in the index. The vocabulary of the protocol (statuses, stances,
positions, ...) is in `messages/contents.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec
from immutables import Map

from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    AmendmentStatus,
    Ballot,
    BillSection,
    MotionType,
    Position,
    RulingAction,
    RulingType,
    Sections,
    SessionStatus,
    Stance,
)

BILL_NUMBER: Final = "BILL-001"
DEFAULT_ROUNDS: Final = 6  # PAR-088
MAX_ROUNDS: Final = 1_000
# Two, for a question needs another seat (C-37); thirty still get temperatures that all differ.
MIN_SEATS, MAX_SEATS = 2, 30
MAX_MOTIVES: Final = 12
MAX_ISSUES: Final = 100
# A session's stream: `parliament/parl-20260210-001`.
STREAM_NAME: Final = re.compile(r"parliament/(parl-[0-9]{8}-[0-9]{3,9})\Z")


class SessionOutcome(StrEnum):
    """How a session ended."""

    APPROVED = "approved"
    APPROVED_WITH_AMENDMENTS = "approved_with_amendments"
    VETOED = "vetoed"
    NO_PASSAGE = "no_passage"


class TemperatureReading(NamedTuple):
    """A row of `temperature_history`."""

    round: int
    temperature: int


class VotingRecordRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A row of a seat's `voting_record` (C-32)."""

    round: int
    bill_version: int
    vote: Ballot


class Seat(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A representative. `agent` is the name whose key signs for it; `bound`: it was there before.
    `epoch` is the one holder of that name who may: a later one is someone else.

    `scores` go with `motives`, None where nothing was scored yet. `heat` is the history of
    temperatures, round and value by turns: flat, for it is read with every snapshot. `malformed`
    counts replies in a row that could not be read; after the second the seat is expelled.
    `spoke_in` is the last round it was heard in, `concern` what it last held against the bill,
    `conditions` what would have changed its last vote.
    """

    id: str
    name: str
    agent: str
    bound: bool
    motives: tuple[str, ...]
    scores: tuple[int | None, ...]
    temperature: int
    heat: tuple[int, ...]
    quiet_until_round: int | None = None
    voting_record: tuple[VotingRecordRow, ...] = ()
    opened: bool = False
    malformed: int = 0
    expelled: bool = False
    spoke_in: int = 0
    concern: str = ""
    epoch: int = 1
    conditions: str = ""

    @property
    def temperature_history(self) -> tuple[TemperatureReading, ...]:
        return tuple(map(TemperatureReading, self.heat[::2], self.heat[1::2]))

    @property
    def is_quiet(self) -> bool:
        return self.quiet_until_round is not None

    def scores_by_motive(self) -> Iterator[tuple[str, int | None]]:
        """`motive_satisfaction`, in the order of the motives."""
        return zip(self.motives, self.scores, strict=True)


class OpenQuestion(msgspec.Struct, frozen=True, array_like=True):
    """A question of this round that waits for its answer; `amendments` are those it names."""

    id: str
    asker: str
    asked: str
    topic: str
    amendments: tuple[str, ...] = ()


class OpenMotion(msgspec.Struct, frozen=True, array_like=True):
    """A request of this round that the speaker has not dealt with; of each type a seat's latest."""

    id: str
    mover: str
    type: MotionType
    reason: str


def message_order(message: OpenQuestion | OpenMotion) -> tuple[int, str]:
    """Return a sort key: msg-1000 comes after msg-999, though not in the alphabet."""
    return len(message.id), message.id


class StanceShift(msgspec.Struct, frozen=True, array_like=True):
    """Someone softened or conceded on a topic in this round."""

    seat: str
    stance: Stance
    topic: str


class SettledAmendment(msgspec.Struct, frozen=True, array_like=True):
    """A row of `amendments_actioned`."""

    amendment_id: str
    status: AmendmentStatus


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """The current round. `number` is 0 before the debate; `running` from its start to its end.

    `asked` counts questions, `exchanges` those that were answered, `proposed` the amendments of
    each seat. `topics` counts exchanges on a point since someone last moved on it; `floor` is who
    was called to speak. When the round ends `open_issues` is filled; `told` is its summary if
    someone replaced the clerk's. `scores` are those of each seat when the round began.
    """

    number: int = 0
    running: bool = False
    asked: int = 0
    exchanges: int = 0
    questions: Map[str, OpenQuestion] = Map()
    answered: Map[str, bool] = Map()
    motions: Map[str, OpenMotion] = Map()
    proposed: Map[str, int] = Map()
    topics: Map[str, int] = Map()
    shifts: tuple[StanceShift, ...] = ()
    settled: tuple[SettledAmendment, ...] = ()
    open_issues: tuple[str, ...] = ()
    floor: str | None = None
    told: dict[str, Any] | None = None
    scores: Map[str, tuple[int | None, ...]] = Map()


class AmendmentEndorsement(msgspec.Struct, frozen=True, array_like=True):
    """A row of an amendment's `endorsements`: a seat's latest position."""

    agent_id: str
    position: Position
    round: int


class Amendment(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`number` is that of its message; `exchanges` those that took a position on it.

    A closed one keeps what the bill file prints; its text is in its message.
    """

    amendment_id: str
    number: int
    proposed_by: str
    round: int
    target_section: BillSection
    action: AmendmentAction
    description: str
    proposed_text: str = ""
    status: AmendmentStatus = AmendmentStatus.PROPOSED
    endorsements: tuple[AmendmentEndorsement, ...] = ()
    exchanges: int = 0
    formal: bool = False

    @property
    def pending(self) -> bool:
        return self.status in (AmendmentStatus.PROPOSED, AmendmentStatus.DEBATING)


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """The current bill; earlier versions are in the ledger."""

    version: int
    title: str
    summary: str
    sections: Sections


class CastVote(msgspec.Struct, frozen=True, array_like=True):
    """A vote on the open ballot; `concern` is what the voter holds against the bill."""

    vote: Ballot
    concern: str


class OpenBallot(msgspec.Struct, frozen=True, kw_only=True):
    """The open ballot. `forced`: a motive is below 3, but the clock or the last round forced it."""

    round: int
    bill_version: int
    forced: bool
    votes: Map[str, CastVote] = Map()
    closed: bool = False


class VoteRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A row of `vote_history` (C-32)."""

    round: int
    bill_version: int
    yes: int
    no: int
    total: int
    passed: bool
    forced: bool


class OwedRuling(msgspec.Struct, frozen=True, array_like=True):
    """A ruling that follows from what someone did; the speaker gives it under its own key."""

    ruling_type: RulingType
    action: RulingAction
    target: str | None
    ruling: str


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A session. `status` is None before it was convened.

    `order` lists the seats, `holders` says which seat an agent signs for, `pending` are the
    amendments that are not settled. `guidance` is the prime minister's latest to the seats,
    `owed` the rulings that the speaker has to give. The first `imported` messages were read from
    files: their senders did not sign them here.
    """

    parliament_id: str = ""
    problem_statement: str = ""
    constituent_issues: tuple[str, ...] = ()
    max_rounds: int = DEFAULT_ROUNDS
    status: SessionStatus | None = None
    next_message_id: int = 1
    order: tuple[str, ...] = ()
    seats: Map[str, Seat] = Map()
    holders: Map[str, str] = Map()
    drafter: str | None = None
    bill: Bill | None = None
    amendments: Map[str, Amendment] = Map()
    pending: tuple[str, ...] = ()
    round: Round = Round()
    poll: OpenBallot | None = None
    vote_history: tuple[VoteRow, ...] = ()
    guidance: str = ""
    owed: tuple[OwedRuling, ...] = ()
    outcome: SessionOutcome | None = None
    imported: int = 0

    def seat_of(self, agent: str, epoch: int) -> Seat | None:
        """S-02: the seat of this holder of the name; a later holder of the same name has none."""
        seat = self.seats.get(self.holders.get(agent, ""))
        return seat if seat is not None and seat.epoch == epoch else None

    def seats_in_order(self) -> Iterator[Seat]:
        """Return the representatives, as they were seated."""
        return (self.seats[seat] for seat in self.order)

    def pending_amendments(self) -> Iterator[Amendment]:
        """Return the pending amendments, as they were proposed."""
        return (self.amendments[name] for name in self.pending)

    def amendments_in_order(self) -> list[Amendment]:
        """Return the amendments, as they were proposed."""
        return sorted(self.amendments.values(), key=lambda amendment: amendment.number)
