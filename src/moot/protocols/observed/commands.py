"""What may be asked."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Command
from moot.core.record import ArtifactRef


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
