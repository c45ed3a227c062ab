"""The events of a session. A message is recorded as the protocol prints it; the other events are
what the clerk, the speaker and the prime minister did.
"""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.machine import Event
from moot.protocols.parliament.messages.contents import (
    AmendmentStatus,
    BillDraft,
    RulingAction,
    RulingType,
)


class Seated(msgspec.Struct, frozen=True):
    """A seat as it was filled, with the temperature of round 0; `epoch`: which holder of a name."""

    id: str
    name: str
    motives: tuple[str, ...]
    agent: str
    bound: bool
    temperature: int
    epoch: int = 1


class ParliamentConvened(Event, frozen=True):
    parliament_id: str
    problem_statement: str
    issues: tuple[str, ...]
    seats: tuple[Seated, ...]
    max_rounds: int


class SessionImported(Event, frozen=True):
    """The next `messages` come from files, which this event cites; no seat signed them here."""

    parliament_id: str
    messages: int


class SeatBound(Event, frozen=True):
    seat: str
    agent: str
    epoch: int = 1


class StatementsOpened(Event, frozen=True):
    """setup -> opening_statements"""


class StatementsClosed(Event, frozen=True):
    """opening_statements -> evaluating_statements"""


class DrafterChosen(Event, frozen=True):
    """evaluating_statements -> drafting"""

    seat: str
    why: str


class DrafterReplaced(Event, frozen=True):
    """The drafter was expelled; another seat drafts from here on."""

    seat: str
    why: str


class MessageLogged(Event, frozen=True):
    """One entry of `ledger.json`, whole. `cut_to`: its text was cut to so many sentences; what
    was sent is the artifact this event cites.
    """

    message: dict[str, Any]
    cut_to: int | None = None


class DebateOpened(Event, frozen=True):
    """drafting -> debate, with the first draft"""


class RulingOwed(Event, frozen=True):
    """Something happened that calls for a ruling by the speaker."""

    ruling_type: RulingType
    action: RulingAction
    target: str | None
    ruling: str


class RulingGiven(Event, frozen=True):
    """The oldest owed ruling is a message now."""


class RoundStarted(Event, frozen=True):
    """`temperatures` of all seats, in their order."""

    round: int
    temperatures: tuple[int, ...]


class RoundEnded(Event, frozen=True):
    """`open_issues`: questions that were not answered, or were put off."""

    round: int
    open_issues: tuple[str, ...]


class RoundSummarized(Event, frozen=True):
    """A row of `round-summaries.json`; a later one for the same round replaces it.

    `told`: someone else than the clerk wrote it. PAR-127: this is not a message.
    """

    summary: dict[str, Any]
    told: bool = False


class ReplyMalformed(Event, frozen=True):
    """A seat's reply could not be used: refused, not in the ledger file, and counted."""

    seat: str
    code: str
    where: str
    count: int


class SeatExpelled(Event, frozen=True):
    """The second malformed reply in a row: the seat is no longer heard, and votes NO."""

    seat: str


class AmendmentSettled(Event, frozen=True):
    amendment_id: str
    status: AmendmentStatus


class AmendmentVoteCalled(Event, frozen=True):
    amendment_id: str


class VoteCalled(Event, frozen=True):
    """debate -> voting"""

    bill_version: int
    forced: bool


class BallotClosed(Event, frozen=True):
    missing: tuple[str, ...]


class BillPassed(Event, frozen=True):
    """voting -> pm_review"""


class BillDefeated(Event, frozen=True):
    """voting -> debate: there are rounds left"""


class PassageFailed(Event, frozen=True):
    """Into synthesis: defeated in the last round, or no seat was left to draft a bill."""


class BillApproved(Event, frozen=True):
    """pm_review -> synthesis"""


class BillAmended(Event, frozen=True):
    """pm_review -> synthesis, with the prime minister's own text as the next version"""

    draft: BillDraft


class BillReturned(Event, frozen=True):
    """pm_review -> debate: vetoed, and there is a round left for it"""

    max_rounds: int


class BillRejected(Event, frozen=True):
    """pm_review -> synthesis: vetoed, and no round is left"""


class SessionCompleted(Event, frozen=True):
    """synthesis -> complete"""


EVENTS = (
    ParliamentConvened,
    SessionImported,
    SeatBound,
    StatementsOpened,
    StatementsClosed,
    DrafterChosen,
    DrafterReplaced,
    MessageLogged,
    DebateOpened,
    RulingOwed,
    RulingGiven,
    RoundStarted,
    RoundEnded,
    RoundSummarized,
    ReplyMalformed,
    SeatExpelled,
    AmendmentSettled,
    AmendmentVoteCalled,
    VoteCalled,
    BallotClosed,
    BillPassed,
    BillDefeated,
    PassageFailed,
    BillApproved,
    BillAmended,
    BillReturned,
    BillRejected,
    SessionCompleted,
)
