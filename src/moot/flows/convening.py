"""How a session comes to be: convened anew, or gone on with from the files of elsewhere.

A seat without an agent gets one with a key of its own. Names are never given twice, so whatever
can be wrong is found out before one is.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from moot.core.clock import to_text
from moot.core.errors import MootError, NotFound, Refused, Unavailable
from moot.core.findings import errors
from moot.core.machine import Acting, Command, Context, KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.engine.agents import agent_named, registration
from moot.engine.job import ALONE, Job, Link, as_refused
from moot.flows.cabinet import read_or_none
from moot.flows.chamber import REPLY, Room, fresh_seed, no_session
from moot.parliament import commands as ask
from moot.parliament.fileshapes import FILES
from moot.parliament.inspection import inspect
from moot.parliament.machine import MACHINE, SESSIONS
from moot.parliament.shapes import read_json
from moot.workspace.workspace import Workspace


class Plan(msgspec.Struct, frozen=True):
    """A seat as it is asked for: with no agent it gets one of its own."""

    name: str
    motives: tuple[str, ...]
    agent: str | None = None


def convene(
    space: Workspace,
    folder: Path,
    problem: str,
    issues: tuple[str, ...],
    plans: tuple[Plan, ...],
    max_rounds: int,
    parliament_id: str | None = None,
    link: Link = ALONE,
) -> Room:
    """A new session in an empty folder; seats without an agent get one with a key of its own."""
    require_free(folder)
    room = Room(space, folder, parliament_id or fresh_id(space))
    seats = tuple(_seat(room, number, plan) for number, plan in enumerate(plans, 1))
    command = ask.Convene(
        problem_statement=problem,
        issues=issues,
        seats=seats,
        max_rounds=max_rounds,
        seed=fresh_seed(),
    )
    _rehearse(room, command)
    enter(room, seats, [command, ask.Begin()], link)
    make_folder(folder)
    room.cabinet.write()
    return room


def _seat(room: Room, number: int, plan: Plan) -> ask.SeatPlan:
    if plan.agent is None:
        return ask.SeatPlan(plan.name, plan.motives, f"{room.id}-rep-{number}", bound=False)
    agent = agent_named(room.space.engine, plan.agent)
    return ask.SeatPlan(plan.name, plan.motives, plan.agent, epoch=agent.epoch)


def _rehearse(room: Room, command: Command) -> None:
    """A name is never given twice, so bad input must be found before one is."""
    engine = room.space.engine
    acting = Acting(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, room.stream, room.space.trust.origin)
    decision = MACHINE.decide(room.state, command, context)
    if decision.refused:
        raise as_refused(decision)


def enter(
    room: Room, seats: tuple[ask.SeatPlan, ...], commands: list[Command], link: Link = ALONE
) -> None:
    """Register the agents made for this session and run the commands, in one commit."""
    space, folder = room.space, room.space.folder
    made = [
        (plan.agent, folder.add(space.trust.origin, plan.agent, KeyClass.AGENT))
        for plan in seats
        if not plan.bound
    ]
    jobs = [
        Job(REGISTRY, registration(space.engine, name, signer, folder.custodian), SYSTEM)
        for name, signer in made
    ]
    jobs += [
        Job(room.stream, command, SYSTEM, cause=link.cause, corr=link.corr) for command in commands
    ]
    kept = False
    try:
        results = space.engine.execute_all(jobs)
        kept = True
    finally:
        if not kept:
            for name, signer in made:
                folder.forget(space.trust.origin, name, signer.kid)
    for result in results:
        if isinstance(result, MootError):
            raise result


def fresh_id(space: Workspace) -> str:
    """PAR-004: today's next free number."""
    day = to_text(space.engine.clock())[:10].replace("-", "")
    with space.store.read() as view:
        taken = {row.key for row in view.rows(SESSIONS, f"parl-{day}-", limit=100_000)}
    number = len(taken) + 1
    while f"parl-{day}-{number:03d}" in taken:
        number += 1
    return f"parl-{day}-{number:03d}"


def require_free(folder: Path) -> None:
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise Refused(
            "folder_taken",
            f"{folder} holds {there[0]} already",
            hint="choose another folder; `moot parliament status DIR` shows what it is",
        )


def take(space: Workspace, folder: Path, binds: dict[str, str]) -> tuple[Room, tuple[str, ...]]:
    """Go on with a session from elsewhere; its files are stored and, where ours differ, put aside.

    `binds` names the agents of seats; every other seat gets one with a key of its own.
    """
    data = {name: read_or_none(folder / name) for name in FILES}
    if not any(data.values()):
        raise no_session(folder)
    wrong = errors(inspect(data))
    if wrong:
        raise Refused(wrong[0].code, wrong[0].message, hint=wrong[0].hint, findings=wrong)
    ledger, session, bill, told = (read_json(data[name] or b"") for name in FILES)
    room = Room(space, folder, session["parliament_id"])
    named = {rep["agent_id"]: rep["name"] for rep in session["representatives"]}
    unknown = sorted(binds.keys() - named.keys())
    if unknown:
        raise NotFound("unknown_seat", f"{unknown[0]} has no seat in these files", hint="check it")
    plans = tuple(
        _seat(room, number, Plan(name, (), binds.get(seat)))
        for number, (seat, name) in enumerate(named.items(), 1)
    )
    command = ask.Import(
        ledger=ledger,
        session=session,
        bill=bill,
        summaries=told,
        agents={seat: plan.agent for seat, plan in zip(named, plans, strict=True)},
        bound=tuple(seat for seat, plan in zip(named, plans, strict=True) if plan.bound),
        epochs={seat: plan.epoch for seat, plan in zip(named, plans, strict=True)},
    )
    _rehearse(room, command)
    stored = tuple(space.artifacts.put(data[name] or b"", REPLY) for name in FILES)
    enter(room, plans, [msgspec.structs.replace(command, files=stored)])
    return room, room.cabinet.restore()


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            "unwritable_file", f"{folder}: {error.strerror or error}", hint="check the path"
        ) from None
