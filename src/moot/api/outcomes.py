"""Outcomes: how decisions turned out, by a person's word, and whom that says to listen to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.intervals import Interval
    from moot.protocols.decision.track_record import Record, WayToDecide


class JudgedDecision(msgspec.Struct, frozen=True):
    """What a person said of one decision; `first` is what was said of it first, if corrected."""

    decision: str
    outcome: str
    by: str
    attended: bool
    answer: Quoted
    reason: Quoted
    first: str


class JudgedDecisions(msgspec.Struct, frozen=True):
    judged: list[JudgedDecision]


class Range(msgspec.Struct, frozen=True):
    """Where the true value lies, 19 times in 20."""

    low: float
    high: float


class ParticipantRecord(msgspec.Struct, frozen=True):
    """How one participant or model did. Scores are Brier's: 0 perfect, 0.25 knowing nothing.

    `helped` and `hurt` count changes of mind. `usd_per_right` is what each right forecast cost.
    """

    name: str
    decisions: int
    scored: int
    unscored: int
    right: int
    first_score: float | None
    last_score: float | None
    interval: Range
    helped: int
    hurt: int
    usd_per_right: float | None


class DecidingWay(msgspec.Struct, frozen=True):
    """How often one way to decide was right; `open` are ties and cases without a forecast."""

    right: int
    wrong: int
    open: int


class IndependentVoters(msgspec.Struct, frozen=True):
    """So many independent voters would scatter as much: an equivalent in variance, no more."""

    participants: int
    decisions: int
    correlation: float
    voters: float
    interval: Range


class Track(msgspec.Struct, frozen=True):
    """What outcomes tell so far.

    `decisions` counts all, `judged` those with an outcome. Below 30 outcomes `enough` is False:
    then these are counts, and no ranking. `voters` is None below 30 shared outcomes.
    """

    decisions: int
    judged: int
    mixed: int
    enough: bool
    participants: list[ParticipantRecord]
    models: list[ParticipantRecord]
    single_best: DecidingWay
    vote_before: DecidingWay
    vote_after: DecidingWay
    voters: IndependentVoters | None


@operation("outcome", writes=True)
def judge(
    session: Session, decisions: Sequence[str], outcome: str, reason: str, *, answer: str = ""
) -> JudgedDecisions:
    """A person says how decisions turned out: right, wrong or mixed, for the answer acted on.

    `answer` names the one that proved right. A later word corrects an earlier one, which stays on
    record. All are looked at before the first is judged. An agent is refused
    (human_key_required); a decision without an answer is `nothing_to_judge`. Saying the same again
    only adds the same word to the record, so a repeat needs no key.
    """
    from moot.flows.decisions.outcomes import judge_outcome, require_judgeable
    from moot.flows.decisions.questions import decision_id

    names = list(dict.fromkeys(decision_id(each) for each in decisions))
    session.require_no_agent("an outcome")
    for name in names:
        require_judgeable(session.workspace, name, outcome, reason)
    person = session.person("an outcome")
    judged = []
    for name in names:
        state = judge_outcome(session.workspace, name, person, outcome, reason, answer)
        newest, first = state.outcome, state.first_outcome
        assert newest is not None
        assert first is not None
        judged.append(
            JudgedDecision(
                decision=name,
                outcome=newest.outcome,
                by=newest.by,
                attended=newest.attended,
                answer=Quoted(newest.answer),
                reason=Quoted(newest.reason),
                first=first.outcome,
            )
        )
    return JudgedDecisions(judged)


@operation("track")
def track(session: Session, *, file: Path | None = None) -> Track:
    """Whom to listen to, by how decisions turned out: every participant, every model, the vote.

    With `file` (FILE.html, FILE.md or FILE.json) it is also written as a page.
    """
    from moot.api.page_files import require_page_name, write_page
    from moot.flows.decisions.outcomes import read_track_record
    from moot.flows.decisions.track_page import build_track_page

    require_page_name(file)
    record, decisions = read_track_record(session.workspace)
    if file is not None:
        write_page(file, build_track_page(record, decisions))
    voters = record.voters
    return Track(
        decisions=decisions,
        judged=record.judged,
        mixed=record.mixed,
        enough=record.is_enough,
        participants=[_participant(each) for each in record.participants],
        models=[_participant(each) for each in record.models],
        single_best=_way(record.single_best),
        vote_before=_way(record.vote_before),
        vote_after=_way(record.vote_after),
        voters=None
        if voters is None
        else IndependentVoters(
            voters.participants,
            voters.decisions,
            voters.correlation,
            voters.voters,
            _range(voters.interval),
        ),
    )


def _participant(record: Record) -> ParticipantRecord:
    micros = record.micros_per_right
    return ParticipantRecord(
        name=record.name,
        decisions=record.decisions,
        scored=record.scored,
        unscored=record.unscored,
        right=record.right,
        first_score=_number(record.first_score),
        last_score=_number(record.last_score),
        interval=_range(record.interval),
        helped=record.helped,
        hurt=record.hurt,
        usd_per_right=None if micros is None else micros / 1_000_000,
    )


def _way(way: WayToDecide) -> DecidingWay:
    return DecidingWay(way.right, way.wrong, way.open)


def _range(interval: Interval) -> Range:
    return Range(interval.low, interval.high)


def _number(score: Fraction | None) -> float | None:
    return None if score is None else float(score)
