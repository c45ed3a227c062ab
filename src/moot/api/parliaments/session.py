"""A parliament in its folder: record commands, then bring the four files up to date.

A seat signs with its agent's key, the speaker and the clerk are `system`, the prime minister is a
person. What follows automatically from a command is recorded at once.
"""

from __future__ import annotations

import hashlib
import secrets
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.api.parliaments.incoming import IncomingMessage, check_incoming
from moot.api.parliaments.ruling import (
    decision_in_command,
    decisions_argued_in,
    only_repeats_ruling,
    record_ruling,
)
from moot.api.parliaments.session_files import (
    SessionFiles,
    find_folder,
    last_written_id,
    read_or_none,
    read_signed_messages,
    read_summaries,
)
from moot.api.rehearsal import require_allowed
from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.findings import Finding, select_errors
from moot.core.machine import Command, KeyClass, VerifiedActor
from moot.core.names import OPERATOR, STREAM, SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import Job, JobOutcome
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.parliament import round_clock
from moot.protocols.parliament.commands import Announce, Complete, Decide, ReportUnreadable, Submit
from moot.protocols.parliament.documents.final_document import Proceedings, write_final_document
from moot.protocols.parliament.events import MessageLogged
from moot.protocols.parliament.files.file_shapes import LEDGER_FILE, SESSION_FILE
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.message_checks import count_budget_sentences
from moot.protocols.parliament.messages.contents import (
    PARLIAMENT_ID,
    PRIME_MINISTER,
    SPEAKER,
    Kind,
    SessionStatus,
)
from moot.protocols.parliament.messages.message import MAX_MESSAGE, LedgerMessage, read_message
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.model import State
from moot.workspace.workspace import Workspace

# The record and Moot's own notes say which session a folder belongs to, never its files alone:
# otherwise a program that can write into a folder could choose what a person signs.

# The folder for the sessions of `moot ask`, inside the workspace.
DECISIONS_FOLDER: Final = "decisions"


def stream_of(parliament_id: str) -> str:
    return f"{MACHINE.name}/{parliament_id}"


def id_in_files(folder: Path) -> str | None:
    """Return the session that the files of a folder name, if one can be read."""
    for name in (SESSION_FILE, LEDGER_FILE):
        try:
            document = read_json(read_or_none(folder / name) or b"")
        except Malformed:
            continue
        parliament_id = document.get("parliament_id") if isinstance(document, dict) else None
        if isinstance(parliament_id, str) and PARLIAMENT_ID.fullmatch(parliament_id):
            return parliament_id
    return None


def id_of_folder(workspace: Workspace, folder: Path) -> str | None:
    """Return the session of a folder: by the record of its decision, else by Moot's notes."""
    folder = folder.resolve()
    decision = f"decision/{folder.name}"
    if folder.parent == (workspace.path / DECISIONS_FOLDER).resolve() and STREAM.match(decision):
        state = workspace.engine.state(DECISION, decision_stream(folder.name))
        if state.session is not None:
            return state.session.id.partition("/")[2]
    return last_written_id(workspace, folder)


def locate(workspace: Workspace, folder: Path) -> Path:
    """Return the folder of a session, which may also be named by its id.

    `moot run` makes paths absolute, so only the last part of the path is compared with the id.
    """
    name = folder.name
    if folder.exists() or not PARLIAMENT_ID.fullmatch(name):
        return folder
    found = find_folder(workspace, name)
    if found is not None:
        return found
    if workspace.engine.state(MACHINE, stream_of(name)).status is None:
        raise NotFound(
            "session_not_found",
            f"this workspace has no session {name}",
            hint="`moot agenda` shows what waits, with its id",
        )
    raise Unavailable(
        "no_session",
        f"no folder here has the files of {name}",
        hint=f"`moot parliament export {name} --id {name}` writes them into a folder of that name",
    )


def require_id(workspace: Workspace, folder: Path) -> str | None:
    """Return the session of a folder; Refused if its files name another one."""
    in_files, recorded_id = id_in_files(folder), id_of_folder(workspace, folder)
    if in_files is not None and recorded_id not in (None, in_files):
        command = f"moot parliament export {shlex.quote(str(folder))}"
        raise Refused(
            "another_session",
            f"{folder} is the folder of {recorded_id}, and its files are of {in_files}",
            hint=f"`{command}` puts them aside and writes those of {recorded_id}",
        )
    return in_files or recorded_id


def bad_id(parliament_id: str) -> Malformed:
    return Malformed(
        f"{parliament_id!r} is not a session id",
        code="bad_id",
        hint="it looks like parl-20260210-001",
    )


def no_session(folder: Path) -> Unavailable:
    return Unavailable(
        "no_session",
        f"{folder} has no files of a parliament",
        hint=f"`moot parliament new {shlex.quote(str(folder))} ...` begins a session there",
    )


_DOCUMENT_TYPE: Final = "text/markdown"


class CommandResult(msgspec.Struct, frozen=True):
    """The state after a command, its findings, and the messages that it added to the ledger.

    These are its own message and the speaker's reply, no other ones.
    """

    state: State
    findings: tuple[Finding, ...] = ()
    logged: tuple[LedgerMessage, ...] = ()


