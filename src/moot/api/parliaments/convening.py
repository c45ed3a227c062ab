"""How a session begins: newly convened, or continued from files made elsewhere.

A seat without an agent gets one with a key of its own. The session and its names are registered in
one commit or not at all: a refused attempt uses up no name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from moot.api.parliaments.session import ParliamentSession, bad_id, make_seed, no_session
from moot.api.parliaments.session_files import read_or_none
from moot.core.clock import to_text
from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.findings import select_errors
from moot.core.machine import Command, KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.engine.job import NO_LINK, Job, Link
from moot.engine.registry_commands import find_agent, registration_command
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.machine import SESSIONS
from moot.protocols.parliament.messages.contents import PARLIAMENT_ID
from moot.protocols.parliament.messages.shapes import read_json
from moot.workspace.workspace import Workspace

SEAT_NOTATION: Final = "Rep. Name:motive,motive[@AGENT]"
# Another process may take today's next number first; so often we try the number after it.
_TRIES: Final = 20
_TAKEN: Final = ("already_convened", "name_taken")


class SeatRequest(msgspec.Struct, frozen=True):
    """A seat as it is asked for; without an agent it gets one of its own.

    Its text is `Rep. Name:motive,motive[@AGENT]`, and `parse` reads that.
    """

    name: str
    motives: tuple[str, ...]
    agent: str | None = None

    @classmethod
    def parse(cls, text: str) -> SeatRequest:
        name, colon, rest = text.partition(":")
        if not colon:
            raise Malformed(
                f"{text!r} is not NAME:motive,motive",
                code="bad_seat",
                hint=f'write it like "{SEAT_NOTATION}"',
            )
        motives, _, agent = rest.partition("@")
        wanted = tuple(motive.strip() for motive in motives.split(",") if motive.strip())
        return cls(name.strip(), wanted, agent.strip() or None)

    def __str__(self) -> str:
        at_agent = "" if self.agent is None else f"@{self.agent}"
        return f"{self.name}:{','.join(self.motives)}{at_agent}"


def convene(
    workspace: Workspace,
    folder: Path,
    problem: str,
    issues: tuple[str, ...],
    requests: tuple[SeatRequest, ...],
    max_rounds: int,
    parliament_id: str | None = None,
    link: Link = NO_LINK,
) -> ParliamentSession:
    """A new session in an empty folder; seats without an agent get one with a key of its own."""
    require_free_folder(folder)
    skipped = 0
    for tries_left in reversed(range(_TRIES)):
        session_id = parliament_id or next_free_id(workspace, skipped)
        session = ParliamentSession(workspace, folder, session_id)
        seats = tuple(_plan_seat(session, number, seat) for number, seat in enumerate(requests, 1))
        command = ask.Convene(
            problem_statement=problem,
            issues=issues,
            seats=seats,
            max_rounds=max_rounds,
            seed=make_seed(),
        )
        try:
            _record_beginning(session, seats, [command, ask.Begin()], link)
        except Refused as error:
            if error.code not in _TAKEN or parliament_id is not None or not tries_left:
                raise
            # A seat's name is taken although no session has this number: go one further.
            skipped += error.code == "name_taken"
        else:
            break
    make_folder(folder)
    session.files.write()
    return session


def _plan_seat(session: ParliamentSession, number: int, request: SeatRequest) -> ask.SeatPlan:
    if request.agent is None:
        own_agent = f"{session.id}-rep-{number}"
        return ask.SeatPlan(request.name, request.motives, own_agent, bound=False)
    agent = find_agent(session.workspace.engine, request.agent)
    return ask.SeatPlan(request.name, request.motives, request.agent, epoch=agent.epoch)


def _record_beginning(
    session: ParliamentSession,
    seats: tuple[ask.SeatPlan, ...],
    commands: list[Command],
    link: Link = NO_LINK,
) -> None:
    """Run the commands and register the agents made for this session: all of it, or nothing."""
    workspace, keys = session.workspace, session.workspace.folder
    made = [
        (plan.agent, keys.add_key(workspace.trust.origin, plan.agent, KeyClass.AGENT))
        for plan in seats
        if not plan.bound
    ]
    first, *then = (
        Job(session.stream, command, SYSTEM, cause=link.cause, corr=link.corr)
        for command in commands
    )
    then += [
        Job(REGISTRY, registration_command(workspace.engine, name, signer, keys.custodian), SYSTEM)
        for name, signer in made
    ]
    is_recorded = False
    try:
        workspace.engine.execute_chain(first, *(lambda _done, job=job: job for job in then))
        is_recorded = True
    finally:
        if not is_recorded:
            for name, signer in made:
                keys.remove_key(workspace.trust.origin, name, signer.kid)


def next_free_id(workspace: Workspace, skipped: int = 0) -> str:
    """PAR-004: today's next free number, or one further on."""
    day = to_text(workspace.engine.clock())[:10].replace("-", "")
    with workspace.store.read() as view:
        taken = {row.key for row in view.rows(SESSIONS, f"parl-{day}-", limit=100_000)}
    number = len(taken) + 1 + skipped
    while f"parl-{day}-{number:03d}" in taken:
        number += 1
    return f"parl-{day}-{number:03d}"


