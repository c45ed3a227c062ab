"""Mail for the runner: whoever owes an acknowledgement reads the message and gives one.

Only answers that are owed and were never given are asked for; whether more is done about a
message is the agent's own business. Chasing and the operator are mail's own way when time is up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from moot.agents.brief import Brief, schema_of
from moot.agents.budget import Spent
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd
from moot.agents.quoting import AuthorTrust, QuotedText
from moot.agents.repeats import Utterance
from moot.agents.runnable import PassOverResult
from moot.core.errors import Malformed
from moot.core.machine import Due, KeyClass
from moot.flows.mail import messages, notices
from moot.flows.runs.run_record import NoRunRecord, RunRecord
from moot.protocols.mail.machine import MACHINE as MAIL
from moot.protocols.mail.model import MailMessage, State, stream_of, thread_of_id
from moot.workspace.workspace import Workspace

WHAT: Final = "ack"
_TASK: Final = (
    "A message waits for your acknowledgement; it is quoted below. Say Received if you have only "
    "read it, Understood, Will Action if you will do what it asks for, or Completed if that is "
    "done or the question is answered. Put the answer itself into the notes."
)


class AckReply(msgspec.Struct, forbid_unknown_fields=True):
    status: Literal["Received", "Understood", "Will Action", "Completed"]
    notes: str = ""


_SCHEMA: Final = schema_of(AckReply)


class RunnableMail:
    def __init__(
        self, space: Workspace, names: Iterable[str], record: RunRecord | None = None
    ) -> None:
        self._workspace = space
        self._names = frozenset(names)
        self._record = record or NoRunRecord()

    def advance(self) -> None:
        """Nothing here moves by itself."""

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

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return True

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
        try:
            reply = msgspec.convert(reply_fields, AckReply)
        except msgspec.ValidationError as error:
            raise Malformed(str(error), code="bad_reply", hint="follow the schema") from None
        notices.acknowledge(self._workspace, due.who, due.subject, reply.status, reply.notes)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """A receiver who is silent is chased by mail itself, in its own time (AGT-066)."""
        del due, failure
        return PassOverResult.NEVER

    def history(self) -> Sequence[Utterance]:
        return ()

    def standing(self) -> dict[str, Any]:
        return {"open": len(self.dues())}

    def spent(self) -> Spent:
        return self._record.spent()

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._record.record_outcome(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self._record.record_end(ended)

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
