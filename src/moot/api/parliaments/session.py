"""A parliament in its folder: commands go into the record, and the four files follow.

A seat signs with its agent's key, the speaker and the clerk are `system`, the prime minister is a
person. What the machine can do by itself after a command is done at once.
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
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament import round_clock
from moot.protocols.parliament.documents.final_document import Proceedings, write_final_document
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

# Which session a folder holds is known by the record and our own notes, never by its files alone:
# otherwise a program that can write into a folder could choose what a person signs.

# Where the sessions of `moot ask` have their folders, inside the workspace.
DECISIONS: Final = "decisions"


def stream_of(parliament_id: str) -> str:
    return f"{MACHINE.name}/{parliament_id}"


def id_in_files(folder: Path) -> str | None:
    """Which session the files of a folder say they belong to, if any can be read."""
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
    """Which session a folder is of: by the record of its decision, else by what we wrote there."""
    folder = folder.resolve()
    decision = f"decision/{folder.name}"
    if folder.parent == (workspace.path / DECISIONS).resolve() and STREAM.match(decision):
        state = workspace.engine.state(DECISION, decision_stream(folder.name))
        if state.session is not None:
            return state.session.id.partition("/")[2]
    return last_written_id(workspace, folder)


def locate(workspace: Workspace, folder: Path) -> Path:
    """The folder that is meant: a session may be named by its id instead, where no folder is called
    so. A run that acts for an agent gets absolute paths, so only the last part counts."""
    name = folder.name
    if folder.exists() or not PARLIAMENT_ID.fullmatch(name):
        return folder
    found = find_folder(workspace, name)
    if found is not None:
        return found
    if workspace.engine.state(MACHINE, stream_of(name)).status is None:
        raise NotFound(
            "session_not_found",
            f"this workspace knows no session {name}",
            hint="`moot agenda` shows what waits, with its id",
        )
    raise Unavailable(
        "no_session",
        f"no folder here holds the files of {name}",
        hint=f"`moot parliament export {name} --id {name}` writes them into a folder of that name",
    )


def require_id(workspace: Workspace, folder: Path) -> str | None:
    """The session of a folder; Refused if its files are of another one than the record says."""
    in_files, ours = id_in_files(folder), id_of_folder(workspace, folder)
    if in_files is not None and ours not in (None, in_files):
        command = f"moot parliament export {shlex.quote(str(folder))}"
        raise Refused(
            "another_session",
            f"{folder} is the folder of {ours}, and its files are of {in_files}",
            hint=f"`{command}` puts them aside and writes those of {ours}",
        )
    return in_files or ours


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


_DOCUMENT: Final = "text/markdown"


class CommandResult(msgspec.Struct, frozen=True):
    """The state after a command, remarks on it, and the messages that it brought into the ledger:
    its own and what the speaker said to it, nobody else's."""

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
        # How many votes there were when a person was shown the session: a ruling is about the last
        # one of these, and about no later one. None: nobody was shown anything.
        self.vote_shown: int | None = None

    @classmethod
    def open(cls, workspace: Workspace, folder: Path) -> ParliamentSession:
        """The session whose files are in `folder`, or were; `folder` may be its id, too."""
        folder = locate(workspace, folder)
        return cls.open_by_id(workspace, folder, require_id(workspace, folder))

    @classmethod
    def open_by_id(
        cls, workspace: Workspace, folder: Path, parliament_id: str | None
    ) -> ParliamentSession:
        """A session that this workspace knows, in a folder that may be new."""
        if parliament_id is None:
            raise no_session(folder)
        if not PARLIAMENT_ID.fullmatch(parliament_id):
            raise bad_id(parliament_id)
        session = cls(workspace, folder, parliament_id)
        if session.state.status is None:
            command = f"moot parliament import {session.files.quoted_folder}"
            raise NotFound(
                "session_not_found",
                f"this workspace knows no session {session.id}",
                hint=f"`{command}` takes files from elsewhere",
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

        `message` is what a `Submit` brings, where it was checked already.
        """
        self.files.require_unchanged()
        decision = decision_in_command(command, message)
        engine, stream = self.workspace.engine, self.stream
        try:
            if decision is None:
                outcome = engine.execute(stream, command, actor, key=key, role=role)
            else:  # a person's ruling goes into the decision it is about, too
                job = Job(stream, command, actor, key=key, role=role)
                outcome = record_ruling(self.workspace, job, decision, self.vote_shown)
        except Refused:
            self._follow_up()  # a refusal may leave something on record
            self.files.write()
            raise
        followed = self._follow_up()
        if decision is not None:
            self._complete_if_over()
        try:
            self.files.write()
        except (Refused, Unavailable) as error:  # only the files failed: the command is recorded
            behind = Unavailable(
                "files_behind", f"recorded, but not in the files: {error}", hint=error.hint
            )
            behind.findings = error.findings
            raise behind from None
        return CommandResult(self.state, outcome.findings, tuple(_logged(outcome, followed)))

    def _complete_if_over(self) -> None:
        """After the ruling on a decision only the clerk's document is left to be written."""
        engine = self.workspace.engine
        is_over = self.state.status is SessionStatus.SYNTHESIS
        if not is_over or not engine.signs_as_ledger:
            return
        if decisions_argued_in(engine, self.stream):
            command = _completing(self, write_final_document(self.read_proceedings()))
            with suppress(Refused):  # another process was quicker
                engine.execute(self.stream, command, SYSTEM)

    def rehearse(self, command: ask.Decide, role: str) -> None:
        """Refused, without anyone's key, if a person in this role would be refused."""
        decision = decision_in_command(command)
        self.vote_shown = len(self.state.vote_history)
        if decision is not None and only_repeats_ruling(self.workspace, self.stream, decision):
            return
        now = self.workspace.engine.clock()
        if tuple(MACHINE.timeouts(self.state, now)):
            return  # what the clock does first may change the answer
        acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN, role)
        require_allowed(self.workspace, MACHINE, self.stream, command, acting, state=self.state)

    def _follow_up(self) -> JobOutcome | None:
        """Do what the machine can do by itself now; another process may have been quicker."""
        now = self.workspace.engine.clock()
        overdue = tuple(MACHINE.timeouts(self.state, now))
        return self.workspace.engine.tick(self.stream) if overdue else None

    def signer_of(self, sender: object) -> str | None:
        """The name whose key a message needs; None: a person's, or nobody is named."""
        if sender == SPEAKER:
            return SYSTEM
        seat = self.state.seats.get(sender) if isinstance(sender, str) else None
        return seat.agent if seat is not None else None

    def list_scripted_agents(self) -> tuple[str, ...]:
        """Agents with a seat whose participant was a script or a rule, in the order of the seats.

        The decision under the session's own id, which records its runs, knows; else the question's.
        """
        engine = self.workspace.engine
        argued = decisions_argued_in(engine, self.stream)
        names = [self.id] if self.id in argued else argued
        decisions = [engine.state(DECISION, decision_stream(name)) for name in names]
        scripted = {seat.agent for each in decisions for seat in each.seats if seat.scripted}
        return tuple(seat.agent for seat in self.state.seats_in_order() if seat.agent in scripted)

    def read_proceedings(self) -> Proceedings:
        """Everything that was said and told, with who signed it."""
        with self.workspace.store.read() as view:
            signed = tuple(read_signed_messages(view, self.stream))
            summaries = tuple(read_summaries(view, self.stream))
        signers = {message.id: name for message, name in signed}
        messages = tuple(message for message, _ in signed)
        return Proceedings(self.state, messages, summaries, signers)


