"""The nouns of a path: where a step comes from, what it makes, how far it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import Command, Event

MAX_STEPS: Final = 1_000
MAX_MADE: Final = 100
MAX_TITLE: Final = 300
MAX_TEXT: Final = 2_000


class Stage(StrEnum):
    """How far a step is. A failed one can be tried again."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


class SourceRecord(msgspec.Struct, frozen=True):
    """The record that leads to a step: its place, its hash, and its native id."""

    stream: str
    seq: int
    hash: str
    id: str

    @property
    def protocol(self) -> str:
        return self.stream.partition("/")[0]

    @property
    def place(self) -> str:
        return f"{self.stream}#{self.seq}"


class StepTarget(msgspec.Struct, frozen=True):
    """What will be made: in which stream, under which native id, in which file or folder."""

    stream: str
    id: str
    file: str = ""

    @property
    def protocol(self) -> str:
        return self.stream.partition("/")[0]


class MadeThing(msgspec.Struct, frozen=True):
    """One thing that a step has made: its kind, its place, its native id."""

    kind: str
    stream: str
    seq: int
    id: str


class ResultStanding(msgspec.Struct, frozen=True):
    """How sure a result is (X-04); `unsigned` are agents that have not signed their entries."""

    reached: bool
    thin: bool = False
    provisional: bool = False
    errors: int = 0
    unsigned: tuple[str, ...] = ()


class PlayedPart(msgspec.Struct, frozen=True):
    """Who would play a part in what is made."""

    role: str
    agent: str


class PathStep(msgspec.Struct, frozen=True):
    """One step; `why` says how its last try failed, `approvers` who voted for what led to it."""

    number: int
    flow: str
    source: SourceRecord
    target: StepTarget
    asked_by: str
    since: Millis
    stage: Stage = Stage.BEGUN
    made: tuple[MadeThing, ...] = ()
    why: str = ""
    approvers: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return make_step_key(self.flow, self.source)


def make_step_key(flow: str, source: SourceRecord) -> str:
    """One record leads to one thing by one flow (X-02)."""
    return f"{flow} {source.place}"


class State(msgspec.Struct, frozen=True):
    """One path. `open` are the keys of steps that are not done."""

    title: str = ""
    origin: str = ""
    since: Millis | None = None
    steps: Map[str, PathStep] = Map()
    open: Map[str, int] = Map()

    @property
    def is_begun(self) -> bool:
        return self.since is not None

    def find_step(self, flow: str, source: SourceRecord) -> PathStep | None:
        return self.steps.get(make_step_key(flow, source))

    def steps_in_order(self) -> list[PathStep]:
        return sorted(self.steps.values(), key=lambda step: step.number)


# Commands. Ids, hashes and how sure a result is arrive as data.


class BeginPath(Command, frozen=True):
    """Begin a path: its title, and the agent whose need it comes from."""

    title: str
    origin: str
    source: SourceRecord


class BeginStep(Command, frozen=True):
    """Record what a step will make, before it makes it; again at every further try.

    `standing` is how sure the source's result is, `parts` who would have a role in the target,
    `approvers` who voted for the result that leads there.
    """

    flow: str
    source: SourceRecord
    target: StepTarget
    asked_by: str
    standing: ResultStanding | None = None
    parts: tuple[PlayedPart, ...] = ()
    approvers: tuple[str, ...] = ()


class MoveStep(Command, frozen=True):
    """Name another target, after someone else took the id."""

    flow: str
    source: SourceRecord
    target: StepTarget


class FinishStep(Command, frozen=True):
    """Record what the step has made."""

    flow: str
    source: SourceRecord
    made: tuple[MadeThing, ...]


class FailStep(Command, frozen=True):
    """Record why a step failed; `told` is the message that informed someone about it."""

    flow: str
    source: SourceRecord
    code: str
    why: str
    told: str = ""


COMMANDS = (BeginPath, BeginStep, MoveStep, FinishStep, FailStep)
StepCommand = BeginStep | MoveStep | FinishStep | FailStep


# Events.


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
    """`told` is the message that informed someone about it, if there was anyone to inform."""

    flow: str
    source: SourceRecord
    code: str
    why: str
    told: str = ""


EVENTS = (PathBegun, StepBegun, StepMoved, StepDone, StepFailed)
