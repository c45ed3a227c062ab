"""What may stand in the ledger. Who did it and when is on the record itself: actor and time.

Class and field names are signed with every record, so they can never be changed.
"""

from __future__ import annotations

from moot.core.clock import Millis
from moot.core.machine import Event


class ErrandAsked(Event, frozen=True):
    """The actor asked `of` for an errand."""

    id: str
    title: str
    of: str
    due_at: Millis | None


class ErrandDone(Event, frozen=True):
    """The one who was asked has done it."""

    id: str


class ErrandWithdrawn(Event, frozen=True):
    """The one who asked took it back."""

    id: str


class ErrandLapsed(Event, frozen=True):
    """Its time was over, and the machine closed it."""

    id: str


class Meddled(Event, frozen=True):
    """The actor tried (`tried` names the command) to end another's errand, and was refused."""

    id: str
    tried: str


EVENTS = (ErrandAsked, ErrandDone, ErrandWithdrawn, ErrandLapsed, Meddled)
