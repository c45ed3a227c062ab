"""Watched work: what is known of a session, what may be put down, and what stands in the record."""

from __future__ import annotations

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import Command, Event
from moot.core.record import ArtifactRef


class Gap(msgspec.Struct, frozen=True):
    """Nobody watched from `since` to `until`."""

    since: Millis
    until: Millis
    why: str


class Observed(msgspec.Struct, frozen=True):
    """One watched session. `blind_since` is set while nobody watches."""

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


class BeginObserving(Command, frozen=True):
    """Begin to watch a session of yours."""

    session: str = ""


class ObserveTool(Command, frozen=True):
    """Put down a tool that was used: its input's hash, what it left, which files it changed.

    `ok` is None where the hook was not told how it ended.
    """

    tool: str
    input_hash: str
    artifact: ArtifactRef | None = None
    files: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    ok: bool | None = None
    session: str = ""


class StopWatching(Command, frozen=True):
    """Say that nobody watches from here on: the hook is off, or from the time it was."""

    why: str
    since: Millis | None = None


class NoteGap(Command, frozen=True):
    """Put down a span nobody watched, found afterwards."""

    since: Millis
    until: Millis
    why: str


class EndObserving(Command, frozen=True):
    """The session is over."""

    reason: str = ""


class ObservingBegun(Event, frozen=True):
    session: str


class ToolObserved(Event, frozen=True):
    number: int
    tool: str
    input_hash: str
    artifact: str | None
    files: tuple[str, ...]
    redacted: tuple[str, ...]
    ok: bool | None


class WatchingStopped(Event, frozen=True):
    since: Millis
    why: str


class GapNoted(Event, frozen=True):
    since: Millis
    until: Millis
    why: str


class ObservingEnded(Event, frozen=True):
    reason: str
