"""Random order: everything once, files together, and the same again for the same seed."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from tests.shuffle import shuffle

TESTS = [f"tests/test_{file}.py::test_{number}" for file in "abcd" for number in range(9)]


def order(seed: str) -> list[str]:
    items: list[Any] = [SimpleNamespace(nodeid=test) for test in TESTS]
    return [item.nodeid for item in shuffle(items, seed)]


def test_every_test_is_run_once() -> None:
    assert sorted(order("1")) == sorted(TESTS)
    assert order("1") != TESTS


def test_tests_of_a_file_stay_together() -> None:
    files = [test.partition("::")[0] for test in order("1")]
    assert sum(one != other for one, other in pairwise(files)) == 3


def test_a_seed_says_the_order() -> None:
    assert order("1") == order("1")
    assert order("1") != order("2")
