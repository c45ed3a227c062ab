"""What may be asked. Ids, hashes and how a result stands arrive as data."""

from __future__ import annotations

from moot.core.machine import Command
from moot.protocols.path.model import (
    MadeThing,
    PlayedPart,
    ResultStanding,
    SourceRecord,
    StepTarget,
)


class BeginPath(Command, frozen=True):
    """Begin a path: what it is about, and whose need it comes from."""

    title: str
    origin: str
    source: SourceRecord


class BeginStep(Command, frozen=True):
    """Say what will be made, before it is made; said again whenever it is tried again.

    `standing` is how sure the source's result is, `parts` who would play a part in the target,
    `approvers` who was for the result that leads there.
    """

    flow: str
    source: SourceRecord
    target: StepTarget
    asked_by: str
    standing: ResultStanding | None = None
    parts: tuple[PlayedPart, ...] = ()
    approvers: tuple[str, ...] = ()


class MoveStep(Command, frozen=True):
    """Name another target: someone else took the id in between."""

    flow: str
    source: SourceRecord
    target: StepTarget


class FinishStep(Command, frozen=True):
    """Say what was made."""

    flow: str
    source: SourceRecord
    made: tuple[MadeThing, ...]


class FailStep(Command, frozen=True):
    """Say why a step failed, and under which message someone was told."""

    flow: str
    source: SourceRecord
    code: str
    why: str
    told: str = ""


COMMANDS = (BeginPath, BeginStep, MoveStep, FinishStep, FailStep)
StepCommand = BeginStep | MoveStep | FinishStep | FailStep
