"""What a parliament came to, read from its record: every ballot, and the last one's dissent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from moot.core.quoted import Quoted
from moot.flows.decisions.argument import (
    AbsentVoice,
    ArguedVote,
    Argument,
    DissentingVoice,
    StanceChange,
    SupportingVoice,
    VoiceInFull,
    VoteCount,
)
from moot.flows.parliament.bills import describe_bill
from moot.flows.parliament.results import NO_BY_RULE
from moot.flows.parliament.ruling import decision_signed_here
from moot.flows.runs.run_parliament import open_session_of
from moot.protocols.decision.model import State
from moot.protocols.parliament.documents.proceedings import CountedBallot, Proceedings, list_ballots
from moot.protocols.parliament.messages.contents import Vote
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.messages.words import Ballot
from moot.workspace.workspace import Workspace

SomeVoice = TypeVar("SomeVoice", bound=VoiceInFull)


def summarize_parliament(workspace: Workspace, decision: str, state: State) -> Argument:
    parliament = open_session_of(workspace, decision, state)
    record = parliament.read_proceedings()
    counted = list_ballots(record)
    return Argument(
        votes=tuple(_vote(record, message, vote) for message, vote in record.messages_with(Vote)),
        first=_count(record, counted[0]) if counted else None,
        last=_count(record, counted[-1]) if counted else None,
        changes=tuple(_changes(record)),
        dissent=tuple(_voices(record, counted[-1], Ballot.NO, DissentingVoice)) if counted else (),
        text=Quoted(describe_bill(record.state.bill)),
        heard=str(decision_signed_here(workspace, parliament.stream) or ""),
        absent=tuple(_absent(record, counted[-1])) if counted else (),
        support=tuple(_voices(record, counted[-1], Ballot.YES, SupportingVoice)) if counted else (),
    )


def _agent(record: Proceedings, seat: str) -> str:
    known = record.state.seats.get(seat)
    return known.agent if known is not None else seat


def _vote(record: Proceedings, message: LedgerMessage, vote: Vote) -> ArguedVote:
    return ArguedVote(
        round=message.round,
        agent=_agent(record, message.sender),
        stance=vote.vote.value,
        sure="",
        summary=Quoted(vote.reasoning),
        entry=message.id,
    )


def _count(record: Proceedings, counted: CountedBallot) -> VoteCount:
    def who(ballot: Ballot) -> tuple[str, ...]:
        seats = (seat for seat, vote in counted.votes.items() if vote.vote is ballot)
        return tuple(_agent(record, seat) for seat in seats)

    absent = (seat.agent for seat in record.state.seats_in_order() if seat.id not in counted.votes)
    return VoteCount(counted.round, who(Ballot.YES), who(Ballot.NO), tuple(absent))


def _changes(record: Proceedings) -> Iterator[StanceChange]:
    """Who voted otherwise than the last time. A ballot does not say after whom."""
    latest: dict[str, str] = {}
    for message, vote in record.messages_with(Vote):
        who, before = _agent(record, message.sender), latest.get(message.sender)
        if before is not None and before != vote.vote.value:
            yield StanceChange(who, before, vote.vote.value, message.round, message.id)
        latest[message.sender] = vote.vote.value


def _absent(record: Proceedings, last: CountedBallot) -> Iterator[AbsentVoice]:
    """Expelled seats, whose NO is the rule's, and those who did not vote."""
    for seat in record.state.seats_in_order():
        if seat.expelled:
            yield AbsentVoice(seat.agent, last.round, Quoted(NO_BY_RULE))
        elif seat.id not in last.votes:
            yield AbsentVoice(seat.agent, last.round, Quoted("No vote."))


def _voices(
    record: Proceedings, last: CountedBallot, ballot: Ballot, voice: type[SomeVoice]
) -> Iterator[SomeVoice]:
    """Everyone who voted so on the last ballot, in full; an expelled seat's NO is the rule's."""
    expelled = {seat.id for seat in record.state.seats_in_order() if seat.expelled}
    for seat, vote in last.votes.items():
        if vote.vote is ballot and seat not in expelled:
            parts = (vote.reasoning, vote.reservations, *vote.conditions)
            yield voice(
                agent=_agent(record, seat),
                stance=vote.vote.value,
                sure="",
                round=last.round,
                summary=Quoted(vote.reasoning),
                text=Quoted("\n\n".join(part for part in parts if part)),
            )
