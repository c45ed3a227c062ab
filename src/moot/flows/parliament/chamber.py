"""A session in its folder: the commands over the record, and the four files after each of them.

Whoever acts is found here: a seat signs with its agent's key, the speaker and the clerk are
`system`, the prime minister is a person. What the machine can do by itself is done at once.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.findings import Finding, errors
from moot.core.machine import Acting, Command, Context, KeyClass
from moot.core.names import OPERATOR, STREAM, SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import Job, Outcome
from moot.engine.keys import hand_of_system
from moot.flows.parliament.cabinet import (
    Cabinet,
    last_id,
    messages,
    read_or_none,
    signed_messages,
    summaries,
)
from moot.flows.parliament.ruling import decisions_of, only_repeats, say, word_in
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.model import State as Decision
from moot.protocols.parliament import clock
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.documents.final_document import write_final_document
from moot.protocols.parliament.documents.proceedings import Proceedings
from moot.protocols.parliament.files.file_shapes import LEDGER_FILE, SESSION_FILE
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.message import (
    MAX_MESSAGE,
    read_message,
    read_response,
    response_findings,
    to_document,
)
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.messages.words import (
    PARLIAMENT_ID,
    PRIME_MINISTER,
    SPEAKER,
    Kind,
    SessionStatus,
)
from moot.protocols.parliament.model import State
from moot.protocols.parliament.speech_checks import count_budget_sentences
from moot.workspace.workspace import Workspace

DECISIONS: Final = "decisions"
REPLY: Final = "application/json"
DOCUMENT: Final = "text/markdown"


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
        self.vote: int | None = None  # the one a person's word is about, once it was rehearsed

    @classmethod
    def open(cls, space: Workspace, folder: Path) -> Room:
        """The session whose files are in `folder`, or were."""
        found, ours = id_in(folder), id_of(space, folder)
        if found is not None and ours not in (None, found):
            raise _another(folder, found, str(ours))
        return cls.known(space, folder, found or ours)

    @classmethod
    def known(cls, space: Workspace, folder: Path, parliament_id: str | None) -> Room:
        """A session of this workspace, in a folder that may be new."""
        if parliament_id is None:
            raise no_session(folder)
        if not PARLIAMENT_ID.fullmatch(parliament_id):
            raise bad_id(parliament_id)
        room = cls(space, folder, parliament_id)
        if room.state.status is None:
            raise NotFound(
                "session_not_found",
                f"this workspace knows no session {room.id}",
                hint=f"`moot parliament import {room.cabinet.shown}` takes files from elsewhere",
            )
        return room

    @property
    def state(self) -> State:
        state: State = self.space.engine.state(self.stream)
        return state

    def run(self, command: Command, actor: str, role: str | None = None) -> Done:
        """One command, what follows from it, and the files."""
        self.cabinet.require_ours()
        try:
            outcome = self._execute(Job(self.stream, command, actor, role=role))
        except Refused:
            self._follow_up()  # a refusal may leave something on record
            self.cabinet.write()
            raise
        followed = self._follow_up()
        if word_in(command) is not None:
            self._close()
        try:
            self.cabinet.write()
        except (Refused, Unavailable) as error:  # of the files only: what was asked is done
            raise _recorded_only(error) from None
        return Done(self.state, outcome.findings, tuple(_logged(outcome, followed)))

    def _execute(self, job: Job) -> Outcome:
        """A person's word is recorded in the decision it is about, too; the rest only here."""
        said = word_in(job.command)
        if said is not None:
            return say(self.space, job, said, self.vote)
        return self.space.engine.execute(self.stream, job.command, job.actor, role=job.role)

    def _close(self) -> None:
        """Once a decision has its last word, only the clerk's document is left to be written."""
        engine = self.space.engine
        over = self.state.status is SessionStatus.SYNTHESIS and hand_of_system(
            engine.trust, engine.keys
        )
        if over and decisions_of(self.space, self.stream):
            command = _completing(self, write_final_document(self.proceedings()))
            with suppress(Refused):  # another process was quicker
                engine.execute(self.stream, command, SYSTEM)

    def rehearse(self, command: Command, role: str) -> None:
        """Refused, without anyone's key, if a person in this role would be refused."""
        said = word_in(command)
        self.vote = len(self.state.vote_history)
        if said is not None and only_repeats(self.space, self.stream, said):
            return
        now = self.space.engine.clock()
        if tuple(MACHINE.timeouts(self.state, now)):
            return  # what the clock does first may change the answer
        acting = Acting(OPERATOR, 1, "", KeyClass.HUMAN, role)
        context = Context(now, acting, self.stream, self.space.trust.origin)
        rehearsed = MACHINE.decide(self.state, command, context)
        if rehearsed.refused:
            raise Refused.of(rehearsed.findings)

    def _follow_up(self) -> Outcome | None:
        """What the machine can do by itself now; another process may have been quicker."""
        now = self.space.engine.clock()
        overdue = tuple(MACHINE.timeouts(self.state, now))
        return self.space.engine.tick(self.stream) if overdue else None

    def signer(self, sender: Any) -> str | None:
        """The name whose key a message needs; None: a person's, or nobody is named."""
        if sender == SPEAKER:
            return SYSTEM
        seat = self.state.seats.get(sender) if isinstance(sender, str) else None
        return seat.agent if seat is not None else None

    def proceedings(self) -> Proceedings:
        with self.space.store.read() as view:
            said = tuple(signed_messages(view, self.stream))
            told = tuple(summaries(view, self.stream))
        signers = {message.id: name for message, name in said}
        return Proceedings(self.state, tuple(message for message, _ in said), told, signers)


