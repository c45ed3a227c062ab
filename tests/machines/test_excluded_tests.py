"""What is left out elsewhere is really a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machines.excluded_tests import ONLY_HERE

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("kind", sorted(ONLY_HERE))
def test_every_test_that_is_left_out_is_one(kind: str) -> None:
    for name in ONLY_HERE[kind]:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (TESTS / file).read_text("utf-8"), name
