"""What may stand in the ledger."""

from __future__ import annotations

from moot.core.clock import Millis
from moot.core.machine import Event


class ErrandAsked(Event, frozen=True):
    id: str
    title: str
    of: str
    due_at: Millis | None


class ErrandDone(Event, frozen=True):
    id: str


class ErrandWithdrawn(Event, frozen=True):
    id: str


class ErrandLapsed(Event, frozen=True):
    id: str


class Meddled(Event, frozen=True):
    """Someone tried to close an errand that was not theirs: refused, and on record."""

    id: str
    tried: str


EVENTS = (ErrandAsked, ErrandDone, ErrandWithdrawn, ErrandLapsed, Meddled)
