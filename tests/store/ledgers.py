"""A ledger that many processes can open with the same keys, and a checker that trusts nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from moot.core.ledger import Head, RowEdit, Store, View
from moot.core.machine import Recorded
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM
from moot.core.record import Record, genesis
from moot.core.registry.model import ORIGIN_PREFIX
from moot.engine.engine import Engine
from moot.engine.machines import Machines
from moot.engine.replay import read_record
from moot.engine.signers import LedgerTrust
from moot.store.artifacts import Artifacts
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.testing import FakeClock, MemoryKeys, World

OTTER, CRANE = "amber-otter", "teal-crane"
AGENTS = (OTTER, CRANE)


class Ack(NamedTuple):
    """An event that its author was told of."""

    stream: str
    seq: int
    hash: str


def acks(recorded: tuple[Recorded[Any], ...]) -> list[Ack]:
    return [Ack(each.stream, each.seq, each.hash.hex()) for each in recorded]


def keys_of_all() -> MemoryKeys:
    """The same keys in every process."""
    keys = MemoryKeys()
    for name in (SYSTEM, CHECKPOINT, *AGENTS):
        keys.make(name)
    return keys


def trust_of(keys: MemoryKeys) -> LedgerTrust:
    (root,), (pin,) = keys.signers[SYSTEM], keys.signers[CHECKPOINT]
    return LedgerTrust(ORIGIN_PREFIX + root.kid, root.public, pin.public)


TRUST = trust_of(keys_of_all())


def found_ledger(path: Path, *agents: str) -> None:
    """A ledger with both agents, closed again."""
    world = World(SqliteStore(path, create=True))
    for name in agents or AGENTS:
        world.agent(name)
    world.engine.close()


def join(store: Store, artifacts: Artifacts | None = None) -> Engine:
    """An engine over a founded ledger, as another process would make it."""
    keys = keys_of_all()
    return Engine(store, keys, trust_of(keys), FakeClock(), artifacts=artifacts)


def history(store: Store) -> dict[str, list[Record]]:
    with store.read() as view:
        return {name: list(view.records(name)) for name, _ in view.streams()}


def check_ledger(store: Store) -> dict[str, list[Record]]:
    """Chains, heads, signatures and index, from the bytes alone. Returns the whole history."""
    with store.read() as view:
        chains = {name: list(view.records(name)) for name, _ in view.streams()}
        for number, (name, head) in enumerate(view.streams()):
            _check_chain(name, chains[name], head, number)
        assert view.count_streams_and_events() == (len(chains), sum(map(len, chains.values())))
        _check_index(view, chains)
    publics = _public_keys(chains.get(REGISTRY, []))
    for record in (record for chain in chains.values() for record in chain):
        assert record.signed_by(publics[record.kid]), record
    return chains


def _check_chain(name: str, chain: list[Record], head: Head, number: int) -> None:
    """Every hash is confirmed by its successor, the last one by the head."""
    prev = genesis(TRUST.origin, name)
    for seq, record in enumerate(chain):
        body = record.body
        assert (body.stream, body.seq, record.seq, body.prev) == (name, seq, seq, prev)
        assert body.actor.kid == record.kid
        prev = record.hash.hex()
    assert head == (number, len(chain) - 1, bytes.fromhex(prev)), name


def _public_keys(registry: list[Record]) -> dict[str, bytes]:
    state = Machines().machine_of(REGISTRY).initial
    machine = Machines().machine_of(REGISTRY)
    for record in registry:
        state = machine.evolve(state, read_record(machine, record))
    return {kid: bytes.fromhex(key.public) for kid, key in state.keys.items()}


def _check_index(view: View, chains: dict[str, list[Record]]) -> None:
    """The index holds what the events say: it was written in the same commits."""
    expected = MemoryStore()
    with expected.write() as change:
        for name, chain in chains.items():
            machine = Machines().machine_of(name)
            for record in chain:
                rows = machine.index(read_record(machine, record))
                change.edit_rows([RowEdit(row, name, record.seq) for row in rows])
    with expected.read() as known:
        for space in ("open", "example.errands", "registry.erased"):
            assert view.rows(space, limit=100_000) == known.rows(space, limit=100_000)


def require_acknowledged(chains: dict[str, list[Record]], told: list[Ack]) -> None:
    """Every acknowledged event stands where its author was told, with that hash."""
    for ack in told:
        chain = chains.get(ack.stream, [])
        assert ack.seq < len(chain), f"{ack} is lost"
        assert chain[ack.seq].hash.hex() == ack.hash, f"{ack} was replaced"
