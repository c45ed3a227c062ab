"""What may stand in the ledger."""

from __future__ import annotations

from moot.core.machine import Event
from moot.protocols.path.model import (
    MadeThing,
    PlayedPart,
    ResultStanding,
    SourceRecord,
    StepTarget,
)


class PathBegun(Event, frozen=True):
    title: str
    origin: str
    source: SourceRecord


class StepBegun(Event, frozen=True):
    number: int
    flow: str
    source: SourceRecord
    target: StepTarget
    asked_by: str
    standing: ResultStanding | None = None
    parts: tuple[PlayedPart, ...] = ()
    approvers: tuple[str, ...] = ()


class StepMoved(Event, frozen=True):
    flow: str
    source: SourceRecord
    target: StepTarget


class StepDone(Event, frozen=True):
    """`left` is how many steps of this path are still open."""

    flow: str
    source: SourceRecord
    target: StepTarget
    made: tuple[MadeThing, ...]
    left: int


class StepFailed(Event, frozen=True):
    """`told` is the message that says so, if anyone could be told."""

    flow: str
    source: SourceRecord
    code: str
    why: str
    told: str = ""


EVENTS = (PathBegun, StepBegun, StepMoved, StepDone, StepFailed)
