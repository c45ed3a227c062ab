"""Run a parliament: seats are taken by participants, procedure by the machine, the end by a person.

The session's own record is all there is to go on with; costs and endings are kept in a decision
under the session's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.agents.participant import Participant
from moot.agents.runner import Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import MootError, Refused
from moot.core.names import SYSTEM
from moot.decision import commands as ask
from moot.decision import stream_of
from moot.decision.model import MOST_QUESTION, Chamber, Result, Stage, State
from moot.engine.job import Job
from moot.flows.books import DecisionBooks
from moot.flows.chamber import Room as Session
from moot.flows.debating import USUAL, Limits, Ran
from moot.flows.desks.parliament import ParliamentDesk
from moot.flows.seating import require_key, seated, seats_of
from moot.parliament.words import Status

# Once the chamber has voted for the last time, what it came to is known.
SETTLED: Final = frozenset({Status.PM_REVIEW, Status.SYNTHESIS, Status.COMPLETE})


def run_parliament(
    session: Session,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Ran:
    """Run it with these participants until a person is asked, or nobody here can go on."""
    space = session.space
    names = tuple(seat.agent for seat in session.state.in_order())
    _require_seated(specs, names)
    sitting = seated(specs, room)
    for name in specs:
        require_key(space, name)
    _opened(session, specs, sitting)
    desk = ParliamentDesk(session, DecisionBooks(space.engine, session.id))
    runner = Runner(
        desk,
        sitting,
        space.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    )
    ended = runner.run()
    _record(session)
    return Ran(ended, desk.standing(), session.id)


def _require_seated(specs: Mapping[str, Spec], names: tuple[str, ...]) -> None:
    for name in specs:
        if name not in names:
            raise Refused(
                "unknown_seat",
                f"{name} has no seat in this session",
                hint=f"those who have one: {', '.join(names)}",
            )


def _opened(
    session: Session, specs: Mapping[str, Spec], sitting: Mapping[str, Participant]
) -> None:
    """The books for this session: begun once, under its own id."""
    engine, stream = session.space.engine, stream_of(session.id)
    known: State = engine.state(stream)
    if known.stage is not Stage.NEW:
        return
    state = session.state
    names = tuple(seat.agent for seat in state.in_order())
    question = ask.AskQuestion(
        question=state.problem_statement[:MOST_QUESTION],
        seats=seats_of(session.space, names, specs, sitting),
        chamber=Chamber.PARLIAMENT,
        rule="majority",
        rounds=max(1, min(100, state.max_rounds)),
    )
    opened = ask.OpenSession(session=session.stream, file=session.folder.name)
    jobs = [Job(stream, command, SYSTEM) for command in (question, opened)]
    for result in engine.execute_all(jobs):
        if isinstance(result, MootError):
            raise result


def _record(session: Session) -> None:
    """What the last vote came to, once the chamber has done its part."""
    engine, stream, state = session.space.engine, stream_of(session.id), session.state
    books: State = engine.state(stream)
    if books.stage is not Stage.ARGUING or state.status not in SETTLED or not state.vote_history:
        return
    last = state.vote_history[-1]
    votes = {
        seat.agent: seat.voting_record[-1].vote.value
        for seat in state.in_order()
        if seat.voting_record
    }
    command = ask.RecordResult(
        result=Result.CARRIED if last.passed else Result.NOT_CARRIED,
        summary=f"{last.yes} YES, {last.no} NO of {last.total} on version {last.bill_version}",
        approvers=tuple(name for name, vote in votes.items() if vote == "YES"),
        dissent=tuple(name for name, vote in votes.items() if vote == "NO"),
    )
    engine.execute(stream, command, SYSTEM, key="result")
