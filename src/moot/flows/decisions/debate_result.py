"""What a debate came to, read from its record: the file on disk may have been changed."""

from __future__ import annotations

from moot.core.quoted import Quoted
from moot.flows.debate.outcome import describe_outcome
from moot.flows.debate.record import read_events, recorded_parts
from moot.flows.decisions.argument import (
    NO_ARGUMENT,
    ArguedVote,
    Argument,
    DissentingVoice,
    HeardEntry,
    StanceChange,
    VoteCount,
)
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.course import Course, DebateRound
from moot.protocols.debate.model import DebateEntry, Stance, split_evidence
from moot.protocols.debate.position_changes import PositionChange, find_position_changes
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision.model import State
from moot.workspace.workspace import Workspace


def summarize_debate(workspace: Workspace, _decision: str, state: State) -> Argument:
    assert state.session is not None
    with workspace.store.read() as view:
        events = read_events(view, state.session.id)
    parts = recorded_parts(events, workspace.artifacts)
    if not parts:
        return NO_ARGUMENT
    checked = check_session(b"".join(part for part, _, _ in parts))
    course = require_course(checked)
    rounds = [debate_round for debate_round in course.rounds if debate_round.votes]
    if not rounds:
        return NO_ARGUMENT
    decided = course.find_round(course.ended_at_round) if course.ended_at_round else None
    return Argument(
        votes=tuple(vote for debate_round in rounds for vote in _votes(debate_round)),
        first=_count(course, rounds[0]),
        last=_count(course, rounds[-1]),
        changes=tuple(map(_change, find_position_changes(course))),
        dissent=tuple(_dissent(decided or rounds[-1])),
        outcome=describe_outcome(view_consensus(checked, course.ended_at_round)),
    )


def _latest_entries(debate_round: DebateRound) -> dict[str, DebateEntry]:
    """What each said last in this round, by author."""
    return {entry.author: entry for entry in debate_round.entries}


def _votes(debate_round: DebateRound) -> list[ArguedVote]:
    entries = _latest_entries(debate_round)
    return [
        ArguedVote(
            round=debate_round.number,
            agent=agent,
            stance=vote.stance.value,
            sure=f"{vote.confidence:f}",
            summary=Quoted(entries[agent].field_value("summary")),
            entry=entries[agent].id,
        )
        for agent, vote in debate_round.votes.items()
    ]


def _count(course: Course, debate_round: DebateRound) -> VoteCount:
    tally = debate_round.judge(course.rules)
    others = (*tally.neutral, *tally.deferred, *tally.missing)
    return VoteCount(debate_round.number, tally.approvers, tally.rejecters, others)


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


def _dissent(debate_round: DebateRound) -> list[DissentingVoice]:
    """Everyone in the deciding round who did not approve, in their own words."""
    return [
        DissentingVoice(
            agent=entry.author,
            stance=entry.field_value("stance"),
            sure=entry.field_value("confidence"),
            round=entry.round or 0,
            summary=Quoted(entry.field_value("summary")),
            text=Quoted(entry.body),
            evidence=split_evidence(entry.field_value("evidence")),
        )
        for entry in _latest_entries(debate_round).values()
        if entry.stance is not Stance.APPROVE
    ]
