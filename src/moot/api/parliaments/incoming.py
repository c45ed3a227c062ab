"""Read and check an incoming message once, and convert bills to JSON and text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, select_errors
from moot.protocols.parliament.messages.message import (
    Response,
    read_response,
    response_findings,
    to_document,
)
from moot.protocols.parliament.model import Bill, State


class IncomingMessage(msgspec.Struct, frozen=True):
    """A message's JSON, the findings about its form, and the `response` if it has no errors.

    Whether the message is allowed now is decided by the state machine.
    """

    document: Any
    findings: tuple[Finding, ...]
    response: Response | None

    @property
    def sender(self) -> object:
        """The sender that the message names, even if the message is malformed."""
        return self.document.get("from") if isinstance(self.document, dict) else None

    @property
    def kind(self) -> object:
        return self.document.get("type") if isinstance(self.document, dict) else None


def check_incoming(document: Any) -> IncomingMessage:
    findings = response_findings(document)
    return IncomingMessage(
        document, findings, None if select_errors(findings) else read_response(document)
    )


def merge_into_bill(state: State, changes: Any) -> dict[str, Any]:
    """Return the current bill as JSON, with the parts that `changes` contains."""
    if not isinstance(changes, dict):
        raise Malformed(
            "a bill is a JSON object",
            code="not_an_object",
            hint='such as {"sections": {"solution": "..."}}',
        )
    bill = state.bill
    if bill is None:
        return changes
    sections = changes.get("sections", {})
    if isinstance(sections, dict):
        sections = {**to_document(bill.sections), **sections}
    return {"title": bill.title, "summary": bill.summary, **changes, "sections": sections}


def has_same_words(bill: Bill | None, draft: Any) -> bool:
    """Return whether the draft would change nothing in the bill."""
    if bill is None or not isinstance(draft, dict):
        return False
    parts = {"title": bill.title, "summary": bill.summary, "sections": to_document(bill.sections)}
    return all(draft.get(name) == value for name, value in parts.items())


def describe_bill(bill: Bill | None) -> str:
    """Return title, version and main texts of the bill; empty without a bill."""
    if bill is None:
        return ""
    sections = bill.sections
    texts = (bill.summary, sections.problem, sections.solution, sections.implementation)
    return "\n\n".join((f"{bill.title} (version {bill.version})", *filter(None, texts)))


def write_bill(bill: Bill | None) -> str:
    """Return the whole bill as plain text for the person who rules; empty without a bill."""
    if bill is None:
        return ""
    sections, scope = bill.sections, bill.sections.scope
    parts = {
        "Problem": sections.problem,
        "In scope": _list_items(scope.in_scope),
        "Out of scope": _list_items(scope.out_of_scope),
        "Assumptions": _list_items(scope.assumptions),
        "Definitions": _list_items(scope.definitions),
        "Solution": sections.solution,
        "Implementation": sections.implementation,
    }
    texts = (f"{name}\n{text}" for name, text in parts.items() if text)
    first = (f"{bill.title} (version {bill.version})", bill.summary)
    return "\n\n".join((*filter(None, first), *texts))


def _list_items(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
