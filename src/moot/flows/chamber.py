"""A session in its folder: the commands over the record, and the four files after each of them.

Whoever acts is found here: a seat signs with its agent's key, the speaker and the clerk are
`system`, the prime minister is a person. What the machine can do by itself is done at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.core.clock import to_text
from moot.core.errors import Malformed, MootError, NotFound, Refused, Unavailable
from moot.core.findings import Finding, errors
from moot.core.machine import Acting, Command, Context, KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.agents import agent_named, registration
from moot.engine.job import Job, Outcome, as_refused
from moot.flows.cabinet import Cabinet, messages, read_or_none, summaries
from moot.parliament import clock
from moot.parliament import commands as ask
from moot.parliament.fileshapes import FILES, LEDGER_FILE, SESSION_FILE
from moot.parliament.final import final_document
from moot.parliament.machine import MACHINE, SESSIONS
from moot.parliament.messages import MAX_MESSAGE, as_document, response_findings, response_of
from moot.parliament.model import State
from moot.parliament.proceedings import Proceedings
from moot.parliament.shapes import read_json
from moot.parliament.speech import spoken
from moot.parliament.words import PARLIAMENT_ID, PRIME_MINISTER, SPEAKER
from moot.workspace.workspace import Workspace

REPLY: Final = "application/json"
DOCUMENT: Final = "text/markdown"


class Plan(msgspec.Struct, frozen=True):
    """A seat as it is asked for: with no agent it gets one of its own."""

    name: str
    motives: tuple[str, ...]
    agent: str | None = None


class Done(msgspec.Struct, frozen=True):
    """What a command came to: the state after it, what it logged, what is to be remarked."""

    state: State
    findings: tuple[Finding, ...] = ()
    logged: tuple[dict[str, Any], ...] = ()


class Room:
    """One session and the folder with its files."""

    def __init__(self, space: Workspace, folder: Path, parliament_id: str) -> None:
        self.space = space
        self.folder = folder
        self.id = parliament_id
        self.stream = stream_of(parliament_id)
        self.cabinet = Cabinet(space, folder, self.stream)

    @classmethod
    def open(cls, space: Workspace, folder: Path) -> Room:
        """The session whose files are in `folder`."""
        room = cls(space, folder, id_in(folder))
        if room.state.status is None:
            raise NotFound(
                "session_not_found",
                f"this workspace knows no session {room.id}",
                hint=f"`moot parliament import {folder}` takes files from elsewhere",
            )
        return room

    @property
    def state(self) -> State:
        state: State = self.space.engine.state(self.stream)
        return state

    def run(self, command: Command, actor: str, role: str | None = None) -> Done:
        """One command, what follows from it, and the files."""
        self.cabinet.require_ours()
        before = self.state.next_message_id
        try:
            outcome = self.space.engine.execute(self.stream, command, actor, role=role)
        except Refused:
            self._after()  # a refusal may leave something on record
            raise
        self._after()
        return Done(self.state, outcome.findings, tuple(self._logged(outcome, before)))

    def _logged(self, outcome: Outcome, before: int) -> Iterator[dict[str, Any]]:
        """The messages this command brought, with what the speaker said to it."""
        first = outcome.recorded[0].seq - 1 if outcome.recorded else None
        if first is None or self.state.next_message_id == before:
            return
        with self.space.store.read() as view:
            yield from [as_document(message) for message in messages(view, self.stream, first)]

    def _after(self) -> None:
        now = self.space.engine.clock()
        if tuple(MACHINE.timeouts(self.state, now)):
            self.space.engine.tick(self.stream)
        self.cabinet.write()

    def signer(self, sender: Any) -> str | None:
        """The name whose key a message needs; None: a person's, or nobody is named."""
        if sender == SPEAKER:
            return SYSTEM
        seat = self.state.seats.get(sender) if isinstance(sender, str) else None
        return seat.agent if seat is not None else None

    def proceedings(self) -> Proceedings:
        with self.space.store.read() as view:
            said = tuple(messages(view, self.stream))
            return Proceedings(self.state, said, tuple(summaries(view, self.stream)))


Who = Callable[[str | None, bool], str]


def submit(room: Room, data: bytes, acting: str | None, who: Who) -> Done:
    """One message in the Agent Response Format.

    `acting` is whoever said who they are; `who` turns the name whose key is needed into the one
    who acts, or refuses; its second argument says that it must be a person.
    """
    try:
        document = read_json(data, MAX_MESSAGE)
    except Malformed as error:
        _report(room, data, error, acting)
        raise
    sender = document.get("from") if isinstance(document, dict) else None
    person = sender == PRIME_MINISTER
    needed = room.signer(sender)
    if needed is None and not person and acting is None:
        raise _nobody(document)
    if needed is not None and acting not in (None, needed):
        raise _not_yours(str(sender), acting)
    actor = who(needed or acting, person)
    role = sender if sender in (SPEAKER, PRIME_MINISTER) else None
    command = ask.Submit(document=document, raw=_raw(room, document, data), seed=_seed())
    return room.run(command, actor, role)


def _nobody(document: Any) -> Refused:
    """Without a sender nobody can sign; what else is wrong is said as well."""
    found = errors(response_findings(document))
    first = found[0] if found else None
    return Refused(
        first.code if first else "unknown_seat",
        first.message if first else f"{document['from']} has no seat in this session",
        hint=first.hint if first else "`moot parliament status DIR` lists the seats",
        findings=found,
    )


