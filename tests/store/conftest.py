"""The contract's assertions explain themselves like those of any test file."""

from __future__ import annotations

import sys

import pytest

for name in ("tests.store.contract", "tests.store.ledgers"):
    if name not in sys.modules:  # another folder's tests may have come first
        pytest.register_assert_rewrite(name)
