"""Read the result of an argument from its record: the file on disk may have been changed.

A question may be argued in several sessions, one after the other; rounds are numbered across them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from moot.api.debates.outcome import explain_absence, find_absent, judge_debate
from moot.api.debates.record import read_recorded_bytes
from moot.api.parliaments.incoming import describe_bill
from moot.api.parliaments.ruling import NO_BY_RULE, decision_signed_here
from moot.core.text import Quoted
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.model import DebateEntry, Rules, Stance, split_evidence
from moot.protocols.debate.views import PositionChange, find_changes, require_course
from moot.protocols.decision.model import State
from moot.protocols.parliament.messages.contents import Ballot, Vote
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.protocols.parliament.documents.final_document import CountedBallot, Proceedings


class ArguedVote(msgspec.Struct, frozen=True):
    """One vote; `sure` is empty in a parliament, `entry` is the chamber's own id."""

    round: int
    agent: str
    stance: str
    sure: str
    summary: Quoted
    entry: str


class HeardEntry(msgspec.Struct, frozen=True):
    """An entry of another participant, in short."""

    agent: str
    summary: Quoted
    entry: str


class StanceChange(msgspec.Struct, frozen=True):
    """A changed stance, and what others said since the agent last spoke, the newest last."""

    agent: str
    before: str
    now: str
    round: int
    entry: str
    heard: tuple[HeardEntry, ...] = ()


class VoiceInFull(msgspec.Struct, frozen=True):
    """One participant's statement in the last vote, in full."""

    agent: str
    stance: str
    sure: str
    round: int
    summary: Quoted
    text: Quoted
    evidence: tuple[str, ...] = ()


class DissentingVoice(VoiceInFull, frozen=True):
    """A participant who disagrees with the result."""


class SupportingVoice(VoiceInFull, frozen=True):
    """A participant who supports the motion, with the reasons."""


class AbsentVoice(msgspec.Struct, frozen=True):
    """A participant who took no part in a round, and Moot's sentence on why."""

    agent: str
    round: int
    why: Quoted


class VoteCount(msgspec.Struct, frozen=True):
    """The vote in one round; those who are `absent` count for no side."""

    round: int
    in_favour: tuple[str, ...]
    against: tuple[str, ...]
    others: tuple[str, ...]
    absent: tuple[str, ...] = ()


class Argument(msgspec.Struct, frozen=True):
    """What was argued and voted on. Its fields are in receipts: their names never change.

    `text` is what was voted on last, if that is more than the motion; `outcome` is the result as a
    sentence, if that says more than the recorded result; `heard` is the last ruling that a person
    gave in the session itself.
    """

    votes: tuple[ArguedVote, ...] = ()
    first: VoteCount | None = None
    last: VoteCount | None = None
    changes: tuple[StanceChange, ...] = ()
    dissent: tuple[DissentingVoice, ...] = ()
    text: Quoted = Quoted("")
    outcome: str = ""
    heard: str = ""
    absent: tuple[AbsentVoice, ...] = ()
    support: tuple[SupportingVoice, ...] = ()


NO_ARGUMENT = Argument()


SomeVoice = TypeVar("SomeVoice", bound=VoiceInFull)


class ArguedRound(NamedTuple):
    """A round of one of the sessions, under its number in the whole argument."""

    number: int
    rules: Rules
    votes: dict[str, DebateVote]
    entries: tuple[DebateEntry, ...]
    absent: tuple[str, ...]

    @property
    def own_entries(self) -> Iterator[DebateEntry]:
        """Yield the participants' own entries, without those that the policy wrote."""
        return (entry for entry in self.entries if not is_placeholder(entry))

    @property
    def latest_entries(self) -> dict[str, DebateEntry]:
        """Return the last entry of each author in this round."""
        return {entry.author: entry for entry in self.own_entries}


def read_recorded_sessions(workspace: Workspace, state: State) -> list[CheckedSession]:
    """Return the sessions in which a question was argued, the oldest first."""
    recorded = (read_recorded_bytes(workspace, session.id) for session in state.sessions)
    return [check_known_session(data) for data in recorded if data]


