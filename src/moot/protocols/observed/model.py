"""One observed session: who is watched, how often which tool was used, and when nobody watched."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map
from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Command, Event
from moot.core.record import ArtifactRef

# The state is kept small: it is read before every observation. The events have everything.
MAX_TOOLS, MAX_GAPS = 200, 64
# Tools beyond the first `MAX_TOOLS` names are counted together under this one.
OTHER_TOOLS: Final = "(others)"
# Why nobody watched: it was started so, as somebody wanted it.
UNGUARDED: Final = "unguarded"


class Stage(StrEnum):
    """Where a session stands. It is read off the state, not stored in it."""

    NEW = "new"
    WATCHED = "watched"
    BLIND = "blind"
    ENDED = "ended"


class SeenTests(StrEnum):
    """How tests ended that were run after the last edit, as far as hooks saw it.

    `ran`: they did, and how they ended is not known. `never`: none ran.
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
    """One session. `blind_since` is set while nobody watches; `gaps` are the newest only.

    `last_edit` and `last_tests` are the numbers of the newest uses that changed files, and that
    ran tests; `tests` is how those ended.
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
        """None if nothing was edited, so that nobody had to test it."""
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


# What may be asked.


class BeginObserving(Command, frozen=True):
    """Begin to watch a session of yours."""

    session: str = ""


class ObserveTool(Command, frozen=True):
    """Put down a tool that was used: its input's hash, what it left, which files it changed.

    `ok` is None where the hook was not told how it ended. `alias` is the number of the session's
    sub-agent that used it; unset: its main agent, or nobody knows. `tests` is how tests ended that
    it ran: passed, failed, or ran if that is not known. `model` is what the tool said it is driven
    by.
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
    """Say that nobody watches from here on: the hook is off, or from the time it was."""

    why: str
    since: Millis | None = None


class NoteGap(Command, frozen=True):
    """Put down a span nobody watched, found afterwards."""

    since: Millis
    until: Millis
    why: str


class NoteUnseenChanges(Command, frozen=True):
    """Put down files that changed in a run in which no hook has spoken."""

    files: tuple[str, ...]


class EndObserving(Command, frozen=True):
    """The session is over."""

    reason: str = ""


COMMANDS = (
    BeginObserving,
    ObserveTool,
    StopWatching,
    NoteGap,
    NoteUnseenChanges,
    EndObserving,
)


# What may stand in the ledger.

# No postponed annotations: msgspec would compile each of them anew in every hook.


class ObservingBegun(Event, frozen=True):
    session: str


class ToolObserved(Event, frozen=True):
    """`ok` is None where the hook was not told how it ended.

    `alias` is the number of the sub-agent that used it; the session's key signed for it. `tests`
    is how tests ended that it ran; `model` is the tool's own word.
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
    """Nobody watches from `since` on; the gap is recorded once somebody watches again."""

    since: Millis
    why: str


class GapNoted(Event, frozen=True):
    since: Millis
    until: Millis
    why: str


class UnseenChangesNoted(Event, frozen=True):
    """Files that changed while a program ran and no hook spoke; by whom is not known."""

    files: tuple[str, ...]


class ObservingEnded(Event, frozen=True):
    """`tests` is how tests ended that ran after the last edit; unset if nothing was edited."""

    reason: str
    tests: str | UnsetType = UNSET


EVENTS = (
    ObservingBegun,
    ToolObserved,
    WatchingStopped,
    GapNoted,
    UnseenChangesNoted,
    ObservingEnded,
)
