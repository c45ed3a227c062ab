"""Who may ask, and when: seats, speaker, person; phases, rounds, the clock.

A check gets only the case (`case.py`) and yields what is wrong and where: a JSON path of the
message, or a field of the command.
"""

from __future__ import annotations

from collections.abc import Iterable

from moot.core.machine import Command
from moot.core.names import AGENT, RESERVED
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import discipline, motives, round_clock
from moot.protocols.parliament.case import (
    AnyMessageCase,
    Breaches,
    DecisionCase,
    ParliamentCase,
    RulingCase,
)
from moot.protocols.parliament.messages.contents import RulingAction, SessionStatus
from moot.protocols.parliament.model import (
    MAX_ISSUES,
    MAX_MOTIVES,
    MAX_ROUNDS,
    MAX_SEATS,
    MIN_SEATS,
    STREAM_NAME,
)
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
        yield f"the seat belongs to an earlier holder of the name {name}", "from"
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
    """C-10: refuse what a quiet seat may not send, including a motion with an answer."""
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
    if state.round.running and round_clock.all_questions_asked(state):
        cap = round_clock.exchange_cap(state)
        yield f"round {state.round.number} has {cap} exchanges, all asked", "type"


def after_the_cap(case: ParliamentCase[Command]) -> Breaches:
    state = case.state
    if round_clock.exchanges_used_up(state):
        cap = round_clock.exchange_cap(state)
        yield f"all {cap} exchanges of round {state.round.number} took place", "type"


def ruling_after_the_cap(case: RulingCase) -> Breaches:
    if (
        round_clock.exchanges_used_up(case.state)
        and case.content.action not in round_clock.RULINGS_AFTER_THE_CAP
    ):
        yield f"{case.content.action} must wait", "content.action"


def no_round_left(case: RulingCase) -> Breaches:
    state = case.state
    if case.content.action is RulingAction.ROUND_START and round_clock.is_last_round(state):
        yield f"round {state.round.number} of {state.max_rounds} was the last", "content.action"


# Checks on a new session: a problem, its issues, and seats whose motives cover all of them.

# Motives become keys of signed JSON. Libraries that sort keys by UTF-16 and by code point only
# agree on characters below the surrogates.
_FIRST_UNSAFE_CHARACTER = "\ud800"


def convened_before(case: ParliamentCase[ask.Convene | ask.Import]) -> Breaches:
    if case.state.status is not None:
        yield f"{case.state.parliament_id} is in session", None


def bad_id(case: ParliamentCase[ask.Convene | ask.Import]) -> Breaches:
    """PAR-004: the session is named after its day and a number."""
    if not STREAM_NAME.match(case.context.stream):
        name = case.context.stream.partition("/")[2]
        yield f"{name!r} is no id of a session", None


def other_id(case: ParliamentCase[ask.Import]) -> Breaches:
    """Refuse to import files under another id than their own."""
    session, name = case.command.session, STREAM_NAME.match(case.context.stream)
    id_in_files = session.get("parliament_id") if isinstance(session, dict) else None
    if name is not None and id_in_files != name[1]:
        yield f"the files are of {id_in_files}, not of {name[1]}", "session.parliament_id"


def no_problem(case: ParliamentCase[ask.Convene]) -> Breaches:
    if not case.command.problem_statement.strip():
        yield "", "problem_statement"


def bad_issues(case: ParliamentCase[ask.Convene]) -> Breaches:
    issues = case.command.issues
    if not 1 <= len(issues) <= MAX_ISSUES:
        yield f"{len(issues)} issues, not 1 to {MAX_ISSUES}", "issues"
    yield from _blank_or_repeated(issues, "issues")


def _blank_or_repeated(texts: Iterable[str], where: str) -> Breaches:
    seen: set[str] = set()
    for place, text in enumerate(texts):
        normalized = " ".join(text.casefold().split())
        if not normalized:
            yield "this is empty", f"{where}[{place}]"
        elif normalized in seen:
            yield f"{text!r} is there twice", f"{where}[{place}]"
        seen.add(normalized)


def bad_seat_count(case: ParliamentCase[ask.Convene]) -> Breaches:
    """C-37: a question needs another seat, and temperatures must all differ."""
    count = len(case.command.seats)
    if not MIN_SEATS <= count <= MAX_SEATS:
        seats = "1 seat" if count == 1 else f"{count} seats"
        yield f"{seats}, not {MIN_SEATS} to {MAX_SEATS}", "seats"


def bad_names(case: ParliamentCase[ask.Convene]) -> Breaches:
    for message, where in _blank_or_repeated((seat.name for seat in case.command.seats), "seats"):
        yield message, f"{where}.name"


def bad_motives(case: ParliamentCase[ask.Convene]) -> Breaches:
    for place, seat in enumerate(case.command.seats):
        where = f"seats[{place}].motives"
        if not 1 <= len(seat.motives) <= MAX_MOTIVES:
            yield f"{len(seat.motives)} motives, not 1 to {MAX_MOTIVES}", where
        yield from _blank_or_repeated(seat.motives, where)
        for position, motive in enumerate(seat.motives):
            if any(character >= _FIRST_UNSAFE_CHARACTER for character in motive):
                yield f"{motive!r} has a character that no key may have", f"{where}[{position}]"


def bad_agents(case: ParliamentCase[ask.Convene]) -> Breaches:
    """Refuse one agent on two seats: one key, one seat, one vote."""
    seen: set[str] = set()
    for place, seat in enumerate(case.command.seats):
        where = f"seats[{place}].agent"
        if not AGENT.match(seat.agent) or seat.agent in RESERVED:
            yield f"{seat.agent!r} is not an agent's name", where
        elif seat.agent in seen:
            yield f"{seat.agent} already has a seat", where
        seen.add(seat.agent)


def unassigned_issues(case: ParliamentCase[ask.Convene]) -> Breaches:
    spoken_for = [motive for seat in case.command.seats for motive in seat.motives]
    for place, issue in motives.find_unassigned_issues(case.command.issues, spoken_for):
        if issue.strip():
            yield f"no seat has a motive for {issue!r}", f"issues[{place}]"


def bad_rounds(case: ParliamentCase[ask.Convene]) -> Breaches:
    if not 1 <= case.command.max_rounds <= MAX_ROUNDS:
        yield f"{case.command.max_rounds} is not 1 to {MAX_ROUNDS}", "max_rounds"


def binder_not_clerk(case: ParliamentCase[ask.BindSeat]) -> Breaches:
    if case.state.status is SessionStatus.SETUP and not case.is_system:
        yield "", None


def late_binding(case: ParliamentCase[ask.BindSeat]) -> Breaches:
    """S-02: after the beginning, only a person rebinds a seat to a later holder of its name."""
    command, state = case.command, case.state
    seat = state.seats.get(command.seat)
    if state.status is None or state.status is SessionStatus.SETUP:
        return
    same_name = seat is not None and seat.agent == command.agent
    if not case.is_human or seat is None or not same_name or seat.epoch >= command.epoch:
        yield f"the session is in {state.status}", "seat"


def bad_binding(case: ParliamentCase[ask.BindSeat]) -> Breaches:
    """Refuse a seat for an agent that has another one."""
    command, state = case.command, case.state
    if command.seat not in state.seats:
        yield f"{command.seat} is no seat of this session", "seat"
    if not AGENT.match(command.agent) or command.agent in RESERVED:
        yield f"{command.agent!r} is not an agent's name", "agent"
    elif state.holders.get(command.agent, command.seat) != command.seat:
        yield f"{command.agent} already has a seat", "agent"
