"""A command in its moment: who asks, for which seat, with which message or draft.

Made once for each decision; the checks of `rules.py` and the drafts of `drafts.py` look at it
and at nothing else.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from moot.core.findings import Finding, errors
from moot.core.machine import Command, Context, KeyClass
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.contents import BillDraft
from moot.protocols.parliament.messages.message import Response, response_findings, response_of
from moot.protocols.parliament.messages.schema import BILL_DRAFT
from moot.protocols.parliament.messages.words import PRIME_MINISTER, Kind
from moot.protocols.parliament.model import Amendment, Seat, State

_OFFICE: Final = (ask.Submit, ask.Decide)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """`command` is one of `commands.py`; each row of the rules knows which.

    `shape` is what is wrong with a message or draft in itself; only without errors is there a
    `response` or a `draft`.
    """

    state: State
    command: Any
    context: Context
    seat: Seat | None = None
    shape: tuple[Finding, ...] = ()
    response: Response | None = None
    draft: BillDraft | None = None
    amendment: Amendment | None = None

    @property
    def said(self) -> Any:
        """The content of the message; each rule knows its type."""
        return self.response.content if self.response is not None else None

    @property
    def is_system(self) -> bool:
        return self.context.actor.kind is KeyClass.SYSTEM

    @property
    def is_human(self) -> bool:
        return self.context.actor.kind is KeyClass.HUMAN


def look(state: State, command: Command, context: Context) -> Asked:
    """Everything the rules and drafts of this command need to see."""
    document = _document(command)
    shape = response_findings(document) if isinstance(command, _OFFICE) else ()
    response = response_of(document) if document is not None and not errors(shape) else None
    draft, more = _draft(state, command)
    return Asked(
        state=state,
        command=command,
        context=context,
        seat=state.seat_of(context.actor.id, context.actor.epoch),
        shape=(*shape, *more),
        response=response,
        draft=draft,
        amendment=state.amendments.get(getattr(command, "amendment_id", "")),
    )


def _document(command: Command) -> Any:
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


def next_version(state: State) -> int:
    return 1 if state.bill is None else state.bill.version + 1


def _draft(state: State, command: Command) -> tuple[BillDraft | None, tuple[Finding, ...]]:
    """The bill a command brings beside its message; its version may be left to the clerk."""
    document = getattr(command, "draft", None)
    if document is None:
        return None, ()
    if isinstance(document, dict):
        document = {"bill_version": next_version(state), **document}
    shape = tuple(BILL_DRAFT(document, "draft"))
    return (None if errors(shape) else msgspec.convert(document, BillDraft)), shape
