"""The nouns: an errand, its stages, and the state of one list of errands."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import Command, Event


class Stage(StrEnum):
    """The life of an errand. `machine.py` draws it."""

    OPEN = "open"
    DONE = "done"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


class Errand(msgspec.Struct, frozen=True):
    """What `asked_by` wants `asked_of` to do, by `due_at` if there is a limit."""

    id: str
    title: str
    asked_by: str
    asked_of: str
    asked_at: Millis
    due_at: Millis | None
    stage: Stage = Stage.OPEN


class State(msgspec.Struct, frozen=True):
    """The open errands by id. Closed ones are only counted: the ledger has them.

    `meddlers` counts, by agent, how often it tried to end another's errand. `next_due` is the
    earliest limit of an open errand: the engine asks for timeouts before every command.
    """

    open: Map[str, Errand] = Map()
    asked: int = 0
    closed: int = 0
    meddlers: Map[str, int] = Map()
    next_due: Millis | None = None

    def in_order(self) -> list[Errand]:
        """Return the open errands in the order they were asked: by id, for clocks may go back."""
        return sorted(self.open.values(), key=lambda errand: (len(errand.id), errand.id))


# Commands. A docstring is the command's help on every surface.


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
    """Close an errand whose time is over. Only the machine itself does this."""

    id: str


COMMANDS = (Ask, Finish, Withdraw, Lapse)


# Events. The record itself says who did it and when: actor and time.
#
# Class and field names are signed with every record, so they can never be changed.


class ErrandAsked(Event, frozen=True):
    """The actor asked `of` for an errand."""

    id: str
    title: str
    of: str
    due_at: Millis | None


class ErrandDone(Event, frozen=True):
    """The agent that was asked has done it."""

    id: str


class ErrandWithdrawn(Event, frozen=True):
    """The agent that asked took it back."""

    id: str


class ErrandLapsed(Event, frozen=True):
    """Its time was over, and the machine closed it."""

    id: str


class Meddled(Event, frozen=True):
    """The actor tried (`tried` names the command) to end another's errand, and was refused."""

    id: str
    tried: str


EVENTS = (ErrandAsked, ErrandDone, ErrandWithdrawn, ErrandLapsed, Meddled)