# A decision reads its few sessions often, and they rarely change.
check_known_session = lru_cache(maxsize=4)(check_session)


def summarize_debate(workspace: Workspace, _decision: str, state: State) -> Argument:
    sessions = read_recorded_sessions(workspace, state)
    rounds = list_argued_rounds(sessions)
    if not rounds:
        return NO_ARGUMENT
    entries = [entry for each in rounds for entry in each.own_entries]
    return Argument(
        votes=tuple(vote for each in rounds for vote in _list_votes(each)),
        first=_count_votes(rounds[0]),
        last=_count_votes(rounds[-1]),
        changes=tuple(map(_describe_change, find_changes(entries))),
        dissent=tuple(_list_voices(rounds[-1], Stance.REJECT, DissentingVoice)),
        outcome=judge_debate(sessions[-1], state.quorum).summary,
        absent=tuple(voice for each in rounds for voice in _list_absent(each)),
        support=tuple(_list_support(rounds)),
    )


def list_argued_rounds(sessions: Iterable[CheckedSession]) -> list[ArguedRound]:
    """Return the rounds with votes, numbered across sessions, none after a session's end."""
    rounds: list[ArguedRound] = []
    for checked in sessions:
        course, before = require_course(checked), len(rounds)
        end = course.ended_at_round
        held = [each for each in course.rounds if each.votes and (not end or each.number <= end)]
        for number, each in enumerate(held, before + 1):
            absent = find_absent(each, course.rules.agents)
            votes = {agent: vote for agent, vote in each.votes.items() if agent not in absent}
            entries = tuple(msgspec.structs.replace(entry, round=number) for entry in each.entries)
            rounds.append(ArguedRound(number, course.rules, votes, entries, absent))
    return rounds


def _list_votes(argued: ArguedRound) -> Iterator[ArguedVote]:
    entries = argued.latest_entries
    for agent, vote in argued.votes.items():
        yield ArguedVote(
            round=argued.number,
            agent=agent,
            stance=vote.stance.value,
            sure=f"{vote.confidence:f}",
            summary=Quoted(entries[agent].field_value("summary")),
            entry=entries[agent].id,
        )


def _count_votes(argued: ArguedRound) -> VoteCount:
    def who(*stances: Stance) -> tuple[str, ...]:
        votes = argued.votes
        return tuple(
            agent
            for agent in argued.rules.agents
            if agent in votes and votes[agent].stance in stances
        )

    others = (*who(Stance.NEUTRAL), *who(Stance.DEFER))
    return VoteCount(argued.number, who(Stance.APPROVE), who(Stance.REJECT), others, argued.absent)


def _describe_change(change: PositionChange) -> StanceChange:
    return StanceChange(
        agent=change.agent,
        before=_describe_vote(change.before),
        now=_describe_vote(change.now),
        round=change.entry.round or 0,
        entry=change.entry.id,
        heard=tuple(
            HeardEntry(entry.author, Quoted(entry.field_value("summary")), entry.id)
            for entry in change.heard
        ),
    )


def _describe_vote(vote: DebateVote) -> str:
    return f"{vote.stance.value} {vote.confidence:f}"


def _list_voices(
    argued: ArguedRound, stance: Stance, voice: type[SomeVoice]
) -> Iterator[SomeVoice]:
    """Yield everyone with this stance in the round, in their own words (DEC-032)."""
    for entry in argued.latest_entries.values():
        if entry.stance is stance:
            yield voice(
                agent=entry.author,
                stance=entry.field_value("stance"),
                sure=entry.field_value("confidence"),
                round=entry.round or 0,
                summary=Quoted(entry.field_value("summary")),
                text=Quoted(entry.body),
                evidence=split_evidence(entry.field_value("evidence")),
            )


def _list_support(rounds: Sequence[ArguedRound]) -> Iterator[SupportingVoice]:
    """Yield all reasons of everyone who approved in the last vote."""
    given = [
        voice for each in rounds for voice in _list_voices(each, Stance.APPROVE, SupportingVoice)
    ]
    for last in _list_voices(rounds[-1], Stance.APPROVE, SupportingVoice):
        yield from (voice for voice in given if voice.agent == last.agent)


