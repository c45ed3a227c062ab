"""Run a parliament: seats are taken by participants, procedure by the machine, the end by a person.

The session's own record is all there is to go on with; costs and endings are kept in a decision
under the session's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moot.agents.participant import Participant
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Conflict, NotFound, Refused
from moot.flows.parliament.chamber import Room as Session
from moot.flows.parliament.convening import Plan, convene
from moot.flows.parliament.results import SETTLED, result_of
from moot.flows.parliament.ruling import decisions_of, ended_with, require_open_for
from moot.flows.runs.run_record import begin_decision, record_of
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_parliament import ParliamentDesk
from moot.flows.runs.seats import recorded_seats, seat_participants
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, State
from moot.protocols.parliament.model import MAX_ISSUES
from moot.workspace.workspace import Workspace


def run_parliament(
    session: Session,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> FinishedRun:
    """Run it with these participants until a person is asked, or nobody here can go on."""
    for name in specs:
        agent_of(session, name)
    participants = seat_participants(specs, room, session.space)
    decision = _decision_of(session)
    if decision is None and ended_with(session.state) is None:
        decision = _opened(session, specs, participants)
    return run_in(session, decision, participants, limits, watch)


def run_in(
    session: Session,
    decision: str | None,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> FinishedRun:
    """Without a decision where a person has had the last word already: nothing is left to judge."""
    engine = session.space.engine
    require_open_for(engine, session.stream)  # before an answer costs anything
    session.cabinet.require_ours()
    runnable = ParliamentDesk(session, record_of(engine, decision))
    finished = run_seats(
        runnable, participants, engine.clock, decision or session.id, limits, watch
    )
    if decision is not None:
        record_vote(session, decision)
    return finished


def agent_of(session: Session, named: str) -> str:
    """Who sits there: a seat is named by its own id (`rep_1`) or by its agent."""
    seats = {seat.id: seat.agent for seat in session.state.seats_in_order()}
    if named in seats:
        return seats[named]
    if named not in seats.values():
        raise Refused(
            "unknown_seat",
            f"{named} has no seat in this session",
            hint=f"seats: {', '.join(f'{seat} ({agent})' for seat, agent in seats.items())}",
        )
    return named


def _decision_of(session: Session) -> str | None:
    """The decision that this session belongs to, if one was begun."""
    known = decisions_of(session.space, session.stream)
    return session.id if session.id in known else next(iter(known), None)


def _opened(
    session: Session, specs: Mapping[str, Spec], participants: Mapping[str, Participant]
) -> str:
    """The decision of this session: begun once, under its own id."""
    state = session.state
    names = tuple(seat.agent for seat in state.seats_in_order())
    question = ask.AskQuestion(
        question=state.problem_statement[:MAX_QUESTION],
        seats=recorded_seats(session.space, names, specs, participants),
        chamber=ChamberKind.PARLIAMENT,
        rule="majority",
        rounds=max(1, min(100, state.max_rounds)),
    )

    def unheard(_done: object) -> None:
        if ended_with(session.state) is not None:
            raise Conflict("busy", "a person decided at this moment", hint="look at it again")

    engine = session.space.engine
    return begin_decision(engine, session.id, question, opening(session), before_commit=unheard)


def opening(session: Session) -> ask.OpenSession:
    """Where the session stands: its folder, as seen from the project if it lies in it."""
    folder, root = session.folder.resolve(), session.space.root.resolve()
    place = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return ask.OpenSession(session=session.stream, file=place.as_posix())


def session_of(space: Workspace, decision: str, state: State) -> Session:
    """The parliament in which a decision is argued."""
    opened = state.session
    if opened is None or state.chamber is not ChamberKind.PARLIAMENT:
        raise NotFound("session_not_found", f"{decision} is in no parliament", hint="`moot agenda`")
    return Session.known(space, space.root / opened.file, opened.id.partition("/")[2])


def record_vote(session: Session, decision: str) -> None:
    """What the last vote came to, once the chamber has done its part."""
    engine, stream, state = session.space.engine, stream_of(decision), session.state
    if state.status not in SETTLED:
        return
    command, clerk, key = result_of(state)
    kept: State = engine.state(stream)
    if kept.word is None:
        engine.execute(stream, command, clerk, key=key)


# For a question -----------------------------------------------------------------------------------

# What a seat stands for if nobody said, itself included: each looks from another side.
MOTIVES: Final = ("quality", "cost", "speed", "safety", "simplicity")


def convene_for(space: Workspace, folder: Path, problem: str, state: State) -> Session:
    """A parliament about a question, with a seat for everybody who was asked."""
    plans = tuple(
        Plan(f"Rep. {seat.agent}", _motives(state, place, seat.agent), seat.agent)
        for place, seat in enumerate(state.seats)
    )
    known = {motive.casefold(): motive for plan in reversed(plans) for motive in plan.motives}
    issues = tuple(reversed(known.values()))[:MAX_ISSUES]
    return convene(space, folder, problem, issues, plans, state.rounds)


def _motives(state: State, place: int, agent: str) -> tuple[str, ...]:
    """Each once; what nobody named is one of the usual ones."""
    said = {one.casefold(): one for one in state.motives_of(agent)}
    return tuple(said.values()) or (MOTIVES[place % len(MOTIVES)],)
