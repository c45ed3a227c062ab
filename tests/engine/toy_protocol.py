"""A protocol that does what a test of the engine needs: nothing, much, too much, refusals."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.findings import Finding
from moot.core.ledger import Store
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Draft,
    Event,
    Machine,
    Put,
    Recorded,
    accept,
    make_remark,
    refuse,
)
from moot.core.record import ArtifactRef
from moot.engine.machines import Machines
from moot.testing import World

STREAM = "toy/pad"


class Jotted(Event, frozen=True):
    text: str


class Complained(Event, frozen=True):
    text: str


class Jot(Command, frozen=True):
    """Write texts down, all or none, citing artifacts."""

    texts: tuple[str, ...]
    cites: tuple[ArtifactRef, ...] = ()


class Complain(Command, frozen=True):
    """Refused, with a remark first, and on record."""

    text: str


class Ponder(Command, frozen=True):
    """Accepted, and leaves nothing."""


class Spend(Command, frozen=True):
    """Guarded: needs a proved history."""


class State(msgspec.Struct, frozen=True):
    texts: tuple[str, ...] = ()
    complaints: int = 0


def decide(_state: State, command: Command, _context: Context) -> Decision:
    match command:
        case Jot(texts, cites):
            return accept(*(Draft(Jotted(text=text), cites) for text in texts))
        case Complain(text):
            found = [make_remark("JOT-1", "sigh", "sigh"), complaint(text)]
            return refuse(found, Complained(text=text))
        case Spend():
            return accept(Jotted(text="spent"))
    return accept(findings=[make_remark("JOT-3", "hm", "nothing to do")])


def complaint(text: str) -> Finding:
    return Finding(rule="JOT-2", code="unhappy", message=text)


def evolve(state: State, recorded: Recorded[Any]) -> State:
    if isinstance(recorded.event, Jotted):
        return msgspec.structs.replace(state, texts=(*state.texts, recorded.event.text))
    return msgspec.structs.replace(state, complaints=state.complaints + 1)


def index(recorded: Recorded[Any]) -> list[Put]:
    return [Put("toy.last", recorded.stream, {"text": recorded.event.text})]


MACHINE: Machine[State] = Machine(
    name="toy",
    version=1,
    initial=State(),
    events=(Jotted, Complained),
    commands=(Jot, Complain, Ponder, Spend),
    decide=decide,
    evolve=evolve,
    index=index,
    guarded=frozenset({Spend}),
)


def jot(*texts: str) -> Jot:
    return Jot(texts=texts)


def toy_world(*names: str, store: Store | None = None) -> World:
    """A world that knows the toy protocol, with these agents."""
    world = World(store, Machines(MACHINE))
    for name in names or ("amber-otter",):
        world.agent(name)
    return world