def _list_absent(argued: ArguedRound) -> Iterator[AbsentVoice]:
    """Yield everyone whose turn was skipped, with the reason."""
    written = {entry.author: entry for entry in argued.entries if is_placeholder(entry)}
    for agent in argued.absent:
        if agent in written:
            yield AbsentVoice(agent, argued.number, Quoted(explain_absence(written[agent])))


def summarize_parliament(workspace: Workspace, decision: str, state: State) -> Argument:
    from moot.api.runs.parliament import open_session_of  # loads all runs

    parliament = open_session_of(workspace, decision, state)
    record = parliament.read_proceedings()
    from moot.protocols.parliament.documents.final_document import list_ballots  # loads pages

    counted = list_ballots(record)
    argument = Argument(
        votes=tuple(
            _describe_ballot(record, message, vote) for message, vote in record.messages_with(Vote)
        ),
        changes=tuple(_list_changes(record)),
        text=Quoted(describe_bill(record.state.bill)),
        heard=str(decision_signed_here(workspace, parliament.stream) or ""),
    )
    if not counted:
        return argument
    last = counted[-1]
    return msgspec.structs.replace(
        argument,
        first=_count_ballots(record, counted[0]),
        last=_count_ballots(record, last),
        dissent=tuple(_list_ballot_voices(record, last, Ballot.NO, DissentingVoice)),
        absent=tuple(_list_absent_seats(record, last)),
        support=tuple(_list_ballot_voices(record, last, Ballot.YES, SupportingVoice)),
    )


def _agent_of(record: Proceedings, seat: str) -> str:
    known = record.state.seats.get(seat)
    return known.agent if known is not None else seat


def _describe_ballot(record: Proceedings, message: LedgerMessage, vote: Vote) -> ArguedVote:
    return ArguedVote(
        round=message.round,
        agent=_agent_of(record, message.sender),
        stance=vote.vote.value,
        sure="",
        summary=Quoted(vote.reasoning),
        entry=message.id,
    )


def _count_ballots(record: Proceedings, counted: CountedBallot) -> VoteCount:
    def who(ballot: Ballot) -> tuple[str, ...]:
        seats = (seat for seat, vote in counted.votes.items() if vote.vote is ballot)
        return tuple(_agent_of(record, seat) for seat in seats)

    absent = (seat.agent for seat in record.state.seats_in_order() if seat.id not in counted.votes)
    return VoteCount(counted.round, who(Ballot.YES), who(Ballot.NO), tuple(absent))


def _list_changes(record: Proceedings) -> Iterator[StanceChange]:
    """Yield who voted differently than the last time; a ballot does not say after whom."""
    latest: dict[str, str] = {}
    for message, vote in record.messages_with(Vote):
        who, before = _agent_of(record, message.sender), latest.get(message.sender)
        if before is not None and before != vote.vote.value:
            yield StanceChange(who, before, vote.vote.value, message.round, message.id)
        latest[message.sender] = vote.vote.value


def _list_absent_seats(record: Proceedings, last: CountedBallot) -> Iterator[AbsentVoice]:
    """Yield expelled seats, whose NO comes from the rules, and seats that did not vote."""
    for seat in record.state.seats_in_order():
        if seat.expelled:
            yield AbsentVoice(seat.agent, last.round, Quoted(NO_BY_RULE))
        elif seat.id not in last.votes:
            yield AbsentVoice(seat.agent, last.round, Quoted("No vote."))


def _list_ballot_voices(
    record: Proceedings, last: CountedBallot, ballot: Ballot, voice: type[SomeVoice]
) -> Iterator[SomeVoice]:
    """Yield everyone with this vote on the last ballot, in full, without expelled seats."""
    expelled = {seat.id for seat in record.state.seats_in_order() if seat.expelled}
    for seat, vote in last.votes.items():
        if vote.vote is ballot and seat not in expelled:
            parts = (vote.reasoning, vote.reservations, *vote.conditions)
            yield voice(
                agent=_agent_of(record, seat),
                stance=vote.vote.value,
                sure="",
                round=last.round,
                summary=Quoted(vote.reasoning),
                text=Quoted("\n\n".join(part for part in parts if part)),
            )