class ParliamentSession:
    """One session of a workspace, and the folder with its files."""

    def __init__(self, workspace: Workspace, folder: Path, parliament_id: str) -> None:
        self.workspace = workspace
        self.folder = folder
        self.id = parliament_id
        self.stream = stream_of(parliament_id)
        self.files = SessionFiles(workspace, folder, self.stream)
        # The number of votes when a person was shown the session: a ruling is about the last of
        # these, not about a later one. None: the session was not shown to a person.
        self.vote_shown: int | None = None

    @classmethod
    def open(cls, workspace: Workspace, folder: Path) -> ParliamentSession:
        """Open the session whose files are or were in `folder`, which may also be its id."""
        folder = locate(workspace, folder)
        return cls.open_by_id(workspace, folder, require_id(workspace, folder))

    @classmethod
    def open_by_id(
        cls, workspace: Workspace, folder: Path, parliament_id: str | None
    ) -> ParliamentSession:
        """Open a session of this workspace, in a folder that may be new."""
        if parliament_id is None:
            raise no_session(folder)
        if not PARLIAMENT_ID.fullmatch(parliament_id):
            raise bad_id(parliament_id)
        session = cls(workspace, folder, parliament_id)
        if session.state.status is None:
            command = f"moot parliament import {session.files.quoted_folder}"
            raise NotFound(
                "session_not_found",
                f"this workspace has no session {session.id}",
                hint=f"`{command}` imports its files",
            )
        return session

    @property
    def state(self) -> State:
        return self.workspace.engine.state(MACHINE, self.stream)

    def execute(
        self,
        command: Command,
        actor: str,
        role: str | None = None,
        *,
        key: str | None = None,
        message: IncomingMessage | None = None,
    ) -> CommandResult:
        """Record one command and what follows from it, then bring the files up to date.

        `message` is the message of a `Submit`, if it was checked already.
        """
        self.files.require_unchanged()
        decision = decision_in_command(command, message)
        engine, stream = self.workspace.engine, self.stream
        try:
            if decision is None:
                outcome = engine.execute(stream, command, actor, key=key, role=role)
            else:  # a person's ruling is also recorded in the decision
                job = Job(stream, command, actor, key=key, role=role)
                outcome = record_ruling(self.workspace, job, decision, self.vote_shown)
        except Refused:
            self._follow_up()  # a refusal may leave something on record
            self.files.write()
            raise
        followed = self._follow_up()
        if decision is not None:
            self._complete_if_decided()
        try:
            self.files.write()
        except (Refused, Unavailable) as error:  # only the files failed: the command is recorded
            behind = Unavailable(
                "files_behind", f"recorded, but not in the files: {error}", hint=error.hint
            )
            behind.findings = error.findings
            raise behind from None
        return CommandResult(self.state, outcome.findings, tuple(_list_logged(outcome, followed)))

    def _complete_if_decided(self) -> None:
        """Write the clerk's document after the ruling on a decision: nothing else is left."""
        engine = self.workspace.engine
        is_over = self.state.status is SessionStatus.SYNTHESIS
        if not is_over or not engine.signs_as_ledger:
            return
        if decisions_argued_in(engine, self.stream):
            command = _completion_command(self, write_final_document(self.read_proceedings()))
            with suppress(Refused):  # another process did it first
                engine.execute(self.stream, command, SYSTEM)

    def rehearse(self, command: Decide, role: str) -> None:
        """Apply the rules for a person in this role, without a key; Refused if they forbid it."""
        decision = decision_in_command(command)
        self.vote_shown = len(self.state.vote_history)
        if decision is not None and only_repeats_ruling(self.workspace, self.stream, decision):
            return
        now = self.workspace.engine.clock()
        if tuple(MACHINE.timeouts(self.state, now)):
            return  # a timeout comes first and may change the answer
        acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN, role)
        require_allowed(self.workspace, MACHINE, self.stream, command, acting, state=self.state)

    def _follow_up(self) -> JobOutcome | None:
        """Record what follows automatically now, unless another process did it first."""
        now = self.workspace.engine.clock()
        overdue = tuple(MACHINE.timeouts(self.state, now))
        return self.workspace.engine.tick(self.stream) if overdue else None

    def signer_of(self, sender: object) -> str | None:
        """Return the name whose key a message needs; None for a person or an unknown sender."""
        if sender == SPEAKER:
            return SYSTEM
        seat = self.state.seats.get(sender) if isinstance(sender, str) else None
        return seat.agent if seat is not None else None

    def list_scripted_agents(self) -> tuple[str, ...]:
        """Return the agents whose participant was a script or a rule, in the order of the seats.

        The decision with the session's own id records its runs; otherwise the question's does.
        """
        engine = self.workspace.engine
        argued = decisions_argued_in(engine, self.stream)
        names = [self.id] if self.id in argued else argued
        decisions = [engine.state(DECISION, decision_stream(name)) for name in names]
        scripted = {seat.agent for each in decisions for seat in each.seats if seat.scripted}
        return tuple(seat.agent for seat in self.state.seats_in_order() if seat.agent in scripted)

    def read_proceedings(self) -> Proceedings:
        """Return all messages and summaries, with who signed each message."""
        with self.workspace.store.read() as view:
            signed = tuple(read_signed_messages(view, self.stream))
            summaries = tuple(read_summaries(view, self.stream))
        signers = {message.id: name for message, name in signed}
        messages = tuple(message for message, _ in signed)
        return Proceedings(self.state, messages, summaries, signers)


