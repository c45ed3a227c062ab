"""Let participants answer mail: programs, models, scripts, people at a terminal.

Only messages are asked about that wait for an answer and never got one.
"""

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
from moot.api.runs.limits import (
    DEFAULT_LIMITS,
    RunResult,
    make_surroundings,
    read_participants,
    result_fields,
)
from moot.api.runs.seats import describe_seats, require_participants, seat_participants
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
from moot.protocols.decision.commands import AskQuestion, OpenSession
from moot.protocols.decision.model import ChamberKind
from moot.protocols.mail.machine import MACHINE as MAIL
from moot.protocols.mail.model import MailMessage, State, stream_of, thread_of_id
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.runs.limits import Limits, RunWatcher, Terminal
    from moot.api.session import Session


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
        """Yield receivers without any answer that still hold the name it was sent to (AGT-066)."""
        for _, due in self._workspace.engine.agenda([stream]):
            message_id = due.subject.partition(": ")[0]
            message = state.find_message(message_id)
            missing = message.missing_receivers if message is not None else ()
            if due.who in self._names and any(due.who == receiver.name for receiver in missing):
                yield Due(who=due.who, what=WHAT, subject=message_id, since=due.since)

    def brief(self, due: Due) -> Brief:
        with self._workspace.store.read() as view:
            recorded = messages.read_message(view, due.subject)
        message = self._message(due)
        text = f"{message.subject}\n\n{messages.read_message_text(self._workspace, recorded)}"
        quote = QuotedText(
            author=message.sender, trust=self._trust(message.sender), place=message.id, text=text
        )
        return Brief(
            agent=due.who,
            role="the receiver of a message",
            what=WHAT,
            task=_TASK,
            schema=_SCHEMA,
            view={
                "message": message.id,
                "type": str(message.type or ""),
                "from": message.sender,
            },
            quotes=(quote,),
        )

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        reply = read_reply(reply_fields, _AckReply)
        notices.acknowledge(self._workspace, due.who, due.subject, reply.status, reply.notes)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Never pass over: mail itself reminds a silent receiver, at its own times (AGT-066)."""
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
        sender = self._workspace.engine.registry().agents.get(name)
        is_person = sender is not None and sender.kind is KeyClass.HUMAN
        return AuthorTrust.PERSON if is_person else AuthorTrust.AGENT


class MailRun(RunResult, frozen=True):
    """How a run ended, whom it waits for and what it cost; the stream `decision` records it.

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
    """Let participants (`NAME=SPEC`) acknowledge the messages that wait for them, each with its
    own key.

    Participants are asked only about messages without any answer, so a repeat asks for none twice
    and needs no key; each answer is a separate commit. A `human` participant answers at `terminal`.
    Refused before any participant is asked: unknown names, people's names, keys that are not here,
    and any name but the acting agent's, if there is one.
    """
    space, limits = session.workspace, limits or DEFAULT_LIMITS
    specs = read_participants(session, participants)
    require_participants(specs)
    for name in specs:
        find_agent(space.engine, name)
    seated = seat_participants(specs, make_surroundings(session, terminal, limits), space)
    names = tuple(sorted(specs))
    question = AskQuestion(
        question=f"What does {', '.join(names)} owe an answer to?",
        seats=describe_seats(space, names, specs, seated),
        chamber=ChamberKind.MAIL,
        rule="each for itself",
        rounds=1,
    )
    # Equal for the same participants, so that a second run counts what the first has spent.
    digest = hashlib.sha256(" ".join(names).encode()).hexdigest()[:12]
    decision = f"mail-{names[0] if len(names) == 1 else digest}"
    begin_decision(space.engine, decision, question, OpenSession(session="mail"))
    runnable = RunnableMail(space, specs, DecisionRunRecord(space.engine, decision))
    finished = run_seats(runnable, seated, space.engine.clock, decision, limits, watch)
    return MailRun(finished.decision, **result_fields(finished))
