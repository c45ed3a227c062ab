"""The events of a session: the pieces of its file, in their order.

The pieces of a session, put together, are its file to the byte. The event has a short piece as
`text`; a longer one is stored as an artifact and cited by its hash. `digest` is the SHA-256 of the
whole file up to the end of the piece, as its author saw it.
"""

from __future__ import annotations

from moot.core.clock import Millis
from moot.core.machine import Event


class Piece(Event, frozen=True, kw_only=True):
    """Bytes of the file, from `start` on; `sha256` is theirs.

    `attended`: a person unlocked the key just then; None where no person acted.
    """

    start: int
    size: int
    sha256: str
    digest: str
    text: str | None
    attended: bool | None = None


class SessionBegan(Piece, frozen=True, kw_only=True):
    """Everything above the first entry. If `system` recorded it, it was only observed."""

    session_id: str
    file: str
    title: str
    created: Millis | None
    settings: dict[str, str | int | bool | list[str]]


class Spoken(Piece, frozen=True, kw_only=True):
    """An entry, with the facts from its bytes.

    `names` are the agents that its action_requested names, in their order. `double`: its id was in
    the file before. `sound` is False if the file has an error there. `resumed`: an operator's mark
    is above it.
    """

    id: str
    author: str
    round: int | None
    turn: int | None
    said_at: Millis | None
    stance: str
    confidence: str
    summary: str
    names: list[str]
    closes: bool = False
    generated: bool = False
    double: bool = False
    sound: bool = True
    resumed: Millis | None = None


class EntryYielded(Spoken, frozen=True, kw_only=True):
    """An entry, signed by its own author; the operator's closing entry, by a person."""


class EntryObserved(Spoken, frozen=True, kw_only=True):
    """An entry that was found in the file: the file names its author, nothing proves it."""


class EntryGenerated(Spoken, frozen=True, kw_only=True):
    """An entry that the policy wrote when time was up."""


class EntrySigned(Event, frozen=True, kw_only=True):
    """The author of an observed entry has signed it: these bytes are theirs."""

    id: str
    start: int
    size: int
    sha256: str


class SessionResumed(Piece, frozen=True, kw_only=True):
    """The operator gave the late agent its time again. By `system`: the mark was only observed."""

    said_at: Millis | None


class ContextAdded(Piece, frozen=True, kw_only=True):
    """A subsection of the context, inserted at `start`."""


class TurnTimedOut(Event, frozen=True, kw_only=True):
    """Time was up. This wrote nothing into the file."""

    agents: list[str]
    round: int
    turn: int
    policy: str


class SessionEnded(Event, frozen=True, kw_only=True):
    """How and in which round the entry before this one ended the session.

    `policy` is the escalation that a deadlock waits for; empty after any other end.
    """

    phase: str
    round: int | None
    policy: str = ""


class FileMoved(Event, frozen=True, kw_only=True):
    """The session's file has another place or name."""

    was: str
    file: str


EVENTS = (
    *(SessionBegan, EntryYielded, EntryObserved, EntryGenerated, EntrySigned, SessionResumed),
    *(ContextAdded, TurnTimedOut, SessionEnded, FileMoved),
)
