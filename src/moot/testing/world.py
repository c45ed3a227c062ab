"""A whole ledger in memory with a clock that a test moves."""

from __future__ import annotations

from moot.core.clock import Millis, parse_time
from moot.core.ledger import Store
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, SYSTEM
from moot.core.signing import Signer
from moot.engine.agents import register
from moot.engine.engine import Engine
from moot.engine.founding import found_ledger
from moot.engine.machines import Machines
from moot.store.artifacts import MemoryArtifacts
from moot.store.memory import MemoryStore
from moot.testing.keys import MemoryKeys

CUSTODIAN = "0" * 31 + "1"


class FakeClock:
    """A clock that stands still until a test moves it, also backwards."""

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
        root, pin = self.keys.make(SYSTEM), self.keys.make(CHECKPOINT)
        self.trust = found_ledger(
            self.store, root, pin, self.clock, custodian=CUSTODIAN, fixed_clock=True
        )
        self.machines = machines or Machines()
        self.engine = self.another_engine()

    def another_engine(self) -> Engine:
        """An engine as a second process would have it: same store and keys, an empty cache."""
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