def _list_logged(*outcomes: JobOutcome | None) -> Iterator[LedgerMessage]:
    for outcome in outcomes:
        for recorded in outcome.recorded if outcome is not None else ():
            if isinstance(recorded.event, MessageLogged):
                yield read_message(recorded.event.message)


def make_seed(key: str | None = None) -> str:
    """Return a random seed for one command; with an idempotency key always the same one.

    Otherwise a repeat would be a different command.
    """
    if key is None:
        return secrets.token_hex(8)
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def finish(session: ParliamentSession) -> str:
    """Return the final document, and complete the session by storing it."""
    document = write_final_document(session.read_proceedings())
    if session.state.status is SessionStatus.SYNTHESIS:
        session.execute(_completion_command(session, document), SYSTEM)
    return document


def _completion_command(session: ParliamentSession, document: str) -> Complete:
    return Complete(document=session.workspace.artifacts.put(document.encode(), _DOCUMENT_TYPE))


REPLY_TYPE: Final = "application/json"
# Others rely on these messages, so their history is verified first.
_RESULT_KINDS: Final = (Kind.VOTE_TALLY, Kind.PM_DECISION)

# Returns the acting name for the name whose key is needed, or refuses; the second argument says
# that it must be a person.
FindActor = Callable[[str | None, bool], str]


def submit_message(
    session: ParliamentSession,
    data: bytes,
    acting: str | None,
    find_actor: FindActor,
    *,
    key: str | None = None,
) -> CommandResult:
    """Submit one message in the Agent Response Format; `acting` is the name that sends it."""
    message = check_incoming(_read_document(session, data, acting, key))
    sender = message.sender
    is_person = sender == PRIME_MINISTER
    if is_person:
        session.vote_shown = len(session.state.vote_history)
    signer = session.signer_of(sender)
    if signer is None and not is_person and acting is None:
        raise _unknown_sender(message)
    if signer is not None and acting not in (None, signer):
        raise _not_your_seat(str(sender), acting)
    actor = find_actor(signer or acting, is_person)
    role = sender if sender in (SPEAKER, PRIME_MINISTER) else None
    make_command = Announce if message.kind in _RESULT_KINDS else Submit
    command = make_command(
        document=message.document,
        raw=_store_long_reply(session, message, data, key),
        seed=make_seed(key),
    )
    return session.execute(command, actor, role, key=key, message=message)


def _read_document(
    session: ParliamentSession, data: bytes, acting: str | None, key: str | None
) -> Any:
    """Return the JSON of a message; unreadable bytes count against the seat that sent them."""
    try:
        return read_json(data, MAX_MESSAGE)
    except Malformed as error:
        agent = session.workspace.engine.registry().agents.get(acting or "")
        if agent is not None and session.state.seat_of(agent.name, agent.epoch) is not None:
            artifacts = session.workspace.artifacts
            raw = artifacts.put(data[:MAX_MESSAGE], "application/octet-stream")
            command = ReportUnreadable(problem=str(error), raw=raw)
            session.execute(command, agent.name, key=key)
        raise


def _store_long_reply(
    session: ParliamentSession, message: IncomingMessage, data: bytes, key: str | None
) -> ArtifactRef | None:
    """Store the original of a text over the budget before the text is cut (C-08).

    The budget shrinks from round to round. With an idempotency key every question and answer is
    stored: a repeat in a later round must be the same command.
    """
    sentences = 0 if message.response is None else count_budget_sentences(message.response.content)
    if not sentences or (key is None and sentences <= round_clock.sentence_budget(session.state)):
        return None
    return session.workspace.artifacts.put(data, REPLY_TYPE)


def _unknown_sender(message: IncomingMessage) -> Refused:
    """Return the refusal for an unknown sender, with the other errors of the message."""
    errors = select_errors(message.findings)
    first = errors[0] if errors else None
    return Refused(
        first.code if first else "unknown_seat",
        first.message if first else f"{message.sender} has no seat in this session",
        hint=first.hint if first else "`moot parliament status DIR` lists the seats",
        findings=errors,
    )


def _not_your_seat(sender: str, acting: str | None) -> Refused:
    """Return the refusal for an agent that speaks for another seat (C-30)."""
    finding = Finding(
        rule="C-30",
        code="not_you",
        message=f"you are {acting}; {sender} speaks with another key",
        where="from",
        hint="send it under your own seat",
    )
    return Refused(finding.code, finding.message, hint=finding.hint, findings=[finding])
