"""Run a parliament: participants take the seats, the machine does procedure, a person decides.

A run continues from the session's own record alone; costs and endings are recorded in a decision
under the session's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moot.agents.participant import Participant
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.core.errors import Conflict, NotFound, Refused
from moot.flows.parliament.convening import SeatRequest, convene
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.results import SETTLED, vote_result_command
from moot.flows.parliament.ruling import decisions_argued_in, require_undecided, ruling_at_end
from moot.flows.runs.run_record import begin_decision, record_of
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.runnable_parliament import RunnableParliament
from moot.flows.runs.seats import recorded_seats, seat_participants
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind, State
from moot.protocols.parliament.model import MAX_ISSUES
from moot.workspace.workspace import Workspace


def run_parliament(
    session: ParliamentSession,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run it with these participants until a person is asked, or nobody here can go on."""
    for name in specs:
        require_seated_agent(session, name)
    participants = seat_participants(specs, room, session.workspace)
    decision = _find_decision(session)
    if decision is None and ruling_at_end(session.state) is None:
        decision = _begin_decision(session, specs, participants)
    return run_seated(session, decision, participants, limits, watch)


def run_seated(
    session: ParliamentSession,
    decision: str | None,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    """Run it with those who sit there. There is no decision where a person has ruled already: then
    nothing is left to decide."""
    engine = session.workspace.engine
    require_undecided(engine, session.stream)  # before an answer costs anything
    session.files.require_unchanged()
    runnable = RunnableParliament(session, record_of(engine, decision))
    name = decision or session.id
    finished = run_seats(runnable, participants, engine.clock, name, limits, watch)
    if decision is not None:
        record_vote(session, decision)
    return finished


def require_seated_agent(session: ParliamentSession, named: str) -> str:
    """The agent of a seat that is named by its own id (`rep_1`) or by its agent."""
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


def _find_decision(session: ParliamentSession) -> str | None:
    """The decision that this session belongs to, if one was begun."""
    decisions = decisions_argued_in(session.workspace.engine, session.stream)
    return session.id if session.id in decisions else next(iter(decisions), None)


def _begin_decision(
    session: ParliamentSession, specs: Mapping[str, Spec], participants: Mapping[str, Participant]
) -> str:
    """The decision that records the runs of this session: begun once, under its own id."""
    state = session.state
    names = tuple(seat.agent for seat in state.seats_in_order())
    question = ask.AskQuestion(
        question=state.problem_statement[:MAX_QUESTION],
        seats=recorded_seats(session.workspace, names, specs, participants),
        chamber=ChamberKind.PARLIAMENT,
        rule="majority",
        rounds=max(1, min(100, state.max_rounds)),
    )

    def require_no_ruling(_done: object) -> None:
        if ruling_at_end(session.state) is not None:
            raise Conflict("busy", "a person decided at this moment", hint="look at it again")

    engine = session.workspace.engine
    return begin_decision(
        engine, session.id, question, make_opening(session), before_commit=require_no_ruling
    )


def make_opening(session: ParliamentSession) -> ask.OpenSession:
    """What the decision records of the session: its folder, relative to the project if inside."""
    folder, root = session.folder.resolve(), session.workspace.root.resolve()
    recorded = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return ask.OpenSession(session=session.stream, file=recorded.as_posix())


def open_session_of(workspace: Workspace, decision: str, state: State) -> ParliamentSession:
    """The parliament in which a decision is argued."""
    opened = state.session
    if opened is None or state.chamber is not ChamberKind.PARLIAMENT:
        raise NotFound("session_not_found", f"{decision} is in no parliament", hint="`moot agenda`")
    return ParliamentSession.open_by_id(
        workspace, workspace.root / opened.file, opened.id.partition("/")[2]
    )


def record_vote(session: ParliamentSession, decision: str) -> None:
    """Record in the decision what the last vote came to, once the parliament has done its part."""
    engine, stream, state = session.workspace.engine, stream_of(decision), session.state
    if state.status not in SETTLED:
        return
    command, clerk, key = vote_result_command(state)
    recorded = engine.state(DECISION, stream)
    if recorded.word is None:
        engine.execute(stream, command, clerk, key=key)


# For a question -----------------------------------------------------------------------------------

# What a seat stands for if nobody said, itself included: each looks from another side.
MOTIVES: Final = ("quality", "cost", "speed", "safety", "simplicity")


def convene_for_question(
    workspace: Workspace, folder: Path, problem: str, state: State
) -> ParliamentSession:
    """A parliament about a question, with a seat for everybody who was asked (AGT-078)."""
    requests = tuple(
        SeatRequest(f"Rep. {seat.agent}", _motives(state, place, seat.agent), seat.agent)
        for place, seat in enumerate(state.seats)
    )
    known = {motive.casefold(): motive for seat in reversed(requests) for motive in seat.motives}
    issues = tuple(reversed(known.values()))[:MAX_ISSUES]
    return convene(workspace, folder, problem, issues, requests, state.rounds)


def _motives(state: State, place: int, agent: str) -> tuple[str, ...]:
    """Each motive once; whoever named none gets one of the usual ones."""
    own = {motive.casefold(): motive for motive in state.motives_of(agent)}
    return tuple(own.values()) or (MOTIVES[place % len(MOTIVES)],)
