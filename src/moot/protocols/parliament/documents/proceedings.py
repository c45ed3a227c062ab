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
from moot.protocols.parliament.messages.message import Message
from moot.protocols.parliament.model import Outcome, State

C = TypeVar("C", bound=Content)


class Counted(msgspec.Struct, frozen=True):
    """A ballot: who voted what, and what was announced; None while it is open."""

    votes: dict[str, Vote]
    tally: VoteTally | None
    round: int


class Version(msgspec.Struct, frozen=True):
    """A version of the bill: whose, when, and its text."""

    draft: BillDraft
    by: str
    round: int


class Proceedings(msgspec.Struct, frozen=True):
    """`signers` says whose key signed a message, where that is known."""

    state: State
    messages: tuple[Message, ...]
    summaries: tuple[dict[str, Any], ...]
    signers: dict[str, str] = {}

    def said(self, kind: type[C]) -> Iterator[tuple[Message, C]]:
        """The messages of one type, with their contents."""
        for message in self.messages:
            if isinstance(message.content, kind):
                yield message, message.content

    def name(self, seat: str) -> str:
        known_seat = self.state.seats.get(seat)
        return known_seat.name if known_seat is not None else seat.replace("_", " ")


def ballots(record: Proceedings) -> list[Counted]:
    """Every ballot in order: the votes before each tally, and those still open."""
    counted: list[Counted] = []
    votes: dict[str, Vote] = {}
    round_number = 0
    for message in record.messages:
        match message.content:
            case Vote() as vote:
                votes[message.sender] = vote
                round_number = message.round
            case VoteTally() as tally:
                counted.append(Counted(votes, tally, message.round))
                votes = {}
    return [*counted, Counted(votes, None, round_number)] if votes else counted


def versions(record: Proceedings) -> list[Version]:
    """The bill's history; the prime minister's own text is the last of it."""
    history = [
        Version(draft, message.sender, message.round) for message, draft in record.said(BillDraft)
    ]
    bill = record.state.bill
    if bill is not None and (not history or history[-1].draft.bill_version < bill.version):
        draft = BillDraft(bill.version, bill.title, bill.summary, bill.sections)
        history.append(Version(draft, "prime_minister", record.state.round.number))
    return history


def decisions(record: Proceedings) -> list[tuple[Message, PmDecision]]:
    return list(record.said(PmDecision))


def decided_by(record: Proceedings, message: Message) -> str:
    """The person who signed a decision here; empty if unknown, vague if it came from files."""
    number = int(message.id.removeprefix("msg-"))
    if number <= record.state.imported:
        return "someone elsewhere"
    return record.signers.get(message.id, "")


def last_word(record: Proceedings) -> tuple[Message, PmDecision] | None:
    """The decision that ended the session; None while it goes on, or if the vote ended it."""
    all_decisions = decisions(record)
    ended = record.state.outcome not in (None, Outcome.NO_PASSAGE)
    return all_decisions[-1] if ended and all_decisions else None


def origin(state: State) -> str:
    """Where unsigned messages came from; empty if all were signed here."""
    if not state.imported:
        return ""
    all_of_them = state.next_message_id - 1
    return f"{state.imported} of {all_of_them} messages were read from files, not signed here"


def scores_by_round(record: Proceedings) -> dict[str, dict[int, dict[str, int]]]:
    """For each seat and round, the latest score of each motive named in it."""
    scores: dict[str, dict[int, dict[str, int]]] = {}
    for message in record.messages:
        if isinstance(message.content, Answer | Vote):
            rounds = scores.setdefault(message.sender, {})
            rounds.setdefault(message.round, {}).update(message.content.motive_scores)
    return scores
