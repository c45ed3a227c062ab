"""The nouns of a path: where a step comes from, what it makes, how far it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis

MAX_STEPS: Final = 1_000
MAX_MADE: Final = 100
MAX_TITLE: Final = 300
MAX_TEXT: Final = 2_000


class Stage(StrEnum):
    """How far a step is. A failed one may be tried again."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


class SourceRecord(msgspec.Struct, frozen=True):
    """The record that leads to something: where it stands, its hash, and its native id."""

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
    """One thing a step has made: what it is, where it stands, its native id."""

    kind: str
    stream: str
    seq: int
    id: str


class ResultStanding(msgspec.Struct, frozen=True):
    """How sure a result is (X-04); `unsigned` names the agents who have not signed their words."""

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
