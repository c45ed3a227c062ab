"""A bill as JSON, brought by whoever amends it: only what changes must be said; and in words."""

from __future__ import annotations

from typing import Any

from moot.core.errors import Malformed
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.model import Bill, State


def merged(state: State, given: Any) -> dict[str, Any]:
    """The current bill with the parts that `given` names in their place."""
    if not isinstance(given, dict):
        raise Malformed(
            "a bill is a JSON object",
            code="not_an_object",
            hint='such as {"sections": {"solution": "..."}}',
        )
    bill = state.bill
    if bill is None:
        return given
    sections = to_document(bill.sections)
    changes = given.get("sections", {})
    if isinstance(changes, dict):
        changes = {**sections, **changes}
    return {"title": bill.title, "summary": bill.summary, **given, "sections": changes}


def is_as(bill: Bill | None, given: Any) -> bool:
    """The bill has just these words: nothing of it would change."""
    if bill is None or not isinstance(given, dict):
        return False
    own = {"title": bill.title, "summary": bill.summary, "sections": to_document(bill.sections)}
    return all(given.get(name) == value for name, value in own.items())


def in_words(bill: Bill | None) -> str:
    """Title and version, then what it says; empty without a bill."""
    if bill is None:
        return ""
    parts = bill.sections
    texts = (bill.summary, parts.problem, parts.solution, parts.implementation)
    return "\n\n".join((f"{bill.title} (version {bill.version})", *filter(None, texts)))
