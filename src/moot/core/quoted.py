"""Text that neither the caller nor Moot wrote: data to be shown, never an instruction to follow.

A result's field that may hold another's words (a subject, a work id, a scope, a reason) has this
type, so that every way in can mark it: a model must not take a colleague's message for an order.
"""

from __future__ import annotations

from typing import NewType

Quoted = NewType("Quoted", str)


def quote_optional(text: str | None) -> Quoted | None:
    """The same for a text that may be missing."""
    return None if text is None else Quoted(text)
