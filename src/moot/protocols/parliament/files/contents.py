"""What stands in session.json and bill.json, as frozen values in the order the files print it."""

from __future__ import annotations

import msgspec

from moot.protocols.parliament.messages.words import (
    AmendmentAction,
    AmendmentStatus,
    Ballot,
    BillSection,
    Position,
)


class TemperatureRow(msgspec.Struct, frozen=True):
    round: int
    temperature: int


class CastVoteRow(msgspec.Struct, frozen=True):
    round: int
    bill_version: int
    vote: Ballot


class Representative(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-092: a seat. A motive that was never scored has the satisfaction None."""

    agent_id: str
    name: str
    temperature: int
    temperature_history: tuple[TemperatureRow, ...]
    motives: tuple[str, ...]
    motive_satisfaction: dict[str, int | None]
    is_quiet: bool
    quiet_until_round: int | None
    voting_record: tuple[CastVoteRow, ...]


class DebateClock(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-098: the limits of the current round, and how much of it is used up."""

    max_exchanges_per_round: int
    response_budget: int
    exchanges_this_round: int


class VoteResult(msgspec.Struct, frozen=True, kw_only=True):
    """C-32: a vote as the session and the summaries print it."""

    round: int
    bill_version: int
    yes: int
    no: int
    total: int
    passed: bool
    forced: bool


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-086: `session.json`. The status is empty before the session was convened."""

    parliament_id: str
    problem_statement: str
    constituent_issues: tuple[str, ...]
    current_round: int
    max_rounds: int
    bill_version: int
    drafter: str | None
    status: str
    next_message_id: int
    representatives: tuple[Representative, ...]
    debate_clock: DebateClock
    vote_history: tuple[VoteResult, ...]


class BillScope(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-110: in the bill file all four lists are there, empty or not."""

    in_scope: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


class BillSections(msgspec.Struct, frozen=True, kw_only=True):
    problem: str = ""
    scope: BillScope = BillScope()
    solution: str = ""
    implementation: str = ""


class EndorsementRow(msgspec.Struct, frozen=True):
    agent_id: str
    position: Position
    round: int


class AmendmentRow(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-111: an amendment, with each seat's latest position on it."""

    amendment_id: str
    proposed_by: str
    round: int
    target_section: BillSection
    action: AmendmentAction
    description: str
    status: AmendmentStatus
    endorsements: tuple[EndorsementRow, ...]


class BillFile(msgspec.Struct, frozen=True, kw_only=True):
    """PAR-109: `bill.json`. Before the first draft there is a file without a bill."""

    bill_id: str | None
    title: str | None
    version: int
    drafter: str | None
    sections: BillSections
    amendments: tuple[AmendmentRow, ...]
