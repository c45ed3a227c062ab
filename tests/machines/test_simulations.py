"""The simulated bad world on a ledger in PostgreSQL, and with every process on a machine that
joined one: on disk, and in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.core.ledger import Store
from moot.hosts.postgres import PostgresStore
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from tests.simulation.joined import JoinedSimulator
from tests.simulation.test_simulation import _small_world, run_to_the_end, seeds, simulate
from tests.store.postgres_server import fresh_database

assert _small_world

POSTGRES_SEEDS, MEMORY_SEEDS, DISK_SEEDS = 20, 100, 20


@pytest.fixture(autouse=True)
def _turns_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """All agents share one thread here: one that waits for a turn waits until its time is up."""
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 0.002)
    monkeypatch.setattr("moot.hosts.joined_engine.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("moot.hosts.joined_engine.HURRIED_SECONDS", -1.0)


@pytest.fixture(autouse=True, params=["full", "brief"])
def answers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Either no look for news is left out because another was just made, or each one is that can
    be: time decides nothing, so that a seed is a whole history."""
    seconds = 3_600.0 if request.param == "brief" else -1.0
    monkeypatch.setattr("moot.hosts.replica.FRESH_SECONDS", seconds)
    monkeypatch.setattr("moot.hosts.joined_engine.BUSY_SECONDS", seconds)
    return str(request.param)


@pytest.fixture
def open_there() -> Iterator[Callable[[], Store]]:
    with fresh_database() as url:
        yield lambda: PostgresStore(url, f"sim_{os.getpid()}", create=True)


def simulate_joined(seed: int, open_store: Callable[[], Store], folder: Path) -> JoinedSimulator:
    simulator = JoinedSimulator(seed, open_store, folder)
    run_to_the_end(simulator, seed)
    return simulator


@pytest.mark.parametrize("seed", seeds(POSTGRES_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_in_postgresql(
    seed: int, open_there: Callable[[], Store]
) -> None:
    simulate(seed, open_there)


@pytest.mark.parametrize("seed", seeds(MEMORY_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_on_machines_that_joined(
    seed: int, tmp_path: Path
) -> None:
    store = MemoryStore()
    simulate_joined(seed, lambda: store, tmp_path)


@pytest.mark.parametrize("seed", seeds(DISK_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_where_the_keeper_has_a_file(
    seed: int, tmp_path: Path
) -> None:
    place = tmp_path / "ledger.db"
    simulate_joined(seed, lambda: SqliteStore(place, create=True, busy_seconds=0.1), tmp_path)


@pytest.mark.parametrize("seed", seeds(DISK_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_where_the_keeper_has_postgresql(
    seed: int, open_there: Callable[[], Store], tmp_path: Path
) -> None:
    simulate_joined(seed, open_there, tmp_path)


def test_the_weather_is_bad_enough_to_matter(tmp_path: Path, answers: str) -> None:
    crashes = failures = cuts = dead_keepers = brief = 0
    for seed in range(20):
        store = MemoryStore()
        simulator = simulate_joined(seed, lambda store=store: store, tmp_path)  # type: ignore[misc]
        crashes += simulator.account.crashes
        failures += simulator.account.failures
        cuts += simulator.cuts
        brief += simulator.brief
        dead_keepers += simulator.log.count("  the keeper dies")
    assert min(crashes, failures, cuts, dead_keepers) > 20
    assert (brief > 20) is (answers == "brief")