def _logged(*outcomes: Outcome | None) -> Iterator[dict[str, Any]]:
    """The messages a command brought, with what the speaker said to it; nobody else's."""
    for outcome in outcomes:
        for one in outcome.recorded if outcome is not None else ():
            if isinstance(one.event, did.MessageLogged):
                yield to_document(read_message(one.event.message))


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
    if person:
        room.vote = len(room.state.vote_history)
    if needed is None and not person and acting is None:
        raise _nobody(document)
    if needed is not None and acting not in (None, needed):
        raise _not_yours(str(sender), acting)
    actor = who(needed or acting, person)
    role = sender if sender in (SPEAKER, PRIME_MINISTER) else None
    kind = document.get("type") if isinstance(document, dict) else None
    submitted = ask.Announce if kind in _RESULTS else ask.Submit
    command = submitted(document=document, raw=_raw(room, document, data), seed=fresh_seed())
    return room.run(command, actor, role)


# What others will rely on: the history it rests on is proved first.
_RESULTS: Final = (Kind.VOTE_TALLY, Kind.PM_DECISION)


def _nobody(document: Any) -> Refused:
    """Without a sender nobody can sign; what else is wrong is said as well."""
    found = errors(response_findings(document))
    if found:
        return Refused.of(found)
    problem = f"{document['from']} has no seat in this session"
    return Refused("unknown_seat", problem, hint="`moot parliament status DIR` lists the seats")


def _not_yours(sender: str, acting: str | None) -> Refused:
    """C-30: nobody speaks for another."""
    found = Finding(
        rule="C-30",
        code="not_you",
        message=f"you are {acting}; {sender} speaks with another key",
        where="from",
        hint="send it under your own seat",
    )
    return Refused.of([found])


def _report(room: Room, data: bytes, error: Malformed, actor: str | None) -> None:
    """What is no JSON counts for the seat whose agent sent it; anyone else is only told."""
    agent = room.space.engine.registry().agents.get(actor or "")
    if agent is None or room.state.seat_of(agent.name, agent.epoch) is None:
        return
    raw = room.space.artifacts.put(data[:MAX_MESSAGE], "application/octet-stream")
    room.run(ask.ReportUnreadable(problem=str(error), raw=raw), agent.name)


