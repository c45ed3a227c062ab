"""`--shuffle SEED`: files in random order, and the tests of each; the same seed is the same order.

Tests of one file stay together, since they share what the file sets up once.
"""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run files and their tests in random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--shuffle")
    if seed is not None:
        items[:] = shuffle(items, seed)


def shuffle(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    chance = random.Random(seed)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    heaps = list(files.values())
    chance.shuffle(heaps)
    for heap in heaps:
        chance.shuffle(heap)
    return [item for heap in heaps for item in heap]
