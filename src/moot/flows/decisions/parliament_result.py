"""What a parliament came to, read from its record: every ballot, and the last one's dissent."""

from __future__ import annotations

from collections.abc import Iterator

from moot.flows.decisions.argument import Argued, Change, Count, Voice, Vote
from moot.flows.parliament.bills import in_words
from moot.flows.parliament.ruling import heard_in
from moot.flows.runs.run_parliament import session_of
from moot.protocols.decision.model import State
from moot.protocols.parliament.documents.proceedings import CountedBallot, Proceedings, list_ballots
from moot.protocols.parliament.messages.contents import Vote as Cast
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.messages.words import Ballot
from moot.workspace.workspace import Workspace


def sat(workspace: Workspace, decision: str, state: State) -> Argued:
    held = session_of(workspace, decision, state)
    record = held.proceedings()
    counted = list_ballots(record)
    return Argued(
        votes=tuple(_vote(record, message, vote) for message, vote in record.messages_with(Cast)),
        first=_count(record, counted[0]) if counted else None,
        last=_count(record, counted[-1]) if counted else None,
        changes=tuple(_changes(record)),
        dissent=tuple(_dissent(record, counted[-1])) if counted else (),
        text=in_words(record.state.bill),
        heard=str(heard_in(workspace, held.stream) or ""),
    )


def _agent(record: Proceedings, seat: str) -> str:
    known = record.state.seats.get(seat)
    return known.agent if known is not None else seat


def _vote(record: Proceedings, message: LedgerMessage, vote: Cast) -> Vote:
    who = _agent(record, message.sender)
    return Vote(message.round, who, vote.vote.value, "", vote.reasoning, message.id)


def _count(record: Proceedings, one: CountedBallot) -> Count:
    def who(ballot: Ballot) -> tuple[str, ...]:
        found = (seat for seat, vote in one.votes.items() if vote.vote is ballot)
        return tuple(_agent(record, seat) for seat in found)

    absent = (seat.agent for seat in record.state.seats_in_order() if seat.id not in one.votes)
    return Count(one.round, who(Ballot.YES), who(Ballot.NO), tuple(absent))


def _changes(record: Proceedings) -> Iterator[Change]:
    """Who voted otherwise than the last time. A ballot does not say after whom."""
    latest: dict[str, str] = {}
    for message, vote in record.messages_with(Cast):
        who, before = _agent(record, message.sender), latest.get(message.sender)
        if before is not None and before != vote.vote.value:
            yield Change(who, before, vote.vote.value, message.round, message.id)
        latest[message.sender] = vote.vote.value


def _dissent(record: Proceedings, last: CountedBallot) -> Iterator[Voice]:
    for seat, vote in last.votes.items():
        if vote.vote is Ballot.NO:
            parts = (vote.reasoning, vote.reservations, *vote.conditions)
            text = "\n\n".join(part for part in parts if part)
            who = _agent(record, seat)
            yield Voice(who, vote.vote.value, "", last.round, vote.reasoning, text)
