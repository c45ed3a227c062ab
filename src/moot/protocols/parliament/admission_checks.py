"""Who may ask, and when: seats, speaker, person; phases, rounds, the clock.

A check sees the case (`case.py`) and nothing else, and yields what is wrong and where: a JSON
path of the message, or a field of the command.
"""

from __future__ import annotations

from moot.core.machine import Command
from moot.protocols.parliament import clock, discipline
from moot.protocols.parliament.case import (
    AnyMessageCase,
    Breaches,
    DecisionCase,
    ParliamentCase,
    RulingCase,
)
from moot.protocols.parliament.messages.words import RulingAction
from moot.protocols.parliament.phases import (
    MESSAGES_IN_A_ROUND,
    RULINGS_IN_A_ROUND,
    STATUSES_BY_COMMAND,
    STATUSES_BY_DECISION,
    STATUSES_BY_MESSAGE,
    STATUSES_BY_RULING,
    join_statuses,
)


def not_convened(case: ParliamentCase[Command]) -> Breaches:
    if case.state.status is None:
        yield "", None


def not_system(case: ParliamentCase[Command]) -> Breaches:
    if not case.is_system:
        yield "", None


def not_the_speaker(case: ParliamentCase[Command]) -> Breaches:
    if not case.is_system:
        yield "", "from"


def not_a_person(case: ParliamentCase[Command]) -> Breaches:
    if not case.is_human:
        yield "", "from"


def holds_a_seat(case: ParliamentCase[Command]) -> Breaches:
    if case.is_human and case.seat is not None:
        yield f"{case.context.actor.id} holds {case.seat.id}", "from"


def neither_speaker_nor_person(case: ParliamentCase[Command]) -> Breaches:
    if not case.is_system and not case.is_human:
        yield "", None


def not_seated(case: ParliamentCase[Command]) -> Breaches:
    name = case.context.actor.id
    if case.seat is None and name in case.state.holders:
        yield f"the seat is another's who was called {name} before", "from"
    elif case.seat is None:
        yield f"{name} has no seat in this session", "from"


def foreign_sender(case: AnyMessageCase) -> Breaches:
    seat, sender = case.seat, case.response.sender
    if seat is not None and sender != seat.id:
        yield f"this comes from {seat.id}, not from {sender}", "from"


def is_expelled(case: ParliamentCase[Command]) -> Breaches:
    if case.seat is not None and case.seat.expelled:
        yield f"{case.seat.id} was expelled", "from"


def is_quiet(case: AnyMessageCase) -> Breaches:
    """C-10: what a quiet seat may not send, a motion beside an answer included."""
    seat, response = case.seat, case.response
    if seat is None or not seat.is_quiet:
        return
    if response.type in discipline.FORBIDDEN_WHEN_QUIET:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "from"
    elif response.motion is not None:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "motion"


def wrong_phase(case: ParliamentCase[Command]) -> Breaches:
    """C-22: each command belongs to certain phases."""
    status = case.state.status
    fits = STATUSES_BY_COMMAND.get(type(case.command))
    if status is not None and fits is not None and status not in fits:
        yield f"this belongs to {join_statuses(fits)}; the session is in {status}", None


def wrong_moment(case: AnyMessageCase) -> Breaches:
    kind, status = case.response.type, case.state.status
    if status is None:
        return
    fits = STATUSES_BY_MESSAGE.get(kind, ())
    if status not in fits:
        yield f"{kind} belongs to {join_statuses(fits)}; the session is in {status}", "type"
    elif kind in MESSAGES_IN_A_ROUND and not case.state.round.running:
        yield f"{kind} needs a running round", "type"


def wrong_ruling_moment(case: RulingCase) -> Breaches:
    state, action = case.state, case.content.action
    fits, where = STATUSES_BY_RULING[action], "content.action"
    if state.status is None:
        return
    if state.status not in fits:
        yield f"{action} belongs to {join_statuses(fits)}; the session is in {state.status}", where
    elif action in RULINGS_IN_A_ROUND and not state.round.running:
        yield f"{action} needs a running round", where
    elif action is RulingAction.ROUND_START and state.round.running:
        yield f"round {state.round.number} is still running", where


def wrong_decision_moment(case: DecisionCase) -> Breaches:
    status, fits = case.state.status, STATUSES_BY_DECISION[case.content.decision]
    if status is not None and status not in fits:
        where = "content.decision"
        yield (
            f"{case.content.decision} belongs to {join_statuses(fits)}; the session is in {status}",
            where,
        )


def over_the_cap(case: ParliamentCase[Command]) -> Breaches:
    state = case.state
    if state.round.running and clock.all_questions_asked(state):
        yield (
            f"round {state.round.number} has {clock.exchange_cap(state)} exchanges, all asked",
            "type",
        )


def after_the_cap(case: ParliamentCase[Command]) -> Breaches:
    state = case.state
    if clock.exchanges_used_up(state):
        yield (
            f"all {clock.exchange_cap(state)} exchanges of round {state.round.number} took place",
            "type",
        )


def ruling_after_the_cap(case: RulingCase) -> Breaches:
    if (
        clock.exchanges_used_up(case.state)
        and case.content.action not in clock.RULINGS_AFTER_THE_CAP
    ):
        yield f"{case.content.action} must wait", "content.action"


def no_round_left(case: RulingCase) -> Breaches:
    state = case.state
    if case.content.action is RulingAction.ROUND_START and clock.is_last_round(state):
        yield f"round {state.round.number} of {state.max_rounds} was the last", "content.action"
