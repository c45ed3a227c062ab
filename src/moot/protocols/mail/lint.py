"""`lint_message`: every finding about one message, with its line and what to do.

Any text gives an answer. A message that was received differs from one of ours in three ways: `Re:`
is taken off with a warning, a missing ack flag counts as false instead of what its type asks for,
and a From that is not the sender is a warning instead of an error.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import islice

import msgspec

from moot.core.findings import Finding, select_errors
from moot.protocols.mail.message_draft import MessageDraft
from moot.protocols.mail.rules import RULES_BY_TYPE, RULES_FOR_ALL, Row
from moot.protocols.mail.types import MessageType

# One rule reports so many places of one message and no more: a body may hold a million of them.
MAX_BREACHES = 50


class LintedMessage(msgspec.Struct, frozen=True):
    """A message that was checked; `type` is None if its subject has no valid prefix."""

    type: MessageType | None
    role: str
    ack_required: bool
    findings: tuple[Finding, ...]

    @property
    def is_valid(self) -> bool:
        """No errors; warnings and notes leave a message valid."""
        return not select_errors(self.findings)


def lint_message(
    subject: str,
    body: str | bytes,
    ack_required: bool | None = None,
    *,
    received: bool = False,
    sender: str = "",
    agents: Container[str] | None = None,
    items: Container[str] | None = None,
) -> LintedMessage:
    """Check one message; `ack_required` is None if it does not say it.

    `agents` and `items` are the known names, if they are known: any other name is a warning.
    """
    return lint_draft(
        MessageDraft(
            subject,
            body,
            ack_required,
            received=received,
            sender=sender,
            agents=agents,
            items=items,
        )
    )


def lint_draft(draft: MessageDraft) -> LintedMessage:
    """The same for a message that was read already: the rows of all types, then those of its own
    (BRN-001)."""
    rows = RULES_FOR_ALL + (RULES_BY_TYPE[draft.type] if draft.type else ())
    findings = tuple(finding for row in rows for finding in _check_row(row, draft))
    role = draft.subject.role if draft.subject else ""
    return LintedMessage(draft.type, role, draft.ack_required, findings)


def _check_row(row: Row, draft: MessageDraft) -> Iterator[Finding]:
    for place in islice(row.check(draft), MAX_BREACHES):
        yield row.finding(*place)
