"""What a new session must bring: a problem, its issues, and seats that stand for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from moot.core.names import AGENT, RESERVED
from moot.protocols.parliament import motives
from moot.protocols.parliament.asked import Asked
from moot.protocols.parliament.messages.words import Status
from moot.protocols.parliament.model import (
    MAX_ISSUES,
    MAX_MOTIVES,
    MAX_ROUNDS,
    MAX_SEATS,
    MIN_SEATS,
    STREAM,
)

Breaches = Iterator[tuple[str, str | None]]

# Scores are kept by motive, and signed keys hold only what every library sorts alike.
_LAST_SIGN = "\ud800"


def convened_before(asked: Asked) -> Breaches:
    if asked.state.status is not None:
        yield f"{asked.state.parliament_id} is in session", None


def bad_id(asked: Asked) -> Breaches:
    """PAR-004: the session is named after its day and a number."""
    if not STREAM.match(asked.context.stream):
        name = asked.context.stream.partition("/")[2]
        yield f"{name!r} is no id of a session", None


def other_id(asked: Asked) -> Breaches:
    """The files say which session they are."""
    session, name = asked.command.session, STREAM.match(asked.context.stream)
    told = session.get("parliament_id") if isinstance(session, dict) else None
    if name is not None and told != name[1]:
        yield f"the files are of {told}, not of {name[1]}", "session.parliament_id"


def no_problem(asked: Asked) -> Breaches:
    if not asked.command.problem_statement.strip():
        yield "", "problem_statement"


def bad_issues(asked: Asked) -> Breaches:
    issues = asked.command.issues
    if not 1 <= len(issues) <= MAX_ISSUES:
        yield f"{len(issues)} issues, not 1 to {MAX_ISSUES}", "issues"
    yield from _blank_or_twice(issues, "issues")


def _blank_or_twice(texts: Iterable[str], where: str) -> Breaches:
    seen: set[str] = set()
    for place, text in enumerate(texts):
        known = " ".join(text.casefold().split())
        if not known:
            yield "this is empty", f"{where}[{place}]"
        elif known in seen:
            yield f"{text!r} stands there twice", f"{where}[{place}]"
        seen.add(known)


def bad_seat_count(asked: Asked) -> Breaches:
    """C-37."""
    count = len(asked.command.seats)
    if not MIN_SEATS <= count <= MAX_SEATS:
        yield f"{count} seats, not {MIN_SEATS} to {MAX_SEATS}", "seats"


def bad_names(asked: Asked) -> Breaches:
    yield from _each(asked, "name", lambda seats: _blank_or_twice(seats, "seats"))


def _each(asked: Asked, field: str, check: Callable[[list[Any]], Breaches]) -> Breaches:
    for message, where in check([getattr(seat, field) for seat in asked.command.seats]):
        yield message, f"{where}.{field}"


def bad_motives(asked: Asked) -> Breaches:
    for place, seat in enumerate(asked.command.seats):
        where = f"seats[{place}].motives"
        if not 1 <= len(seat.motives) <= MAX_MOTIVES:
            yield f"{len(seat.motives)} motives, not 1 to {MAX_MOTIVES}", where
        yield from _blank_or_twice(seat.motives, where)
        for position, motive in enumerate(seat.motives):
            if any(sign >= _LAST_SIGN for sign in motive):
                yield f"{motive!r} holds a sign that cannot stand in a key", f"{where}[{position}]"


def bad_agents(asked: Asked) -> Breaches:
    """One key, one seat, one vote."""
    seen: set[str] = set()
    for place, seat in enumerate(asked.command.seats):
        where = f"seats[{place}].agent"
        if not AGENT.match(seat.agent) or seat.agent in RESERVED:
            yield f"{seat.agent!r} is not an agent's name", where
        elif seat.agent in seen:
            yield f"{seat.agent} already has a seat", where
        seen.add(seat.agent)


def unassigned_issues(asked: Asked) -> Breaches:
    spoken_for = [motive for seat in asked.command.seats for motive in seat.motives]
    for place, issue in motives.unassigned(asked.command.issues, spoken_for):
        if issue.strip():
            yield f"nobody stands for {issue!r}", f"issues[{place}]"


def bad_rounds(asked: Asked) -> Breaches:
    if not 1 <= asked.command.max_rounds <= MAX_ROUNDS:
        yield f"{asked.command.max_rounds} is not 1 to {MAX_ROUNDS}", "max_rounds"


def binder_not_clerk(asked: Asked) -> Breaches:
    if asked.state.status is Status.SETUP and not asked.is_system:
        yield "", None


def late_binding(asked: Asked) -> Breaches:
    """S-02: a session does not wait for ever for a holder who is gone."""
    command, state = asked.command, asked.state
    seat = state.seats.get(command.seat)
    if state.status is None or state.status is Status.SETUP:
        return
    same = seat is not None and seat.agent == command.agent and seat.epoch < command.epoch
    if not asked.is_human or not same:
        yield f"the session is in {state.status}", "seat"


def bad_binding(asked: Asked) -> Breaches:
    """A seat goes to an agent that has none."""
    command, state = asked.command, asked.state
    if command.seat not in state.seats:
        yield f"{command.seat} is no seat of this session", "seat"
    if not AGENT.match(command.agent) or command.agent in RESERVED:
        yield f"{command.agent!r} is not an agent's name", "agent"
    elif state.holders.get(command.agent, command.seat) != command.seat:
        yield f"{command.agent} already has a seat", "agent"
