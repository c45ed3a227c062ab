"""Convene a new session, or continue one from files made elsewhere.

A seat without an agent gets a new agent with its own key. The session and its names are registered
in one commit or not at all: a refused attempt uses up no name.
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
from moot.protocols.parliament.commands import Begin, Convene, Import, SeatPlan
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.machine import SESSIONS
from moot.protocols.parliament.messages.contents import PARLIAMENT_ID
from moot.protocols.parliament.messages.shapes import read_json
from moot.workspace.workspace import Workspace

SEAT_NOTATION: Final = "Rep. Name:motive,motive[@AGENT]"
# How often the next number is tried if other processes take today's next number first.
_MAX_TRIES: Final = 20
_TAKEN_CODES: Final = ("already_convened", "name_taken")


class SeatRequest(msgspec.Struct, frozen=True):
    """A requested seat; without an agent it gets a new one.

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
                hint=f'write "{SEAT_NOTATION}"',
            )
        motives, _, agent = rest.partition("@")
        parsed = tuple(motive.strip() for motive in motives.split(",") if motive.strip())
        return cls(name.strip(), parsed, agent.strip() or None)

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
    """Convene a session in an empty folder; a seat without an agent gets a new one with a key."""
    require_free_folder(folder)
    skipped = 0
    for tries_left in reversed(range(_MAX_TRIES)):
        session_id = parliament_id or next_free_id(workspace, skipped)
        session = ParliamentSession(workspace, folder, session_id)
        seats = tuple(_plan_seat(session, number, seat) for number, seat in enumerate(requests, 1))
        command = Convene(
            problem_statement=problem,
            issues=issues,
            seats=seats,
            max_rounds=max_rounds,
            seed=make_seed(),
        )
        try:
            _record_beginning(session, seats, [command, Begin()], link)
        except Refused as error:
            if error.code not in _TAKEN_CODES or parliament_id is not None or not tries_left:
                raise
            # A seat's name is taken although no session has this number: try the next number.
            skipped += error.code == "name_taken"
        else:
            break
    make_folder(folder)
    session.files.write()
    return session


def _plan_seat(session: ParliamentSession, number: int, request: SeatRequest) -> SeatPlan:
    if request.agent is None:
        own_agent = f"{session.id}-rep-{number}"
        return SeatPlan(request.name, request.motives, own_agent, bound=False)
    agent = find_agent(session.workspace.engine, request.agent)
    return SeatPlan(request.name, request.motives, request.agent, epoch=agent.epoch)


def _record_beginning(
    session: ParliamentSession,
    seats: tuple[SeatPlan, ...],
    commands: list[Command],
    link: Link = NO_LINK,
) -> None:
    """Run the commands and register the agents made for this session: all of it, or nothing."""
    workspace, keys = session.workspace, session.workspace.folder
    new_keys = [
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
        for name, signer in new_keys
    ]
    is_recorded = False
    try:
        workspace.engine.execute_chain(first, *(lambda _done, job=job: job for job in then))
        is_recorded = True
    finally:
        if not is_recorded:
            for name, signer in new_keys:
                keys.remove_key(workspace.trust.origin, name, signer.kid)


def next_free_id(workspace: Workspace, skipped: int = 0) -> str:
    """Return today's next free id, `skipped` numbers further on (PAR-004)."""
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
            f"{folder} already contains {present[0]}",
            hint="choose another folder; `moot parliament status DIR` shows what it is",
        )


def import_session(
    workspace: Workspace,
    folder: Path,
    agents: dict[str, str],
    parliament_id: str | None = None,
) -> tuple[ParliamentSession, tuple[str, ...]]:
    """Continue a session from files; they are stored, and renamed where Moot writes others.

    `agents` names the agents of seats; every other seat gets a new one with a key. `parliament_id`
    replaces the id in the files. Returns the session and the new names of renamed files.
    """
    if parliament_id is not None and not PARLIAMENT_ID.fullmatch(parliament_id):
        raise bad_id(parliament_id)
    data = _read_sound_files(folder)
    ledger, session_file, bill, summaries = (read_json(data[name]) for name in FILES)
    session = ParliamentSession(workspace, folder, parliament_id or session_file["parliament_id"])
    if session.state.status is not None:
        command_line = f"moot parliament import {session.files.quoted_folder}"
        raise Refused(
            "already_convened",
            f"this workspace already has a session {session.id}",
            hint=f"`{command_line} --id {next_free_id(workspace)}` imports them as another session",
        )
    session_file["parliament_id"] = ledger["parliament_id"] = session.id
    plans = _plan_imported_seats(session, session_file, agents)
    command = Import(
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
    errors = select_errors(inspect_files(data))
    if errors:
        raise Refused.of(errors)
    # In valid files only the summaries may be missing, until a round has ended (PAR-119).
    return {name: b"[]" if content is None else content for name, content in data.items()}


def _plan_imported_seats(
    session: ParliamentSession, session_file: dict[str, Any], agents: dict[str, str]
) -> dict[str, SeatPlan]:
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
