"""A bill brought as JSON by whoever amends it: only what changes must be said."""

from __future__ import annotations

from typing import Any

from moot.core.errors import Malformed
from moot.parliament.messages import as_document
from moot.parliament.model import State


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
    sections = as_document(bill.sections)
    changes = given.get("sections", {})
    if isinstance(changes, dict):
        changes = {**sections, **changes}
    return {"title": bill.title, "summary": bill.summary, **given, "sections": changes}
