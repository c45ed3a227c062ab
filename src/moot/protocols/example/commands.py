"""What may be asked of a list of errands. A docstring is the command's help on every surface."""

from __future__ import annotations

from moot.core.clock import Millis
from moot.core.machine import Command


class Ask(Command, frozen=True):
    """Ask an agent for an errand, by a time if it matters."""

    title: str
    of: str
    due_at: Millis | None = None


class Finish(Command, frozen=True):
    """Say that an errand asked of you is done."""

    id: str


class Withdraw(Command, frozen=True):
    """Take back an errand you asked for."""

    id: str


class Lapse(Command, frozen=True):
    """Close an errand whose time is over. The machine asks this itself."""

    id: str


COMMANDS = (Ask, Finish, Withdraw, Lapse)
