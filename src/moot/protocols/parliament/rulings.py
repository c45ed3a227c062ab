"""Rounds that start and end, votes that are called and counted, and what falls with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.core.machine import Event
from moot.protocols.parliament import amendments, discipline, motives, votes
from moot.protocols.parliament import events as did
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.messages.message import Response
from moot.protocols.parliament.messages.words import (
    SPEAKER,
    AmendmentStatus,
    Kind,
    MotionType,
    NextAction,
    RulingAction,
)
from moot.protocols.parliament.minutes import Minutes
from moot.protocols.parliament.model import Amendment, Seat
from moot.protocols.parliament.summaries import summary_of
from moot.protocols.parliament.temperatures import draw


def _logged(asked: Asked, minutes: Minutes) -> None:
    assert asked.response is not None
    minutes.log(asked.response)


def ruled(asked: Asked, minutes: Minutes) -> None:
    _RULINGS.get(asked.said.action, _logged)(asked, minutes)


def _round_started(asked: Asked, minutes: Minutes) -> None:
    state, number = asked.state, asked.state.round.number + 1
    heat = draw(f"{state.parliament_id}\n{asked.command.seed}", number, len(state.order))
    minutes.add(did.RoundStarted(round=number, temperatures=heat))
    _logged(asked, minutes)


def _round_ended(asked: Asked, minutes: Minutes) -> None:
    _logged(asked, minutes)
    _end_round(minutes)
    _sum_up(minutes)


def _end_round(minutes: Minutes) -> None:
    """What was not answered or was put off stays open (C-34, C-42); what most oppose falls."""
    for lost in amendments.lost(minutes.state):
        minutes.add(_settled(lost, AmendmentStatus.REJECTED))
    this = minutes.state.round
    waiting = sorted(this.questions.values(), key=lambda one: (len(one.id), one.id))
    tabled = [one for one in this.motions.values() if one.type is MotionType.TABLE_DISCUSSION]
    tabled.sort(key=lambda one: (len(one.id), one.id))
    issues = [f"{one.topic} ({one.id} to {one.asked} is unanswered)" for one in waiting]
    issues += [f"{one.reason} ({one.id}, put off)" for one in tabled]
    minutes.add(did.RoundEnded(round=this.number, open_issues=tuple(issues)))


def _sum_up(minutes: Minutes) -> None:
    """PAR-119. A better told summary stays; only its facts are brought up to date."""
    state = minutes.state
    summary, told = summary_of(state, state.round.open_issues), state.round.told
    if told is not None:
        summary = {**told, **{name: summary[name] for name in _FACTS}}
    minutes.add(did.RoundSummarized(summary=summary, told=told is not None))


_FACTS: Final = ("amendments_actioned", "vote_result")


def _vote_called(asked: Asked, minutes: Minutes) -> None:
    forced = not motives.served(asked.state)
    _logged(asked, minutes)
    if minutes.state.round.running:
        _end_round(minutes)
    bill = minutes.state.bill
    version = bill.version if bill is not None else 0
    minutes.add(did.VoteCalled(bill_version=version, forced=forced))
    for seat in discipline.expelled_to_vote(minutes.state):
        _default_vote(minutes, seat)


_RULINGS: Final[dict[RulingAction, Callable[[Asked, Minutes], None]]] = {
    RulingAction.ROUND_START: _round_started,
    RulingAction.ROUND_END: _round_ended,
    RulingAction.CALL_VOTE: _vote_called,
}


def _default_vote(minutes: Minutes, seat: Seat) -> None:
    content = discipline.default_vote(seat)
    minutes.log(Response(type=Kind.VOTE, sender=seat.id, content=content))


def default_cast(asked: Asked, minutes: Minutes) -> None:
    _default_vote(minutes, asked.state.seats[asked.command.seat])


def ballot_closed(asked: Asked, minutes: Minutes) -> None:
    poll = asked.state.poll
    if poll is not None and not poll.closed:
        minutes.add(did.BallotClosed(missing=votes.missing(asked.state)))


def counted(asked: Asked, minutes: Minutes) -> None:
    poll = asked.state.poll
    assert poll is not None
    content = votes.tally(asked.state, poll)
    minutes.log(Response(type=Kind.VOTE_TALLY, sender=SPEAKER, content=content))
    _follow(minutes, content.next_action)


def tallied(asked: Asked, minutes: Minutes) -> None:
    _logged(asked, minutes)
    _follow(minutes, asked.said.next_action)


_FOLLOWS: Final[dict[NextAction, Callable[[], Event]]] = {
    NextAction.ADVANCE_TO_PM: did.BillPassed,
    NextAction.CONTINUE_DEBATE: did.BillDefeated,
    NextAction.END_WITHOUT_PASSAGE: did.PassageFailed,
}


def _follow(minutes: Minutes, action: NextAction) -> None:
    minutes.add(_FOLLOWS[action]())
    _sum_up(minutes)


def _settled(amendment: Amendment, status: AmendmentStatus) -> Event:
    return did.AmendmentSettled(amendment_id=amendment.amendment_id, status=status)


def settle(minutes: Minutes, amendment: Amendment, status: AmendmentStatus) -> None:
    """After a round's end it belongs to that round's summary."""
    minutes.add(_settled(amendment, status))
    this = minutes.state.round
    if this.number and not this.running:
        _sum_up(minutes)
