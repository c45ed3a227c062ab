"""A parliament in its folder: commands go into the record, and the four files follow.

A seat signs with its agent's key, the speaker and the clerk are `system`, the prime minister is a
person. What the machine can do by itself after a command is done at once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.errors import NotFound, Refused, Unavailable
from moot.core.findings import Finding
from moot.core.machine import Command, Context, KeyClass, VerifiedActor
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.job import Job, JobOutcome
from moot.flows.parliament.incoming_message import IncomingMessage
from moot.flows.parliament.parliament_files import (
    SessionFiles,
    read_signed_messages,
    read_summaries,
)
from moot.flows.parliament.ruling import (
    PrimeMinisterDecision,
    decision_in_command,
    decisions_argued_in,
    only_repeats_ruling,
    record_ruling,
)
from moot.flows.parliament.session_ids import (
    bad_id,
    locate,
    no_session,
    require_id,
    stream_of,
)
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.documents.final_document import write_final_document
from moot.protocols.parliament.documents.proceedings import Proceedings
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.message import LedgerMessage, read_message
from moot.protocols.parliament.messages.words import PARLIAMENT_ID, SPEAKER, SessionStatus
from moot.protocols.parliament.model import State
from moot.workspace.workspace import Workspace

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
        try:
            outcome = self._record(Job(self.stream, command, actor, key=key, role=role), decision)
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
            raise _recorded_only(error) from None
        return CommandResult(self.state, outcome.findings, tuple(_logged(outcome, followed)))

    def _record(self, job: Job, decision: PrimeMinisterDecision | None) -> JobOutcome:
        """A person's ruling goes into the decision it is about, too; the rest only here."""
        if decision is not None:
            return record_ruling(self.workspace, job, decision, self.vote_shown)
        return self.workspace.engine.execute(
            self.stream, job.command, job.actor, key=job.key, role=job.role
        )

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
        context = Context(now, acting, self.stream, self.workspace.trust.origin)
        rehearsed = MACHINE.decide(self.state, command, context)
        if rehearsed.refused:
            raise Refused.of(rehearsed.findings)

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


def _recorded_only(error: Refused | Unavailable) -> Unavailable:
    behind = Unavailable(
        "files_behind", f"recorded, but not in the files: {error}", hint=error.hint
    )
    behind.findings = error.findings
    return behind


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
