"""A command under check: who gives it, for which seat, with which message, draft or amendment.

Made once for each decision. The checks behind `rules.py` and the events in `command_events.py` use
only this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from moot.core.findings import Finding, select_errors
from moot.core.machine import C, Case, Command, Context, KeyClass, fill_from
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.contents import (
    PRIME_MINISTER,
    Answer,
    BillDraft,
    Content,
    Kind,
    PmDecision,
    Question,
    SpeakerRuling,
)
from moot.protocols.parliament.messages.message import Response, read_response, response_findings
from moot.protocols.parliament.messages.schema import BILL_DRAFT
from moot.protocols.parliament.model import Amendment, Seat, State

K = TypeVar("K", bound=Content)
# What a check finds wrong: the message, and where (a JSON path, or a field of the command).
Breaches = Iterator[tuple[str, str | None]]

_BRINGS_A_MESSAGE: Final = (ask.Submit, ask.Decide)


class ParliamentCase(Case[State, C], Generic[C], frozen=True, kw_only=True, gc=False):
    """A command, with what its rules look up.

    `seat` is the actor's seat, `amendment` the one that the command names. `malformed` are
    findings in its message or draft alone, whatever the session; `draft` is None with errors.
    """

    seat: Seat | None = None
    malformed: tuple[Finding, ...] = ()
    draft: BillDraft | None = None
    amendment: Amendment | None = None

    @property
    def is_system(self) -> bool:
        return self.context.actor.kind is KeyClass.SYSTEM

    @property
    def is_human(self) -> bool:
        return self.context.actor.kind is KeyClass.HUMAN

    @property
    def pending_amendment(self) -> Amendment | None:
        """The amendment, if it is not settled yet."""
        return self.amendment if self.amendment is not None and self.amendment.pending else None


class MessageCase(ParliamentCase[C], Generic[C, K], frozen=True, kw_only=True, gc=False):
    """A command that brings a well-formed message, and that message's content."""

    response: Response
    content: K


AmendmentCommand = ask.Incorporate | ask.Withdraw | ask.ConcludeAmendment | ask.CallAmendmentVote
AnyMessageCase = MessageCase[ask.Submit | ask.Decide, Content]
ExchangeCase = MessageCase[ask.Submit, Question | Answer]
RulingCase = MessageCase[ask.Submit, SpeakerRuling]
DecisionCase = MessageCase[ask.Submit | ask.Decide, PmDecision]


def case_of(state: State, command: C, context: Context) -> ParliamentCase[C]:
    """Look up everything that the rules and events of this command need."""
    document = _message_document(command)
    malformed = response_findings(document) if isinstance(command, _BRINGS_A_MESSAGE) else ()
    draft, draft_findings = _read_draft(state, command)
    case = ParliamentCase(
        state=state,
        command=command,
        context=context,
        seat=state.seat_of(context.actor.id, context.actor.epoch),
        malformed=(*malformed, *draft_findings),
        draft=draft,
        amendment=state.amendments.get(getattr(command, "amendment_id", "")),
    )
    if document is None or select_errors(malformed):
        return case
    response = read_response(document)
    return fill_from(MessageCase, case, response=response, content=response.content)


def _message_document(command: Command) -> Any:
    """The message that a command brings; the prime minister's is made from the command's fields."""
    if isinstance(command, ask.Submit):
        return command.document
    if isinstance(command, ask.Decide):
        content = {
            "decision": command.decision,
            "reason": command.reason,
            "guidance": command.guidance,
        }
        return {"type": str(Kind.PM_DECISION), "from": PRIME_MINISTER, "content": content}
    return None


def next_bill_version(state: State) -> int:
    """Return the version that the next draft of the bill carries."""
    return 1 if state.bill is None else state.bill.version + 1


def _read_draft(state: State, command: Command) -> tuple[BillDraft | None, tuple[Finding, ...]]:
    """Return the bill that a command has in addition to its message; the clerk may number it."""
    document = getattr(command, "draft", None)
    if document is None:
        return None, ()
    if isinstance(document, dict):
        document = {"bill_version": next_bill_version(state), **document}
    findings = tuple(BILL_DRAFT(document, "draft"))
    return (None if select_errors(findings) else msgspec.convert(document, BillDraft)), findings
