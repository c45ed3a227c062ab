"""What a debate came to, read from its record: the file on disk may have been changed."""

from __future__ import annotations

from moot.flows.debate.outcome import in_words
from moot.flows.debate.record import history, segments
from moot.flows.decisions.argument import NOTHING, Argued, Change, Count, Heard, Voice, Vote
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.consensus import DebateVote as Cast
from moot.protocols.debate.course import Course, DebateRound
from moot.protocols.debate.model import DebateEntry, Stance, split_evidence
from moot.protocols.debate.position_changes import PositionChange as Moved
from moot.protocols.debate.position_changes import find_position_changes
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision.model import State
from moot.workspace.workspace import Workspace


def debated(workspace: Workspace, _decision: str, state: State) -> Argued:
    assert state.session is not None
    with workspace.store.read() as view:
        events = history(view, state.session.id)
    parts = segments(events, workspace.artifacts)
    if not parts:
        return NOTHING
    checked = check_session(b"".join(part for part, _, _ in parts))
    course = require_course(checked)
    rounds = [one for one in course.rounds if one.votes]
    if not rounds:
        return NOTHING
    decided = course.find_round(course.ended_at_round) if course.ended_at_round else None
    return Argued(
        votes=tuple(vote for one in rounds for vote in _votes(one)),
        first=_count(course, rounds[0]),
        last=_count(course, rounds[-1]),
        changes=tuple(map(_change, find_position_changes(course))),
        dissent=tuple(_dissent(decided or rounds[-1])),
        outcome=in_words(view_consensus(checked, course.ended_at_round)),
    )


def _latest(one: DebateRound) -> list[DebateEntry]:
    return list({entry.author: entry for entry in one.entries}.values())


def _votes(one: DebateRound) -> list[Vote]:
    said = {entry.author: entry for entry in one.entries}
    return [
        Vote(one.number, agent, vote.stance.value, f"{vote.confidence:f}", *_said(said[agent]))
        for agent, vote in one.votes.items()
    ]


def _said(entry: DebateEntry) -> tuple[str, str]:
    return entry.field_value("summary"), entry.id


def _count(course: Course, one: DebateRound) -> Count:
    found = one.judge(course.rules)
    others = (*found.neutral, *found.deferred, *found.missing)
    return Count(one.number, found.approvers, found.rejecters, others)


def _change(change: Moved) -> Change:
    return Change(
        agent=change.agent,
        before=_words(change.before),
        now=_words(change.now),
        round=change.entry.round or 0,
        entry=change.entry.id,
        heard=tuple(Heard(one.author, *_said(one)) for one in change.heard),
    )


def _words(vote: Cast) -> str:
    return f"{vote.stance.value} {vote.confidence:f}"


def _dissent(one: DebateRound) -> list[Voice]:
    """Everyone in the deciding round who did not approve, in their own words."""
    return [
        Voice(
            agent=entry.author,
            stance=entry.field_value("stance"),
            sure=entry.field_value("confidence"),
            round=entry.round or 0,
            summary=entry.field_value("summary"),
            text=entry.body,
            evidence=split_evidence(entry.field_value("evidence")),
        )
        for entry in _latest(one)
        if entry.stance is not Stance.APPROVE
    ]