def _logged(*outcomes: JobOutcome | None) -> Iterator[LedgerMessage]:
    for outcome in outcomes:
        for recorded in outcome.recorded if outcome is not None else ():
            if isinstance(recorded.event, did.MessageLogged):
                yield read_message(recorded.event.message)


def make_seed(key: str | None = None) -> str:
    """Chance for one command; under an idempotency key always the same, or a repeat would be
    another command."""
    if key is None:
        return secrets.token_hex(8)
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def finish(session: ParliamentSession) -> str:
    """The final document; the session is complete once it is stored."""
    document = write_final_document(session.read_proceedings())
    if session.state.status is SessionStatus.SYNTHESIS:
        session.execute(_completing(session, document), SYSTEM)
    return document


def _completing(session: ParliamentSession, document: str) -> ask.Complete:
    return ask.Complete(document=session.workspace.artifacts.put(document.encode(), _DOCUMENT))


REPLY: Final = "application/json"
# Others will rely on these: the history they rest on is proved first.
_RESULTS: Final = (Kind.VOTE_TALLY, Kind.PM_DECISION)

# Turns the name whose key is needed into the one who acts, or refuses; the second argument says
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
    """Bring one message in the Agent Response Format. `acting` is who the sender says they are."""
    message = check_incoming(_read_document(session, data, acting, key))
    sender = message.sender
    is_person = sender == PRIME_MINISTER
    if is_person:
        session.vote_shown = len(session.state.vote_history)
    signer = session.signer_of(sender)
    if signer is None and not is_person and acting is None:
        raise _nobody_signs(message)
    if signer is not None and acting not in (None, signer):
        raise _not_yours(str(sender), acting)
    actor = find_actor(signer or acting, is_person)
    role = sender if sender in (SPEAKER, PRIME_MINISTER) else None
    make_command = ask.Announce if message.kind in _RESULTS else ask.Submit
    command = make_command(
        document=message.document,
        raw=_store_long_reply(session, message, data, key),
        seed=make_seed(key),
    )
    return session.execute(command, actor, role, key=key, message=message)