def _raw(room: Room, document: Any, data: bytes) -> ArtifactRef | None:
    """C-08: a text over the budget will be cut; what was sent is stored first."""
    if errors(response_findings(document)):
        return None
    if count_budget_sentences(read_response(document).content) <= clock.sentence_budget(room.state):
        return None
    return room.space.artifacts.put(data, REPLY)


def fresh_seed() -> str:
    return secrets.token_hex(8)


def finish(room: Room) -> str:
    """The final document; the session is complete once it is stored."""
    document = write_final_document(room.proceedings())
    if room.state.status is SessionStatus.SYNTHESIS:
        room.run(_completing(room, document), SYSTEM)
    return document


def _completing(room: Room, document: str) -> ask.Complete:
    return ask.Complete(document=room.space.artifacts.put(document.encode(), DOCUMENT))


def stream_of(parliament_id: str) -> str:
    return f"{MACHINE.name}/{parliament_id}"


def id_in(folder: Path) -> str | None:
    """Which session the files of a folder say they belong to, if any can be read."""
    for name in (SESSION_FILE, LEDGER_FILE):
        try:
            document = read_json(read_or_none(folder / name) or b"")
        except Malformed:
            continue
        found = document.get("parliament_id") if isinstance(document, dict) else None
        if isinstance(found, str) and PARLIAMENT_ID.fullmatch(found):
            return found
    return None


def id_of(space: Workspace, folder: Path) -> str | None:
    """Which session a folder is of: by the record of its decision, else by what we wrote there."""
    place = folder.resolve()
    if place.parent == (space.path / DECISIONS).resolve() and STREAM.match(
        f"decision/{place.name}"
    ):
        state: Decision = space.engine.state(decision_stream(place.name))
        if state.session is not None:
            return state.session.id.partition("/")[2]
    return last_id(space, folder)


def _another(folder: Path, found: str, ours: str) -> Refused:
    """Whoever may write there would else choose what is meant, and what a person signs."""
    shown = shlex.quote(str(folder))
    return Refused(
        "another_session",
        f"{folder} is the folder of {ours}, and its files are of {found}",
        hint=f"`moot parliament export {shown}` puts them aside and writes those of {ours}",
    )


def _recorded_only(error: Refused | Unavailable) -> Unavailable:
    found = Unavailable("files_behind", f"recorded, but not in the files: {error}", hint=error.hint)
    found.findings = error.findings
    return found


def unrecorded(space: Workspace, ledger: bytes | None) -> list[Finding]:
    """C-33: messages of a ledger file that are not what the record of its session holds.

    An older file is fine, for messages are only added; so is one of a session unknown here.
    """
    try:
        document = read_json(ledger or b"")
    except Malformed:
        return []
    if not isinstance(document, dict) or not PARLIAMENT_ID.fullmatch(_text(document)):
        return []
    given, stream = document.get("messages"), stream_of(_text(document))
    if not isinstance(given, list) or space.engine.state(stream).status is None:
        return []
    with space.store.read() as view:
        held = [to_document(message) for message in messages(view, stream)]
    wrong = (place for place, one in enumerate(given) if one not in held[place : place + 1])
    return [_unlike(place, place < len(held)) for place in wrong]


def _text(document: dict[str, Any]) -> str:
    return str(document.get("parliament_id"))


def _unlike(place: int, known: bool) -> Finding:
    why = "it differs from the signed record" if known else "the signed record has no such message"
    return Finding(
        rule="C-33",
        code="not_recorded",
        message=why,
        where=f"{LEDGER_FILE}#messages[{place}]",
        hint="`moot parliament export DIR` writes the files as the record has them",
    )


def bad_id(parliament_id: str) -> Malformed:
    return Malformed(
        f"{parliament_id!r} is no id of a session",
        code="bad_id",
        hint="it looks like parl-20260210-001",
    )


def no_session(folder: Path) -> Unavailable:
    return Unavailable(
        "no_session",
        f"{folder} holds no files of a parliament",
        hint=f"`moot parliament new {shlex.quote(str(folder))} ...` makes a session there",
    )