def _not_yours(sender: str, acting: str | None) -> Refused:
    """C-30: nobody speaks for another."""
    found = Finding(
        rule="C-30",
        code="not_you",
        message=f"you are {acting}; {sender} speaks with another key",
        where="from",
        hint="send it under your own seat",
    )
    return Refused(found.code, found.message, hint=found.hint, findings=[found])


def _report(room: Room, data: bytes, error: Malformed, actor: str | None) -> None:
    """What is no JSON counts for the seat whose agent sent it; anyone else is only told."""
    if actor is None or room.state.holders.get(actor) is None:
        return
    raw = room.space.artifacts.put(data[:MAX_MESSAGE], "application/octet-stream")
    room.run(ask.ReportUnreadable(problem=error.code, raw=raw), actor)


def _raw(room: Room, document: Any, data: bytes) -> ArtifactRef | None:
    """C-08: a text over the budget will be cut; what was sent is stored first."""
    if errors(response_findings(document)):
        return None
    if spoken(response_of(document).content) <= clock.budget(room.state):
        return None
    return room.space.artifacts.put(data, REPLY)


def _seed() -> str:
    return secrets.token_hex(8)


def finish(room: Room) -> str:
    """The final document; the session is complete once it is stored."""
    document = final_document(room.proceedings())
    if room.state.status == "synthesis":
        ref = room.space.artifacts.put(document.encode(), DOCUMENT)
        room.run(ask.Complete(document=ref), SYSTEM)
    return document


def convene(
    space: Workspace,
    folder: Path,
    problem: str,
    issues: tuple[str, ...],
    plans: tuple[Plan, ...],
    max_rounds: int,
) -> Room:
    """A new session in an empty folder; seats without an agent get one with a key of its own."""
    require_free(folder)
    room = Room(space, folder, fresh_id(space))
    seats = tuple(_seat(room, number, plan) for number, plan in enumerate(plans, 1))
    command = ask.Convene(
        problem_statement=problem,
        issues=issues,
        seats=seats,
        max_rounds=max_rounds,
        seed=_seed(),
    )
    _rehearse(room, command)
    enter(room, seats, [command, ask.Begin()])
    _make(folder)
    room.cabinet.write()
    return room


def _seat(room: Room, number: int, plan: Plan) -> ask.SeatPlan:
    if plan.agent is None:
        return ask.SeatPlan(plan.name, plan.motives, f"{room.id}-rep-{number}", bound=False)
    agent_named(room.space.engine, plan.agent)
    return ask.SeatPlan(plan.name, plan.motives, plan.agent)


def _rehearse(room: Room, command: Command) -> None:
    """A name is never given twice, so bad input must be found before one is."""
    engine = room.space.engine
    acting = Acting(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, room.stream, room.space.trust.origin)
    decision = MACHINE.decide(room.state, command, context)
    if decision.refused:
        raise as_refused(decision)


def enter(room: Room, seats: tuple[ask.SeatPlan, ...], commands: list[Command]) -> None:
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
    jobs += [Job(room.stream, command, SYSTEM) for command in commands]
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


def stream_of(parliament_id: str) -> str:
    return f"{MACHINE.name}/{parliament_id}"


def fresh_id(space: Workspace) -> str:
    """PAR-004: today's next free number."""
    day = to_text(space.engine.clock())[:10].replace("-", "")
    with space.store.read() as view:
        taken = {row.key for row in view.rows(SESSIONS, f"parl-{day}-", limit=100_000)}
    number = len(taken) + 1
    while f"parl-{day}-{number:03d}" in taken:
        number += 1
    return f"parl-{day}-{number:03d}"


def id_in(folder: Path) -> str:
    """Which session the files of a folder belong to."""
    for name in (SESSION_FILE, LEDGER_FILE):
        data = read_or_none(folder / name)
        if data is None:
            continue
        document = read_json(data)
        found = document.get("parliament_id") if isinstance(document, dict) else None
        if isinstance(found, str) and PARLIAMENT_ID.fullmatch(found):
            return found
    raise no_session(folder)


def no_session(folder: Path) -> Unavailable:
    return Unavailable(
        "no_session",
        f"{folder} holds no files of a parliament",
        hint=f"`moot parliament new {folder} ...` makes a session there",
    )


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
    room = Room(space, folder, id_in(folder))
    data = {name: read_or_none(folder / name) or b"" for name in FILES}
    ledger, session, bill, told = (read_json(data[name]) for name in FILES)
    named = {
        rep["agent_id"]: rep
        for rep in (session.get("representatives", ()) if isinstance(session, dict) else ())
        if isinstance(rep, dict) and isinstance(rep.get("agent_id"), str)
    }
    plans = tuple(
        _seat(room, number, Plan(str(rep.get("name", "")), (), binds.get(seat)))
        for number, (seat, rep) in enumerate(named.items(), 1)
    )
    command = ask.Import(
        ledger=ledger,
        session=session,
        bill=bill,
        summaries=told,
        agents={seat: plan.agent for seat, plan in zip(named, plans, strict=True)},
        bound=tuple(seat for seat, plan in zip(named, plans, strict=True) if plan.bound),
    )
    _rehearse(room, command)
    stored = tuple(space.artifacts.put(data[name], REPLY) for name in FILES)
    enter(room, plans, [msgspec.structs.replace(command, files=stored)])
    return room, room.cabinet.restore()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            "unwritable_file", f"{folder}: {error.strerror or error}", hint="check the path"
        ) from None
