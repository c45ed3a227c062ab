"""Whose turn it is: who owes an answer, a statement, a vote, a ruling or a decision.

A due names the agent whose key is needed, or `speaker`, `clerk`, `prime-minister`. If the clerk can
act without anyone's choice, the due has the command; the next writing command applies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from moot.core.clock import Millis
from moot.core.machine import Command, Due
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import discipline, motives, round_clock, votes
from moot.protocols.parliament import votes as amendments
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.protocols.parliament.model import State, message_order

SPEAKER, CLERK, PRIME_MINISTER = "speaker", "clerk", "prime-minister"
_BEFORE_A_BILL: Final = (SessionStatus.EVALUATING_STATEMENTS, SessionStatus.DRAFTING)


def agenda(state: State, now: Millis) -> tuple[Due, ...]:
    """Return everything that waits; what the clerk can do at once comes first."""
    if state.status is None:
        return ()
    return (*_due_now(state, now), *_WAITING[state.status](state))


def timeouts(state: State, _now: Millis) -> Iterable[Command]:
    """Commands that follow from what happened; the engine applies them before every command."""
    return tuple(_follow_ups(state))


def _follow_ups(state: State) -> Iterator[Command]:
    if state.owed:
        yield ask.GiveOwedRuling()
    if state.status is SessionStatus.OPENING_STATEMENTS and has_everyone_opened(state):
        yield ask.CloseStatements()
    if state.status in _BEFORE_A_BILL and discipline.is_everyone_expelled(state):
        yield ask.EndUndrafted()
    if state.status is SessionStatus.VOTING:
        yield from (
            ask.CastDefaultVote(seat=seat.id)
            for seat in discipline.list_expelled_without_vote(state)
        )


def _due_now(state: State, now: Millis) -> Iterator[Due]:
    for command in _follow_ups(state):
        who = SPEAKER if isinstance(command, ask.GiveOwedRuling) else CLERK
        what = (type(command).__doc__ or "").partition(".")[0]
        yield Due(who=who, what=what.lower(), by=now, command=command)


def has_everyone_opened(state: State) -> bool:
    return all(seat.opened or seat.expelled for seat in state.seats_in_order())


def _setup(state: State) -> Iterator[Due]:
    yield Due(who=CLERK, what="begin the session", subject=state.parliament_id)


def _statements(state: State) -> Iterator[Due]:
    for seat in state.seats_in_order():
        if not seat.opened and not seat.expelled:
            yield Due(who=seat.agent, what="make an opening statement", subject=seat.id)


def _evaluation(state: State) -> Iterator[Due]:
    yield Due(
        who=CLERK,
        what="choose the drafter",
        subject=state.parliament_id,
        hint="the prime minister may give opening_guidance first",
    )


def _drafting(state: State) -> Iterator[Due]:
    drafter = state.seats.get(state.drafter or "")
    if drafter is None or drafter.expelled:
        yield Due(who=CLERK, what="choose another drafter", subject=state.drafter or "")
    else:
        yield Due(who=drafter.agent, what="draft the bill", subject=f"{drafter.id}: version 1")


def _debate(state: State) -> Iterator[Due]:
    yield from _answers(state)
    yield from _settling(state)
    if not state.round.running:
        yield _between_rounds(state)
    elif round_clock.exchanges_used_up(state):
        yield Due(who=SPEAKER, what="call a vote or end the round", subject="cap reached")
    else:
        yield from _motions(state)
        yield from _positions(state)
        yield from _speaking(state)
        votable = motives.may_vote(state) and not votes.has_voted_this_round(state)
        what = "call a vote or end the round" if votable else "give the floor or end the round"
        yield Due(who=SPEAKER, what=what, subject=f"round {state.round.number}")


def _answers(state: State) -> Iterator[Due]:
    for question in sorted(state.round.questions.values(), key=message_order):
        seat = state.seats[question.asked]
        if not seat.expelled:
            subject = f"{seat.id}: {question.id} of {question.asker}, {question.topic}"
            yield Due(who=seat.agent, what="answer", subject=subject)


def _settling(state: State) -> Iterator[Due]:
    """Amendments that have their support wait for the next version of the bill."""
    for amendment in state.pending_amendments():
        if amendments.is_carried(amendment, state.drafter):
            drafter = state.seats.get(state.drafter or "")
            who = CLERK if drafter is None or drafter.expelled else drafter.agent
            subject = f"{amendment.amendment_id}: {amendment.description}"
            yield Due(who=who, what="incorporate", subject=subject)


def _between_rounds(state: State) -> Due:
    this = state.round
    voted = votes.has_voted_this_round(state)
    if round_clock.is_last_round(state) and not voted:
        return Due(who=SPEAKER, what="call the vote", subject=f"round {this.number} was the last")
    if motives.all_served(state) and this.number and not voted:
        subject = f"round {this.number + 1}, or the vote"
        return Due(who=SPEAKER, what="start a round or call a vote", subject=subject)
    return Due(who=SPEAKER, what="start the round", subject=f"round {this.number + 1}")


def _motions(state: State) -> Iterator[Due]:
    for motion in sorted(state.round.motions.values(), key=message_order):
        subject = f"{motion.id}: {motion.mover} moves {motion.type}"
        hint = "" if motives.may_vote(state) else "no vote yet: a motive is below 3"
        yield Due(who=SPEAKER, what="rule on a motion", subject=subject, hint=hint)


def _positions(state: State) -> Iterator[Due]:
    """C-25: a formal vote waits for the seats that have no position yet."""
    for amendment in state.pending_amendments():
        if amendment.formal:
            took = {row.agent_id for row in amendment.endorsements}
            left = ", ".join(
                seat.id
                for seat in state.seats_in_order()
                if seat.id not in took and not seat.expelled and not seat.is_quiet
            )
            if left:
                subject = f"{amendment.amendment_id}: {left}"
                yield Due(who=SPEAKER, what="have positions asked for", subject=subject)


def _speaking(state: State) -> Iterator[Due]:
    """Yield who was given the floor, what should be asked next, and who was not heard yet."""
    this = state.round
    floor = state.seats.get(this.floor or "")
    if floor is not None and floor.spoke_in < this.number and not floor.is_quiet:
        yield Due(who=floor.agent, what="speak", subject=f"{floor.id} has the floor")
    if round_clock.all_questions_asked(state):
        return
    for exchange in motives.suggest_exchanges(state):
        asker = state.seats[exchange.asker]
        subject = f"{asker.id} asks {exchange.asked} about {exchange.motive}"
        yield Due(who=asker.agent, what="ask", subject=subject)
    for seat in state.seats_in_order():
        if seat.spoke_in < this.number and not seat.is_quiet and not seat.expelled:
            yield Due(who=seat.agent, what="be heard", subject=f"{seat.id} in round {this.number}")


def _voting(state: State) -> Iterator[Due]:
    if votes.is_ready_to_count(state):
        yield Due(who=CLERK, what="count the votes", subject=state.parliament_id)
        return
    for name in votes.seats_without_vote(state):
        seat = state.seats[name]
        if not seat.expelled:
            version = state.poll.bill_version if state.poll is not None else 0
            yield Due(who=seat.agent, what="vote", subject=f"{name}: version {version}")


def _review(state: State) -> Iterator[Due]:
    title = state.bill.title if state.bill is not None else ""
    yield Due(
        who=PRIME_MINISTER,
        what="decide",
        subject=title,
        hint='moot parliament decide DIR approve --reason "..." '
        "(or veto --guidance TEXT, or amend_and_approve --text FILE)",
    )


def _synthesis(state: State) -> Iterator[Due]:
    yield Due(who=CLERK, what="write the final document", subject=state.parliament_id)


_WAITING: Final[dict[SessionStatus, Callable[[State], Iterator[Due]]]] = {
    SessionStatus.SETUP: _setup,
    SessionStatus.OPENING_STATEMENTS: _statements,
    SessionStatus.EVALUATING_STATEMENTS: _evaluation,
    SessionStatus.DRAFTING: _drafting,
    SessionStatus.DEBATE: _debate,
    SessionStatus.VOTING: _voting,
    SessionStatus.PM_REVIEW: _review,
    SessionStatus.SYNTHESIS: _synthesis,
    SessionStatus.COMPLETE: lambda _state: iter(()),
}
