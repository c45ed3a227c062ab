"""The nouns: an errand, its stages, and the state of one list of errands."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from immutables import Map

from moot.core.clock import Millis


class Stage(StrEnum):
    """The life of an errand. `machine.py` draws it."""

    OPEN = "open"
    DONE = "done"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


class Errand(msgspec.Struct, frozen=True):
    """What `asked_by` wants `asked_of` to do, by `due_at` if there is a limit."""

    id: str
    title: str
    asked_by: str
    asked_of: str
    asked_at: Millis
    due_at: Millis | None
    stage: Stage = Stage.OPEN


class State(msgspec.Struct, frozen=True):
    """The open errands by id; of those that are closed only the number, for the ledger has them.

    `meddlers` counts, by agent, how often it tried to end another's errand. `next_due` is the
    earliest limit of an open errand, kept because timeouts are asked for before every command.
    """

    open: Map[str, Errand] = Map()
    asked: int = 0
    closed: int = 0
    meddlers: Map[str, int] = Map()
    next_due: Millis | None = None

    def in_order(self) -> list[Errand]:
        """Open errands in the order they were asked. By id, because clocks may go back."""
        return sorted(self.open.values(), key=lambda errand: (len(errand.id), errand.id))
