"""A whole ledger in memory with a clock that a test moves."""

from __future__ import annotations

import hashlib
from typing import Generic, TypeVar

from moot.core.clock import Millis, parse_time
from moot.core.errors import Refused
from moot.core.ledger import Store
from moot.core.machine import Command, Event, KeyClass, Machine
from moot.core.names import CHECKPOINT, SYSTEM
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.machines import Machines
from moot.engine.registry_commands import found_ledger, register
from moot.engine.signers import PrivateKey
from moot.store.artifacts import MemoryArtifacts
from moot.store.memory import MemoryStore

# Private keys in memory, by name.


class MemoryKeys:
    def __init__(self) -> None:
        self.signers: dict[str, list[Signer]] = {}
        self.attended: set[str] = set()

    def make(self, name: str, salt: str = "") -> Signer:
        """Make a key that is the same in every run, so that tests produce the same bytes."""
        signer = Signer(hashlib.sha256(f"test key of {name} {salt}".encode()).digest())
        self.signers.setdefault(name, []).append(signer)
        return signer

    def find(self, name: str, kid: str) -> PrivateKey | None:
        for signer in self.signers.get(name, ()):
            if signer.kid == kid:
                return PrivateKey(signer, name in self.attended)
        return None


CUSTODIAN = "0" * 31 + "1"


class FakeClock:
    """A clock that only a test moves, also backwards."""

    def __init__(self, text: str = "2026-02-18T16:00:00.000Z") -> None:
        self.now: Millis = parse_time(text)

    def __call__(self) -> Millis:
        return self.now

    def forward(self, *, minutes: float = 0, seconds: float = 0, millis: int = 0) -> None:
        self.now += round((minutes * 60 + seconds) * 1_000) + millis


class World:
    """A founded ledger over `store`, its keys, its clock and its engine."""

    def __init__(self, store: Store | None = None, machines: Machines | None = None) -> None:
        self.clock = FakeClock()
        self.keys = MemoryKeys()
        self.store: Store = store or MemoryStore()
        self.artifacts = MemoryArtifacts()
        root, checkpoint = self.keys.make(SYSTEM), self.keys.make(CHECKPOINT)
        self.trust = found_ledger(
            self.store, root, checkpoint, self.clock, custodian=CUSTODIAN, fixed_clock=True
        )
        self.machines = machines or Machines()
        self.engine = self.another_engine()

    def another_engine(self) -> Engine:
        """Return an engine as a second process would have it: an empty cache."""
        return Engine(
            self.store,
            self.keys,
            self.trust,
            self.clock,
            self.machines,
            artifacts=self.artifacts,
        )

    def agent(self, name: str, custodian: str = CUSTODIAN) -> Signer:
        signer = self.keys.make(name)
        register(self.engine, name, signer, custodian=custodian)
        return signer

    def human(self, name: str = "operator", endorser: Signer | None = None) -> Signer:
        signer = self.keys.make(name)
        register(
            self.engine,
            name,
            signer,
            custodian=CUSTODIAN,
            kind=KeyClass.HUMAN,
            endorser=endorser,
        )
        return signer


# given / when / then over the production engine.
#
#     given(world, MACHINE, "example/today").as_("amber-otter")
#         .when(Ask(title="x", of="teal-crane"))
#         .then(ErrandAsked(...)).refused("errand_not_open", on=Finish(id="e9"))
#
# A refusal also asserts that nothing but its own events was recorded.

S = TypeVar("S")


class Scenario(Generic[S]):
    def __init__(self, world: World, machine: Machine[S], stream: str) -> None:
        self.world = world
        self.machine = machine
        self.stream = stream
        self.actor = ""
        self.recorded: list[Event] = []

    def as_(self, actor: str) -> Scenario[S]:
        """Set the actor of the next commands; register it if it is new."""
        if actor not in self.world.engine.registry().agents:
            self.world.agent(actor)
        self.actor = actor
        return self

    def when(self, *commands: Command) -> Scenario[S]:
        """Run commands; `then` compares what they record."""
        self.recorded = []
        for command in commands:
            outcome = self.world.engine.execute(self.stream, command, self.actor)
            self.recorded += [recorded.event for recorded in outcome.recorded]
        return self

    def then(self, *events: Event) -> Scenario[S]:
        assert self.recorded == list(events), f"recorded {self.recorded}"
        return self

    def refused(self, code: str, on: Command, *events: Event) -> Scenario[S]:
        """Assert that `on` is refused with `code` and records exactly `events`."""
        before, state = self.history(), self.state
        assert self._refusal(on) == code
        after = self.history()
        assert after[: len(before)] == before
        assert after[len(before) :] == list(events), f"recorded {after[len(before) :]}"
        if not events:
            assert self.state == state
        return self

    def _refusal(self, on: Command) -> str:
        try:
            self.world.engine.execute(self.stream, on, self.actor)
        except Refused as error:
            return error.code
        return f"{on} was not refused"

    @property
    def state(self) -> S:
        return self.world.engine.state(self.machine, self.stream)

    def history(self) -> list[Event]:
        with self.world.store.read() as view:
            bodies = [record.body for record in view.records(self.stream)]
        return [self.machine.read_event(body.type, body.data) for body in bodies]


def given(world: World, machine: Machine[S], stream: str) -> Scenario[S]:
    return Scenario(world, machine, stream)
