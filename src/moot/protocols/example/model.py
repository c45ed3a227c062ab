"""Errands and their states."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from immutables import Map

from moot.core.clock import Millis


class Stage(StrEnum):
    OPEN = "open"
    DONE = "done"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


class Errand(msgspec.Struct, frozen=True):
    id: str
    title: str
    asked_by: str
    asked_of: str
    asked_at: Millis
    due_at: Millis | None
    stage: Stage = Stage.OPEN


class State(msgspec.Struct, frozen=True):
    """Only what is open is kept by id: the list may be long, what waits is short.

    `next_due` is the earliest time limit of an open errand: it is asked before every command.
    """

    open: Map[str, Errand] = Map()
    asked: int = 0
    closed: int = 0
    meddlers: Map[str, int] = Map()
    next_due: Millis | None = None

    def in_order(self) -> list[Errand]:
        """Open errands as they were asked: ids count upwards, a clock may not."""
        return sorted(self.open.values(), key=lambda errand: (len(errand.id), errand.id))
