"""Histories by seed. A failure prints its seed and its last steps; `MOOT_SEED=n` runs one again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.ledger import Store
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from tests.sampling import quarter
from tests.simulation.simulator import Simulator

MEMORY_SEEDS, SQLITE_SEEDS, STEPS = 200, 20, 60


def seeds(count: int) -> list[Any]:
    chosen = os.environ.get("MOOT_SEED")
    return [int(chosen)] if chosen else quarter(range(count))


@pytest.fixture(autouse=True)
def _small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots and automatic checkpoints often enough to matter in a short history."""
    monkeypatch.setattr("moot.engine.batch.SNAPSHOT_EVERY", 4)
    monkeypatch.setattr("moot.engine.engine.EVERY_EVENTS", 15)


def simulate(seed: int, open_store: Callable[[], Store]) -> Simulator:
    simulator = Simulator(seed, open_store)
    run_to_the_end(simulator, seed)
    return simulator


def run_to_the_end(simulator: Simulator, seed: int) -> None:
    try:
        simulator.run(STEPS)
        simulator.check()
    except BaseException as error:
        error.add_note(f"MOOT_SEED={seed}")
        error.add_note("\n".join(simulator.log[-25:]))
        raise
    finally:
        simulator.close()


def simulate_in_memory(seed: int) -> Simulator:
    store = MemoryStore()
    return simulate(seed, lambda: store)


@pytest.mark.requirement("LDG-065")
@pytest.mark.parametrize("seed", seeds(MEMORY_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_in_memory(seed: int) -> None:
    simulate_in_memory(seed)


@pytest.mark.requirement("LDG-065")
@pytest.mark.parametrize("seed", seeds(SQLITE_SEEDS))
def test_nothing_acknowledged_is_lost_or_doubled_on_disk(seed: int, tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    simulate(seed, lambda: SqliteStore(place, create=True, busy_seconds=0.1))


@pytest.mark.requirement("LDG-065")
def test_the_same_seed_is_the_same_history() -> None:
    assert simulate_in_memory(7).log == simulate_in_memory(7).log


@pytest.mark.requirement("LDG-065")
def test_the_weather_is_bad_enough_to_matter() -> None:
    """A simulator that never strikes proves nothing."""
    crashes = failures = repeats = 0
    for seed in range(20):
        simulator = simulate_in_memory(seed)
        crashes += simulator.account.crashes
        failures += simulator.account.failures
        repeats += sum("again" in line for line in simulator.log)
    assert min(crashes, failures, repeats) > 30
