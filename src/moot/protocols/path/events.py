"""What may stand in the ledger."""

from __future__ import annotations

from moot.core.machine import Event
from moot.protocols.path.model import Made, Part, Source, Standing, Target


class PathBegun(Event, frozen=True):
    title: str
    origin: str
    source: Source


class StepBegun(Event, frozen=True):
    number: int
    flow: str
    source: Source
    target: Target
    asked_by: str
    standing: Standing | None = None
    parts: tuple[Part, ...] = ()
    approvers: tuple[str, ...] = ()


class StepMoved(Event, frozen=True):
    flow: str
    source: Source
    target: Target


class StepDone(Event, frozen=True):
    """`left` is how many steps of this path are still open."""

    flow: str
    source: Source
    target: Target
    made: tuple[Made, ...]
    left: int


class StepFailed(Event, frozen=True):
    """`told` is the message that says so, if anyone could be told."""

    flow: str
    source: Source
    code: str
    why: str
    told: str = ""


EVENTS = (PathBegun, StepBegun, StepMoved, StepDone, StepFailed)
