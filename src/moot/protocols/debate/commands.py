"""The commands of a session's record. The caller provides bytes, digests and times.

`start` is where the piece begins in the file, in bytes; `digest` is the SHA-256 of the whole file
up to the end of the piece.
"""

from __future__ import annotations

from moot.core.machine import Command


class Begin(Command, frozen=True, kw_only=True):
    """Record a session: everything above its first entry."""

    file: str
    text: str
    digest: str


class PieceCommand(Command, frozen=True, kw_only=True):
    """The fields of every command about a piece of the dialogue."""

    start: int
    text: str
    digest: str


class Add(PieceCommand, frozen=True, kw_only=True):
    """Record the entry you are about to append, under your own key."""

    after_end: bool = False


class Observe(PieceCommand, frozen=True, kw_only=True):
    """Record an entry or an operator's mark found in the file; nothing proves its author."""

    double: bool = False


class Escalate(PieceCommand, frozen=True, kw_only=True):
    """Record the entry that the policy writes for an agent whose time is up."""

    agent: str


class Resume(PieceCommand, frozen=True, kw_only=True):
    """Give the late agent its time again. This is the operator's act."""


class AddContext(PieceCommand, frozen=True, kw_only=True):
    """Put a subsection at the end of the context. This is the operator's act."""


class Sign(Command, frozen=True, kw_only=True):
    """Sign an entry of yours that was only observed."""

    id: str
    sha256: str


class NoteTimeout(Command, frozen=True):
    """Record that time is up. Only the machine does this."""


class Move(Command, frozen=True, kw_only=True):
    """Record that the session's file has another place."""

    file: str


COMMANDS = (Begin, Add, Observe, Escalate, Resume, AddContext, Sign, NoteTimeout, Move)
