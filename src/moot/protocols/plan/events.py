"""What may stand in a plan's history."""

from __future__ import annotations

from moot.core.machine import Event


class PlanAmended(Event, frozen=True):
    """The actor put `text` in the place of the page, which is `version` from now on."""

    work: str
    version: int
    text: str


EVENTS = (PlanAmended,)
