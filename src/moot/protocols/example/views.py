"""What people and agents read of a list of errands.

A view is a Struct: its fields, in this order, are the JSON that every surface prints.
"""

from __future__ import annotations

import msgspec

from moot.core.clock import to_text
from moot.protocols.example.model import Errand, State


class ErrandView(msgspec.Struct, frozen=True):
    """An open errand; `due_at` is a time as people write it, None if there is no limit."""

    id: str
    title: str
    asked_by: str
    asked_of: str
    due_at: str | None


class ErrandListView(msgspec.Struct, frozen=True):
    """The open errands in the order they were asked, and how many were asked and closed in all."""

    open: list[ErrandView]
    asked: int
    closed: int


def view_list(state: State) -> ErrandListView:
    errands = [view_errand(errand) for errand in state.in_order()]
    return ErrandListView(errands, state.asked, state.closed)


def view_errand(errand: Errand) -> ErrandView:
    due_at = None if errand.due_at is None else to_text(errand.due_at)
    return ErrandView(errand.id, errand.title, errand.asked_by, errand.asked_of, due_at)
