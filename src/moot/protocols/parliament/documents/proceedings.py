"""What the documents of a session are made of: the state, every message, every summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from moot.protocols.parliament.messages.contents import (
    Answer,
    BillDraft,
    Content,
    PmDecision,
    Vote,
    VoteTally,
)
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.model import SessionOutcome, State

C = TypeVar("C", bound=Content)


class CountedBallot(msgspec.Struct, frozen=True):
    """A ballot: who voted what, and what was announced; None while it is open."""

    votes: dict[str, Vote]
    tally: VoteTally | None
    round: int


class DraftVersion(msgspec.Struct, frozen=True):
    """A version of the bill: whose, when, and its text."""

    draft: BillDraft
    by: str
    round: int


class Proceedings(msgspec.Struct, frozen=True):
    """`signers` says whose key signed a message, where that is known."""

    state: State
    messages: tuple[LedgerMessage, ...]
    summaries: tuple[dict[str, Any], ...]
    signers: dict[str, str] = {}

    def messages_with(self, kind: type[C]) -> Iterator[tuple[LedgerMessage, C]]:
        """The messages of one type, with their contents."""
        for message in self.messages:
            if isinstance(message.content, kind):
                yield message, message.content

    def name_of_seat(self, seat: str) -> str:
        known_seat = self.state.seats.get(seat)
        return known_seat.name if known_seat is not None else seat.replace("_", " ")


def list_ballots(record: Proceedings) -> list[CountedBallot]:
    """Every ballot in order: the votes before each tally, and those still open."""
    counted: list[CountedBallot] = []
    votes: dict[str, Vote] = {}
    round_number = 0
    for message in record.messages:
        match message.content:
            case Vote() as vote:
                votes[message.sender] = vote
                round_number = message.round
            case VoteTally() as tally:
                counted.append(CountedBallot(votes, tally, message.round))
                votes = {}
    return [*counted, CountedBallot(votes, None, round_number)] if votes else counted


def list_bill_versions(record: Proceedings) -> list[DraftVersion]:
    """The bill's history; the prime minister's own text is the last of it."""
    history = [
        DraftVersion(draft, message.sender, message.round)
        for message, draft in record.messages_with(BillDraft)
    ]
    bill = record.state.bill
    if bill is not None and (not history or history[-1].draft.bill_version < bill.version):
        draft = BillDraft(bill.version, bill.title, bill.summary, bill.sections)
        history.append(DraftVersion(draft, "prime_minister", record.state.round.number))
    return history


def list_decisions(record: Proceedings) -> list[tuple[LedgerMessage, PmDecision]]:
    return list(record.messages_with(PmDecision))


def signer_of_decision(record: Proceedings, message: LedgerMessage) -> str:
    """The person who signed a decision here; empty if unknown, vague if it came from files."""
    number = int(message.id.removeprefix("msg-"))
    if number <= record.state.imported:
        return "someone elsewhere"
    return record.signers.get(message.id, "")


def find_final_decision(record: Proceedings) -> tuple[LedgerMessage, PmDecision] | None:
    """The decision that ended the session; None while it goes on, or if the vote ended it."""
    all_decisions = list_decisions(record)
    ended = record.state.outcome not in (None, SessionOutcome.NO_PASSAGE)
    return all_decisions[-1] if ended and all_decisions else None


def describe_origin(state: State) -> str:
    """Where unsigned messages came from; empty if all were signed here."""
    if not state.imported:
        return ""
    all_of_them = state.next_message_id - 1
    return f"{state.imported} of {all_of_them} messages were read from files, not signed here"


def collect_scores_by_round(record: Proceedings) -> dict[str, dict[int, dict[str, int]]]:
    """For each seat and round, the latest score of each motive named in it."""
    scores: dict[str, dict[int, dict[str, int]]] = {}
    for message in record.messages:
        if isinstance(message.content, Answer | Vote):
            rounds = scores.setdefault(message.sender, {})
            rounds.setdefault(message.round, {}).update(message.content.motive_scores)
    return scores
