"""One observed session: who is watched, how often which tool was used, and when nobody watched."""

# No `from __future__ import annotations`: msgspec would compile each annotation in every hook call.

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map
from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Command, Event
from moot.core.record import ArtifactRef

# The state is small, because Moot reads it before every observation. The events have everything.
MAX_TOOLS, MAX_GAPS = 200, 64
# Tools beyond the first `MAX_TOOLS` names are counted together under this one.
OTHER_TOOLS: Final = "(others)"
# The reason of a gap if a user started the tool without hooks on purpose.
UNGUARDED: Final = "unguarded"


class Stage(StrEnum):
    """How far a session is; computed from the state, not stored in it."""

    NEW = "new"
    WATCHED = "watched"
    BLIND = "blind"
    ENDED = "ended"


class SeenTests(StrEnum):
    """How the tests after the last edit ended, as far as hooks saw it.

    `ran`: tests ran, with an unknown result. `never`: none ran.
    """

    PASSED = "passed"
    FAILED = "failed"
    RAN = "ran"
    NEVER = "never"


class Gap(msgspec.Struct, frozen=True):
    """Nobody watched from `since` to `until`."""

    since: Millis
    until: Millis
    why: str


class State(msgspec.Struct, frozen=True):
    """One session. `blind_since` is set while no hook watches; `gaps` has only the newest.

    `last_edit` and `last_tests` are the numbers of the newest uses that changed files and that ran
    tests; `tests` is the result of those tests.
    """

    agent: str = ""
    epoch: int = 0
    session: str = ""
    since: Millis = 0
    last_at: Millis = 0
    tools: Map[str, int] = Map()
    count: int = 0
    files: int = 0
    gaps: tuple[Gap, ...] = ()
    gap_count: int = 0
    blind_since: Millis | None = None
    blind_why: str = ""
    ended: bool = False
    last_edit: int = 0
    last_tests: int = 0
    tests: str = ""

    @property
    def tests_after_edit(self) -> SeenTests | None:
        """The result of tests after the last edit; None if nothing was edited."""
        if not self.last_edit:
            return None
        return SeenTests(self.tests) if self.last_tests > self.last_edit else SeenTests.NEVER

    @property
    def stage(self) -> Stage:
        if self.ended:
            return Stage.ENDED
        if not self.agent:
            return Stage.NEW
        return Stage.WATCHED if self.blind_since is None else Stage.BLIND


# Commands.


class BeginObserving(Command, frozen=True):
    """Begin to watch a session of yours."""

    session: str = ""


class ObserveTool(Command, frozen=True):
    """Record that a tool was used: the hash of its input, its output, the files it changed.

    `ok` is None if the hook does not know how the use ended. `alias` is the number of the
    session's sub-agent that used the tool; unset for its main agent, or if unknown. `tests` is the
    result of tests that it ran: passed, failed, or ran if unknown. `model` is the model's name
    according to the tool.
    """

    tool: str
    input_hash: str
    artifact: ArtifactRef | None = None
    files: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    ok: bool | None = None
    session: str = ""
    alias: str | UnsetType = UNSET
    tests: str | UnsetType = UNSET
    model: str | UnsetType = UNSET


class StopWatching(Command, frozen=True):
    """Record that no hook watches from now on, or from `since` on."""

    why: str
    since: Millis | None = None


class NoteGap(Command, frozen=True):
    """Record a span without a hook, found afterwards."""

    since: Millis
    until: Millis
    why: str


class NoteUnseenChanges(Command, frozen=True):
    """Record files that changed during a run from which no hook reported anything."""

    files: tuple[str, ...]


class EndObserving(Command, frozen=True):
    """End the record of this session."""

    reason: str = ""


COMMANDS = (*(BeginObserving, ObserveTool, StopWatching, NoteGap, NoteUnseenChanges, EndObserving),)


# Events.


class ObservingBegun(Event, frozen=True):
    session: str


class ToolObserved(Event, frozen=True):
    """A tool was used; `ok` is None if the hook did not know how that ended.

    `alias` is the number of the sub-agent that used it; the session's key signed for it. `tests`
    is the result of tests that it ran; `model` is the model's name according to the tool.
    """

    number: int
    tool: str
    input_hash: str
    artifact: str | None
    files: tuple[str, ...]
    redacted: tuple[str, ...]
    ok: bool | None
    alias: str | UnsetType = UNSET
    tests: str | UnsetType = UNSET
    model: str | UnsetType = UNSET


class WatchingStopped(Event, frozen=True):
    """No hook watches from `since` on; `GapNoted` follows when one watches again."""

    since: Millis
    why: str


class GapNoted(Event, frozen=True):
    since: Millis
    until: Millis
    why: str


class UnseenChangesNoted(Event, frozen=True):
    """Files that changed while a program ran and no hook reported; the author is unknown."""

    files: tuple[str, ...]


class ObservingEnded(Event, frozen=True):
    """`tests` is the result of tests after the last edit; unset if nothing was edited."""

    reason: str
    tests: str | UnsetType = UNSET


EVENTS = (
    *(ObservingBegun, ToolObserved, WatchingStopped, GapNoted, UnseenChangesNoted, ObservingEnded),
)