def require_free_folder(folder: Path) -> None:
    present = [name for name in FILES if (folder / name).exists()]
    if present:
        raise Refused(
            "folder_taken",
            f"{folder} holds {present[0]} already",
            hint="choose another folder; `moot parliament status DIR` shows what it is",
        )


def import_session(
    workspace: Workspace,
    folder: Path,
    agents: dict[str, str],
    parliament_id: str | None = None,
) -> tuple[ParliamentSession, tuple[str, ...]]:
    """Continue a session from elsewhere; its files are stored and, where ours differ, put aside.

    `agents` names the agents of seats; every other seat gets one with a key of its own. With
    `parliament_id` the session goes on under another id than the files have. Gives the session and
    the names of the files that were put aside.
    """
    if parliament_id is not None and not PARLIAMENT_ID.fullmatch(parliament_id):
        raise bad_id(parliament_id)
    data = _read_sound_files(folder)
    ledger, session_file, bill, summaries = (read_json(data[name]) for name in FILES)
    session = ParliamentSession(workspace, folder, parliament_id or session_file["parliament_id"])
    if session.state.status is not None:
        typed = f"moot parliament import {session.files.quoted_folder}"
        raise Refused(
            "already_convened",
            f"this workspace has a session {session.id} already",
            hint=f"`{typed} --id {next_free_id(workspace)}` takes the files as another session",
        )
    session_file["parliament_id"] = ledger["parliament_id"] = session.id
    plans = _plan_imported_seats(session, session_file, agents)
    command = ask.Import(
        ledger=ledger,
        session=session_file,
        bill=bill,
        summaries=summaries,
        agents={seat: plan.agent for seat, plan in plans.items()},
        bound=tuple(seat for seat, plan in plans.items() if plan.bound),
        epochs={seat: plan.epoch for seat, plan in plans.items()},
        files=tuple(workspace.artifacts.put(data[name], "application/json") for name in FILES),
    )
    _record_beginning(session, tuple(plans.values()), [command])
    return session, session.files.restore()


def _read_sound_files(folder: Path) -> dict[str, bytes]:
    data = {name: read_or_none(folder / name) for name in FILES}
    if not any(data.values()):
        raise no_session(folder)
    wrong = select_errors(inspect_files(data))
    if wrong:
        raise Refused.of(wrong)
    # Of sound files only the summaries may be missing: until a round has ended (PAR-119).
    return {name: b"[]" if content is None else content for name, content in data.items()}


def _plan_imported_seats(
    session: ParliamentSession, session_file: dict[str, Any], agents: dict[str, str]
) -> dict[str, ask.SeatPlan]:
    names = {seat["agent_id"]: seat["name"] for seat in session_file["representatives"]}
    unknown = sorted(agents.keys() - names.keys())
    if unknown:
        raise NotFound("unknown_seat", f"{unknown[0]} has no seat in these files", hint="check it")
    return {
        seat: _plan_seat(session, number, SeatRequest(name, (), agents.get(seat)))
        for number, (seat, name) in enumerate(names.items(), 1)
    }


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            "unwritable_file", f"{folder}: {error.strerror or error}", hint="check the path"
        ) from None