def _read_document(
    session: ParliamentSession, data: bytes, acting: str | None, key: str | None
) -> Any:
    """The JSON of a message. Bytes that are none count for the seat whose agent sent them; anyone
    else is only told."""
    try:
        return read_json(data, MAX_MESSAGE)
    except Malformed as error:
        agent = session.workspace.engine.registry().agents.get(acting or "")
        if agent is not None and session.state.seat_of(agent.name, agent.epoch) is not None:
            artifacts = session.workspace.artifacts
            raw = artifacts.put(data[:MAX_MESSAGE], "application/octet-stream")
            command = ask.ReportUnreadable(problem=str(error), raw=raw)
            session.execute(command, agent.name, key=key)
        raise


def _store_long_reply(
    session: ParliamentSession, message: IncomingMessage, data: bytes, key: str | None
) -> ArtifactRef | None:
    """C-08: a text over the budget will be cut, so what was sent is stored first.

    The budget shrinks from round to round. Under an idempotency key every question and answer is
    stored: a repeat in a later round must be the same command.
    """
    sentences = 0 if message.response is None else count_budget_sentences(message.response.content)
    if not sentences or (key is None and sentences <= round_clock.sentence_budget(session.state)):
        return None
    return session.workspace.artifacts.put(data, REPLY)


def _nobody_signs(message: IncomingMessage) -> Refused:
    """Without a known sender nobody can sign; what else is wrong is said as well."""
    wrong = select_errors(message.findings)
    first = wrong[0] if wrong else None
    return Refused(
        first.code if first else "unknown_seat",
        first.message if first else f"{message.sender} has no seat in this session",
        hint=first.hint if first else "`moot parliament status DIR` lists the seats",
        findings=wrong,
    )


def _not_yours(sender: str, acting: str | None) -> Refused:
    """C-30: nobody speaks for another."""
    finding = Finding(
        rule="C-30",
        code="not_you",
        message=f"you are {acting}; {sender} speaks with another key",
        where="from",
        hint="send it under your own seat",
    )
    return Refused(finding.code, finding.message, hint=finding.hint, findings=[finding])
