"""Who may ask, and when: seats, speaker, person; phases, rounds, the clock.

A check sees the command in its moment (`Asked`) and nothing else, and yields what is wrong and
where: a JSON path of the message, or a field of the command.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.protocols.parliament import clock, discipline
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.messages.words import RulingAction
from moot.protocols.parliament.phases import (
    COMMANDS,
    DECISIONS,
    IN_A_ROUND,
    MESSAGES,
    RULED_IN_A_ROUND,
    RULINGS,
    listed,
)

Breaches = Iterator[tuple[str, str | None]]


def not_convened(asked: Asked) -> Breaches:
    if asked.state.status is None:
        yield "", None


def not_system(asked: Asked) -> Breaches:
    if not asked.is_system:
        yield "", None


def not_the_speaker(asked: Asked) -> Breaches:
    if not asked.is_system:
        yield "", "from"


def not_a_person(asked: Asked) -> Breaches:
    if not asked.is_human:
        yield "", "from"


def holds_a_seat(asked: Asked) -> Breaches:
    if asked.is_human and asked.seat is not None:
        yield f"{asked.context.actor.id} holds {asked.seat.id}", "from"


def neither_speaker_nor_person(asked: Asked) -> Breaches:
    if not asked.is_system and not asked.is_human:
        yield "", None


def not_seated(asked: Asked) -> Breaches:
    name = asked.context.actor.id
    if asked.seat is None and name in asked.state.holders:
        yield f"the seat is another's who was called {name} before", "from"
    elif asked.seat is None:
        yield f"{name} has no seat in this session", "from"


def foreign_sender(asked: Asked) -> Breaches:
    seat, response = asked.seat, asked.response
    if seat is not None and response is not None and response.sender != seat.id:
        yield f"this comes from {seat.id}, not from {response.sender}", "from"


def is_expelled(asked: Asked) -> Breaches:
    if asked.seat is not None and asked.seat.expelled:
        yield f"{asked.seat.id} was expelled", "from"


def is_quiet(asked: Asked) -> Breaches:
    """C-10: what a quiet seat may not send, a motion beside an answer included."""
    seat, response = asked.seat, asked.response
    if seat is None or response is None or not seat.is_quiet:
        return
    if response.type in discipline.SILENCED:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "from"
    elif response.motion is not None:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "motion"


def wrong_phase(asked: Asked) -> Breaches:
    """C-22: everything has its status."""
    status = asked.state.status
    fits = COMMANDS.get(type(asked.command))
    if status is not None and fits is not None and status not in fits:
        yield f"this belongs to {listed(fits)}; the session is in {status}", None


def wrong_moment(asked: Asked) -> Breaches:
    response, status = asked.response, asked.state.status
    if response is None or status is None:
        return
    fits = MESSAGES.get(response.type, ())
    if status not in fits:
        yield f"{response.type} belongs to {listed(fits)}; the session is in {status}", "type"
    elif response.type in IN_A_ROUND and not asked.state.round.running:
        yield f"{response.type} needs a running round", "type"


def wrong_ruling_moment(asked: Asked) -> Breaches:
    state, action = asked.state, asked.said.action
    fits, where = RULINGS[action], "content.action"
    if state.status is None:
        return
    if state.status not in fits:
        yield f"{action} belongs to {listed(fits)}; the session is in {state.status}", where
    elif action in RULED_IN_A_ROUND and not state.round.running:
        yield f"{action} needs a running round", where
    elif action is RulingAction.ROUND_START and state.round.running:
        yield f"round {state.round.number} is still running", where


def wrong_decision_moment(asked: Asked) -> Breaches:
    status, fits = asked.state.status, DECISIONS[asked.said.decision]
    if status is not None and status not in fits:
        where = "content.decision"
        yield f"{asked.said.decision} belongs to {listed(fits)}; the session is in {status}", where


def over_the_cap(asked: Asked) -> Breaches:
    state = asked.state
    if state.round.running and clock.asked_out(state):
        yield f"round {state.round.number} has {clock.cap(state)} exchanges, all asked", "type"


def after_the_cap(asked: Asked) -> Breaches:
    state = asked.state
    if clock.ran_out(state):
        yield f"all {clock.cap(state)} exchanges of round {state.round.number} took place", "type"


def ruling_after_the_cap(asked: Asked) -> Breaches:
    if clock.ran_out(asked.state) and asked.said.action not in clock.AFTER_THE_CAP:
        yield f"{asked.said.action} must wait", "content.action"


def no_round_left(asked: Asked) -> Breaches:
    state = asked.state
    if asked.said.action is RulingAction.ROUND_START and clock.last_round(state):
        yield f"round {state.round.number} of {state.max_rounds} was the last", "content.action"
