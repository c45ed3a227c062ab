"""How a session comes to be: convened anew, or gone on with from the files of elsewhere.

A seat without an agent gets one with a key of its own. Session and names come in one commit or
not at all: a name is never given twice, and none is used up by what was refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import to_text
from moot.core.errors import NotFound, Refused, Unavailable
from moot.core.findings import errors
from moot.core.machine import Command, KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.engine.agents import agent_named, registration
from moot.engine.job import ALONE, Job, Link
from moot.flows.parliament.cabinet import read_or_none
from moot.flows.parliament.chamber import REPLY, Room, bad_id, fresh_seed, no_session
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.machine import SESSIONS
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.messages.words import PARLIAMENT_ID
from moot.workspace.workspace import Workspace

# Others may take today's next number first; as often as that we take the one after it.
_TRIES: Final = 20
_TAKEN: Final = ("already_convened", "name_taken")


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
    beyond = 0
    for left in reversed(range(_TRIES)):
        room = Room(space, folder, parliament_id or fresh_id(space, beyond))
        seats = tuple(_seat(room, number, plan) for number, plan in enumerate(plans, 1))
        command = ask.Convene(
            problem_statement=problem,
            issues=issues,
            seats=seats,
            max_rounds=max_rounds,
            seed=fresh_seed(),
        )
        try:
            _enter(room, seats, [command, ask.Begin()], link)
        except Refused as error:
            if error.code not in _TAKEN or parliament_id is not None or not left:
                raise
            beyond += error.code == "name_taken"  # of a seat; no session says so
        else:
            break
    make_folder(folder)
    room.cabinet.write()
    return room


def _seat(room: Room, number: int, plan: Plan) -> ask.SeatPlan:
    if plan.agent is None:
        return ask.SeatPlan(plan.name, plan.motives, f"{room.id}-rep-{number}", bound=False)
    agent = agent_named(room.space.engine, plan.agent)
    return ask.SeatPlan(plan.name, plan.motives, plan.agent, epoch=agent.epoch)


def _enter(
    room: Room, seats: tuple[ask.SeatPlan, ...], commands: list[Command], link: Link = ALONE
) -> None:
    """Run the commands and register the agents made for this session: all of it, or nothing."""
    space, folder = room.space, room.space.folder
    made = [
        (plan.agent, folder.add(space.trust.origin, plan.agent, KeyClass.AGENT))
        for plan in seats
        if not plan.bound
    ]
    first, *then = (
        Job(room.stream, command, SYSTEM, cause=link.cause, corr=link.corr) for command in commands
    )
    then += [
        Job(REGISTRY, registration(space.engine, name, signer, folder.custodian), SYSTEM)
        for name, signer in made
    ]
    kept = False
    try:
        space.engine.execute_chain(first, *(lambda _done, job=job: job for job in then))
        kept = True
    finally:
        if not kept:
            for name, signer in made:
                folder.forget(space.trust.origin, name, signer.kid)


def fresh_id(space: Workspace, beyond: int = 0) -> str:
    """PAR-004: today's next free number, or one further on."""
    day = to_text(space.engine.clock())[:10].replace("-", "")
    with space.store.read() as view:
        taken = {row.key for row in view.rows(SESSIONS, f"parl-{day}-", limit=100_000)}
    number = len(taken) + 1 + beyond
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


def take(
    space: Workspace, folder: Path, binds: dict[str, str], parliament_id: str | None = None
) -> tuple[Room, tuple[str, ...]]:
    """Go on with a session from elsewhere; its files are stored and, where ours differ, put aside.

    `binds` names the agents of seats; every other seat gets one with a key of its own. With
    `parliament_id` the session goes on under another id than the files have.
    """
    if parliament_id is not None and not PARLIAMENT_ID.fullmatch(parliament_id):
        raise bad_id(parliament_id)
    data = {name: read_or_none(folder / name) for name in FILES}
    if not any(data.values()):
        raise no_session(folder)
    wrong = errors(inspect_files(data))
    if wrong:
        raise Refused.of(wrong)
    ledger, session, bill, told = (read_json(data[name] or b"") for name in FILES)
    room = Room(space, folder, parliament_id or session["parliament_id"])
    if room.state.status is not None:
        raise _known_here(space, room)
    session["parliament_id"] = ledger["parliament_id"] = room.id
    named = {rep["agent_id"]: rep["name"] for rep in session["representatives"]}
    unknown = sorted(binds.keys() - named.keys())
    if unknown:
        raise NotFound("unknown_seat", f"{unknown[0]} has no seat in these files", hint="check it")
    plans = tuple(
        _seat(room, number, Plan(name, (), binds.get(seat)))
        for number, (seat, name) in enumerate(named.items(), 1)
    )
    stored = tuple(space.artifacts.put(data[name] or b"", REPLY) for name in FILES)
    command = ask.Import(
        ledger=ledger,
        session=session,
        bill=bill,
        summaries=told,
        agents={seat: plan.agent for seat, plan in zip(named, plans, strict=True)},
        bound=tuple(seat for seat, plan in zip(named, plans, strict=True) if plan.bound),
        epochs={seat: plan.epoch for seat, plan in zip(named, plans, strict=True)},
        files=stored,
    )
    _enter(room, plans, [command])
    return room, room.cabinet.restore()


def _known_here(space: Workspace, room: Room) -> Refused:
    return Refused(
        "already_convened",
        f"this workspace has a session {room.id} already",
        hint=f"`moot parliament import {room.cabinet.shown} --id {fresh_id(space)}` takes the files"
        " as another session",
    )


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            "unwritable_file", f"{folder}: {error.strerror or error}", hint="check the path"
        ) from None
