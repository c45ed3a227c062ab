"""What `make test` takes a part of, and `make test-all`, `.ci/run` and releases take whole.

Points of an exhaustive test are cut into quarters, three of which are marked `thorough`. Properties
are tried on a part of their examples where tests marked so are left out, and on all of them else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import settings

THOROUGH: Final = pytest.mark.thorough
QUARTERS: Final = [0, *(pytest.param(shard, marks=THOROUGH) for shard in (1, 2, 3))]
WHOLE: Final = 100  # examples of a property, if it says nothing else
PART: Final = 30


def quarter(rows: Sequence[Any]) -> list[Any]:
    """Mark all rows but the first of each four."""
    return [row if n % 4 == 0 else pytest.param(row, marks=THOROUGH) for n, row in enumerate(rows)]


def examples(most: int) -> int:
    """How many examples of a property are tried in this run, of that many."""
    return most * settings().max_examples // WHOLE
