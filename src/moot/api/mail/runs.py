"""Mail answered by participants: programs, models, scripts, people at a terminal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from moot.agents.brief import AuthorTrust, Brief, QuotedText, schema_of
from moot.agents.outcome import CallFailure
from moot.agents.runnable import PassOverResult
from moot.api.mail import messages, notices
from moot.api.operation import operation
from moot.api.runs.limits import USUAL, RunResult, read_participants, result_fields, seating
from moot.api.runs.seats import recorded_seats, require_somebody, seat_participants
from moot.api.runs.turns import (
    DecisionRunRecord,
    NoRunRecord,
    RecordedRun,
    RunRecord,
    begin_decision,
    read_reply,
    run_seats,
)
from moot.core.machine import Due, KeyClass
from moot.engine.registry_commands import find_agent
from moot.protocols.decision import commands as ask
from moot.protocols.decision.model import ChamberKind
from moot.protocols.mail.machine import MACHINE as MAIL
from moot.protocols.mail.model import MailMessage, State, stream_of, thread_of_id
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.runs.limits import Limits, RunWatcher, Terminal
    from moot.api.session import Session


# Only answers that are owed and were never given are asked for.

WHAT: Final = "ack"
_TASK: Final = (
    "A message waits for your acknowledgement; it is quoted below. Say Received if you have only "
    "read it, Understood, Will Action if you will do what it asks for, or Completed if that is "
    "done or the question is answered. Put the answer itself into the notes."
)


class _AckReply(msgspec.Struct, forbid_unknown_fields=True):
    status: Literal["Received", "Understood", "Will Action", "Completed"]
    notes: str = ""


_SCHEMA: Final = schema_of(_AckReply)


class RunnableMail(RecordedRun):
    def __init__(
        self, space: Workspace, names: Iterable[str], record: RunRecord | None = None
    ) -> None:
        super().__init__(record or NoRunRecord())
        self._workspace = space
        self._names = frozenset(names)

    def dues(self) -> Sequence[Due]:
        return [due for stream, state in messages.open_threads(self._workspace)
                for due in self._owed(stream, state)]  # fmt: skip

    def _owed(self, stream: str, state: State) -> Iterator[Due]:
        """Who has given no answer at all, and still holds the name it was sent to (AGT-066)."""
        for _, due in self._workspace.engine.agenda([stream]):
            id_ = due.subject.partition(": ")[0]
            message = state.find_message(id_)
            missing = () if message is None else [one.name for one in message.missing_receivers]
            if due.who in self._names and due.who in missing:
                yield Due(who=due.who, what=WHAT, subject=id_, since=due.since)

    def brief(self, due: Due) -> Brief:
        with self._workspace.store.read() as view:
            recorded = messages.read_message(view, due.subject)
        message = self._message(due)
        text = f"{message.subject}\n\n{messages.read_message_text(self._workspace, recorded)}"
        quote = QuotedText(
            author=message.sender, trust=self._trust(message.sender), place=message.id, text=text
        )
        view_ = {"message": message.id, "type": str(message.type or ""), "from": message.sender}
        return Brief(
            agent=due.who,
            role="the receiver of a message",
            what=WHAT,
            task=_TASK,
            schema=_SCHEMA,
            view=view_,
            quotes=(quote,),
        )

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        reply = read_reply(reply_fields, _AckReply)
        notices.acknowledge(self._workspace, due.who, due.subject, reply.status, reply.notes)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """A receiver who is silent is chased by mail itself, in its own time (AGT-066)."""
        del due, failure
        return PassOverResult.NEVER

    def standing(self) -> dict[str, Any]:
        return {"open": len(self.dues())}

    def _message(self, due: Due) -> MailMessage:
        state = self._workspace.engine.state(MAIL, stream_of(thread_of_id(due.subject)))
        found: MailMessage | None = state.find_message(due.subject)
        if found is None:
            raise messages.message_not_found(due.subject)
        return found

    def _trust(self, name: str) -> AuthorTrust:
        known = self._workspace.engine.registry().agents.get(name)
        person = known is not None and known.kind is KeyClass.HUMAN
        return AuthorTrust.PERSON if person else AuthorTrust.AGENT


class MailRun(RunResult, frozen=True):
    """How a run ended, whom it waits for and what it cost; `decision` is where that is on record.

    `standing` says how many answers of the participants are still open.
    """

    decision: str | None


@operation("mail.run", writes=True, runs_programs=True)
def run(
    session: Session,
    participants: Sequence[str],
    *,
    limits: Limits | None = None,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
) -> MailRun:
    """Let participants (`NAME=SPEC`) acknowledge the messages that wait for them, each under its
    own key.

    Only answers that are owed and were never given are asked for, so a repeat asks for none twice
    and needs no key; each answer is a commit of its own. A `human` participant is asked at
    `terminal`. Refused before anybody is asked: unknown names, people's names, keys that are not
    here, and any other name than the session's own, if it has one.
    """
    space, limits = session.workspace, limits or USUAL
    specs = read_participants(session, participants)
    require_somebody(specs)
    for name in specs:
        find_agent(space.engine, name)
    seated = seat_participants(specs, seating(session, terminal, limits), space)
    names = tuple(sorted(specs))
    question = ask.AskQuestion(
        question=f"What does {', '.join(names)} owe an answer to?",
        seats=recorded_seats(space, names, specs, seated),
        chamber=ChamberKind.MAIL,
        rule="each for itself",
        rounds=1,
    )
    # The same for the same participants: what a first run has spent counts for the second.
    digest = hashlib.sha256(" ".join(names).encode()).hexdigest()[:12]
    decision = f"mail-{names[0] if len(names) == 1 else digest}"
    begin_decision(space.engine, decision, question, ask.OpenSession(session="mail"))
    runnable = RunnableMail(space, specs, DecisionRunRecord(space.engine, decision))
    finished = run_seats(runnable, seated, space.engine.clock, decision, limits, watch)
    return MailRun(finished.decision, **result_fields(finished))
