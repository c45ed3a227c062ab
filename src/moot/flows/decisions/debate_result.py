"""What a debate came to, read from its record: the file on disk may have been changed.

A question may be argued in several sessions, one after the other: their rounds are counted through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from moot.core.quoted import Quoted
from moot.flows.debate.record import read_recorded_bytes
from moot.flows.decisions.argument import (
    NO_ARGUMENT,
    AbsentVoice,
    ArguedVote,
    Argument,
    DissentingVoice,
    HeardEntry,
    StanceChange,
    SupportingVoice,
    VoiceInFull,
    VoteCount,
)
from moot.flows.runs.debate_verdict import find_absent, judge_debate, why_absent
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.course import DebateRound, is_placeholder
from moot.protocols.debate.model import DebateEntry, Rules, Stance, split_evidence
from moot.protocols.debate.position_changes import PositionChange, find_changes
from moot.protocols.debate.views import require_course
from moot.protocols.decision.model import State
from moot.workspace.workspace import Workspace

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
        """What was really said: an entry that the policy wrote is nobody's word."""
        return (entry for entry in self.entries if not is_placeholder(entry))

    @property
    def latest_entries(self) -> dict[str, DebateEntry]:
        """What each said last in this round, by author."""
        return {entry.author: entry for entry in self.own_entries}


def summarize_debate(workspace: Workspace, _decision: str, state: State) -> Argument:
    return summarize_sessions(read_recorded_sessions(workspace, state), state.quorum)


def read_recorded_sessions(workspace: Workspace, state: State) -> list[CheckedSession]:
    """The sessions in which it was argued, the first one first."""
    read = (_read_recorded(workspace, session.id) for session in state.sessions)
    return [checked for checked in read if checked is not None]


def _read_recorded(workspace: Workspace, stream: str) -> CheckedSession | None:
    data = read_recorded_bytes(workspace, stream)
    return check_known_session(data) if data else None


# A decision reads its few sessions again and again, to the byte the same.
check_known_session = lru_cache(maxsize=4)(check_session)


def summarize_sessions(sessions: Sequence[CheckedSession], quorum: int = 0) -> Argument:
    rounds = list_argued_rounds(sessions)
    if not rounds:
        return NO_ARGUMENT
    entries = [entry for each in rounds for entry in each.own_entries]
    return Argument(
        votes=tuple(vote for each in rounds for vote in _votes(each)),
        first=_count(rounds[0]),
        last=_count(rounds[-1]),
        changes=tuple(map(_change, find_changes(entries))),
        dissent=tuple(_voices(rounds[-1], Stance.REJECT, DissentingVoice)),
        outcome=judge_debate(sessions[-1], quorum).summary,
        absent=tuple(voice for each in rounds for voice in _absent(each)),
        support=tuple(_support(rounds)),
    )


def list_argued_rounds(sessions: Iterable[CheckedSession]) -> list[ArguedRound]:
    """All rounds in which somebody spoke, counted from the first session to the last; what came
    after a session had ended decides nothing."""
    rounds: list[ArguedRound] = []
    for checked in sessions:
        course, before = require_course(checked), len(rounds)
        end = course.ended_at_round
        held = [each for each in course.rounds if each.votes and (not end or each.number <= end)]
        for place, debate_round in enumerate(held, before + 1):
            rounds.append(_number_round(place, debate_round, course.rules))
    return rounds


def _number_round(number: int, debate_round: DebateRound, rules: Rules) -> ArguedRound:
    absent = find_absent(debate_round, rules.agents)
    return ArguedRound(
        number,
        rules,
        {agent: vote for agent, vote in debate_round.votes.items() if agent not in absent},
        tuple(msgspec.structs.replace(entry, round=number) for entry in debate_round.entries),
        absent,
    )


def _votes(argued: ArguedRound) -> Iterator[ArguedVote]:
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


def _count(argued: ArguedRound) -> VoteCount:
    def who(*stances: Stance) -> tuple[str, ...]:
        votes = argued.votes
        return tuple(
            agent
            for agent in argued.rules.agents
            if agent in votes and votes[agent].stance in stances
        )

    others = (*who(Stance.NEUTRAL), *who(Stance.DEFER))
    return VoteCount(argued.number, who(Stance.APPROVE), who(Stance.REJECT), others, argued.absent)


def _change(change: PositionChange) -> StanceChange:
    return StanceChange(
        agent=change.agent,
        before=_stance(change.before),
        now=_stance(change.now),
        round=change.entry.round or 0,
        entry=change.entry.id,
        heard=tuple(
            HeardEntry(entry.author, Quoted(entry.field_value("summary")), entry.id)
            for entry in change.heard
        ),
    )


def _stance(vote: DebateVote) -> str:
    return f"{vote.stance.value} {vote.confidence:f}"


def _voices(argued: ArguedRound, stance: Stance, voice: type[SomeVoice]) -> Iterator[SomeVoice]:
    """Everyone in the deciding round who stood so, in their own words (DEC-032)."""
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


def _support(rounds: Sequence[ArguedRound]) -> Iterator[SupportingVoice]:
    """Whoever approved in the last vote, with every reason that was given for it on the way."""
    given = [voice for each in rounds for voice in _voices(each, Stance.APPROVE, SupportingVoice)]
    for last in _voices(rounds[-1], Stance.APPROVE, SupportingVoice):
        yield from (voice for voice in given if voice.agent == last.agent)


def _absent(argued: ArguedRound) -> Iterator[AbsentVoice]:
    """Everyone whose turn was skipped, each in its own sentence."""
    written = {entry.author: entry for entry in argued.entries if is_placeholder(entry)}
    for agent in argued.absent:
        if agent in written:
            yield AbsentVoice(agent, argued.number, Quoted(why_absent(written[agent])))
