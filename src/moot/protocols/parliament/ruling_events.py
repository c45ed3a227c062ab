"""The events of rounds that start and end and of votes that are called and counted.

A round that ends rejects the amendments that most oppose; a vote that is called counts expelled
seats as NO.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.core.machine import Event
from moot.protocols.parliament import amendments, discipline, motives, votes
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.case import MessageCase, ParliamentCase, RulingCase
from moot.protocols.parliament.messages.contents import VoteTally
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
from moot.protocols.parliament.model import Amendment, Seat, message_order
from moot.protocols.parliament.summaries import summarize_round, with_facts
from moot.protocols.parliament.temperatures import draw_temperatures


def record_ruling(case: RulingCase, minutes: Minutes) -> None:
    """Log a ruling of the speaker, and do what it rules."""
    _RULINGS.get(case.content.action, _log)(case, minutes)


def _log(case: RulingCase, minutes: Minutes) -> None:
    """PAR-060, PAR-063, PAR-064 and PAR-065: these rulings say something and change no status."""
    minutes.log_message(case.response)


def _start_round(case: RulingCase, minutes: Minutes) -> None:
    state, number = case.state, case.state.round.number + 1
    temperatures = draw_temperatures(
        f"{state.parliament_id}\n{case.command.seed}", number, len(state.order)
    )
    minutes.add_event(did.RoundStarted(round=number, temperatures=temperatures))
    minutes.log_message(case.response)


def _end_round(case: RulingCase, minutes: Minutes) -> None:
    """PAR-067: a round that ends is summed up."""
    minutes.log_message(case.response)
    _close_round(minutes)
    _sum_up(minutes)


def _close_round(minutes: Minutes) -> None:
    """What was not answered or was put off stays open (C-34, C-42); what most oppose falls."""
    for amendment in amendments.list_opposed(minutes.state):
        minutes.add_event(_settled_event(amendment, AmendmentStatus.REJECTED))
    this = minutes.state.round
    waiting = sorted(this.questions.values(), key=message_order)
    tabled = [
        motion for motion in this.motions.values() if motion.type is MotionType.TABLE_DISCUSSION
    ]
    issues = [
        f"{question.topic} ({question.id} to {question.asked} is unanswered)"
        for question in waiting
    ]
    issues += [
        f"{motion.reason} ({motion.id}, put off)" for motion in sorted(tabled, key=message_order)
    ]
    minutes.add_event(did.RoundEnded(round=this.number, open_issues=tuple(issues)))


def _sum_up(minutes: Minutes) -> None:
    """PAR-119. Where someone replaced the clerk's summary, its words stay; only facts change."""
    state = minutes.state
    summary, replacement = summarize_round(state, state.round.open_issues), state.round.told
    if replacement is not None:
        summary = with_facts(replacement, summary)
    minutes.add_event(did.RoundSummarized(summary=summary, told=replacement is not None))


def _call_vote(case: RulingCase, minutes: Minutes) -> None:
    """PAR-062: an order may end the debate and call a vote."""
    forced = not motives.all_served(case.state)
    minutes.log_message(case.response)
    if minutes.state.round.running:
        _close_round(minutes)
    bill = minutes.state.bill
    version = bill.version if bill is not None else 0
    minutes.add_event(did.VoteCalled(bill_version=version, forced=forced))
    for seat in discipline.list_expelled_without_vote(minutes.state):
        _log_default_vote(minutes, seat)


_RULINGS: Final[dict[RulingAction, Callable[[RulingCase, Minutes], None]]] = {
    RulingAction.ROUND_START: _start_round,
    RulingAction.ROUND_END: _end_round,
    RulingAction.CALL_VOTE: _call_vote,
}


def _log_default_vote(minutes: Minutes, seat: Seat) -> None:
    content = discipline.make_default_vote(seat)
    minutes.log_message(Response(type=Kind.VOTE, sender=seat.id, content=content))


def record_default_vote(case: ParliamentCase[ask.CastDefaultVote], minutes: Minutes) -> None:
    _log_default_vote(minutes, case.state.seats[case.command.seat])


def record_closed_ballot(case: ParliamentCase[ask.CloseBallot], minutes: Minutes) -> None:
    """Closing a closed ballot again records nothing."""
    poll = case.state.poll
    if poll is not None and not poll.closed:
        minutes.add_event(did.BallotClosed(missing=votes.seats_without_vote(case.state)))


def record_count(case: ParliamentCase[ask.CountVotes], minutes: Minutes) -> None:
    """The clerk counts the ballots and announces the result as the speaker's tally."""
    poll = case.state.poll
    assert poll is not None
    content = votes.count_votes(case.state, poll)
    minutes.log_message(Response(type=Kind.VOTE_TALLY, sender=SPEAKER, content=content))
    _follow(minutes, content.next_action)


def record_tally(case: MessageCase[ask.Submit, VoteTally], minutes: Minutes) -> None:
    """Someone else brought the tally; the rules have counted it again."""
    minutes.log_message(case.response)
    _follow(minutes, case.content.next_action)


# PAR-072: a bill that passed advances to the prime minister.
_FOLLOWS: Final[dict[NextAction, Callable[[], Event]]] = {
    NextAction.ADVANCE_TO_PM: did.BillPassed,
    NextAction.CONTINUE_DEBATE: did.BillDefeated,
    NextAction.END_WITHOUT_PASSAGE: did.PassageFailed,
}


def _follow(minutes: Minutes, action: NextAction) -> None:
    minutes.add_event(_FOLLOWS[action]())
    _sum_up(minutes)


def _settled_event(amendment: Amendment, status: AmendmentStatus) -> Event:
    return did.AmendmentSettled(amendment_id=amendment.amendment_id, status=status)


def settle_amendment(minutes: Minutes, amendment: Amendment, status: AmendmentStatus) -> None:
    """Settle an amendment; after the round's end its summary is written again, to hold it too."""
    minutes.add_event(_settled_event(amendment, status))
    this = minutes.state.round
    if this.number and not this.running:
        _sum_up(minutes)
