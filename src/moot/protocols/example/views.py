"""What people and agents read of a list of errands."""

from __future__ import annotations

from typing import Any

from moot.core.clock import to_text
from moot.protocols.example.model import State


def as_json(state: State) -> dict[str, Any]:
    return {
        "open": [
            {
                "id": errand.id,
                "title": errand.title,
                "asked_by": errand.asked_by,
                "asked_of": errand.asked_of,
                "due_at": None if errand.due_at is None else to_text(errand.due_at),
            }
            for errand in state.in_order()
        ],
        "asked": state.asked,
        "closed": state.closed,
    }
