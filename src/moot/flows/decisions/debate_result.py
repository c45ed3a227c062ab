"""What a debate came to, read from its record: the file on disk may have been changed."""

from __future__ import annotations

from moot.flows.debate.outcome import in_words
from moot.flows.debate.record import history, segments
from moot.flows.decisions.argument import NOTHING, Argued, Change, Count, Heard, Voice, Vote
from moot.protocols.debate.checker import check
from moot.protocols.debate.consensus import Vote as Cast
from moot.protocols.debate.course import Course, Round
from moot.protocols.debate.model import Entry, Stance, evidence
from moot.protocols.debate.positions import Change as Moved
from moot.protocols.debate.positions import changes
from moot.protocols.debate.views import consensus_data, course_of
from moot.protocols.decision.model import State
from moot.workspace.workspace import Workspace


def debated(space: Workspace, _decision: str, state: State) -> Argued:
    assert state.session is not None
    with space.store.read() as view:
        events = history(view, state.session.id)
    parts = segments(events, space.artifacts)
    if not parts:
        return NOTHING
    checked = check(b"".join(part for part, _, _ in parts))
    course = course_of(checked)
    rounds = [one for one in course.rounds if one.votes]
    if not rounds:
        return NOTHING
    decided = course.round(course.ended_at_round) if course.ended_at_round else None
    return Argued(
        votes=tuple(vote for one in rounds for vote in _votes(one)),
        first=_count(course, rounds[0]),
        last=_count(course, rounds[-1]),
        changes=tuple(map(_change, changes(course))),
        dissent=tuple(_dissent(decided or rounds[-1])),
        outcome=in_words(consensus_data(checked, course.ended_at_round)),
    )


def _latest(one: Round) -> list[Entry]:
    return list({entry.author: entry for entry in one.entries}.values())


def _votes(one: Round) -> list[Vote]:
    said = {entry.author: entry for entry in one.entries}
    return [
        Vote(one.number, agent, vote.stance.value, f"{vote.confidence:f}", *_said(said[agent]))
        for agent, vote in one.votes.items()
    ]


def _said(entry: Entry) -> tuple[str, str]:
    return entry.said("summary"), entry.id


def _count(course: Course, one: Round) -> Count:
    found = one.verdict(course.rules)
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


def _dissent(one: Round) -> list[Voice]:
    """Everyone in the deciding round who did not approve, in their own words."""
    return [
        Voice(
            agent=entry.author,
            stance=entry.said("stance"),
            sure=entry.said("confidence"),
            round=entry.round or 0,
            summary=entry.said("summary"),
            text=entry.body,
            evidence=evidence(entry.said("evidence")),
        )
        for entry in _latest(one)
        if entry.stance is not Stance.APPROVE
    ]
